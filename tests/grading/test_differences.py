"""What a log or a summary says, against what is computed."""

from fractions import Fraction

import pytest

from sidecar.grading.differences import (
    LogDifference,
    eval_differences,
    summary_differences,
    trial_differences,
)
from sidecar.grading.log_reading import LogFacts
from sidecar.grading.trial import TrialGrade
from sidecar.grading.usage import NO_USAGE
from sidecar.suite.documents import suite_from_json, summary_from_json
from sidecar.suite.payloads import EvalCompleted, EvalScored, EvalStarted
from tests.eval_data import Json, suite, summary, task

GRADE = TrialGrade(
    task_id="task", trial_index=1, score=Fraction(1, 3), passed=False, gating_score=Fraction(0)
)


@pytest.mark.parametrize(
    ("score", "passed", "said"),
    [
        pytest.param(1 / 3, False, [], id="agreed"),
        pytest.param(1 / 3 + 1e-10, False, [], id="agreed within 1e-9"),
        pytest.param(
            1,
            False,
            ["task task, trial 2: score is 1 there, computed 0.3333333333333333"],
            id="another score",
        ),
        pytest.param(
            1 / 3,
            True,
            ["task task, trial 2: passed is true there, computed false"],
            id="passed",
        ),
    ],
)
def test_a_trial_is_compared(score: float, said: list[str], *, passed: bool) -> None:
    scored = EvalScored(task_id="task", score=score, passed=passed)

    assert [str(one) for one in trial_differences(scored, GRADE)] == said


def test_an_unmeasured_trial_has_no_score_to_compare() -> None:
    unmeasured = TrialGrade(task_id="t", trial_index=0, score=None, passed=False, gating_score=None)
    scored = EvalScored(task_id="t", score=1, passed=False)

    assert list(trial_differences(scored, unmeasured)) == []


def facts(started: EvalStarted | None, completed: EvalCompleted | None) -> LogFacts:
    return LogFacts(started, completed, "agent", NO_USAGE, ())


def test_start_and_end_are_compared() -> None:
    made = suite_from_json(suite(task("a"), task("b"), trials={"count": 3}))
    computed = summary_from_json(
        summary({"taskId": "a", "score": 1}, {"taskId": "b", "score": 0}, passed=False)
    )
    started = EvalStarted(
        suite_id="s", suite_version="1", task_count=1, modes=("golden",), trial_count=2
    )
    completed = EvalCompleted(aggregate_score=0.6, passed=True, task_count=1, passed_count=2)

    found = list(eval_differences(facts(started, completed), made, computed))

    assert found == [
        LogDifference("eval.started", "taskCount", "1", "2"),
        LogDifference("eval.started", "trialCount", "2", "3"),
        LogDifference("eval.completed", "aggregateScore", "0.6", "0.5"),
        LogDifference("eval.completed", "passed", "true", "false"),
        LogDifference("eval.completed", "taskCount", "1", "2"),
        LogDifference("eval.completed", "passedCount", "2", "1"),
    ]


def test_what_agrees_or_is_not_there_is_no_difference() -> None:
    made = suite_from_json(suite())
    computed = summary_from_json(summary({"taskId": "task", "score": 1}))
    started = EvalStarted(suite_id="s", suite_version="1", task_count=1, modes=("golden",))
    completed = EvalCompleted(aggregate_score=1, passed=True, task_count=1, passed_count=1)

    assert list(eval_differences(facts(started, completed), made, computed)) == []
    assert list(eval_differences(facts(None, None), made, computed)) == []
    assert list(eval_differences(facts(started, completed), made, None)) == []


COUNTS = {
    "mode": "exact",
    "matched": True,
    "expectedCount": 1,
    "observedCount": 1,
    "matchedCount": 1,
    "forbiddenCount": 0,
}


def with_path(**more: Json) -> Json:
    return summary(
        {"taskId": "a", "score": 1, "trajectory": {**COUNTS, **more}, "gatedScore": 1},
        gatedAggregateScore=1,
    )


