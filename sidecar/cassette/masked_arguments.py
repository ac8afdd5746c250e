"""Arguments that a recording holds masked, while a call has them in clear.

Not every mask can be made again in a replay: a value may have been known from a later
message, or from a rule or a variable that is there no more. The value itself is then
nowhere; what stands around it still tells the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sidecar.cassette.arguments import Absent, ArgsMatch, equal
from sidecar.cassette.redaction.placeholders import MARK, UNIFIED
from sidecar.wire.json_text import JsonValue

ANYWHERE = ""
"""A leaf that no call lacks: entries without any other are filed under it."""


def in_clear(leaves: Iterable[str]) -> list[str]:
    """Return the leaves that a call must have as they are; `ANYWHERE` if there are none."""
    return [leaf for leaf in leaves if MARK not in leaf] or [ANYWHERE]


def fits(how: ArgsMatch, recorded: JsonValue | Absent, asked: JsonValue | Absent) -> bool:
    """Tell whether a call may be the one that was recorded with some of its values masked.

    A text with placeholders in it is like any text that has the same around them, and
    something in their places. All else compares as `how` says.

    Args:
        how: How the entry's arguments are compared.
        recorded: Them, their placeholders unified.
        asked: The arguments of the call, likewise.
    """
    if isinstance(recorded, Absent) or isinstance(asked, Absent):
        return False
    if isinstance(recorded, dict) and isinstance(asked, dict):
        few, many = recorded.keys(), asked.keys()
        has_all = few <= many if how == "subset" else few == many
        return has_all and all(fits(how, item, asked[name]) for name, item in recorded.items())
    if isinstance(recorded, list) and isinstance(asked, list):
        pairs = zip(recorded, asked, strict=False)
        return len(recorded) == len(asked) and all(fits("exact", *pair) for pair in pairs)
    if type(recorded) is str and type(asked) is str and UNIFIED in recorded:  # no Number
        return _is_around(recorded.split(UNIFIED), asked)
    return equal(recorded, asked)


def _is_around(parts: Sequence[str], text: str) -> bool:
    """Tell whether a text is the parts, in order, with something between each two."""
    first, *between, last = parts
    end = len(text) - len(last)
    if not text.startswith(first) or not text.endswith(last):
        return False
    at = len(first)
    for part in between:  # the first place that fits leaves most room for those that follow
        at = text.find(part, at + 1, end)
        if at < 0:
            return False
        at += len(part)
    return at < end
