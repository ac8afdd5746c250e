"""The whole grade: from a suite and an event log to a summary, with the RFCs' own examples."""

import json
import random
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.errors import SuiteError
from sidecar.grading.grade import Grade, Status, grade, grade_trial, plan_of
from sidecar.grading.log_reading import MAX_FINDINGS, LogReader, OutOfOrderError, read_trial
from sidecar.grading.reasons import Reason
from sidecar.grading.regression import Baseline, RegressionOptions
from sidecar.suite.documents import dump_document, suite_from_json, summary_from_json
from sidecar.suite.events import RunEvent, event_from_json, read_events
from sidecar.suite.model_base import wire_value
from sidecar.suite.payloads import CRITERIA, UNJUDGED
from tests.eval_data import Json, Log, call, golden, path_only, rubric, suite, task, trajectory
from tests.eval_data import summary as summary_value
from tests.grading import told

ON_PATH = trajectory("in-order", call("crm:lookup"), forbidden=["billing:refund-all"])
FIXTURES = {"toolResponses": [call("crm:lookup")], "onMiss": "fail"}


def events(log: Log) -> list[RunEvent]:
    return [event_from_json(value) for value in log.events]


def graded(of: Json, log: Log, baseline: Baseline | None = None) -> Grade:
    return grade(suite_from_json(of), events(log), baseline=baseline)


def summary(of: Json, log: Log, baseline: Baseline | None = None) -> Json:
    found = graded(of, log, baseline).summary
    assert found is not None
    return wire_value(found)


def whole(of: Json, *trials: Any) -> Log:
    """A log of trials: (task, tools, more)."""
    log = Log().begin(of)
    for task_id, tools, more in trials:
        log.trial(task_id, *tools, **more)
    return log


def test_g1_the_rfcs_task_example() -> None:
    of = suite(
        task(expected=rubric(1, trajectory=ON_PATH)),
        trials={"count": 3, "passRule": "mean"},
        thresholds={"passScore": 0.7},
    )
    bad = ["crm:lookup", "billing:refund-all"]
    log = whole(
        of, *(("task", bad, {"score": 0.9, "passed": False, "trialIndex": at}) for at in range(3))
    )

    found = summary(of, log)

    assert found["tasks"][0] == {
        "taskId": "task",
        "score": 0.9,
        "passed": False,
        "trajectory": {
            "mode": "in-order",
            "matched": False,
            "expectedCount": 1,
            "observedCount": 2,
            "matchedCount": 1,
            "forbiddenCount": 1,
        },
        "trials": {"n": 3, "passedCount": 0, "meanScore": 0.9, "passAtK": 0, "passHatK": 0},
        "efficiency": {"toolCallCount": 2},
        "gatedScore": 0,
    }
    assert (found["aggregateScore"], found["gatedAggregateScore"], found["passed"]) == (
        0.9,
        0,
        False,
    )


def test_g2_the_rfcs_suite_example() -> None:
    of = suite(
        task("one", rubric(1, trajectory=ON_PATH)),
        task("two", rubric(1, trajectory=ON_PATH)),
        thresholds={"passScore": 0.7},
    )
    log = whole(
        of,
        ("one", ["crm:lookup"], {"score": 0.9}),
        ("two", ["other:tool"], {"score": 0.9, "passed": False}),
    )

    found = summary(of, log)

    assert [(one["score"], one["gatedScore"]) for one in found["tasks"]] == [(0.9, 0.9), (0.9, 0)]
    assert (found["aggregateScore"], found["gatedAggregateScore"], found["passed"]) == (
        0.9,
        0.45,
        False,
    )


def test_g3_the_conformance_fixture_trajectory_gate_mean() -> None:
    of = suite(
        task(expected=golden("done", trajectory=ON_PATH)),
        trials={"count": 2, "passRule": "mean"},
        thresholds={"passScore": 0.6},
    )
    bad = ["crm:lookup", "billing:refund-all"]
    log = whole(
        of,
        *(("task", bad, {"passed": False, "output": "done", "trialIndex": at}) for at in range(2)),
    )

    found = graded(of, log)

    assert found.differences == ()
    assert found.summary is not None
    (one,) = wire_value(found.summary)["tasks"]
    assert (one["trials"]["meanScore"], one["gatedScore"], one["passed"]) == (1, 0, False)
    assert (found.summary.aggregate_score, found.summary.gated_aggregate_score) == (1, 0)
    assert found.status is Status.FAILED


