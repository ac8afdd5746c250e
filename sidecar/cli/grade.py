"""`mcp-sidecar grade`: recomputes a summary from an event log; runs nothing."""

from __future__ import annotations

import sys

import click

from sidecar.cli.baselines import BaselineOptions, baseline_of, baseline_options
from sidecar.cli.options import json_option, places, places_options, shown_width
from sidecar.grading.differences import summary_differences
from sidecar.grading.grade import Grade, grade
from sidecar.report.grades import Notes, graded, oddities
from sidecar.report.text import escaped
from sidecar.store import suites
from sidecar.suite.documents import dump_document

summary_option = click.option("--summary", metavar="FILE", help="Write the summary there.")


@click.command("grade")
@click.argument("suite")
@click.argument("events")
@summary_option
@click.option(
    "--claimed", metavar="SUMMARY", help="Compare with the summary that another grader made."
)
@baseline_options
@json_option
@places_options
def command(  # noqa: PLR0913  # one parameter an option
    *,
    suite: str,
    events: str,
    summary: str | None,
    claimed: str | None,
    compared: BaselineOptions,
    as_json: bool,
    project: str | None,
    home: str | None,
) -> int:
    """Grade an event log, EVENTS, against the SUITE that was run; nothing is run.

    EVENTS is a file of run events, JSON Lines or one JSON array, as `run --events` and
    `runs export` write it, or as another host did (v1 or v2). Judgements are read from it,
    and nobody is asked again. Where the log says something else than is computed, that is
    told on standard error, and the computed is what counts.

    Exit codes: 0 passed; 1 measured, and failed; 2 not measured.
    """
    baseline = baseline_of(compared, places(project, home))
    said = None if claimed is None else suites.load_summary(claimed)
    found = grade(suites.load_suite(suite), suites.load_events(events), baseline=baseline)
    show_grade(found, as_json=as_json, summary=summary, baseline=compared.file)
    if said is not None and found.summary is not None:
        for difference in summary_differences(said, found.summary):
            click.echo(escaped(f"the claimed summary differs: {difference}"), err=True)
    return found.exit_code


def show_grade(
    found: Grade,
    *,
    as_json: bool,
    summary: str | None = None,
    notes: Notes | None = None,
    baseline: str | None = None,
) -> None:
    """Print a grade, and write its summary.

    With `as_json` the summary alone goes to standard output, and the words to standard
    error. What is odd about the log always goes there.

    Args:
        found: The grade.
        as_json: Whether its summary is printed.
        summary: The file that its summary is written to.
        notes: What else is known of its trials.
        baseline: The file that it was compared with, where that was none of the journal's runs.

    Raises:
        SuiteError: If the summary cannot be written.
    """
    click.echo(oddities(found), nl=False, err=True)
    width = shown_width() if not as_json else None
    words = graded(found, notes=notes, baseline=baseline, width=width)
    click.echo(words, nl=False, err=as_json)
    if found.summary is None:
        return
    if as_json:
        sys.stdout.write(dump_document(found.summary))
    if summary is not None:
        suites.save_summary(summary, found.summary)
