"""`mcp-sidecar runs`: lists, shows and exports the runs of the journal."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence

import click

from sidecar.cassette.file_format import lines
from sidecar.cli.options import (
    Places,
    json_option,
    places,
    places_options,
    present_journal,
    say,
    short_path,
    shown_width,
)
from sidecar.cli.sources import find_run
from sidecar.errors import UsageError
from sidecar.report import runs as report
from sidecar.report.text import counted, escaped
from sidecar.store import atomic, cassettes, recorded, runs
from sidecar.store.journal import Journal
from sidecar.store.unsaved import unsaved


@click.group("runs")
def command() -> None:
    """List, show and export recorded runs.

    RUN is a run's id, the beginning of it that no other run has (`local/` may be left
    out), or `last` for the newest.
    """


@command.command("list")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the newest N.")
@json_option
@places_options
def list_(*, limit: int | None, as_json: bool, project: str | None, home: str | None) -> None:
    """List the runs, the newest first."""
    where = places(project, home)
    found: list[runs.RunLine] = []
    missing: dict[str, list[str]] = {}
    # Where nothing was recorded yet, there is simply nothing to list.
    _refuse_no_folder(where, is_named=home is not None)
    if os.path.lexists(where.journal):
        with present_journal(where) as journal:
            found = runs.list_runs(journal, limit=limit or -1)
            missing = unsaved(journal, found)
    if as_json:
        click.echo(json.dumps([report.as_json(run) for run in found], indent=2))
    elif found:
        click.echo(report.listed(found, width=shown_width()), nl=False)
        for cassette, run_ids in missing.items():
            say(not_saved(cassette, run_ids))
    else:
        click.echo(f"No run is recorded yet in {escaped(where.journal)}.", err=True)


def _refuse_no_folder(where: Places, *, is_named: bool) -> None:
    """Refuse a home that nothing can be in, or that is named and not there.

    Raises:
        UsageError: With the reason.
    """
    problem = ""
    if os.path.lexists(where.home):
        if not os.path.isdir(where.home):
            problem = "the sidecar's folder is no folder"
        elif not os.access(where.home, os.R_OK | os.X_OK):
            problem = "the sidecar's folder may not be read"
    elif is_named:
        problem = "there is no such folder"
    if problem:
        raise UsageError(problem, place=where.home, hint="check --home")


def not_saved(cassette: str, run_ids: Sequence[str], options: str = "") -> str:
    """Say which runs a cassette does not hold, and how the newest is saved.

    Args:
        cassette: Its file.
        run_ids: The runs, the newest first.
        options: Of `cassette save`, where the journal is another than that of this folder.
    """
    newest, *others = run_ids
    them = f"{newest} and {counted(len(others), 'older run')} are" if others else f"{newest} is"
    return (
        f"{them} not in {short_path(cassette)}, which holds another run: "
        f"`mcp-sidecar cassette save {newest} --cassette NAME{options}` saves it under another name"
    )


@command.command("show")
@click.argument("run")
@click.option("--whole", is_flag=True, help="Show arguments and answers whole.")
@json_option
@places_options
def show(*, run: str, whole: bool, as_json: bool, project: str | None, home: str | None) -> None:
    """Show a RUN: how it went, its requests and answers, and why requests missed."""
    with present_journal(places(project, home)) as journal:
        run_id = find_run(journal, run)
        line = runs.one_run(journal, run_id)
        seen = recorded.of_run(journal.connection, run_id)
    if as_json:
        click.echo(json.dumps(report.as_json(line, seen), indent=2))
    else:
        click.echo(report.shown(line, seen, whole=whole, width=shown_width()), nl=False)


@command.command("export")
@click.argument("run")
@click.option(
    "--format",
    "form",
    type=click.Choice(["events", "cassette"]),
    required=True,
    help="events: the event log, JSON Lines; cassette: as `cassette save` writes it.",
)
@click.option("-o", "--output", metavar="FILE", help="Where to; default standard output.")
@click.option("--overwrite", is_flag=True, help="Replace FILE if it is there.")
@places_options
def export(  # noqa: PLR0913  # one parameter an option
    *,
    run: str,
    form: str,
    output: str | None,
    overwrite: bool,
    project: str | None,
    home: str | None,
) -> None:
    """Export a RUN."""
    with present_journal(places(project, home)) as journal:
        run_id = find_run(journal, run)
        found = _exported(journal, run_id, form)
        if output is None:
            for text in found:
                click.echo(text, nl=False)
        else:
            _write(output, found, overwrite=overwrite)


def _exported(journal: Journal, run_id: str, form: str) -> Iterable[str]:
    if form == "cassette":
        return lines(cassettes.of_run(journal, run_id))
    return (f"{event}\n" for event in runs.events(journal, run_id))


def _write(output: str, texts: Iterable[str], *, overwrite: bool) -> None:
    if os.path.lexists(output) and not overwrite:
        raise UsageError("the file is there already", place=output, hint="--overwrite replaces it")
    try:
        atomic.write(output, (text.encode() for text in texts))
    except OSError as error:
        raise UsageError(
            f"the file cannot be written ({error.strerror})",
            place=output,
            hint="name a file in a folder that you may write",
        ) from None