def test_g4_the_conformance_fixture_trajectory_gate() -> None:
    of = suite(
        task("one", golden("done", trajectory=ON_PATH)),
        task("two", golden("done", trajectory=ON_PATH)),
        thresholds={"passScore": 0.6},
    )
    log = whole(
        of,
        ("one", ["crm:lookup"], {"output": "done"}),
        ("two", ["wrong:way"], {"output": "done", "passed": False}),
    )

    found = summary(of, log)

    assert [(one["score"], one["gatedScore"], one["passed"]) for one in found["tasks"]] == [
        (1, 1, True),
        (1, 0, False),
    ]
    assert all("trials" not in one for one in found["tasks"])
    assert (found["aggregateScore"], found["gatedAggregateScore"], found["passed"]) == (
        1,
        0.5,
        False,
    )


def test_g9_a_live_miss_that_the_suite_allows_keeps_the_score() -> None:
    of = suite(task(expected=rubric(1), fixtures={"onMiss": "live"}), thresholds={"passScore": 0.7})
    log = Log().begin(of)
    log.open()
    missed: Json = {"x-sidecar-miss": True}
    log.call("crm:lookup", **missed).close().scored(score=0.9)

    found = summary(of, log)

    assert (found["tasks"][0]["score"], found["tasks"][0]["fixtureMissCount"]) == (0.9, 1)
    assert found["passed"]
    assert "gatedScore" not in found["tasks"][0]


def test_the_rfcs_positive_example_of_five_trials() -> None:
    of = suite(
        task(expected=path_only("in-order", call("a:b"))),
        trials={"count": 5, "k": 3, "passRule": "all"},
        thresholds={"passScore": 0.7},
    )
    log = whole(
        of,
        *(
            (
                "task",
                ["a:b"] if at != 1 else ["a:x"],
                {"trialIndex": at, "score": int(at != 1), "passed": at != 1},
            )
            for at in range(5)
        ),
    ).end(0.8, 1, 0, passed=True)

    found = graded(of, log)

    assert found.summary is not None
    told = wire_value(found.summary)
    assert told["tasks"][0]["trials"] == {
        "n": 5,
        "passedCount": 4,
        "meanScore": 0.8,
        "passAtK": 1,
        "passHatK": 0.4,
    }
    assert told["trialStats"] == {"k": 3, "passAtK": 1, "passHatK": 0.4}
    assert (told["tasks"][0]["passed"], told["passed"], found.differences) == (False, True, ())


# F1-F6: what the fixtures' cursor did is told by the returns; the grade draws the consequence.
MISS = "sidecar.fixture_miss"


@pytest.mark.parametrize(
    ("returns", "misses", "passed", "score"),
    [
        pytest.param([None, None, MISS], 1, False, 0, id="F1 R36 two hits, then a miss"),
        pytest.param([None, None], 0, True, 1, id="F2 R36 two hits"),
        pytest.param(
            ["mcp_error", None], 0, True, 1, id="F3 R41 an error that was served is no miss"
        ),
        pytest.param([None, MISS], 1, False, 0, id="F4 R37 R18 a miss that failed closed"),
        pytest.param([None], 0, True, 1, id="F5 R19 each trial from the start"),
        pytest.param([MISS], 1, False, 0, id="F6 R37 no entry at all"),
    ],
)
def test_misses_are_graded_as_they_were_served(
    returns: list[str | None], misses: int, score: float, *, passed: bool
) -> None:
    of = suite(task(fixtures=FIXTURES), thresholds={"passScore": 0.5}, trials={"count": 2})
    log = Log().begin(of)
    for index in range(2):
        log.open()
        for code in returns:
            log.call("crm:lookup", error=code)
        log.close(output="ok").scored(score=score, passed=passed, trialIndex=index)

    found = graded(of, log)

    assert found.summary is not None
    (one,) = found.summary.tasks
    assert (one.fixture_miss_count, one.passed, one.score) == (2 * misses, passed, score)
    assert found.differences == ()


