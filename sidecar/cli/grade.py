"""`mcp-sidecar grade`: recomputes a summary from an event log; runs nothing."""

from __future__ import annotations

import sys

import click

from sidecar.cli.options import json_option, shown_width
from sidecar.grading.grade import Grade, grade
from sidecar.report.grades import Notes, exit_code, graded
from sidecar.store import suites
from sidecar.suite.documents import dump_document

summary_option = click.option("--summary", metavar="FILE", help="Write the summary there.")


@click.command("grade", short_help="Recompute a summary from an event log.")
@click.argument("suite")
@click.argument("events")
@summary_option
@json_option
def command(*, suite: str, events: str, summary: str | None, as_json: bool) -> int:
    """Grade an event log, EVENTS, against the SUITE that was run; nothing is run.

    EVENTS is a file of run events, JSON Lines or one JSON array, as `run --events` and
    `runs export` write it. Exit codes: 0 passed; 1 measured, and failed; 2 not measured.
    """
    found = grade(suites.load_suite(suite), suites.load_events(events))
    show_grade(found, as_json=as_json, summary=summary)
    return exit_code(found)


def show_grade(
    found: Grade, *, as_json: bool, summary: str | None = None, notes: Notes | None = None
) -> None:
    """Print a grade, and write its summary.

    With `as_json` the summary alone goes to standard output, and the words to standard
    error.

    Raises:
        SuiteError: If the summary cannot be written.
    """
    width = shown_width() if not as_json else None
    click.echo(graded(found, notes=notes, width=width), nl=False, err=as_json)
    if found.summary is None:
        return
    if as_json:
        sys.stdout.write(dump_document(found.summary))
    if summary is not None:
        suites.save_summary(summary, found.summary)
