"""`mcp-sidecar wrap`: puts the servers of agents' MCP configs behind the sidecar, in place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click

from sidecar.agents.config import sidecar_command
from sidecar.agents.configs.discovery import find, is_remote
from sidecar.agents.configs.locations import Machine
from sidecar.agents.configs.wrapping import Change
from sidecar.cli.configs import Choice, choice_options, exit_code, planned, show, write
from sidecar.cli.options import home_option, say, short_path
from sidecar.cli.wrap_targets import Wanted, where_listed
from sidecar.errors import UsageError
from sidecar.proxy.addresses import checked_url
from sidecar.proxy.options import MODES, Mode
from sidecar.store import folders

_CACHE = ".cache"  # where `uvx` and the like keep what they run once


@click.command("wrap")
@choice_options
@click.option(
    "--mode",
    type=click.Choice(list(MODES)),
    help="What is done with the traffic; default record.",
)
@click.option(
    "--cassette",
    metavar="C",
    help="A name, or a path that ends in .jsonl; default none, only the journal is written.",
)
@click.option(
    "--via-serve",
    "serve",
    metavar="URL",
    help="Lead servers that have a URL to `mcp-sidecar serve` at this one.",
)
@click.option(
    "--project",
    metavar="DIR",
    help="Folder that cassettes/ and .sidecar/ are in; default the one that a project's config "
    "is of, for a user's own config the working directory.",
)
@home_option
def command(  # noqa: PLR0913  # one parameter an option
    *,
    files: tuple[str, ...],
    only: tuple[str, ...],
    excepted: tuple[str, ...],
    client: str | None,
    dry_run: bool,
    mode: Mode | None,
    cassette: str | None,
    serve: str | None,
    project: str | None,
    home: str | None,
) -> int:
    """Put the MCP servers of agents' config FILEs behind the sidecar.

    For example: mcp-sidecar wrap .mcp.json --cassette checkout

    Only the command and arguments of an entry change, or its URL; all else stays as it is
    written. Wrapping again changes what the options say, and keeps the rest as it was
    wrapped. `mcp-sidecar unwrap` takes it back, and `mcp-sidecar clients` lists the configs
    that are here.
    """
    wanted = _wanted(mode, cassette, serve, project, home)
    choice = Choice(only, excepted, client)
    changes = planned(files, choice, wanted.change)
    for number, change in enumerate(changes):
        if not dry_run:
            changes[number] = write(change, choice, wanted.change, keep=wanted.keep)
        show(changes[number], dry_run=dry_run)
        for line in _remarks(changes[number], wanted, dry_run=dry_run):
            say(line)
    return exit_code(changes, choice)


def _wanted(
    mode: Mode | None,
    cassette: str | None,
    serve: str | None,
    project: str | None,
    home: str | None,
) -> Wanted:
    if project is not None and not os.path.isdir(project):
        raise UsageError("the project folder is no folder", place=project, hint="check --project")
    if serve is not None and not _is_base(serve):
        raise UsageError(
            f"--via-serve needs a URL, not {serve!r}",
            hint="give the one that `mcp-sidecar serve` shows, such as http://127.0.0.1:8765",
        )
    return Wanted(mode, cassette, serve, project and os.path.abspath(project), home)


def _is_base(url: str) -> bool:
    try:
        return "#" not in checked_url(url)  # the fragment is for the server's own URL
    except UsageError:
        return False


def _remarks(change: Change, wanted: Wanted, *, dry_run: bool) -> Iterator[str]:
    """What the user should know besides what was changed (E08, E09)."""
    document = change.before
    done = [one for one in change.outcomes if one.state != "skipped"]
    if not done:
        yield "nothing was wrapped"
        return
    verb = "would go" if dry_run else "go"
    for home, target in {one.target.home: one.target for one in done if one.target}.items():
        journal = short_path(folders.journal_path(home))
        yield f"recordings {verb} to {journal}: `{where_listed(target)}` lists them"
    yield from _remarks_on_cassettes(change)
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
    yield from _other_places(change, wanted)


def _remarks_on_cassettes(change: Change) -> Iterator[str]:
    """Say of a cassette that is there already what will become of another run."""
    targets = [one.target for one in change.outcomes if one.target]
    recording = [target.cassette for target in targets if target.mode == "record"]
    for cassette in dict.fromkeys(recording):
        if cassette is not None and os.path.lexists(cassette):
            yield (
                f"{short_path(cassette)} is there already, and another run stays in the journal: "
                "`mcp-sidecar cassette save` puts it in its place, and `--mode auto` adds to it"
            )


def _remarks_on_logins(change: Change) -> Iterator[str]:
    """Name the servers that may ask for a login: with a URL, and no header (E10)."""
    names = [
        one.entry.name
        for one in change.outcomes
        if one.state == "wrapped" and is_remote(change.before, one.entry, with_headers=False)
    ]
    if names:
        yield f"{', '.join(names)} may ask for a login (OAuth): if so, unwrap it, none is passed on"


def _other_places(change: Change, wanted: Wanted) -> Iterator[str]:
    """Name the client's other configs that have a server of the same name (E09)."""
    document = change.before
    names = {one.entry.name for one in change.outcomes if one.state != "skipped"}
    for found in find(Machine.here(wanted.project_of(document))):
        is_same = os.path.realpath(found.path) == os.path.realpath(document.path)
        if found.client != document.client.id or is_same:
            continue
        shared = [server.name for server in found.servers if server.name in names]
        if shared:
            yield (
                f"{document.client.title} also finds {', '.join(dict.fromkeys(shared))} in "
                f"{found.path}: `mcp-sidecar clients` shows which counts"
            )
