"""Taking members out of a call's arguments, so that the rest can still be compared.

What a live agent can never send again (a masked secret) or need not (`--ignore-arg`)
leaves the expectation, and what is left is compared as a subset (RFC 0244 §A, P02).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sidecar.cassette.arguments import ABSENT, Absent, ArgsMatch
from sidecar.cassette.redaction.placeholders import PATTERN
from sidecar.errors import UsageError
from sidecar.wire.json_pointer import inside, parts_of
from sidecar.wire.json_text import JsonValue

_MASK = re.compile(PATTERN)
_FORM = "write TOOL:/POINTER, such as git:git_log:/max_count"


class IgnoredArgument(NamedTuple):
    """A member of a tool's arguments that is not compared.

    Attributes:
        tool: `<server>:<tool>`.
        pointer: JSON pointer into the arguments.
    """

    tool: str
    pointer: str

    @property
    def path(self) -> tuple[str, ...]:
        """The pointer's parts, unescaped."""
        return parts_of(self.pointer)


class Loosened(NamedTuple):
    """Arguments as they are expected.

    Attributes:
        arguments: What is compared; `ABSENT` where nothing is.
        args_match: How.
        masked: JSON pointers of the members that left because a secret was masked there.
    """

    arguments: JsonValue | Absent
    args_match: ArgsMatch
    masked: tuple[str, ...] = ()


def read_ignored_argument(text: str) -> IgnoredArgument:
    """Read `TOOL:/json/pointer`.

    Raises:
        UsageError: If it has another form.
    """
    tool, found, pointer = text.partition(":/")
    if not found or ":" not in tool:
        raise UsageError(f"--ignore-arg {text!r} names no member of a tool's arguments", hint=_FORM)
    return IgnoredArgument(tool, "/" + pointer)


def loosened(arguments: JsonValue, ignored: Iterable[IgnoredArgument]) -> Loosened:
    """Take masked and ignored members out of a call's arguments.

    An array is compared whole, so one that holds a masked value leaves whole. An object of
    which nothing is left leaves, too: `{}` within a subset would ask for nothing.

    Args:
        arguments: As recorded; they are not changed.
        ignored: The members to leave out, of this tool; those that are not there are no
            mistake of this call's.

    Raises:
        UsageError: If a pointer leads into an array.
    """
    masked: list[str] = []
    kept = _unmasked(arguments, "", masked)
    taken = False
    for one in ignored:
        if points_into(kept, one):
            kept = _without(kept, one.path)
            taken = True
    if isinstance(kept, Absent):
        return Loosened(ABSENT, "ignore", tuple(masked))
    return Loosened(kept, "subset" if taken or masked else "exact", tuple(masked))


def points_into(arguments: JsonValue | Absent, ignored: IgnoredArgument) -> bool:
    """Tell whether a member that should be ignored is in the arguments.

    Raises:
        UsageError: If the pointer leads into an array.
    """
    here = arguments
    for part in ignored.path:
        if isinstance(here, list):
            raise UsageError(
                f"--ignore-arg {ignored.tool}:{ignored.pointer} leads into an array, and arrays "
                "are compared whole",
                hint="ignore the whole array",
            )
        if not isinstance(here, dict) or part not in here:
            return False
        here = here[part]
    return True


def is_masked(value: JsonValue) -> bool:
    """Tell whether a secret was masked anywhere in a value."""
    if isinstance(value, dict):
        return any(is_masked(name) or is_masked(item) for name, item in value.items())
    if isinstance(value, list):
        return any(map(is_masked, value))
    return isinstance(value, str) and _MASK.search(value) is not None


def _unmasked(value: JsonValue, pointer: str, masked: list[str]) -> JsonValue | Absent:
    if not isinstance(value, dict):
        if is_masked(value):
            masked.append(pointer)
            return ABSENT
        return value
    kept: dict[str, JsonValue | Absent] = {}
    for name, item in value.items():
        inner = inside(pointer, name)
        if is_masked(name):
            masked.append(inner)
        else:
            kept[name] = _unmasked(item, inner, masked)
    return _present(kept) if value else value


def _without(value: JsonValue, path: tuple[str, ...]) -> JsonValue | Absent:
    """Take out a member that is there."""
    assert isinstance(value, dict)
    first, *rest = path
    left = _without(value[first], tuple(rest)) if rest else ABSENT
    return _present({**value, first: left})


def _present(members: Mapping[str, JsonValue | Absent]) -> JsonValue | Absent:
    kept = {name: item for name, item in members.items() if not isinstance(item, Absent)}
    return kept or ABSENT
