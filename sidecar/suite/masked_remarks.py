"""What is told of arguments that are not compared, since a secret is masked in them (P02)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sidecar.cassette.arguments import Absent
from sidecar.suite.calls import RecordedCall
from sidecar.suite.loosening import Loosened
from sidecar.suite.wanted import Remark

_SHOWN = 5  # places that are named; the others are counted


def masked_remarks(calls: Sequence[RecordedCall], expected: Sequence[Loosened]) -> Iterator[Remark]:
    """Tell once of each tool what is not compared of its calls' arguments.

    Args:
        calls: The calls, in recorded order.
        expected: What is expected of each one's arguments.
    """
    by_tool: dict[str, list[tuple[RecordedCall, Loosened]]] = {}
    for call, one in zip(calls, expected, strict=True):
        if one.masked:
            by_tool.setdefault(call.tool, []).append((call, one))
    for tool, found in by_tool.items():
        name = found[0][0].name if len(found) == 1 else f"{len(found)} calls of {tool}"
        places = dict.fromkeys(place for _, one in found for place in one.masked)
        bare = sum(1 for _, one in found if isinstance(one.arguments, Absent))
        yield Remark("masked", f"{name}: {_told(list(places))}{_rest(bare, len(found))}")


def _told(places: Sequence[str]) -> str:
    shown = ", ".join(place or "the arguments" for place in places[:_SHOWN])
    more = len(places) - _SHOWN
    if more > 0:
        shown += f" and {more} more"
    if len(places) == 1:
        return f"a secret is masked at {shown}, so it is not compared"
    return f"secrets are masked at {shown}, so these are not compared"


def _rest(bare: int, count: int) -> str:
    """Say of how many calls nothing is left to compare."""
    if not bare:
        return ""
    of_them = "" if bare == count else f" in {bare} of the {count}"
    return f"; no other argument is left{of_them}, so any call of the tool is as expected"
