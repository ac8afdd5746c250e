"""Which summary is meant: a file's or a run's."""

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from sidecar.cli.baselines import (
    BaselineOptions,
    Evidence,
    baseline_of,
    baseline_options,
    evidence_of,
)
from sidecar.cli.options import Places
from sidecar.errors import SuiteError, UsageError
from sidecar.grading.regression import Baseline, RegressionOptions
from sidecar.store import runs, suites
from sidecar.store.journal import Journal
from sidecar.suite.documents import summary_from_json
from tests import eval_data

RUN = "local/01ARZ3NDEKTSV4RRFFQ69G5FAV"
SUMMARY = summary_from_json(eval_data.summary({"taskId": "a", "score": 1}))
OTHER = summary_from_json(eval_data.summary({"taskId": "a", "score": 0}))


@pytest.fixture
def where(tmp_path: Path) -> Places:
    return Places(str(tmp_path), str(tmp_path / ".sidecar"))


def recorded(where: Places, *, state: str = "ended", has_summary: bool = True) -> None:
    journal = Journal.open(where.journal)
    journal.start_run(RUN, mode="eval")
    if has_summary:
        runs.save_summary(journal, RUN, SUMMARY)
    journal.finish_run(RUN, state=state)
    journal.close()


@pytest.mark.parametrize("spec", [RUN, "01ARZ", "last"])
def test_a_run_of_the_journal_is_found_as_elsewhere(where: Places, spec: str) -> None:
    recorded(where)

    assert evidence_of(spec, where) == Evidence(RUN, SUMMARY, is_over=True)


def test_last_is_the_newest_evaluation_and_none_of_its_trials(where: Places) -> None:
    recorded(where)
    journal = Journal.open(where.journal)
    for number, mode in enumerate(("replay", "record")):
        journal.start_run(f"{RUN[:-1]}{number}", mode=mode, eval_run_id=RUN)
    journal.close()

    assert evidence_of("last", where).run_id == RUN


def test_where_nothing_was_evaluated_last_is_nothing(where: Places) -> None:
    Journal.open(where.journal).close()

    with pytest.raises(UsageError, match="nothing was evaluated here yet"):
        evidence_of("last", where)


@pytest.mark.parametrize("state", ["failed", "interrupted"])
def test_a_run_that_did_not_end_by_itself_is_not_over(where: Places, state: str) -> None:
    recorded(where, state=state, has_summary=False)

    assert evidence_of(RUN, where) == Evidence(RUN, None, is_over=False)


def test_a_file_is_named_by_what_it_says_wherever_it_lies(where: Places, tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("a.json", "b.json", "c")]
    for path, summary in zip(paths, (SUMMARY, SUMMARY, OTHER), strict=True):
        suites.save_summary(path, summary)

    one, same, other = (evidence_of(path, where) for path in paths)

    assert (one.summary, one.is_over) == (SUMMARY, True)
    assert one.run_id == same.run_id == "local/summary-941a8a027eeaaabc43d57d29be4ec9fa"
    assert other.run_id != one.run_id
    assert not Path(where.home).exists()


@pytest.mark.parametrize(
    ("spec", "error", "problem"),
    [
        ("missing.json", SuiteError, "the file cannot be read"),
        ("nothing", UsageError, "'nothing' is no file, and no run: there is no journal"),
    ],
)
def test_what_is_neither_is_refused(
    where: Places, spec: str, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        evidence_of(spec, where)


def test_a_run_that_the_journal_has_not_is_refused(where: Places) -> None:
    recorded(where)

    with pytest.raises(UsageError, match="there is no run 'nothing'"):
        evidence_of("nothing", where)


def said(*words: str) -> BaselineOptions:
    """What the options come to."""
    found: list[BaselineOptions] = []

    @click.command()
    @baseline_options
    def verb(*, compared: BaselineOptions) -> None:
        found.append(compared)

    done = CliRunner().invoke(verb, words)
    assert done.exit_code == 0, done.output
    return found[0]


def test_a_verb_gets_the_options_as_one_value() -> None:
    assert said() == BaselineOptions(None, RegressionOptions("sign-test", 0.05))
    words = ("--baseline", "x", "--method", "paired-bootstrap", "--alpha", "0.1")
    assert said(*words) == BaselineOptions("x", RegressionOptions("paired-bootstrap", 0.1))


@pytest.mark.parametrize("alpha", ["0", "1", "nan", "-1", "much"])
def test_a_level_that_is_none_is_refused(alpha: str) -> None:
    with pytest.raises(AssertionError, match="alpha"):
        said("--alpha", alpha)


def test_a_baseline_is_found_with_how_to_compare(where: Places) -> None:
    recorded(where)
    options = said("--baseline", "last", "--alpha", "0.1")

    assert baseline_of(options, where) == Baseline(SUMMARY, RUN, options.options)
    assert baseline_of(said(), where) is None


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        pytest.param({"has_summary": False}, "has no summary to compare with", id="no summary"),
        pytest.param({"state": "interrupted"}, "did not end by itself", id="interrupted"),
    ],
)
def test_a_run_that_measured_nothing_whole_is_no_baseline(
    where: Places, more: Any, problem: str
) -> None:
    recorded(where, **more)

    with pytest.raises(UsageError, match=f"the run {RUN} {problem}"):
        baseline_of(said("--baseline", RUN), where)