def test_r3_g13_failed_and_missed_calls_are_on_the_path() -> None:
    of = suite(task(expected=path_only("exact", call("a:b"), call("a:b"))))
    log = Log().begin(of)
    log.open()
    log.call("a:b", error="mcp_error").call("a:b", error="sidecar.unanswered").close().scored()

    assert summary(of, log)["tasks"][0]["trajectory"]["matched"]


def test_g13_a_forbidden_call_counts_though_it_failed() -> None:
    of = suite(task(expected=path_only("in-order", forbidden=["a:b"])))
    log = Log().begin(of)
    log.open()
    log.call("a:b", error="mcp_error").close().scored(score=0, passed=False)

    assert summary(of, log)["tasks"][0]["trajectory"]["forbiddenCount"] == 1


def test_r6_r44_arguments_that_were_masked_match_by_their_placeholder() -> None:
    secret = {"key": "[REDACTED:1]"}
    of = suite(task(expected=path_only("exact", call("a:b", secret, "exact"))))
    log = whole(of, ("task", [("a:b", {"key": "[REDACTED:00112233aabbccdd]"})], {}))

    assert summary(of, log)["passed"]


def test_r16_a_suite_without_a_bar_needs_1() -> None:
    of = suite(task("one", rubric(1)), task("two", rubric(1)))
    log = whole(of, ("one", [], {"score": 1}), ("two", [], {"score": 0.9}))

    assert not summary(of, log)["passed"]
    assert plan_of(suite_from_json(of)).pass_score == 1


def test_r17_a_crashed_agent_scores_0_and_is_told() -> None:
    of = suite(task(expected=golden()), thresholds={"passScore": 0})
    log = Log().begin(of)
    log.open()
    log.close(outcome="failed", failure="timed out after 600 s").scored(score=0, passed=False)

    found = graded(of, log)

    assert found.differences == ()
    assert found.tasks[0].trials[0].score == 0
    assert not found.tasks[0].passed
    (said, *_) = told.texts(found.tasks[0].trials[0].reasons)
    assert said == "the agent failed: timed out after 600 s"


def test_r20_trials_are_told_apart_by_their_index() -> None:
    of = suite(trials={"count": 2}, thresholds={"passScore": 0.5})
    log = whole(
        of,
        ("task", [], {"output": "ok", "trialIndex": 1}),
        ("task", [], {"output": "no", "trialIndex": 0, "score": 0, "passed": False}),
    )

    found = graded(of, log)

    assert [one.score for one in found.tasks[0].trials] == [0, 1]
    assert found.differences == ()


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        pytest.param(
            {"trialIndex": 2},
            "extra-trial",
            "task task has a trial 3, of 2 trials",
            id="R20 beyond count",
        ),
        pytest.param(
            {},
            "no-trial-index",
            "a score of task task has no trialIndex, of 2 trials",
            id="R20 no index though two trials",
        ),
        pytest.param(
            {"task_id": "other", "trialIndex": 0},
            "unknown-task",
            "the suite has no task other",
            id="another task",
        ),
    ],
)
def test_a_score_that_fits_no_trial_is_a_finding_and_measures_nothing(
    more: Json, code: str, said: str
) -> None:
    of = suite(trials={"count": 2})
    log = Log().begin(of)
    log.open()
    log.close().scored(**more)

    found = graded(of, log)

    assert Reason(code, said) in found.findings
    assert (found.status, found.summary, found.exit_code) == (Status.UNMEASURED, None, 2)


def test_findings_are_bounded() -> None:
    log = Log().begin(suite())
    for _ in range(MAX_FINDINGS + 9):
        log.scored("other")

    found = [one for one in graded(suite(), log).findings if one.code == "unknown-task"]

    assert len(found) == MAX_FINDINGS


