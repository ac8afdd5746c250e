"""The suite's decision: score, cost and latency bars, each with its words."""

from fractions import Fraction
from typing import Any

import pytest

from sidecar.grading.suite_summary import SuiteFacts, expects_calls, summarise
from sidecar.grading.task import TrialPlan, grade_task
from sidecar.grading.trial import TrialGrade
from sidecar.grading.usage import NO_USAGE, Usage
from sidecar.suite.documents import suite_from_json
from sidecar.suite.model_base import wire_value
from sidecar.suite.summary import EvalSummary
from tests.eval_data import Json, call, golden, path_only, suite, task, trajectory
from tests.grading import told

PATH = golden(trajectory=trajectory("in-order", call("s:a")))


def facts(*tasks: list[Json], expected: Json = None, bar: str = "7/10", **more: Any) -> SuiteFacts:
    """Facts of a suite: of each task its trials, as a score or as a trial's fields."""
    thresholds = {"passScore": float(Fraction(bar)), **more.pop("thresholds", {})}
    fixtures = {"fixtures": more.pop("fixtures")} if "fixtures" in more else {}
    values = [task(f"t{at}", expected, **fixtures) for at in range(len(tasks))]
    count = max(map(len, tasks))
    made = suite_from_json(suite(*values, thresholds=thresholds, trials={"count": count}))
    plan = TrialPlan(count, count, "all", Fraction(bar))
    grades = [
        grade_task(
            one, [trial(f"t{at}", index, told) for index, told in enumerate(tasks[at])], plan
        )
        for at, one in enumerate(made.tasks)
    ]
    return SuiteFacts(
        suite=made,
        plan=plan,
        tasks=grades,
        judge_usage=more.pop("judge_usage", NO_USAGE),
        **more,
    )


def trial(task_id: str, index: int, told: Json) -> TrialGrade:
    fields = dict(told) if isinstance(told, dict) else {"score": told}
    score = fields.pop("score", "1")
    exact = None if score is None else Fraction(score)
    gating = fields.pop("gating", exact)
    return TrialGrade(
        task_id=task_id,
        trial_index=index,
        score=exact,
        passed=score == "1" and gating == 1,
        gating_score=gating,
        **{"tool_call_count": 1, **fields},
    )


def summary(*args: Any, **more: Any) -> EvalSummary:
    found, _ = summarise(facts(*args, **more))
    assert found is not None
    return found


def said(*args: Any, **more: Any) -> list[str]:
    return told.texts(summarise(facts(*args, **more))[1])


def test_g7_r30_a_suite_need_not_pass_every_task() -> None:
    tasks = [["1"], ["1"], ["1"], [{"score": "1", "gating": Fraction(0)}]]

    strict, lax = (summary(*tasks, expected=PATH, bar=bar) for bar in ("4/5", "7/10"))

    assert (strict.passed, strict.aggregate_score, strict.gated_aggregate_score) == (False, 1, 0.75)
    assert (lax.passed, lax.passed_count, lax.task_count) == (True, 3, 4)


def test_r28_the_gating_aggregate_is_the_mean_of_the_tasks_gating_scores() -> None:
    found = summary(["9/10"], [{"score": "9/10", "gating": Fraction(0)}], expected=PATH)

    assert (found.aggregate_score, found.gated_aggregate_score, found.passed) == (0.9, 0.45, False)


def test_r31_g8_a_suite_without_a_path_carries_no_gated_field() -> None:
    found = wire_value(summary(["1"], ["1"]))

    assert "gatedAggregateScore" not in found
    assert all("gatedScore" not in one for one in found["tasks"])


def test_r32_three_tasks_at_the_bar_pass() -> None:
    assert summary(["7/10"], ["7/10"], ["7/10"]).passed
    assert not summary(["6999999999/10000000000"]).passed


def test_r23_trial_stats_are_means_over_tasks() -> None:
    found = summary(["1", "1"], ["1", "0"]).trial_stats

    assert found is not None
    assert wire_value(found) == {"k": 2, "passAtK": 1, "passHatK": 0.5, "scoreStderr": 0.25}


def test_r23_one_task_has_no_standard_error_and_one_trial_no_stats() -> None:
    one_task, one_trial = summary(["1", "0"]).trial_stats, summary(["1"], ["1"]).trial_stats

    assert one_task is not None
    assert wire_value(one_task) == {"k": 2, "passAtK": 1, "passHatK": 0}
    assert one_trial is None


def costs(*amounts: str) -> list[Json]:
    return [{"score": "1", "cost": Fraction(one)} for one in amounts]


def test_r33_every_trial_counts_against_the_cost_bar() -> None:
    tasks = [costs("0.04", "0.04", "0.04")] * 2
    found = summary(*tasks, thresholds={"maxCostUsd": 0.2})

    assert (found.total_cost_usd, found.passed) == (0.24, False)
    assert said(*tasks, thresholds={"maxCostUsd": 0.2}) == [
        "the run cost 0.24 US dollars, over maxCostUsd, 0.2"
    ]
    assert summary(*tasks, thresholds={"maxCostUsd": 0.24}).passed


