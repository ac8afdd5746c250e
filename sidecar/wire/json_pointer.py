"""JSON pointers (RFC 6901): made member by member, and taken apart."""

from __future__ import annotations


def inside(pointer: str, part: str | int) -> str:
    """Give the pointer to a member or an item of what a pointer leads to.

    Args:
        pointer: The pointer; empty for the whole value.
        part: The member's name, or the item's index.
    """
    return f"{pointer}/{str(part).replace('~', '~0').replace('/', '~1')}"


def parts_of(pointer: str) -> tuple[str, ...]:
    """List the names and indexes that a pointer leads through, as they are."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
