"""A task over its trials: pass rules, statistics, what is reported and what is left out."""

from fractions import Fraction
from typing import Any

import pytest

from sidecar.grading.task import TaskGrade, TrialPlan, grade_task
from sidecar.grading.trajectory import TrajectoryVerdict
from sidecar.grading.trial import TrialGrade
from sidecar.grading.usage import Usage
from sidecar.suite.documents import suite_from_json
from sidecar.suite.model import PassRule
from sidecar.suite.model_base import wire_value
from sidecar.suite.summary import EvalTaskResult, TrajectoryCounts
from tests.eval_data import Json, call, golden, suite, task, trajectory
from tests.grading import told

PATH = golden(trajectory=trajectory("in-order", call("s:a")))


def trial(index: int, score: str | None = "1", **more: Any) -> TrialGrade:
    exact = None if score is None else Fraction(score)
    made = {"passed": score == "1", "gating_score": exact, **more}
    return TrialGrade(task_id="task", trial_index=index, score=exact, **made)


def grade(
    *trials: TrialGrade,
    expected: Json = None,
    rule: PassRule = "all",
    k: int | None = None,
    bar: str = "7/10",
    **more: Any,
) -> TaskGrade:
    serve = more.pop("fixtures_serve", True)
    count = more.pop("count", len(trials))
    (made,) = suite_from_json(suite(task(expected=expected, **more))).tasks
    return grade_task(made, trials, TrialPlan(count, k or count, rule, Fraction(bar), serve))


def result(*args: Any, **more: Any) -> EvalTaskResult:
    found = grade(*args, **more).result
    assert found is not None
    return found


def test_r21_the_rfcs_example_of_four_of_five() -> None:
    trials = [trial(at, "0" if at == 2 else "1") for at in range(5)]

    found = result(*trials, k=3)

    assert wire_value(found) == {
        "taskId": "task",
        "score": 0.8,
        "passed": False,
        "trials": {"n": 5, "passedCount": 4, "meanScore": 0.8, "passAtK": 1, "passHatK": 0.4},
        "efficiency": {"toolCallCount": 0},
    }


@pytest.mark.parametrize(
    ("rule", "scores", "passed"),
    [
        pytest.param("all", ["1", "1"], True, id="R22 all of all"),
        pytest.param("all", ["1", "0"], False, id="R22 all, one failed"),
        pytest.param("any", ["0", "1"], True, id="R22 any, one passed"),
        pytest.param("any", ["0", "0"], False, id="R22 any, none"),
        pytest.param("mean", ["1", "2/5"], True, id="R22 mean at the bar"),
        pytest.param("mean", ["1", "39/100"], False, id="R22 mean below it"),
        pytest.param("all", ["1"], True, id="R26 one trial, its verdict"),
        pytest.param("any", ["0"], False, id="R26 one trial, its verdict too"),
        pytest.param("mean", ["7/10"], True, id="R26 one trial under mean"),
    ],
)
def test_a_task_passes_by_its_rule(rule: PassRule, scores: list[str], *, passed: bool) -> None:
    trials = [trial(at, score) for at, score in enumerate(scores)]

    assert grade(*trials, rule=rule).passed is passed
    assert result(*trials, rule=rule).passed is passed


def test_g1_r22_mean_reads_the_gating_score() -> None:
    trials = [trial(at, "9/10", gating_score=Fraction(0)) for at in range(3)]

    found = result(*trials, rule="mean", expected=PATH)

    assert (found.score, found.gated_score, found.passed) == (0.9, 0, False)
    assert found.trials is not None
    assert wire_value(found.trials) == {
        "n": 3,
        "passedCount": 0,
        "meanScore": 0.9,
        "passAtK": 0,
        "passHatK": 0,
    }