def test_t08_the_same_trial_scored_twice_counts_once_and_passes_nothing() -> None:
    of = suite(thresholds={"passScore": 0.5})
    log = whole(of, ("task", [], {"output": "ok"}), ("task", [], {"output": "ok"}))

    found = graded(of, log)

    assert "trial-twice" in told.codes(found.findings)
    assert len(found.tasks[0].trials) == 1
    assert (found.status, found.tasks[0].passed) == (Status.FAILED, False)


def test_t08_passed_failed_and_unmeasured_are_told_apart() -> None:
    of = suite(
        task("a", rubric(1)),
        task("b", rubric(1)),
        task("c", rubric(1)),
        thresholds={"passScore": 0.5},
    )
    log = whole(of, ("a", [], {"score": 1}), ("b", [], {"score": 0, "passed": False}))
    log.open()
    log.close()

    found = graded(of, log)

    assert [(one.passed, one.unmeasured) for one in found.tasks] == [
        (True, ()),
        (False, ()),
        (False, (0,)),
    ]
    assert (found.status, found.exit_code) == (Status.UNMEASURED, 2)
    assert found.summary is not None
    assert (found.summary.passed, found.summary.task_count, len(found.summary.tasks)) == (
        False,
        3,
        2,
    )


@pytest.mark.parametrize("log", [Log(), Log().begin(suite()), Log().begin(suite()).usage()])
def test_t09_a_log_that_measures_nothing_is_not_measured(log: Log) -> None:
    found = graded(suite(), log)

    assert (found.status, found.summary, found.exit_code) == (Status.UNMEASURED, None, 2)
    assert told.codes(found.reasons) == ["nothing-measured"]


def test_t09_a_score_just_below_the_bar_fails() -> None:
    of = suite(task(expected=rubric(1)), thresholds={"passScore": 0.9})

    assert not summary(of, whole(of, ("task", [], {"score": 0.8999999999, "passed": False})))[
        "passed"
    ]
    assert summary(of, whole(of, ("task", [], {"score": 0.9})))["passed"]


@pytest.mark.parametrize("bar", [0, 1])
def test_t09_a_suite_whose_agent_failed_in_every_trial_is_not_measured(bar: float) -> None:
    of = suite(task("a"), task("b"), thresholds={"passScore": bar})
    half, none = Log().begin(of), Log().begin(of)
    for log, task_id in [(half, "a"), (none, "a"), (none, "b")]:
        log.open()
        log.close(outcome="failed").scored(task_id, 0, passed=False)
    half.trial("b", output="ok")

    found = graded(of, none)

    assert (found.status, found.exit_code) == (Status.UNMEASURED, 2)
    assert [str(reason) for reason in found.reasons] == ["the agent failed in every trial"]
    assert found.summary is not None
    assert not found.summary.passed
    assert graded(of, half).status is (Status.FAILED if bar else Status.PASSED)


@pytest.mark.parametrize("bar", [0, 1])
def test_r17_a_suite_whose_agent_called_a_tool_and_failed_in_every_trial_has_failed(
    bar: float,
) -> None:
    of = suite(task("a"), task("b"), thresholds={"passScore": bar})
    log = Log().begin(of)
    for task_id, calls in [("a", ["x:y"]), ("b", [])]:
        log.open()
        for tool in calls:
            log.call(tool)
        log.close(outcome="failed").scored(task_id, 0, passed=False)

    found = graded(of, log)

    assert (found.status, found.exit_code) == (Status.FAILED, 1)
    assert told.codes(found.reasons)[0] == "agents-broke-off"
    assert found.summary is not None
    assert not found.summary.passed


def test_t09_many_failures_are_one_exit_code() -> None:
    of = suite(*(task(f"t{at}") for at in range(256)))
    log = whole(
        of, *((f"t{at}", [], {"output": "no", "score": 0, "passed": False}) for at in range(256))
    )

    assert graded(of, log).exit_code == 1


def test_a_suite_that_would_pass_because_its_agent_did_nothing_is_not_measured() -> None:
    lazy = suite(task(fixtures=FIXTURES))
    log = whole(lazy, ("task", [], {"output": "ok"}))

    found = graded(lazy, log)

    assert (found.status, found.exit_code) == (Status.UNMEASURED, 2)
    assert found.summary is not None
    assert not found.summary.passed
    bound = suite(task(expected=golden(trajectory=ON_PATH)))
    assert graded(bound, whole(bound, ("task", [], {"output": "ok"}))).status is Status.FAILED


