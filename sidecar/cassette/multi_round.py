"""Calls of several rounds (`input_required`, 2026-07-28): which call a round goes on with."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from sidecar.cassette.interaction import Interaction
from sidecar.wire.mcp import Rounds, read_tool_call, rounds
from sidecar.wire.typed import TypeAlias

_Link: TypeAlias = tuple[str, ...]


class RoundLinks:
    """Remembers the calls that asked for input, by what their next round will carry.

    That is the state that the server gave; where it gave none, the tool and arguments.
    """

    def __init__(self) -> None:
        self._asking: dict[_Link, deque[int]] = {}

    def call_of(self, params: str | None) -> int | None:
        """Find the call that a `tools/call` goes on with, and forget it.

        Args:
            params: The text of the request's params.

        Returns:
            The number of the call's first round; None if this is a first round.
        """
        linked = rounds(params)
        if linked.state is None and linked.responses is None:
            return None
        link = _link(linked, params)
        waiting = self._asking.get(link)
        if not waiting:
            return None
        call = waiting.popleft()
        if not waiting:
            del self._asking[link]
        return call

    def goes_on(self, params: str | None, result: str, call: int) -> bool:
        """Tell whether a result asks for another round, and remember the call if so.

        Args:
            params: The text of the request's params.
            result: The text of its result.
            call: The number of the call's first round.
        """
        asked = rounds(result)
        if asked.asks_input:
            self._asking.setdefault(_link(asked, params), deque()).append(call)
        return asked.asks_input


def rounds_by_call(interactions: Sequence[Interaction]) -> list[list[int]]:
    """List the tool calls of a recording, in order, each by the places of its rounds."""
    found: list[list[int]] = []
    links: defaultdict[str, RoundLinks] = defaultdict(RoundLinks)  # by server
    for place, interaction in enumerate(interactions):
        if not interaction.is_tool_call:
            continue
        call = links[interaction.server].call_of(interaction.params)
        if call is None:
            call = len(found)
            found.append([])
        found[call].append(place)
        if interaction.response is not None:
            links[interaction.server].goes_on(interaction.params, interaction.response.text, call)
    return found


def _link(linked: Rounds, params: str | None) -> _Link:
    if linked.state is not None:
        return (linked.state,)
    call = read_tool_call(params)
    return (call.name, call.arguments)
