"""Why no recording answers a request, in words that a user can act on (R20)."""

from __future__ import annotations

from sidecar.cassette.arguments import Absent, Difference
from sidecar.cassette.interaction import Interaction
from sidecar.cassette.matcher import Miss
from sidecar.wire.json_text import JsonValue, dump
from sidecar.wire.shortening import shortened

_SHOWN_DIFFERENCES = 3
_SHOWN_CHARACTERS = 60


def explain(asked: Interaction, miss: Miss) -> str:
    """Say why a request missed: `<reason>: <details>`.

    Args:
        asked: The request, redacted.
        miss: What the matcher found.
    """
    name = asked.tool_name if asked.is_tool_call else f"{asked.server}:{asked.method}"
    match miss.reason:
        case "unknown-tool":
            details = f"no recording has a call of {name}"
        case "used-up":
            details = f"every recording of this call of {name} was served already"
        case "not-recorded":
            details = f"no recording has this {name}"
        case "other-era":
            details = (
                f"no recording of {name} can answer this client{_place(miss)}: {miss.obstacle}"
            )
        case _:
            details = f"no recording of {name} has these arguments; {_nearest(miss)}"
    return f"{miss.reason}: {details}"


def _place(miss: Miss) -> str:
    # Interactions are counted from 1 where people read them.
    return "" if miss.nearest is None else f" (interaction {miss.nearest + 1})"


def _nearest(miss: Miss) -> str:
    place = _place(miss)
    if not miss.differences:
        return f"the nearest{place} is another round of the call, or nests too deep to compare"
    shown = "; ".join(map(difference_text, miss.differences[:_SHOWN_DIFFERENCES]))
    more = len(miss.differences) - _SHOWN_DIFFERENCES
    return f"the nearest{place} differs at {shown}" + (f"; and {more} more" if more > 0 else "")


def difference_text(difference: Difference) -> str:
    """Say one difference: `/pointer: recorded 1, asked for 2`."""
    where = difference.pointer or "the whole value"
    return f"{where}: recorded {_shown(difference.expected)}, asked for {_shown(difference.seen)}"


def _shown(value: JsonValue | Absent) -> str:
    if isinstance(value, Absent):
        return "nothing"
    return shortened(dump(value), _SHOWN_CHARACTERS)
