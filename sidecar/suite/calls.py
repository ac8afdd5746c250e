"""The tool calls of a recording, as the trajectory counts them.

A call of several rounds (`input_required`, 2026-07-28) is one call: the arguments of its
first round, the answer of its last.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sidecar.cassette.interaction import Interaction, Response
from sidecar.errors import PromotionError
from sidecar.wire.json_text import JsonValue, NotJsonError, parse
from sidecar.wire.mcp import read_tool_call, rounds


class RecordedCall(NamedTuple):
    """One tool call of a recording.

    Attributes:
        number: Its place among the calls, from 1.
        tool: `<server>:<tool>`.
        arguments: What it was called with, numbers as they were spelt; `{}` where absent.
        response: What answered its last round; None where nothing did.
        cancelled: Whether the agent took it back before it was answered.
        asked: Whether the server asked the client for something while it ran.
    """

    number: int
    tool: str
    arguments: JsonValue
    response: Response | None
    cancelled: bool = False
    asked: bool = False

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


def recorded_calls(interactions: Iterable[Interaction]) -> tuple[RecordedCall, ...]:
    """List the tool calls of a recording, in recorded order.

    Raises:
        PromotionError: If a call names no tool, or nests too deep to be read.
    """
    found: list[RecordedCall] = []
    for interaction in interactions:
        if not interaction.is_tool_call:
            continue
        place = _first_round(found, interaction)
        if place is None:
            found.append(_call(len(found) + 1, interaction))
        else:
            found[place] = _continued(found[place], interaction)
    return tuple(found)


def _first_round(found: list[RecordedCall], interaction: Interaction) -> int | None:
    """Find the call that a request goes on with; the newest, where its state names none."""
    linked = rounds(interaction.params)
    if linked.state is None and linked.responses is None:
        return None
    for place in range(len(found) - 1, -1, -1):
        call = found[place]
        if call.tool != interaction.tool_name or call.response is None:
            continue
        asked = rounds(call.response.text)
        if asked.asks_input and asked.state == linked.state:
            return place
    return None


def _call(number: int, interaction: Interaction) -> RecordedCall:
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
    )


def _unreadable(number: int, interaction: Interaction) -> PromotionError:
    return PromotionError(
        f"call {number}, of {interaction.server}, names no tool or nests too deep to be read",
        hint="leave that call out of what you record",
    )


def _continued(call: RecordedCall, interaction: Interaction) -> RecordedCall:
    return call._replace(
        response=interaction.response,
        cancelled=interaction.cancelled,
        asked=True,
    )
