"""The surface: what servers show besides tool calls, and a suite's file of it.

It is a cassette without tool calls, shared by the tasks of a suite:
`run` answers `initialize`, `server/discover`, `tools/list` and the like from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from sidecar.cassette.arguments import canonical
from sidecar.cassette.interaction import Cassette, Interaction, Server
from sidecar.wire.json_text import NotJsonError, parse
from sidecar.wire.mcp import DISCOVER, INITIALIZE, LISTEN, PING, members_of

_Key: TypeAlias = tuple[str, str, str]

TOOLS_LIST = "tools/list"


class Merged(NamedTuple):
    """Two surfaces in one.

    Attributes:
        surface: The surface.
        differing: Requests that the two answer differently, `<server>: <method>` each.
    """

    surface: Cassette
    differing: tuple[str, ...]


def surface_of(cassette: Cassette) -> Cassette:
    """Take the surface out of a recording.

    What was asked several times and answered alike is kept once; where answers changed,
    they are kept in order. The run's id is not kept: a surface holds several runs'.
    """
    kept: dict[_Key, list[Interaction]] = {}
    for interaction in cassette.interactions:
        if not _is_surface(interaction):
            continue
        answers = kept.setdefault(_key(interaction), [])
        if not answers or answers[-1].response != interaction.response:
            answers.append(interaction._replace(session=0))  # several runs' sessions are none
    return Cassette(
        tuple(one for answers in kept.values() for one in answers), dict(cassette.servers)
    )


def merged(old: Cassette | None, new: Cassette, *, replaces: bool) -> Merged:
    """Merge a recording's surface into a suite's.

    Each request is answered by one of the two, never by both in turn.

    Args:
        old: The suite's surface; None if it has none yet.
        new: The recording's.
        replaces: Whether the recording's answer wins where they differ.
    """
    if old is None:
        return Merged(new, ())
    kept, added = _by_key(old), _by_key(new)
    differing = [
        key for key in added if key in kept and _answers(kept[key]) != _answers(added[key])
    ]
    if replaces:
        kept.update({key: added[key] for key in differing})
    for key, answers in added.items():
        kept.setdefault(key, answers)
    surface = old._replace(
        interactions=tuple(one for answers in kept.values() for one in answers),
        servers=_servers(old, new, replaces=replaces),
    )
    return Merged(surface, tuple(dict.fromkeys(f"{key[0]}: {key[1]}" for key in differing)))


def listed_tools(surface: Cassette, server: str) -> frozenset[str] | None:
    """List the tools that a server's recorded `tools/list` answers name; None without one."""
    found: set[str] | None = None
    for interaction in surface.interactions:
        if interaction.server != server or interaction.method != TOOLS_LIST:
            continue
        if interaction.response is None or interaction.response.member != "result":
            continue
        found = (found or set()) | set(_names(interaction.response.text))
    return None if found is None else frozenset(found)


def _names(result: str) -> Iterable[str]:
    tools = parse(members_of(result).get("tools", "[]"))
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            yield tool["name"]


def _is_surface(interaction: Interaction) -> bool:
    if interaction.is_tool_call or interaction.method == PING:
        return False
    return interaction.response is not None or interaction.method == LISTEN


def _by_key(surface: Cassette) -> dict[_Key, list[Interaction]]:
    found: dict[_Key, list[Interaction]] = {}
    for interaction in surface.interactions:
        found.setdefault(_key(interaction), []).append(interaction)
    return found


def _key(interaction: Interaction) -> _Key:
    """Give what the matcher compares a surface request by: not `_meta`, nor who asks."""
    params = interaction.params
    if params is None or interaction.method in (INITIALIZE, DISCOVER):
        return (interaction.server, interaction.method, "{}")
    try:
        value = parse(params)
    except NotJsonError:
        return (interaction.server, interaction.method, params)
    if isinstance(value, dict):
        value = {name: item for name, item in value.items() if name != "_meta"}
    return (interaction.server, interaction.method, canonical(value))


def _answers(interactions: Iterable[Interaction]) -> list[object]:
    return [one.response for one in interactions]


def _servers(old: Cassette, new: Cassette, *, replaces: bool) -> dict[str, Server]:
    servers = dict(old.servers)
    for name, server in new.servers.items():
        known = servers.get(name)
        if known is None or (server.protocol and (replaces or not known.protocol)):
            servers[name] = server
    return servers
