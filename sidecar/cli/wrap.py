"""`mcp-sidecar wrap`: puts the servers of agents' MCP configs behind the sidecar, in place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import click

from sidecar.agents.config import sidecar_command
from sidecar.agents.configs.discovery import find, is_remote
from sidecar.agents.configs.document import Document, Entry
from sidecar.agents.configs.files import keep_backup
from sidecar.agents.configs.locations import Machine
from sidecar.agents.configs.marks import Target
from sidecar.agents.configs.wrapping import Change, Plan, wrap
from sidecar.cli.configs import Choice, choice_options, exit_code, planned, show, write
from sidecar.cli.options import places_options, say, short_path
from sidecar.errors import UsageError
from sidecar.proxy.options import MODES, Mode
from sidecar.store import folders

_CACHE = ".cache"  # where `uvx` and the like keep what they run once


class _Wanted(NamedTuple):
    """What the options say."""

    mode: Mode
    cassette: str | None
    serve: str | None
    project: str | None
    home: str | None

    def places(self, document: Document, entry: Entry | None = None) -> tuple[str, str]:
        """The project folder and the sidecar's home for an entry, absolute."""
        project = self.project or folders.project_folder(document.path, os.getcwd())
        if self.project is None and entry is not None and entry.project is not None:
            project = os.path.abspath(entry.project)
        return project, folders.home(os.environ, self.home, project)

    def change(self, document: Document, names: set[str]) -> Change:
        """Make the change of a config."""

        def target(entry: Entry) -> Target:
            project, home = self.places(document, entry)
            spec = self.cassette
            cassette = None if spec is None else folders.cassette_path(spec, project)
            return Target(self.mode, cassette, home, project)

        return wrap(document, Plan(target, sidecar_command(), self.serve), names)


@click.command("wrap")
@choice_options
@click.option(
    "--mode",
    type=click.Choice(list(MODES)),
    default="record",
    show_default=True,
    help="What is done with the traffic.",
)
@click.option(
    "--cassette",
    metavar="C",
    help="A name, or a path that ends in .jsonl; without it only the journal is written.",
)
@click.option(
    "--via-serve",
    "serve",
    metavar="URL",
    help="Lead servers that have a URL to `mcp-sidecar serve` at this one.",
)
@places_options
def command(  # noqa: PLR0913  # one parameter an option
    *,
    files: tuple[str, ...],
    only: tuple[str, ...],
    excepted: tuple[str, ...],
    client: str | None,
    dry_run: bool,
    mode: Mode,
    cassette: str | None,
    serve: str | None,
    project: str | None,
    home: str | None,
) -> int:
    """Put the MCP servers of agents' config FILEs behind the sidecar.

    For example: mcp-sidecar wrap .mcp.json --cassette checkout

    Only the command and arguments of an entry change, or its URL; all else stays as it is
    written. Wrapping again changes mode and cassette. `mcp-sidecar unwrap` takes it back,
    and `mcp-sidecar clients` lists the configs that are here.
    """
    wanted = _wanted(mode, cassette, serve, project, home)
    choice = Choice(only, excepted, client)
    changes = planned(files, choice, wanted.change)
    for number, change in enumerate(changes):
        if not dry_run:
            changes[number] = _written(change, choice, wanted)
        show(changes[number], dry_run=dry_run)
        for line in _remarks(changes[number], wanted, dry_run=dry_run):
            say(line)
    return exit_code(changes, choice)


def _wanted(
    mode: Mode, cassette: str | None, serve: str | None, project: str | None, home: str | None
) -> _Wanted:
    if mode in ("replay", "auto") and cassette is None:
        raise UsageError(f"mode {mode} needs --cassette", hint="name the cassette to replay")
    if project is not None and not os.path.isdir(project):
        raise UsageError("the project folder is no folder", place=project, hint="check --project")
    if serve is not None and (urlsplit(serve).scheme not in ("http", "https") or "#" in serve):
        raise UsageError(
            f"--via-serve needs a URL, not {serve!r}",
            hint="give the one that `mcp-sidecar serve` shows, such as http://127.0.0.1:8765",
        )
    return _Wanted(mode, cassette, serve, project and os.path.abspath(project), home)


def _written(change: Change, choice: Choice, wanted: _Wanted) -> Change:
    if any(one.state == "wrapped" for one in change.outcomes):
        # What was wrapped before can be read from the entries; what was not, is kept.
        _, home = wanted.places(change.before)
        keep_backup(home, change.before.path, change.before.data)
    return write(change, choice, wanted.change)


def _remarks(change: Change, wanted: _Wanted, *, dry_run: bool) -> Iterator[str]:
    """What the user should know besides what was changed (E08, E09)."""
    document = change.before
    done = [one for one in change.outcomes if one.state != "skipped"]
    if not done:
        yield "nothing was wrapped"
        return
    for home in dict.fromkeys(one.target.home for one in done if one.target):
        yield f"recordings go to {short_path(folders.journal_path(home))}"
    yield from _remarks_on_cassettes(change, wanted.mode)
    if _CACHE in Path(sidecar_command()[0]).parts:
        yield f"{sidecar_command()[0]} is in a cache: install mcp-sidecar, or it may vanish"
    if not dry_run and any(one.state in ("wrapped", "changed") for one in done):
        yield f"next, in {document.client.title}: {document.client.then}"
    if document.location is not None and document.location.is_state:
        yield f"{document.client.title} rewrites this file as it runs: end it before you wrap"
    for name in document.unread:
        yield f"`{name}` is not what {document.client.title} reads there; it stayed as it is"
    if wanted.serve is None:
        yield from _remarks_on_logins(change)
    yield from _other_places(change)


def _remarks_on_cassettes(change: Change, mode: Mode) -> Iterator[str]:
    """Say of a cassette that is there, or is not, what will become of it."""
    targets = [one.target for one in change.outcomes if one.target]
    for cassette in dict.fromkeys(target.cassette for target in targets if target.cassette):
        is_there = os.path.lexists(cassette)
        if mode == "record" and is_there:
            yield (
                f"{short_path(cassette)} is there already, and another run stays in the journal: "
                "`mcp-sidecar cassette save` puts it in its place"
            )
        if mode == "replay" and not is_there:
            yield f"{short_path(cassette)} is not there yet: record it first"


def _remarks_on_logins(change: Change) -> Iterator[str]:
    """Name the servers that may ask for a login: with a URL, and no header (E10)."""
    names = [
        one.entry.name
        for one in change.outcomes
        if one.state == "wrapped" and is_remote(change.before, one.entry, with_headers=False)
    ]
    if names:
        yield f"{', '.join(names)} may ask for a login (OAuth): if so, unwrap it, none is passed on"


def _other_places(change: Change) -> Iterator[str]:
    """Name the client's other configs that have a server of the same name (E09)."""
    document = change.before
    names = {one.entry.name for one in change.outcomes if one.state != "skipped"}
    for found in find(Machine.here(folders.project_folder(document.path, os.getcwd()))):
        is_same = os.path.realpath(found.path) == os.path.realpath(document.path)
        if found.client != document.client.id or is_same:
            continue
        shared = [server.name for server in found.servers if server.name in names]
        if shared:
            yield (
                f"{document.client.title} also finds {', '.join(dict.fromkeys(shared))} in "
                f"{found.path}: `mcp-sidecar clients` shows which counts"
            )
