"""`mcp-sidecar clients`: finds the MCP configs of agents, and who was ever behind the sidecar."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence

import click

from sidecar.agents.configs.discovery import Found, Server, find, overriding
from sidecar.agents.configs.locations import Machine
from sidecar.agents.configs.marks import Target
from sidecar.cli.options import json_option, places, project_option, say, shown_width
from sidecar.cli.runs import not_saved
from sidecar.errors import SidecarError, UsageError
from sidecar.proxy.link import START_FAILED
from sidecar.report import clients as report
from sidecar.report.clients import Seen
from sidecar.store import runs
from sidecar.store.connected import Connected, last_connected
from sidecar.store.folders import journal_path
from sidecar.store.journal import Journal
from sidecar.store.unsaved import unsaved


@click.command("clients")
@json_option
@project_option
def command(*, as_json: bool, project: str | None) -> None:
    """List the MCP configs of agents that are on this machine, and their servers.

    `overridden` is a server in whose place the client uses that of another config. A wrapped
    server that never connected is one that its client does not use: look whether it was
    restarted, and whether its server is overridden. What connected later than the run that a
    cassette holds is in the journal alone, and is told of.
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
    _tell_unsaved(rows)


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


def _last(home: str) -> dict[tuple[str, str], Connected]:
    try:
        return last_connected(home)
    except SidecarError as error:
        say(str(error))
        return {}


def _warn(rows: list[Seen]) -> None:
    for row in rows:
        if row.server.target is None:
            continue
        if row.last is not None:
            if row.last.exit_code == START_FAILED:
                say(_unusable(row))
            continue
        why = f"restart {row.found.title}, and look whether it uses this config"
        if row.overridden is not None:
            why = f"{row.found.title} uses the one of {row.overridden}"
        say(f"the wrapped server {row.server.name!r} never connected: {why}")


def _unusable(row: Seen) -> str:
    what, check = "started", "its command"
    if row.server.how == "url":
        what, check = "reached", "its URL and its headers"
    return (
        f"the wrapped server {row.server.name!r} could not be {what} when it last connected: "
        f"check {check} in {row.found.path}"
    )


def _tell_unsaved(rows: Sequence[Seen]) -> None:
    """Say which sessions of wrapped servers are in no cassette, as `runs list` does."""
    here = places(None, None).home
    known: dict[str, dict[str, list[str]]] = {}  # many servers have one journal
    for target in dict.fromkeys(row.server.target for row in rows if row.last):
        if target is None or target.cassette is None:
            continue
        if target.home not in known:
            known[target.home] = _unsaved(target.home)
        run_ids = known[target.home].pop(target.cassette, None)
        if run_ids:
            options = "" if target.home == here else _options(target)
            say(not_saved(target.cassette, run_ids, options))


def _options(target: Target) -> str:
    return f" --project {shlex.quote(target.project)} --home {shlex.quote(target.home)}"


def _unsaved(home: str) -> dict[str, list[str]]:
    try:
        with Journal.open(journal_path(home)) as journal:
            return unsaved(journal, runs.list_runs(journal))
    except SidecarError as error:
        say(str(error))
        return {}