def test_r33_judges_count_in_the_total() -> None:
    found = summary(costs("0.5"), judge_usage=Usage(1, 1, 1, Fraction(1, 4)))

    assert found.total_cost_usd == 0.75


@pytest.mark.parametrize(
    ("tasks", "more"),
    [
        pytest.param([costs("1"), ["1"]], {}, id="a trial without a cost"),
        pytest.param(
            [costs("1")], {"judge_usage": Usage(1, 1, 1, None)}, id="a judge without a cost"
        ),
        pytest.param([costs("1", "1"), costs("1")], {}, id="a trial that the log lacks"),
        pytest.param(
            [[{"score": "1", "cost": Fraction(1), "usage": Usage(1, 1, 1, Fraction(1))}]],
            {"judged": 1},
            id="a judge whose calls were not logged",
        ),
        pytest.param(
            [[{"score": "1", "cost": Fraction(1), "usage": Usage(1, 1, 1, Fraction(1))}]],
            {"judged": 2, "judge_usage": Usage(1, 1, 1, Fraction(1))},
            id="a judge of whose calls one was not logged",
        ),
    ],
)
def test_r33_an_unknown_cost_is_no_cost_of_0(tasks: Any, more: Any) -> None:
    bar = {"maxCostUsd": 100}

    assert summary(*tasks, **more).total_cost_usd is None
    assert not summary(*tasks, thresholds=bar, **more).passed
    assert said(*tasks, thresholds=bar, **more)[-1] == (
        "maxCostUsd is 100, but what the run cost is unknown"
    )


def latencies(*values: int | None) -> list[Json]:
    return [{"score": "1", "latency_ms": one} for one in values]


def test_r34_the_latency_bar_reads_all_trials() -> None:
    bar = {"maxP95LatencyMs": 19}

    assert summary(latencies(*range(1, 21)), thresholds=bar).passed
    assert said(latencies(*range(2, 22)), thresholds=bar) == [
        "the 95th percentile of latency is 20 ms, over maxP95LatencyMs, 19"
    ]


@pytest.mark.parametrize("tasks", [[latencies(1, None)], [latencies(1, 1), latencies(1)]])
def test_r34_an_unknown_latency_does_not_pass_a_bar(tasks: Any) -> None:
    assert said(*tasks, thresholds={"maxP95LatencyMs": 100})[-1] == (
        "maxP95LatencyMs is 100, but how long trials took is unknown"
    )
    assert not summary(*tasks, thresholds={"maxP95LatencyMs": 100}).passed


def test_t09_without_any_measured_trial_there_is_no_summary() -> None:
    found, reasons = summarise(facts([None], [None]))

    assert found is None
    assert told.texts(reasons) == ["no trial of any task was measured"]


def test_a_task_that_was_not_measured_keeps_the_suite_from_passing() -> None:
    found = summary(["1"], [None], bar="0")

    assert (found.passed, found.task_count, len(found.tasks)) == (False, 2, 1)
    assert said(["1"], [None], bar="0") == ["1 of 2 tasks were not measured whole: t1"]
    assert summary(["1", "1"], ["1", None], bar="0").trial_stats is None


def test_a_suite_whose_agent_called_nothing_does_not_pass() -> None:
    silent = [{"score": "1", "tool_call_count": 0}]
    entries = {"toolResponses": [call("s:a")]}

    assert said(silent, fixtures=entries) == [
        "no trial made any tool call, though tasks expect some:"
        " was the agent given the sidecar's config?"
    ]
    assert not summary(silent, fixtures=entries).passed
    assert summary(silent).passed
    assert summary(silent, ["1"], fixtures=entries).passed


@pytest.mark.parametrize(
    ("value", "expects"),
    [
        pytest.param(task(), False, id="an output alone"),
        pytest.param(task(fixtures={"toolResponses": [call("s:a")]}), True, id="fixtures"),
        pytest.param(task(fixtures={"toolResponses": []}), False, id="no entry"),
        pytest.param(task(fixtures={}), False, id="no list"),
        pytest.param(task(expected=path_only("subset", call("s:a"))), True, id="a path"),
        pytest.param(
            task(expected=path_only("exact"), fixtures={"toolResponses": [call("s:a")]}),
            False,
            id="a path without calls, whatever the fixtures",
        ),
    ],
)
def test_a_task_expects_calls_by_its_path_else_its_fixtures(value: Json, *, expects: bool) -> None:
    assert expects_calls(suite_from_json(suite(value)).tasks[0]) is expects


def test_a_pass_and_a_failure_say_their_numbers() -> None:
    gated = [{"score": "9/10", "gating": Fraction(0)}]

    assert said(["1"]) == ["the gating aggregate is 1, the bar 0.7"]
    assert said(["1/2"]) == ["the gating aggregate is 0.5, below the bar of 0.7"]
    assert said(["9/10"], gated) == [
        "the gating aggregate is 0.45, below the bar of 0.7 (ungated it is 0.9)"
    ]


def test_the_first_tasks_that_were_not_measured_whole_are_named() -> None:
    (first, *_) = said(*[["1", None]] * 6, ["1", "1"])

    assert first == ("6 of 7 tasks were not measured whole: t0, t1, t2, t3, t4")
