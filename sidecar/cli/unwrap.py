"""`mcp-sidecar unwrap`: takes servers of agents' MCP configs away from the sidecar again."""

from __future__ import annotations

import os

import click

from sidecar.agents.configs.discovery import server_of
from sidecar.agents.configs.document import Document
from sidecar.agents.configs.files import newest_backup
from sidecar.agents.configs.shapes import BY_HAND, DAMAGED
from sidecar.agents.configs.wrapping import Change, Key, Outcome, unwrap
from sidecar.cli.configs import NOT_DONE, Choice, choice_options, exit_code, planned, show, write
from sidecar.cli.options import say
from sidecar.store import folders


@click.command("unwrap")
@choice_options
def command(
    *,
    files: tuple[str, ...],
    choice: Choice,
    dry_run: bool,
) -> int:
    """Take the servers of agents' config FILEs away from the sidecar again.

    Each entry is brought back from itself; what else was changed in a file since it was
    wrapped stays. Where nothing was, the file is byte for byte what it was.
    """
    changes = planned(files, choice, _change)
    for number, change in enumerate(changes):
        if not dry_run:
            changes[number] = write(change, choice, _change)
        show(changes[number], dry_run=dry_run)
        _remark(changes[number], dry_run=dry_run)
    is_left = any(_is_left(one) for change in changes for one in change.outcomes)
    return NOT_DONE if is_left else exit_code(changes, choice)


def _is_left(outcome: Outcome) -> bool:
    """Whether an entry stays behind the sidecar, though it should not."""
    return outcome.state == "skipped" and outcome.reason != BY_HAND


def _change(document: Document, keys: set[Key]) -> Change:
    return unwrap(document, keys)


def _remark(change: Change, *, dry_run: bool) -> None:
    client = change.before.client
    states = {one.state for one in change.outcomes}
    if "unwrapped" in states and not dry_run:
        say(f"next, in {client.title}: {client.then}")
    elif states <= {"unchanged"}:
        say("nothing in it is wrapped")
    for one in change.outcomes:
        if one.reason == DAMAGED:
            backup = _backup(change)
            way = f"its file as it was is {backup}" if backup else "no backup of it was found"
            say(f"{one.entry.name} cannot be brought back: {way}; write its own command again")


def _backup(change: Change) -> str | None:
    """Find the newest backup: in the home of a server of the file, or that of its project."""
    document = change.before
    servers = (server_of(document, entry) for entry in document.entries)
    told = [one.target.home for one in servers if one.target]
    cwd = os.getcwd()
    folders_of = (folders.project_folder(document.path, cwd), cwd)
    homes = dict.fromkeys([*told, *(folders.home(os.environ, None, one) for one in folders_of)])
    found = (newest_backup(home, document.path) for home in homes)
    return next((path for path in found if path is not None), None)
