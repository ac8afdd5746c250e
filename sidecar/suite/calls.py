"""The tool calls of a recording, as the trajectory counts them.

A call of several rounds (`input_required`, 2026-07-28) is one call: the arguments of its
first round, the answer of its last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from sidecar.cassette.interaction import Interaction, Response
from sidecar.cassette.multi_round import rounds_by_call
from sidecar.errors import PromotionError
from sidecar.wire.json_text import JsonValue, NotJsonError, parse
from sidecar.wire.mcp import read_tool_call, rounds

Span: TypeAlias = tuple[int, int]
"""When something began and ended, in nanoseconds of one clock."""


class RecordedCall(NamedTuple):
    """One tool call of a recording.

    Attributes:
        number: Its place among the calls, from 1.
        tool: `<server>:<tool>`.
        arguments: What it was called with, numbers as they were spelt; `{}` where absent.
        response: What answered its last round; None where nothing did.
        cancelled: Whether the agent took it back before it was answered.
        asked: Whether the server asked the client for something while it ran.
        span: From its first request to its last answer; None where that is not known.
    """

    number: int
    tool: str
    arguments: JsonValue
    response: Response | None
    cancelled: bool = False
    asked: bool = False
    span: Span | None = None

    @property
    def is_unfinished(self) -> bool:
        """Whether it never got an answer, or only one that asks for another round."""
        return self.response is None or rounds(self.response.text).asks_input

    @property
    def is_error(self) -> bool:
        """Whether a tool error or a JSON-RPC error answered it."""
        return Interaction("", "tools/call", None, self.response).is_error

    @property
    def name(self) -> str:
        """How it is spoken of: `call 3 (git:git_log)`."""
        return f"call {self.number} ({self.tool})"


def recorded_calls(
    interactions: Sequence[Interaction], spans: Sequence[Span | None] = ()
) -> tuple[RecordedCall, ...]:
    """List the tool calls of a recording, in recorded order.

    Args:
        interactions: The recording's.
        spans: When each of them began and ended; empty where that is not known.

    Raises:
        PromotionError: If a call names no tool, or nests too deep to be read.
    """
    found: list[RecordedCall] = []
    seen = list(zip(interactions, spans or [None] * len(interactions), strict=True))
    for number, (first, *more) in enumerate(rounds_by_call(interactions), 1):
        call = _call(number, *seen[first])
        for place in more:
            call = _continued(call, *seen[place])
        found.append(call)
    return tuple(found)


def _call(number: int, interaction: Interaction, span: Span | None) -> RecordedCall:
    call = read_tool_call(interaction.params)
    try:
        arguments = parse(call.arguments)
    except NotJsonError:
        raise _unreadable(number, interaction) from None
    if not call.name:
        raise _unreadable(number, interaction)
    return RecordedCall(
        number,
        interaction.tool_name,
        arguments,
        interaction.response,
        interaction.cancelled,
        any(passage.asked for passage in interaction.during),
        span,
    )


def _unreadable(number: int, interaction: Interaction) -> PromotionError:
    return PromotionError(
        f"call {number}, of {interaction.server}, names no tool or nests too deep to be read",
        hint="leave that call out of what you record",
    )


def _continued(call: RecordedCall, interaction: Interaction, span: Span | None) -> RecordedCall:
    return call._replace(
        response=interaction.response,
        cancelled=interaction.cancelled,
        asked=True,
        span=(call.span[0], span[1]) if call.span and span else None,
    )
