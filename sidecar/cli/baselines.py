"""Finds the summary that is meant: in a file, or of a run of the journal."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from typing import Final, NamedTuple, TypeVar, cast

import click

from sidecar.cli.options import FiniteRange, Places, present_journal
from sidecar.cli.sources import LAST, find_run
from sidecar.errors import UsageError
from sidecar.grading.regression import METHODS, Baseline, MethodName, RegressionOptions
from sidecar.store import runs, suites
from sidecar.store.journal import Journal
from sidecar.suite.documents import dump_document
from sidecar.suite.summary import EvalSummary

_SUFFIX: Final = ".json"
_ID_DIGITS = 32

_F = TypeVar("_F", bound=Callable[..., object])


class Evidence(NamedTuple):
    """The summary of an eval run, as far as there is one.

    Attributes:
        run_id: The run.
        summary: Its summary; None where it has none.
        is_over: Whether the run has ended by itself.
    """

    run_id: str
    summary: EvalSummary | None
    is_over: bool = True


class BaselineOptions(NamedTuple):
    """What the user said of a baseline.

    Attributes:
        spec: A summary's file or a run; None where there is no baseline.
        options: How the runs are compared.
    """

    spec: str | None
    options: RegressionOptions

    @property
    def file(self) -> str | None:
        """The summary's file, where it is one: a name that the user knows it by."""
        return self.spec if self.spec is not None and _is_file(self.spec) else None


def baseline_options(command: _F) -> _F:
    """Give a verb the options of a baseline; its function gets them as one value, `compared`."""

    @click.option(
        "--baseline", metavar="RUN|SUMMARY", help="Compare with this run, or this summary's file."
    )
    @click.option(
        "--method",
        type=click.Choice(METHODS),
        default=RegressionOptions().method,
        show_default=True,
        help="How the verdict is reached.",
    )
    @click.option(
        "--alpha",
        type=FiniteRange(0, 1, min_open=True, max_open=True),
        default=RegressionOptions().alpha,
        show_default=True,
        help="Significance level of the verdict.",
    )
    @wraps(command)
    def with_baseline(
        *, baseline: str | None, method: MethodName, alpha: float, **others: object
    ) -> object:
        compared = BaselineOptions(baseline, RegressionOptions(method, alpha))
        return command(compared=compared, **others)

    return cast("_F", with_baseline)


def baseline_of(said: BaselineOptions, where: Places) -> Baseline | None:
    """Find the baseline; None where none was named.

    Raises:
        SuiteError: If its file is no summary.
        UsageError: If there is no such run, or it has no summary.
    """
    if said.spec is None:
        return None
    found = evidence_of(said.spec, where)
    if found.summary is None or not found.is_over:
        lacks = "has no summary" if found.is_over else "did not end by itself: there is nothing"
        raise UsageError(
            f"the run {found.run_id} {lacks} to compare with",
            hint="name a run of `mcp-sidecar run` that ended, and in which something was measured",
        )
    return Baseline(found.summary, found.run_id, said.options)


def evidence_of(spec: str, where: Places) -> Evidence:
    """Find a summary.

    Args:
        spec: The file of a summary, or a run as `sources.find_run` takes it, except that
            `last` is the newest evaluation, and none of its trials.
        where: The home of the journal, which is looked into only if there is no such file.

    Raises:
        JournalError: If the journal cannot be read.
        SuiteError: If the file is no summary.
        UsageError: If there is neither such a file nor such a run.
    """
    if _is_file(spec):
        summary = suites.load_summary(spec)
        return Evidence(_id_of(summary), summary)
    try:
        journal = present_journal(where)
    except UsageError as error:
        raise UsageError(
            f"{spec!r} is no file, and no run: there is no journal",
            place=error.place,
            hint="name the file of a summary, or say with --home where the run was recorded",
        ) from None
    with journal:
        run_id = _last(journal) if spec == LAST else find_run(journal, spec)
        line = runs.one_run(journal, run_id)
        return Evidence(run_id, runs.summary_of(journal, run_id), line.state == "ended")


def _is_file(spec: str) -> bool:
    return spec.endswith(_SUFFIX) or os.path.isfile(spec)


def _last(journal: Journal) -> str:
    run_id = runs.last_evaluation(journal)
    if run_id is None:
        raise UsageError(
            "nothing was evaluated here yet", place=journal.path, hint="run a suite first"
        )
    return run_id


def _id_of(summary: EvalSummary) -> str:
    """Name a run of which only the summary is known: by what the summary says."""
    digest = sha256(dump_document(summary).encode()).hexdigest()
    return f"local/summary-{digest[:_ID_DIGITS]}"
