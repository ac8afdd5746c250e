"""`mcp-sidecar cassette`: shows, validates and saves cassettes."""

from __future__ import annotations

import click

from sidecar.cassette.interaction import Cassette
from sidecar.cli.options import (
    Places,
    places,
    places_options,
    present_journal,
    say,
    short_path,
    shown_width,
)
from sidecar.cli.sources import find_run, saved_cassette
from sidecar.errors import UsageError
from sidecar.report.interactions import COLUMNS, cells
from sidecar.report.tables import table
from sidecar.report.text import counted, escaped
from sidecar.store import cassettes, runs
from sidecar.store.journal import Journal

_FAILED = 1


@click.group("cassette")
def command() -> None:
    """Show, validate and save cassettes.

    C is a name, which means cassettes/NAME.jsonl in the project, or a path that ends in
    .jsonl. A cassette that was recorded and not saved yet is saved first.
    """


@command.command("show")
@click.argument("cassette", metavar="C")
@click.option("--whole", is_flag=True, help="Show arguments and answers whole.")
@places_options
def show(*, cassette: str, whole: bool, project: str | None, home: str | None) -> None:
    """Show what a cassette holds: requests and their answers, in order."""
    path, found = _loaded(cassette, places(project, home))
    click.echo(f"{escaped(short_path(path))}: {_summary(found)}")
    for name, server in found.servers.items():
        click.echo(f"  {escaped(name)}: {escaped(server.protocol) or 'never answered'}")
    if found.interactions:
        rows = [
            cells(number, item, whole=whole) for number, item in enumerate(found.interactions, 1)
        ]
        click.echo("\n" + table(COLUMNS, rows, width=shown_width()), nl=False)


@command.command("validate")
@click.argument("cassette", metavar="C")
@places_options
def validate(*, cassette: str, project: str | None, home: str | None) -> int:
    """Check a cassette: 0 if it is whole, 1 if the recording is not complete, 2 if it is broken."""
    path, found = _loaded(cassette, places(project, home))
    click.echo(f"{escaped(short_path(path))}: {_summary(found)}")
    unanswered = [
        f"{number} ({item.state})"
        for number, item in enumerate(found.interactions, 1)
        if item.response is None
    ]
    if unanswered:
        click.echo(f"without an answer: {', '.join(unanswered)}")
    return 0 if found.complete else _FAILED


@command.command("save")
@click.argument("run")
@click.option("--cassette", metavar="C", help="Where to; default where the run was to be saved.")
@click.option("--overwrite", is_flag=True, help="Replace the cassette of another run.")
@places_options
def save(
    *, run: str, cassette: str | None, overwrite: bool, project: str | None, home: str | None
) -> None:
    """Save a RUN of the journal as a cassette: an id, the beginning of one, or `last`."""
    where = places(project, home)
    with present_journal(where) as journal:
        run_id = find_run(journal, run)
        path = where.cassette(cassette) if cassette else _place_of(journal, run_id)
        saved = cassettes.save_run(journal, run_id, path, overwrite=overwrite, extend=False)
    if saved.refused:
        raise UsageError(saved.refused)
    say(f"run {run_id} is saved as {short_path(path)}")


def _place_of(journal: Journal, run_id: str) -> str:
    place = runs.one_run(journal, run_id).cassette
    if place is None:
        raise UsageError(
            f"run {run_id} was recorded without a cassette", hint="name one with --cassette"
        )
    return place


def _loaded(spec: str, where: Places) -> tuple[str, Cassette]:
    path = saved_cassette(where, spec)
    loaded = cassettes.load(path)
    for warning in loaded.warnings:
        say(warning)
    return path, loaded.cassette


def _summary(cassette: Cassette) -> str:
    calls = [item for item in cassette.interactions if item.is_tool_call]
    errors = sum(1 for item in calls if item.is_error)
    parts = [
        "complete" if cassette.complete else "not complete",
        f"run {escaped(cassette.run)}" if cassette.run else "of no run",
        counted(len(cassette.servers), "server"),
        counted(len(cassette.interactions), "interaction"),
        counted(len(calls), "call"),
        counted(errors, "error"),
    ]
    return ", ".join(parts)
