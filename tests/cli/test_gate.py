"""`mcp-sidecar gate`: allow or deny, closed unless all speaks for opening."""

import json
from pathlib import Path
from typing import Any

import pytest

from sidecar.cli.options import places
from sidecar.store import runs
from sidecar.store.journal import Journal
from sidecar.suite.documents import summary_from_json
from tests import eval_data
from tests.cli.conftest import Project

RUN = "local/01ARZ3NDEKTSV4RRFFQ69G5FAV"
REGRESSION = {"baselineRunId": RUN, "scoreDelta": -0.5, "method": "sign-test"}


def write(**more: Any) -> None:
    value = eval_data.summary({"taskId": "a", "score": 1}, **more)
    Path("summary.json").write_text(json.dumps(value), encoding="utf-8")


def test_a_summary_that_passed_is_allowed(project: Project) -> None:
    write()

    told = project.tell("gate", "summary.json")

    assert told == (0, "ALLOWED: the eval passed its bars\n", "")


@pytest.mark.parametrize(
    ("more", "words", "said"),
    [
        pytest.param({"passed": False}, [], "DENIED: the eval did not pass", id="not passed"),
        pytest.param(
            {"aggregateScore": 0.9, "gatedAggregateScore": 0.45, "passed": False},
            ["--required-pass-score", "0.7"],
            "DENIED: the eval did not pass; the gated aggregate is 0.45, the gate asks for 0.7",
            id="it reads the gated aggregate",
        ),
        pytest.param(
            {},
            ["--forbid-regression"],
            "DENIED: the gate forbids a regression, and there is no verdict",
            id="no verdict",
        ),
        pytest.param(
            {"regression": {**REGRESSION, "verdict": "regressed"}},
            ["--forbid-regression"],
            "DENIED: the run regressed against its baseline",
            id="regressed",
        ),
        pytest.param(
            {"taskCount": 2},
            [],
            "DENIED: 1 of 2 tasks were measured",
            id="not measured whole",
        ),
    ],
)
def test_anything_else_is_denied_with_every_reason(
    project: Project, more: dict[str, Any], words: list[str], said: str
) -> None:
    write(**more)

    assert project.tell("gate", "summary.json", *words) == (1, f"{said}\n", "")


def test_a_verdict_that_is_not_regressed_is_allowed(project: Project) -> None:
    write(regression={**REGRESSION, "verdict": "inconclusive"})

    told = project.tell("gate", "summary.json", "--forbid-regression", "--required-pass-score", "1")

    assert told.code == 0


def test_the_decision_is_json_with_json(project: Project) -> None:
    write(passed=False)

    told = project.tell("gate", "summary.json", "--json")

    assert told.code == 1
    assert json.loads(told.out) == {
        "allowed": False,
        "reasons": [{"code": "not-passed", "message": "the eval did not pass"}],
    }


def test_a_run_of_the_journal_may_be_named_and_must_be_over(project: Project) -> None:
    journal = Journal.open(places(None, None).journal)
    journal.start_run(RUN, mode="eval")
    runs.save_summary(
        journal, RUN, summary_from_json(eval_data.summary({"taskId": "a", "score": 1}))
    )
    journal.finish_run(RUN, state="interrupted")

    stopped = project.tell("gate", "last")
    journal.finish_run(RUN, state="ended")
    ended = project.tell("gate", "last")
    journal.close()

    assert (stopped.code, stopped.out) == (1, "DENIED: the eval run has not ended\n")
    assert ended.code == 0


@pytest.mark.parametrize(
    ("text", "words", "problem"),
    [
        pytest.param(None, [], "the file cannot be read", id="not there"),
        pytest.param("{}", [], ": this is no EvalSummary: the key", id="no summary"),
        pytest.param("", [], ": this is no EvalSummary: no JSON", id="empty"),
        pytest.param(None, ["--required-pass-score", "nan"], "is no number", id="nan"),
        pytest.param(None, ["--required-pass-score", "1.5"], "not in the range", id="over 1"),
    ],
)
def test_what_cannot_be_read_opens_nothing(
    project: Project, text: str | None, words: list[str], problem: str
) -> None:
    if text is not None:
        Path("summary.json").write_text(text, encoding="utf-8")

    told = project.tell("gate", "summary.json", *words)

    assert (told.code, told.out) == (2, "")
    assert problem in told.err
