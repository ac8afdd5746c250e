"""Rubric tasks over real replays: the RFC's own numbers, from `run` and again from `grade`."""

import json
import shlex
import sys
from typing import Any

import pytest

from tests.end_to_end.conftest import AGENTS, Project
from tests.end_to_end.test_promote_and_run import (
    ANSWERS,
    LOOKUP,
    OBEDIENT,
    REFUND,
    REFUND_ALL,
    SUPPORT,
)
from tests.servers.judge_server import JudgeServer, judged

JUDGE = shlex.join([sys.executable, str(AGENTS / "word_judge.py")])
SUITE = {"suiteId": "tests.evals.rfc", "version": "1.0.0", "modes": ["rubric"]}
RUBRIC = {
    "kind": "rubric",
    "rubric": [
        {"criterion": "refunded", "weight": 0.6},
        {"criterion": "politely", "weight": 0.3},
        {"criterion": "briefly", "weight": 0.1},
    ],
}
WELL, WORSE = "refunded, politely", "refunded"  # 0.9 and 0.6
GOOD, BAD = [LOOKUP, REFUND], [LOOKUP, REFUND_ALL, REFUND]


def a_task(task_id: str, *trials: tuple[list[Any], str], **more: Any) -> dict[str, Any]:
    """A task whose input says what the agent does, and says, at each attempt."""
    attempts = [{"calls": calls, "say": said} for calls, said in trials]
    found = {"taskId": task_id, "input": {"trials": attempts}}
    fixtures = {"toolResponses": ANSWERS, "onMiss": "fail"}
    return {**found, "expected": {**RUBRIC, "trajectory": SUPPORT}, "fixtures": fixtures, **more}


def run(project: Project, *tasks: dict[str, Any], code: int, **more: Any) -> dict[str, Any]:
    """Run a suite of these tasks with the judge; return its summary, which `grade` gives too."""
    words = more.pop("judge", ("--judge", JUDGE))
    text = json.dumps({**SUITE, **more, "tasks": tasks})
    (project.folder / "rfc.json").write_text(text, encoding="utf-8")
    told = project.tell(
        *("run", "rfc.json", "--agent", OBEDIENT, *words, "--json", "--events", "events.jsonl"),
        code=code,
    )
    again = project.tell("grade", "rfc.json", "events.jsonl", "--json", code=code)
    assert again.stdout == told.stdout
    assert b"the log" not in again.stderr
    summary: dict[str, Any] = json.loads(told.stdout)
    return summary


def scored(project: Project) -> list[dict[str, Any]]:
    lines = (project.folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [event["payload"] for event in found if event["type"] == "eval.scored"]


def test_rfc_0246_three_good_answers_on_a_forbidden_path_do_not_pass(project: Project) -> None:
    summary = run(
        project,
        a_task("refund", (BAD, WELL)),
        thresholds={"passScore": 0.7},
        trials={"count": 3, "passRule": "mean"},
        code=1,
    )

    (task,) = summary["tasks"]
    assert task["trials"] == {
        "n": 3,
        "passedCount": 0,
        "meanScore": 0.9,
        "passAtK": 0,
        "passHatK": 0,
    }
    assert (task["score"], task["gatedScore"], task["passed"]) == (0.9, 0, False)
    assert [(one["score"], one["passed"]) for one in scored(project)] == [(0.9, False)] * 3


def test_rfc_0246_the_suite_is_held_to_the_gated_aggregate(project: Project) -> None:
    summary = run(
        project,
        a_task("right-path", (GOOD, WELL)),
        a_task("wrong-path", (BAD, WELL)),
        thresholds={"passScore": 0.7},
        code=1,
    )

    assert [(one["score"], one["gatedScore"]) for one in summary["tasks"]] == [(0.9, 0.9), (0.9, 0)]
    assert (summary["aggregateScore"], summary["gatedAggregateScore"]) == (0.9, 0.45)
    assert summary["passed"] is False


def test_rfc_0246_without_a_path_neither_new_field_is_there(project: Project) -> None:
    summary = run(
        project,
        a_task("refund", (BAD, WELL), expected=RUBRIC),
        thresholds={"passScore": 0.7},
        code=0,
    )

    assert (summary["aggregateScore"], summary["passed"]) == (0.9, True)
    assert "gatedAggregateScore" not in summary
    assert "gatedScore" not in summary["tasks"][0]


def test_a_mean_of_gating_scores_at_the_bar_passes(project: Project) -> None:
    summary = run(
        project,
        a_task("refund", (GOOD, WELL), (BAD, WELL), (GOOD, WORSE)),
        thresholds={"passScore": 0.5},
        trials={"count": 3, "passRule": "mean"},
        code=0,
    )

    (task,) = summary["tasks"]
    assert (task["score"], task["gatedScore"], task["passed"]) == (0.8, 0.5, True)


def test_a_judge_behind_http_is_asked_once_a_trial_and_never_by_grade(project: Project) -> None:
    with JudgeServer(judged([True, True, False]), judged([True, False, False])) as server:
        summary = run(
            project,
            a_task("refund", (GOOD, WELL)),
            judge=("--judge-url", server.url, "--judge-model", "judge-1", "--judge-key-env", ""),
            thresholds={"passScore": 0.7},
            trials={"count": 2, "passRule": "any"},
            code=0,
        )

    assert len(server.asked) == 2
    assert [one["score"] for one in scored(project)] == [0.9, 0.6]
    (task,) = summary["tasks"]
    assert (task["score"], task["passed"], task["efficiency"]) == (0.75, True, {"toolCallCount": 2})


@pytest.mark.parametrize("verdict", ["regressed", "unchanged"])
def test_a_run_is_held_against_a_baseline_and_the_gate_reads_the_verdict(
    project: Project, verdict: str
) -> None:
    good = [a_task(f"t{number}", (GOOD, WELL)) for number in range(6)]
    now = [a_task(f"t{number}", (BAD, WELL)) for number in range(6)]
    bar = {"passScore": 0}
    run(project, *good, thresholds=bar, code=0)
    project.tell("grade", "rfc.json", "events.jsonl", "--summary", "before.json")
    # Another input is another task for the agent, and the same one for the suite.
    run(project, *(now if verdict == "regressed" else good), thresholds=bar, code=0)

    words = ("--baseline", "before.json", "--summary", "now.json")
    told = project.tell("grade", "rfc.json", "events.jsonl", *words)
    denied = 1 if verdict == "regressed" else 0
    gate = project.tell("gate", "now.json", "--forbid-regression", code=denied)

    summary = json.loads((project.folder / "now.json").read_text(encoding="utf-8"))
    assert summary["regression"]["verdict"] == verdict
    assert summary["regression"]["method"] == "sign-test-gated"
    assert summary["regression"]["scoreDelta"] == 0
    assert verdict in told.stdout.decode()
    assert gate.stdout.startswith(b"DENIED: " if denied else b"ALLOWED: ")
