"""A task's fixtures and the suite's surface become a cassette, which a replay proxy serves.

What a replay does of itself with a cassette is what RFC 0244 §D asks: the first entry that
matches and is not used up, each once (R36), a miss refused (R37). The form in which an
entry is served is R41's and R42's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sidecar.cassette.arguments import Absent
from sidecar.cassette.interaction import Cassette, Interaction, Response, Server
from sidecar.suite.model import AgentEvalSuite, FixtureEntry, Task
from sidecar.suite.surface import TOOLS_LIST
from sidecar.wire.json_text import JsonValue, Number, dump
from sidecar.wire.mcp import (
    DISCOVER,
    HANDSHAKE_VERSIONS,
    INITIALIZE,
    MODERN_VERSION,
    TOOLS_CALL,
)

_OPEN_SCHEMA: JsonValue = {"type": "object"}
_NO_SURFACE = Cassette((), {})


def compiled(suite: AgentEvalSuite, task: Task, surface: Cassette | None) -> Cassette:
    """Make the cassette that one trial of a task is served from.

    The task's entries come first, in their order, so that both have the same numbers; then
    the surface. A server without a recorded surface is offered with the tools that the suite
    names, each taking any object.

    Args:
        suite: The suite; all of its servers are offered in every task.
        task: The task.
        surface: The suite's surface file, if it has one.
    """
    shown = surface or _NO_SURFACE
    tools = tools_by_server(suite)
    servers = {**shown.servers, **{name: Server() for name in tools if name not in shown.servers}}
    modern = _modern_servers(shown)
    interactions = [
        *(_served(entry, modern) for entry in entries_of(task)),
        *shown.interactions,
        *_generated(shown, {name: tools.get(name, ()) for name in servers}, modern),
    ]
    return Cassette(tuple(interactions), servers)


def entries_of(task: Task) -> tuple[FixtureEntry, ...]:
    """List a task's fixture entries; empty where it has none."""
    return (task.fixtures and task.fixtures.tool_responses) or ()


def tools_by_server(suite: AgentEvalSuite) -> dict[str, tuple[str, ...]]:
    """List the tools that a suite names, by server, in the order of their appearance.

    Expected and forbidden tools count too: an agent that is not offered a forbidden tool
    would pass for want of a temptation. Names without a server name none.
    """
    found: dict[str, dict[str, None]] = {}
    for name in _named(suite):
        server, colon, tool = name.partition(":")
        if colon and server:
            found.setdefault(server, {})[tool] = None
    return {server: tuple(tools) for server, tools in found.items()}


def _named(suite: AgentEvalSuite) -> Iterator[str]:
    for task in suite.tasks:
        yield from (entry.tool for entry in entries_of(task))
        trajectory = task.expected.trajectory
        if trajectory is not None:
            yield from (call.tool for call in trajectory.calls)
            yield from trajectory.forbidden or ()


def _modern_servers(surface: Cassette) -> frozenset[str]:
    """Name the servers that were recorded as speaking 2026-07-28."""
    told = {name for name, server in surface.servers.items() if server.protocol == MODERN_VERSION}
    return frozenset(told | {name for name, method in _opened(surface) if method == DISCOVER})


def _opened(surface: Cassette) -> set[tuple[str, str]]:
    """List the openings that worked; a server of the older era refuses `server/discover`."""
    return {
        (one.server, one.method)
        for one in surface.interactions
        if one.method in (DISCOVER, INITIALIZE) and one.response and one.response.member == "result"
    }


def _generated(
    surface: Cassette, tools: dict[str, tuple[str, ...]], modern: frozenset[str]
) -> Iterator[Interaction]:
    """Make up what servers without a recorded surface answer to a client's opening."""
    opened = {server for server, _ in _opened(surface)}
    listed = {one.server for one in surface.interactions if one.method == TOOLS_LIST}
    for server, names in tools.items():
        if server not in opened:
            yield _answered(server, INITIALIZE, _initialized(server))
        if server not in listed:
            yield _answered(server, TOOLS_LIST, _listed(names, modern=server in modern))


def _answered(server: str, method: str, result: JsonValue) -> Interaction:
    return Interaction(server, method, None, Response("result", dump(result)))


def _initialized(server: str) -> JsonValue:
    return {
        "protocolVersion": HANDSHAKE_VERSIONS[-1],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": server, "version": "0"},
    }


def _listed(names: Iterable[str], *, modern: bool) -> JsonValue:
    tools = [{"name": name, "inputSchema": _OPEN_SCHEMA} for name in names]
    if not modern:
        return {"tools": tools}
    return {"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"}


def _served(entry: FixtureEntry, modern: frozenset[str]) -> Interaction:
    server, _, tool = entry.tool.partition(":")
    result = served_result(entry)
    if server in modern and "resultType" not in result:
        result = {"resultType": "complete", **result}
    arguments = entry.arguments
    params: dict[str, Any] = {"name": tool}
    if not isinstance(arguments, Absent):
        params["arguments"] = arguments
    return Interaction(
        server,
        TOOLS_CALL,
        dump(params),
        Response("result", dump(result)),
        entry.matching,
    )


def served_result(entry: FixtureEntry) -> dict[str, JsonValue]:
    """Give the CallToolResult that an entry is served as (R41, R42).

    A `response` that has a list `content` is the result's body; anything else is wrapped
    as one text block, and an object is the structured content too. Whether it is an error
    is the entry's to say: an `isError` in the response decides nothing.
    """
    response = entry.response
    if isinstance(response, dict) and isinstance(response.get("content"), list):
        result = dict(response)
    elif not entry.has("response"):
        result = {"content": []}
    else:
        result = {"content": [{"type": "text", "text": _text(response)}]}
        if isinstance(response, dict):
            result["structuredContent"] = response
    if entry.is_error or "isError" in result:
        result["isError"] = bool(entry.is_error)
    return result


def _text(response: JsonValue) -> str:
    if isinstance(response, str) and not isinstance(response, Number):
        return response
    return dump(response)