def test_g6_r32_a_gating_mean_exactly_at_the_bar_passes() -> None:
    trials = [trial(0, "9/10"), trial(1, "9/10", gating_score=Fraction(0)), trial(2, "3/5")]

    found = result(*trials, rule="mean", bar="1/2", expected=PATH)

    assert (found.score, found.gated_score, found.passed) == (0.8, 0.5, True)


@pytest.mark.parametrize(
    ("expected", "gating", "gated"),
    [
        pytest.param(PATH, "1", 1, id="R31 G5 on a trajectory also where equal"),
        pytest.param(PATH, "0", 0, id="R31 on a trajectory where it differs"),
        pytest.param(None, "1", None, id="R31 G8 none without a trajectory"),
        pytest.param(None, "0", 0, id="R31 without a trajectory where it differs"),
    ],
)
def test_a_gated_score_is_there_where_a_path_can_gate(
    expected: Json, gating: str, gated: float | None
) -> None:
    assert result(trial(0, gating_score=Fraction(gating)), expected=expected).gated_score == gated


def test_r24_the_trajectory_block_is_that_of_the_highest_index() -> None:
    blocks = [
        TrajectoryCounts(
            mode="in-order",
            matched=at == 2,
            expected_count=1,
            observed_count=at,
            matched_count=0,
            forbidden_count=0,
        )
        for at in range(3)
    ]
    trials = [trial(at, trajectory=TrajectoryVerdict(blocks[at], False, ())) for at in (2, 0, 1)]  # noqa: FBT003

    assert result(*trials, expected=PATH).trajectory == blocks[2]


def test_r25_costs_add_up_latencies_are_averaged_schemas_must_all_hold() -> None:
    trials = [
        trial(at, cost=Fraction(1, 10), latency_ms=at, schema_valid=True, miss_count=at)
        for at in range(4)
    ]

    found = result(*trials, fixtures={})

    assert (found.cost_usd, found.latency_ms, found.schema_valid) == (0.4, 2, True)
    assert found.fixture_miss_count == 6
    assert result(*trials[:3], trial(3, schema_valid=False)).schema_valid is False


@pytest.mark.parametrize("field", ["cost", "latency_ms", "schema_valid"])
def test_r25_what_one_trial_does_not_tell_is_unknown(field: str) -> None:
    known: dict[str, Any] = {"cost": Fraction(1), "latency_ms": 1, "schema_valid": True}
    found = wire_value(result(trial(0, **known), trial(1, **{**known, field: None})))

    wire = {"cost": "costUsd", "latency_ms": "latencyMs", "schema_valid": "schemaValid"}
    assert {name for name in wire.values() if name not in found} == {wire[field]}


@pytest.mark.parametrize(
    ("counts", "mean"),
    [pytest.param([3, 4, 5], 4, id="R35 whole"), pytest.param([2, 3], 2.5, id="R35 a half")],
)
def test_efficiency_is_a_mean_over_trials(counts: list[int], mean: float) -> None:
    trials = [trial(at, tool_call_count=made) for at, made in enumerate(counts)]

    found = result(*trials).efficiency

    assert found is not None
    assert wire_value(found) == {"toolCallCount": mean}


def test_r35_model_calls_are_told_where_every_trial_reports_them() -> None:
    told = [trial(at, usage=Usage(at + 1, 10, 5, None), tool_call_count=1) for at in range(2)]

    found = result(*told).efficiency
    assert found is not None
    assert wire_value(found) == {
        "toolCallCount": 1,
        "modelCallCount": 1.5,
        "inputTokens": 10,
        "outputTokens": 5,
    }
    partly = result(told[0], trial(1, tool_call_count=1)).efficiency
    assert partly is not None
    assert wire_value(partly) == {"toolCallCount": 1}


def test_r35_a_trial_with_gaps_has_no_efficiency() -> None:
    assert result(trial(0), trial(1, defective=True)).efficiency is None


def test_r35_efficiency_never_gates() -> None:
    assert grade(trial(0, tool_call_count=10_000)).passed