def test_t10_equal_trials_are_flagged() -> None:
    of = suite(trials={"count": 2}, thresholds={"passScore": 0.5})
    same = whole(of, *(("task", ["a:b"], {"output": "ok", "trialIndex": at}) for at in range(2)))
    other = whole(
        of,
        ("task", ["a:b"], {"output": "ok", "trialIndex": 0}),
        ("task", ["a:c"], {"output": "ok", "trialIndex": 1}),
    )

    codes = [told.codes(graded(of, log).tasks[0].reasons) for log in (same, other)]

    assert codes == [["rule-met", "identical-trials"], ["rule-met"]]


def test_t07_one_trial_grades_as_no_trials_at_all() -> None:
    plain, counted = suite(), suite(trials={"count": 1, "k": 1})
    log = whole(plain, ("task", ["a:b"], {"output": "ok"}))

    assert summary(plain, log) == summary(counted, log)


def test_r40_live_shadow_ignores_fixtures() -> None:
    of = suite(task(fixtures=FIXTURES), modes=["golden", "live-shadow"])
    log = Log().begin(of, modes=["live-shadow"])
    log.open()
    missed: Json = {"x-sidecar-miss": True}
    log.call("crm:lookup", **missed).close(output="ok").scored()

    assert "fixtureMissCount" not in summary(of, log)["tasks"][0]
    assert summary(of, log)["passed"]
    only = {**of, "modes": ["live-shadow"]}
    log.events = log.events[1:]
    assert "fixtureMissCount" not in summary(only, log)["tasks"][0]
    assert "fixtureMissCount" in summary(of, log)["tasks"][0]


@pytest.mark.parametrize(
    ("modes", "serves"),
    [(["golden"], True), (["live-shadow"], False), (["golden", "live-shadow"], False)],
)
def test_r40_the_modes_that_were_run_decide_whether_fixtures_served(
    modes: list[str], *, serves: bool
) -> None:
    of = suite(task(fixtures=FIXTURES), modes=["golden", "live-shadow"])
    log = Log().begin(of, modes=modes).trial("task", output="ok")

    assert ("fixtureMissCount" in summary(of, log)["tasks"][0]) is serves


def test_fixtures_serve_unless_it_is_said_otherwise() -> None:
    assert plan_of(suite_from_json(suite())).fixtures_serve


def test_what_the_log_says_and_what_is_computed_are_compared() -> None:
    of = suite(thresholds={"passScore": 0.5})
    log = whole(of, ("task", [], {"output": "no"})).end(1, 1, 1, passed=True)

    assert [str(one) for one in graded(of, log).differences] == [
        "task task, trial 1: score is 1 there, computed 0",
        "task task, trial 1: passed is true there, computed false",
        "eval.completed: aggregateScore is 1 there, computed 0",
        "eval.completed: passed is true there, computed false",
        "eval.completed: passedCount is 1 there, computed 0",
    ]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"suiteId": "other.evals.x"}, "other.evals.x 1.0.0"),
        ({"version": "2.0.0"}, "shop.evals.refunds 2.0.0"),
    ],
)
def test_a_log_of_another_suite_is_refused(change: Json, named: str) -> None:
    with pytest.raises(SuiteError) as refused:
        graded(suite(), whole({**suite(), **change}, ("task", [], {})))
    assert str(refused.value) == (
        f"the log is of suite {named}, not of shop.evals.refunds 1.0.0;"
        " grade it with the suite it was run with"
    )
    with pytest.raises(SuiteError, match="the log is of suite"):
        graded(suite(), Log().begin({**suite(), **change}))


def test_the_target_agent_is_the_suites_or_the_logs() -> None:
    of = suite(task(expected=path_only("exact", call("a:b"))), targetAgentId="one")
    log = Log("two").begin(of)
    log.open()
    log.call("a:b").close().scored()

    assert not graded(of, log).tasks[0].passed
    assert "other-agent" in told.codes(graded(of, log).findings)
    assert graded({k: v for k, v in of.items() if k != "targetAgentId"}, log).tasks[0].passed


