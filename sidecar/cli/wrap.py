"""`mcp-sidecar wrap`: puts the servers of agents' MCP configs behind the sidecar, in place."""

from __future__ import annotations

import os

import click

from sidecar.cli.configs import Choice, choice_options, exit_code, planned, show, write
from sidecar.cli.options import home_option, say
from sidecar.cli.wrap_remarks import remarks
from sidecar.cli.wrap_targets import Wanted
from sidecar.errors import UsageError
from sidecar.proxy.addresses import checked_url
from sidecar.proxy.options import MODES, Mode


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
    choice: Choice,
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
    changes = planned(files, choice, wanted.change)
    said: set[str] = set()
    for number, change in enumerate(changes):
        if not dry_run:
            changes[number] = write(change, choice, wanted.change, keep=wanted.keep)
        show(changes[number], dry_run=dry_run)
        for line in remarks(changes[number], wanted, dry_run=dry_run):
            if line not in said:  # of another of the files
                say(line)
            said.add(line)
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
    if serve is not None:
        _refuse_no_base(serve)
    return Wanted(mode, cassette, serve, project and os.path.abspath(project), home)


def _refuse_no_base(url: str) -> None:
    """Refuse what servers' paths cannot follow; the fragment is for the server's own URL.

    Raises:
        UsageError: What it says does not tell a password.
    """
    try:
        if not set("?#") & set(checked_url(url)):
            return
        shown = repr(url)
    except UsageError:
        shown = "one with a user in it" if "@" in url else repr(url)
    raise UsageError(
        f"--via-serve needs a URL, not {shown}",
        hint="give the one that `mcp-sidecar serve` shows, such as http://127.0.0.1:8765",
    )