@pytest.mark.parametrize(
    ("said", "found"),
    [
        pytest.param(with_path(), [], id="the same"),
        pytest.param(
            with_path(matched=False),
            [("/tasks/0/trajectory", "matched", "false", "true")],
            id="a path that they say did not match",
        ),
        pytest.param(
            with_path(matchedCount=0),
            [("/tasks/0/trajectory", "matchedCount", "0", "1")],
            id="count",
        ),
        pytest.param(
            {**with_path(), "regression": {"baselineRunId": "local/" + "0" * 26, "scoreDelta": 0}},
            [],
            id="regression is no part of it",
        ),
        pytest.param(
            {**with_path(), "totalCostUsd": 1},
            [("/", "totalCostUsd", "1", "nothing")],
            id="one more",
        ),
        pytest.param(
            {key: item for key, item in with_path().items() if key != "gatedAggregateScore"},
            [("/", "gatedAggregateScore", "nothing", "1")],
            id="one less",
        ),
        pytest.param(
            {**with_path(), "aggregateScore": 1 - 1e-12},
            [],
            id="within 1e-9",
        ),
    ],
)
def test_summaries_are_compared_member_by_member(said: Json, found: list[tuple[str, ...]]) -> None:
    differences = summary_differences(summary_from_json(said), summary_from_json(with_path()))

    assert [tuple(one) for one in differences] == found


def test_summaries_of_other_tasks_differ_as_a_whole() -> None:
    one = summary_from_json(summary({"taskId": "a", "score": 1}))
    two = summary_from_json(summary({"taskId": "a", "score": 1}, {"taskId": "b", "score": 1}))

    assert [difference.field for difference in summary_differences(one, two)] == [
        "taskCount",
        "passedCount",
        "tasks",
    ]


BASELINE, OTHER = "local/" + "0" * 26, "local/" + "1" * 26


@pytest.mark.parametrize(
    ("regression", "said", "delta", "found"),
    [
        pytest.param({"baselineRunId": BASELINE, "scoreDelta": 0.5}, BASELINE, 0.5, [], id="same"),
        pytest.param(
            {"baselineRunId": BASELINE, "scoreDelta": 0.5},
            BASELINE,
            0.25,
            [LogDifference("eval.completed", "regressionVsBaseline", "0.25", "0.5")],
            id="another difference",
        ),
        pytest.param(
            {"baselineRunId": BASELINE, "scoreDelta": 0.5},
            OTHER,
            0.5,
            [LogDifference("eval.started", "baselineRunId", f'"{OTHER}"', f'"{BASELINE}"')],
            id="another baseline",
        ),
        pytest.param(
            {"baselineRunId": BASELINE, "scoreDelta": 0.5}, None, None, [], id="the log has none"
        ),
        pytest.param(None, BASELINE, 0.25, [], id="nothing to compare with"),
    ],
)
def test_r48_what_a_log_says_of_a_baseline_is_compared_where_there_is_one(
    regression: Json, said: str | None, delta: float | None, found: list[LogDifference]
) -> None:
    made = suite_from_json(suite())
    more = {"regression": regression} if regression else {}
    computed = summary_from_json(summary({"taskId": "task", "score": 1}, **more))
    started = EvalStarted(
        suite_id="s", suite_version="1", task_count=1, modes=("golden",), baseline_run_id=said
    )
    completed = EvalCompleted(
        aggregate_score=1, passed=True, task_count=1, passed_count=1, regression_vs_baseline=delta
    )

    assert list(eval_differences(facts(started, completed), made, computed)) == found


def test_a_block_that_only_one_of_the_two_has_is_one_difference() -> None:
    one = summary_from_json(summary({"taskId": "a", "score": 1}))
    stats = {"k": 2, "passAtK": 1, "passHatK": 1}
    two = summary_from_json(summary({"taskId": "a", "score": 1}, trialStats=stats))
    text = '{"k":2,"passAtK":1,"passHatK":1}'

    assert summary_differences(one, two) == (LogDifference("/", "trialStats", "nothing", text),)
    assert summary_differences(two, one) == (LogDifference("/", "trialStats", text, "nothing"),)


@pytest.mark.parametrize(
    ("said", "computed", "same"),
    [
        pytest.param(1e-9, 0, True, id="at the tolerance"),
        pytest.param(1.5e-9, 0, False, id="beyond it"),
        pytest.param(1000 + 5e-7, 1000, True, id="it grows with the value"),
        pytest.param(1000 + 5e-6, 1000, False, id="and no faster"),
    ],
)
def test_numbers_are_the_same_within_the_rfcs_tolerance(
    said: float, computed: float, *, same: bool
) -> None:
    left, right = (
        summary_from_json(summary({"taskId": "a", "score": 1}, totalCostUsd=cost))
        for cost in (said, computed)
    )

    assert (summary_differences(left, right) == ()) is same