def test_r33_a_judge_whose_calls_were_not_logged_makes_the_cost_unknown() -> None:
    of = suite(task(expected=rubric(1)))
    log = Log().begin(of)
    log.open()
    log.usage(costEstimateUsd=1).close().scored(evaluatorType="llm_judge")

    assert "totalCostUsd" not in summary(of, log)


def test_r33_each_judgement_of_a_model_has_to_have_its_call() -> None:
    of = suite(task("one", rubric(1)), task("two", rubric(1)))
    log = Log().begin(of)
    for name in ("one", "two"):
        log.open()
        log.usage(costEstimateUsd=1).close()
        if name == "one":
            log.usage(costEstimateUsd=1)
        log.scored(name, evaluatorType="llm_judge")

    assert "totalCostUsd" not in summary(of, log)


def test_r33_only_a_models_judgements_have_calls_to_be_logged() -> None:
    of = suite(task(expected=rubric(1)))
    log = Log().begin(of)
    log.open()
    log.usage(costEstimateUsd=1).close().scored(evaluatorType="deterministic")

    assert summary(of, log)["totalCostUsd"] == 1


def test_r14_a_rubric_is_scored_again_from_the_recorded_judgement() -> None:
    of = suite(task(expected=rubric(0.9, 0.1)), thresholds={"passScore": 0.7})
    log = whole(of, ("task", [], {"score": 0.2, "passed": False, CRITERIA: [True, False]}))

    found = graded(of, log)

    assert found.summary is not None
    assert (found.summary.aggregate_score, found.summary.passed) == (0.9, True)
    assert [str(one) for one in found.differences] == [
        "task task, trial 1: score is 0.2 there, computed 0.9",
        "task task, trial 1: passed is false there, computed true",
    ]


def test_an_unjudged_trial_is_not_measured_and_no_other_is_touched() -> None:
    of = suite(task(expected=rubric(1)), trials={"count": 2}, thresholds={"passScore": 0})
    log = Log().begin(of)
    log.open()
    log.close()
    log.add(UNJUDGED, {"taskId": "task", "trialIndex": 0, "why": "exit code 1"})
    log.trial("task", trialIndex=1)

    found = graded(of, log)

    assert found.status is Status.UNMEASURED
    assert found.tasks[0].unmeasured == (0,)
    assert [(one.trial_index, one.passed) for one in found.tasks[0].trials] == [(1, True)]


class TestBaseline:
    RUN = "local/" + "0" * 26

    def baseline(self, score: float, **more: Any) -> Baseline:
        entry = {"taskId": "task", "score": score}
        return Baseline(summary_from_json(summary_value(entry, **more)), self.RUN)

    def test_r48_the_summary_says_how_the_run_compares_and_passes_as_it_would_without(self) -> None:
        of = suite()
        log = whole(of, ("task", [], {"output": "ok"}))

        found = graded(of, log, baseline=self.baseline(0.5))

        assert found.summary is not None
        assert wire_value(found.summary)["regression"] == {
            "baselineRunId": self.RUN,
            "scoreDelta": 0.5,
            "verdict": "inconclusive",
            "method": "sign-test",
            "alpha": 0.05,
            "pairedTaskCount": 1,
        }
        assert found.comparison is not None
        assert found.comparison.reasons[0].text.startswith("inconclusive: of 1 paired tasks 1 went")
        without = {**wire_value(found.summary)}
        del without["regression"]
        assert without == summary(of, log)

    def test_the_options_of_the_comparison_are_used(self) -> None:
        options = RegressionOptions(method="mcnemar", alpha=0.2)
        before = Baseline(self.baseline(1).summary, self.RUN, options)

        found = summary(suite(), whole(suite(), ("task", [], {"output": "ok"})), baseline=before)

        assert (found["regression"]["method"], found["regression"]["alpha"]) == ("mcnemar", 0.2)
        assert found["regression"]["verdict"] == "unchanged"

    def test_r48_another_version_is_refused(self) -> None:
        log = whole(suite(), ("task", [], {"output": "ok"}))

        with pytest.raises(SuiteError, match="the baseline is of suite"):
            graded(suite(), log, baseline=self.baseline(1, suiteVersion="2.0.0"))

    def test_where_nothing_was_measured_nothing_is_compared(self) -> None:
        found = graded(suite(), Log(), baseline=self.baseline(1))

        assert (found.summary, found.comparison) == (None, None)

    def test_what_the_log_says_of_the_baseline_is_compared(self) -> None:
        log = Log().begin(suite(), baselineRunId="local/" + "1" * 26)
        log.trial("task", output="ok")

        found = graded(suite(), log, baseline=self.baseline(1))

        assert [one.field for one in found.differences] == ["baselineRunId"]