@pytest.mark.parametrize(
    ("more", "misses", "count"),
    [
        pytest.param({"fixtures": {}}, 0, 0, id="R46 0 with fixtures"),
        pytest.param({"fixtures": {}}, 2, 2, id="R46 with fixtures"),
        pytest.param({}, 0, None, id="R46 absent without"),
        pytest.param({}, 1, 1, id="F6 a miss without fixtures"),
        pytest.param({"fixtures": {}, "fixtures_serve": False}, 0, None, id="R40 R46 live-shadow"),
    ],
)
def test_misses_are_counted_where_there_are_fixtures(
    more: Json, misses: int, count: int | None
) -> None:
    assert result(trial(0, miss_count=misses), **more).fixture_miss_count == count


def test_one_trial_has_no_trials_block() -> None:
    assert result(trial(0)).trials is None


def test_t02_an_unmeasured_trial_leaves_no_estimate_and_no_pass() -> None:
    trials = [trial(0), trial(1, None), trial(2)]

    found = grade(*trials, rule="any", k=3)

    assert (found.passed, found.unmeasured) == (False, (1,))
    assert found.numbers is not None
    assert found.numbers.score == 1
    assert (found.numbers.pass_at_k, found.numbers.pass_hat_k) == (None, None)
    assert found.result is not None
    assert (found.result.passed, found.result.score, found.result.trials) == (False, 1, None)


def test_a_trial_that_the_log_lacks_is_unmeasured() -> None:
    found = grade(trial(1, cost=Fraction(1), latency_ms=1, schema_valid=True), count=3)

    assert found.unmeasured == (0, 2)
    assert found.result is not None
    assert wire_value(found.result) == {"taskId": "task", "score": 1, "passed": False}


def test_a_task_that_was_not_measured_has_no_result() -> None:
    for trials in ([], [trial(0, None)]):
        found = grade(*trials, count=1, rule="mean", bar="0")

        assert (found.passed, found.numbers, found.result) == (False, None, None)
        assert told.texts(found.reasons) == ["trial 1 of 1: no score in the log"]


@pytest.mark.parametrize(
    ("trials", "rule", "said"),
    [
        ([trial(0), trial(1, "0")], "all", "1 of 2 trials passed; all must"),
        ([trial(0), trial(1, "0")], "any", "1 of 2 trials passed; one must"),
        ([trial(0, "0"), trial(1, "0")], "any", "0 of 2 trials passed; one must"),
        ([trial(0), trial(1)], "all", "2 of 2 trials passed; all must"),
        ([trial(0), trial(1, "0.4")], "mean", "the mean gating score is 0.7, the bar 0.7"),
        ([trial(0), trial(1, "0")], "mean", "the mean gating score is 0.5, the bar 0.7"),
        (
            [trial(0), trial(1, None), trial(2, None)],
            "all",
            "trials 2, 3 of 3: no score in the log",
        ),
    ],
)
def test_a_task_says_why(trials: list[TrialGrade], rule: PassRule, said: str) -> None:
    found = grade(*trials, rule=rule)
    met = "rule-met" if found.passed else "rule-not-met"

    assert told.texts(found.reasons) == [said]
    assert told.codes(found.reasons) == ["not-measured" if found.unmeasured else met]


@pytest.mark.parametrize(
    ("prints", "flagged"),
    [(["x", "x"], True), (["x", "y"], False), (["", ""], False), (["x"], False)],
)
def test_t10_trials_that_made_the_same_calls_are_flagged(
    prints: list[str], *, flagged: bool
) -> None:
    trials = [trial(at, fingerprint=one) for at, one in enumerate(prints)]

    codes = told.codes(grade(*trials).reasons)

    assert codes == ["rule-met", *(["identical-trials"] if flagged else [])]


def test_t07_every_trial_keeps_its_verdict_and_reasons() -> None:
    trials = [trial(2), trial(0, "0"), trial(1)]

    assert grade(*trials).trials == (trials[1], trials[2], trials[0])
