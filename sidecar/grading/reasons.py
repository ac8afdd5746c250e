"""Why: the reasons of a verdict, in words that a person can act on.

They name step, tool and place of an argument, what was expected and what was seen. They
stay on this machine: no summary and no `eval.*` event carries them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from sidecar.cassette.arguments import Absent, Difference
from sidecar.cassette.redaction.placeholders import UNIFIED
from sidecar.suite.json_reading import SpeltFloat
from sidecar.wire.json_text import JsonValue, NotJsonError, dump
from sidecar.wire.shortening import shortened

MAX_SHOWN: Final = 120
"""Characters of a value that a reason shows; the log holds the whole."""

_MAX_DIFFERENCES = 3


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason of a verdict, or one thing that is wrong with a log.

    Attributes:
        code: What kind of reason it is, such as `forbidden` or `arguments-differ`.
        text: The whole reason in words; a value in it is JSON, cut after 120 characters.
        step: Which observed call it is about, from 1.
        tool: The tool it is about.
        pointer: JSON pointer into that call's arguments.
        expected: What was expected there, as JSON text.
        seen: What was seen there, as JSON text.
    """

    code: str
    text: str
    step: int | None = None
    tool: str | None = None
    pointer: str | None = None
    expected: str | None = None
    seen: str | None = None

    def __str__(self) -> str:
        return self.text


def shown(value: JsonValue | Absent) -> str:
    """Write a value as JSON text, short enough for a sentence."""
    if isinstance(value, Absent):
        return "nothing"
    try:
        text = dump(value) if not isinstance(value, SpeltFloat) else repr(value)
    except NotJsonError:
        text = "a value that nests too deep to show"
    return shortened(text, MAX_SHOWN)


def named(name: str) -> str:
    """Write a name, such as a tool's, so that it cannot break the sentence around it."""
    quoted = json.dumps(name, ensure_ascii=False)[1:-1]
    return shortened(quoted, MAX_SHOWN)


def differing(found: tuple[Difference, ...], subject: str) -> str:
    """Say in words where arguments differ.

    Args:
        found: The differences, at least one.
        subject: Whose arguments they are, for example `step 3 (billing:refund)`.
    """
    parts = [_difference(one) for one in found[:_MAX_DIFFERENCES]]
    more = len(found) - len(parts)
    tail = f"; and {more} more {'difference' if more == 1 else 'differences'}" if more else ""
    return f"{subject}: " + "; ".join(parts) + tail


def _difference(one: Difference) -> str:
    place = f"argument {named(one.pointer)}" if one.pointer else "all of it"
    if isinstance(one.seen, Absent):
        return f"{place} is missing, expected {shown(one.expected)}"
    if isinstance(one.expected, Absent):
        return f"{place} was {shown(one.seen)}, expected no such argument"
    seen, expected = shown(one.seen), shown(one.expected)
    return f"{place} was {seen}, expected {expected}{_masked(seen, expected)}"


def _masked(seen: str, expected: str) -> str:
    """Explain a difference that only a mask makes: no agent can send one (P02)."""
    if (UNIFIED in seen) == (UNIFIED in expected):
        return ""
    where = "the recording" if UNIFIED in expected else "what is kept of the run"
    return f" (masked in {where}: leave it out of the expectation)"