def test_r35_efficiency_counts_every_agent_inside_the_bracket() -> None:
    of = suite(task(expected=path_only("exact", call("a:b"))))
    log = Log().begin(of)
    log.open()
    log.call("a:b").call("b:c", agent="helper").usage().close().usage().scored()

    assert summary(of, log)["tasks"][0]["efficiency"] == {
        "toolCallCount": 2,
        "modelCallCount": 1,
        "inputTokens": 10,
        "outputTokens": 5,
    }


LONG = suite(
    task("one", golden("ok", trajectory=ON_PATH), fixtures=FIXTURES),
    task("two", path_only("any-order", call("a:b", {"x": 1}, "subset"))),
    trials={"count": 2},
    thresholds={"passScore": 0.5},
)


def long_log() -> Log:
    return whole(
        LONG,
        ("one", ["crm:lookup"], {"output": "ok", "trialIndex": 0, "latencyMs": 5}),
        ("one", ["crm:lookup", "a:b"], {"output": "ok", "trialIndex": 1, "latencyMs": 6}),
        ("two", [("a:b", {"x": 1, "y": [1.5]})], {"trialIndex": 0}),
        ("two", [("a:b", {"x": 2})], {"trialIndex": 1, "score": 0, "passed": False}),
    ).end(0.75, 2, 1, passed=True)


def text(found: Grade) -> str:
    assert found.summary is not None
    return dump_document(found.summary)


WHOLE = graded(LONG, long_log())


def test_a_log_graded_twice_gives_the_same_bytes_and_the_same_grade() -> None:
    again = graded(LONG, long_log())

    assert again == WHOLE
    assert text(again) == text(WHOLE)


@given(st.integers())
def test_the_order_of_json_keys_makes_no_difference(seed: int) -> None:
    chance = random.Random(seed)

    def shuffled(value: Json) -> Json:
        if isinstance(value, dict):
            items = [(key, shuffled(item)) for key, item in value.items()]
            chance.shuffle(items)
            return dict(items)
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    log = Log()
    log.events = [shuffled(event) for event in long_log().events]
    found = graded(shuffled(LONG), log)

    assert found == WHOLE
    assert text(found) == text(WHOLE)


@given(st.integers())
def test_a_list_out_of_order_is_sorted_by_sequence(seed: int) -> None:
    log = long_log()
    random.Random(seed).shuffle(log.events)

    assert graded(LONG, log) == WHOLE


def test_a_one_shot_iterator_out_of_order_is_refused() -> None:
    log = long_log()
    log.events.reverse()

    with pytest.raises(OutOfOrderError, match="sort the log"):
        grade(suite_from_json(LONG), iter(events(log)))


def test_a_log_is_graded_as_it_streams() -> None:
    lines = (json.dumps(event) + "\n" for event in long_log().events)

    assert grade(suite_from_json(LONG), read_events(lines)) == WHOLE


