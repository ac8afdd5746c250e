"""`mcp-sidecar clients`: finds the MCP configs of agents, and who was ever behind the sidecar."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

import click

from sidecar.agents.configs.discovery import Found, Server, find, overriding
from sidecar.agents.configs.locations import Machine
from sidecar.cli.options import json_option, project_option, say, shown_width
from sidecar.errors import SidecarError, UsageError
from sidecar.report import clients as report
from sidecar.report.clients import Seen
from sidecar.store.connected import last_connected


@click.command("clients")
@json_option
@project_option
def command(*, as_json: bool, project: str | None) -> None:
    """List the MCP configs of agents that are on this machine, and their servers.

    `overridden` is a server in whose place the client uses that of another config. A wrapped
    server that never connected is one that its client does not use: look whether it was
    restarted, and whether its server is overridden.
    """
    folder = os.path.abspath(project or "")
    if not os.path.isdir(folder):
        raise UsageError("the project folder is no folder", place=folder, hint="check --project")
    found = list(find(Machine.here(folder)))
    seen = _seen(found, overriding(found, os.path.realpath(folder)))
    if as_json:
        click.echo(json.dumps([report.as_json(one, seen[one.path]) for one in found], indent=2))
        return
    rows = [row for one in found for row in seen[one.path]]
    if rows:
        click.echo(report.listed(rows, width=shown_width()), nl=False)
    for one in found:
        if one.problem:
            say(one.problem)
    if not found:
        say("no MCP config of a known client was found")
    _warn(rows)


def _seen(
    found: Sequence[Found], instead: Mapping[tuple[str, Server], str]
) -> dict[str, list[Seen]]:
    """What is known of each config's servers."""
    servers = [server for one in found for server in one.servers]
    homes = dict.fromkeys(server.target.home for server in servers if server.target)
    last = {home: _last(home) for home in homes}  # many servers have one journal

    def seen(one: Found, server: Server) -> Seen:
        target, known = server.target, None
        if target is not None:
            known = last[target.home].get((server.name, target.entry))
        return Seen(one, server, known, instead.get((one.path, server)))

    return {one.path: [seen(one, server) for server in one.servers] for one in found}


def _last(home: str) -> dict[tuple[str, str], str]:
    try:
        return last_connected(home)
    except SidecarError as error:
        say(str(error))
        return {}


def _warn(rows: list[Seen]) -> None:
    for row in rows:
        if row.server.target is None or row.last is not None:
            continue
        why = f"restart {row.found.title}, and look whether it uses this config"
        if row.overridden is not None:
            why = f"{row.found.title} uses the one of {row.overridden}"
        say(f"the wrapped server {row.server.name!r} never connected: {why}")
