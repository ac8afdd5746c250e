"""`mcp-sidecar unwrap`: takes servers of agents' MCP configs away from the sidecar again."""

from __future__ import annotations

import click

from sidecar.agents.configs.document import Document
from sidecar.agents.configs.wrapping import Change, unwrap
from sidecar.cli.configs import Choice, choice_options, exit_code, planned, show, write
from sidecar.cli.options import say


@click.command("unwrap")
@choice_options
def command(
    *,
    files: tuple[str, ...],
    only: tuple[str, ...],
    excepted: tuple[str, ...],
    client: str | None,
    dry_run: bool,
) -> int:
    """Take the servers of agents' config FILEs away from the sidecar again.

    Each entry is brought back from itself; what else was changed in a file since it was
    wrapped stays. Where nothing was, the file is byte for byte what it was.
    """
    choice = Choice(only, excepted, client)
    changes = planned(files, choice, _change)
    for number, change in enumerate(changes):
        if not dry_run:
            changes[number] = write(change, choice, _change)
        show(changes[number], dry_run=dry_run)
        _remark(changes[number], dry_run=dry_run)
    return exit_code(changes, choice)


def _change(document: Document, names: set[str]) -> Change:
    return unwrap(document, names)


def _remark(change: Change, *, dry_run: bool) -> None:
    client = change.before.client
    states = {one.state for one in change.outcomes}
    if "unwrapped" in states and not dry_run:
        say(f"next, in {client.title}: {client.then}")
    elif states <= {"unchanged"}:
        say("nothing in it is wrapped")