@given(st.lists(st.integers(0, len(long_log().events) - 2), min_size=1, max_size=4, unique=True))
def test_a_log_with_missing_events_never_passes_what_the_whole_one_fails(gone: list[int]) -> None:
    log = long_log()
    log.events = [event for at, event in enumerate(log.events) if at not in gone]

    full = {one.task_id: one.passed for one in WHOLE.tasks}

    for one in graded(LONG, log).tasks:
        assert one.passed <= full[one.task_id]
        assert one.passed <= (not one.unmeasured)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.1, 0.5, 0.7, 0.9, 1]), st.booleans()), min_size=1, max_size=5
    )
)
def test_r29_reported_numbers_never_depend_on_the_gate(trials: list[tuple[float, bool]]) -> None:
    def told(*, bound: bool) -> Json:
        more = {"trajectory": ON_PATH} if bound else {}
        of = suite(
            task(expected=rubric(1, **more)),
            trials={"count": len(trials), "passRule": "mean"},
            thresholds={"passScore": 0.7},
        )
        log = whole(
            of,
            *(
                ("task", ["crm:lookup"] if good else ["x:y"], {"score": s, "trialIndex": at})
                for at, (s, good) in enumerate(trials)
            ),
        )
        return summary(of, log)

    free, bound = told(bound=False), told(bound=True)

    assert free["aggregateScore"] == bound["aggregateScore"]
    assert free["tasks"][0]["score"] == bound["tasks"][0]["score"]
    means = [(one["tasks"][0].get("trials") or {}).get("meanScore") for one in (free, bound)]
    assert means[0] == means[1]
    assert bound["gatedAggregateScore"] <= free["aggregateScore"] + 1e-12
    assert bound["tasks"][0]["passed"] <= free["tasks"][0]["passed"]


def test_no_content_reaches_the_summary() -> None:
    marks = ("SECRET-TOOL", "SECRET-ARG", "SECRET-OUTPUT", "SECRET-FAILURE", "SECRET-INPUT")
    of = suite(
        {
            **task(
                expected=golden(
                    "SECRET-OUTPUT",
                    trajectory=trajectory(
                        "exact",
                        call("x:SECRET-TOOL", {"a": "SECRET-ARG"}, "exact"),
                        forbidden=["x:SECRET-TOOL"],
                    ),
                )
            ),
            "input": "SECRET-INPUT",
        }
    )
    log = Log().begin(of)
    log.open()
    log.call("x:SECRET-TOOL", {"a": "SECRET-ARG"})
    log.close(outcome="failed", failure="SECRET-FAILURE", output="SECRET-OUTPUT").scored(
        score=0, passed=False
    )

    found = graded(of, log)

    assert not any(mark in text(found) for mark in marks)
    assert "SECRET-TOOL" in str(found.tasks[0].trials[0].reasons)


def test_a_runner_grades_a_trial_as_the_log_will_be_graded() -> None:
    of = suite_from_json(LONG)
    log = Log()
    log.open()
    log.call("crm:lookup").close(output="ok")
    evidence = read_trial(events(log), agent_id="agent")

    found = grade_trial(of, of.tasks[0], evidence, agent_id="agent")

    assert found.score == found.gating_score == 1
    assert found.passed


@pytest.mark.parametrize(("own", "passed"), [(0.7, True), (0.8, False), (None, False)])
def test_r15_a_runner_holds_a_trial_to_the_suites_bar_or_to_1(
    own: float | None, *, passed: bool
) -> None:
    more = {"thresholds": {"passScore": own}} if own else {}
    of = suite_from_json(suite(task(expected=rubric(0.7, 0.3)), **more))
    log = whole(suite(), ("task", [], {"score": 0, CRITERIA: [True, False]}))
    (evidence,) = LogReader("agent").trials(events(log))

    found = grade_trial(of, of.tasks[0], evidence, agent_id="agent")

    assert (found.trial_index, float(found.score or 0), found.passed) == (0, 0.7, passed)


def test_a_log_is_held_one_trial_at_a_time() -> None:
    calls = [f"a:tool-{at}" for at in range(50)]
    of = suite_from_json(suite(*(task(f"t{at}") for at in range(40))))

    def lines() -> Iterator[str]:
        sequence = 0
        for at in range(40):
            log = Log()
            if not at:
                log.begin(wire_value(of))
            for event in log.trial(f"t{at}", *calls, output="ok").events:
                yield json.dumps({**event, "sequence": sequence})
                sequence += 1

    tracemalloc.start()
    found = grade(of, read_events(lines()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert found.status is Status.PASSED
    assert peak < 1_000_000  # bytes; the whole log takes some five million
