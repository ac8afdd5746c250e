"""Every trial of every task, and the log that they leave."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sidecar.agents.command import Stop
from sidecar.agents.evaluation import (
    Evaluation,
    Measures,
    evaluate,
    refuse_unrunnable,
    servers_of,
)
from sidecar.agents.judge import Answer, Judgement, NoJudgement, Question
from sidecar.agents.trial import Setting
from sidecar.cassette.interaction import Cassette, Server
from sidecar.errors import AgentError, SuiteError
from sidecar.grading.grade import Status, grade
from sidecar.grading.regression import Baseline
from sidecar.grading.trial import TrialGrade
from sidecar.store import ids, runs
from sidecar.suite.documents import dump_document
from sidecar.suite.event_document import event_problems
from sidecar.suite.events import read_events
from sidecar.suite.model import AgentEvalSuite, Task
from sidecar.suite.payloads import UNJUDGED
from tests.agents.trials import AGENT, script, setting, suite, task, telling_late
from tests.eval_data import rubric

SAYS_HI = "print('hi')"


class Watcher:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, int]] = []

    def began(self, task: Task, index: int) -> None:
        self.told.append(("began", task.task_id, index))

    def ended(self, task: Task, index: int, graded: TrialGrade) -> None:
        self.told.append(("passed" if graded.passed else "failed", task.task_id, index))


def evaluated(of: Setting, suite: AgentEvalSuite) -> Evaluation:
    return evaluate(suite, None, of, Watcher())


def log(of: Setting) -> list[Any]:
    return [json.loads(line) for line in runs.events(of.journal, of.eval_run)]


def plain(task_id: str = "one", **more: Any) -> dict[str, Any]:
    """A task without fixtures."""
    found = {**task(task_id), **more}
    return {name: item for name, item in found.items() if name != "fixtures"}


def calls_echo() -> list[str]:
    return [sys.executable, AGENT, json.dumps([["raw", "echo", {"text": "hi"}]])]


def test_the_log_is_one_run_of_brackets_each_with_its_score(tmp_path: Path) -> None:
    of = setting(tmp_path, calls_echo())

    done = evaluated(of, suite(task("one"), task("two"), trials={"count": 2}))

    trial = [
        "agent.invocation-started",
        "agent.tool-called",
        "agent.tool-returned",
        "agent.invocation-completed",
        "eval.scored",
    ]
    events = log(of)
    assert [event["type"] for event in events] == ["eval.started", *trial * 4, "eval.completed"]
    assert [event["sequence"] for event in events] == list(range(22))
    assert {event["runId"] for event in events} == {done.run_id}
    assert [problem for event in events for problem in event_problems(event)] == []
    scored = [event["payload"] for event in events if event["type"] == "eval.scored"]
    assert [(one["taskId"], one["trialIndex"]) for one in scored] == [
        ("one", 0),
        ("one", 1),
        ("two", 0),
        ("two", 1),
    ]
    assert all(one["score"] == 1 and one["passed"] and one["latencyMs"] > 0 for one in scored)
    assert events[0]["payload"] == {
        "suiteId": "tests.evals.trials",
        "suiteVersion": "1.0.0",
        "taskCount": 2,
        "modes": ["golden"],
        "trialCount": 2,
    }
    assert events[-1]["payload"] == {
        "aggregateScore": 1,
        "passed": True,
        "taskCount": 2,
        "passedCount": 2,
    }


def test_r20_with_one_trial_the_log_does_not_speak_of_trials(tmp_path: Path) -> None:
    of = setting(tmp_path, script(SAYS_HI))

    evaluated(of, suite(plain()))

    assert "trialCount" not in log(of)[0]["payload"]


def test_causes_lead_to_events_of_the_same_log(tmp_path: Path) -> None:
    of = setting(tmp_path, calls_echo())

    evaluated(of, suite(task()))

    _, _, called, returned, *_ = log(of)
    assert returned["causationId"] == called["eventId"]


def test_the_summary_is_the_grade_of_the_log_byte_for_byte(tmp_path: Path) -> None:
    of = setting(tmp_path, calls_echo())
    graded = suite(task("one"), task("two", expected=plain()["expected"]), trials={"count": 2})

    done = evaluated(of, graded)
    again = grade(graded, read_events(runs.events(of.journal, of.eval_run)))

    assert done.grade.summary is not None
    assert again.summary is not None
    assert dump_document(again.summary) == dump_document(done.grade.summary)
    assert done.grade.differences == ()
    assert done.grade.findings == ()
    assert runs.summary_of(of.journal, of.eval_run) == done.grade.summary


def test_the_watcher_is_told_of_each_trial(tmp_path: Path) -> None:
    watcher = Watcher()
    wrong = {"kind": "golden", "match": {"strategy": "exact", "value": "ho"}}

    evaluate(
        suite(plain("one"), plain("two", expected=wrong)),
        None,
        setting(tmp_path, script(SAYS_HI)),
        watcher,
    )

    assert watcher.told == [
        ("began", "one", 0),
        ("passed", "one", 0),
        ("began", "two", 0),
        ("failed", "two", 0),
    ]


def test_a_failed_trial_is_scored_and_the_next_one_runs(tmp_path: Path) -> None:
    of = setting(tmp_path, script("import sys; sys.exit(3)"))

    done = evaluated(of, suite(plain("one"), plain("two")))

    assert done.grade.summary is not None
    assert [one.score for one in done.grade.summary.tasks] == [0, 0]
    assert [one.result.failure for one in done.trials] == ["exit code 3", "exit code 3"]
    line = runs.one_run(of.journal, of.eval_run)
    assert (line.state, line.mode) == ("ended", "eval")
    assert line.command is not None
    assert json.loads(line.command) == list(of.agent)


def test_x08_what_a_trial_told_late_is_in_nothing_that_is_kept_of_the_evaluation(
    tmp_path: Path,
) -> None:
    secret = "Zq8knownValue9"
    of = setting(tmp_path, telling_late(secret))

    done = evaluated(of, suite(task()))

    assert secret not in str(done)
    assert secret.encode() not in b"".join(path.read_bytes() for path in Path(of.home).iterdir())
    again = grade(suite(task()), read_events(runs.events(of.journal, of.eval_run)))
    assert again.summary == done.grade.summary


def test_r33_reported_costs_of_all_trials_add_up(tmp_path: Path) -> None:
    used = {"provider": "p", "model": "m", "inputTokens": 1, "outputTokens": 2}
    line = json.dumps({"type": "provider.usage", "payload": {**used, "costEstimateUsd": 0.04}})
    code = f"import os; open(os.environ['MCP_SIDECAR_EVENTS_FILE'], 'a').write({line!r})"
    of = setting(tmp_path, script(f"{code}; {SAYS_HI}"))
    thresholds = {"passScore": 1, "maxCostUsd": 0.2}

    done = evaluated(
        of, suite(plain("one"), plain("two"), trials={"count": 3}, thresholds=thresholds)
    )

    assert done.grade.summary is not None
    assert done.grade.summary.total_cost_usd == 0.24
    assert not done.grade.summary.passed
    costs = [event["payload"]["costUsd"] for event in log(of) if event["type"] == "eval.scored"]
    assert costs == [0.04] * 6


def test_r33_one_bad_report_makes_the_cost_unknown(tmp_path: Path) -> None:
    code = "import os; open(os.environ['MCP_SIDECAR_EVENTS_FILE'], 'a').write('{')"
    of = setting(tmp_path, script(f"{code}; {SAYS_HI}"))

    done = evaluated(of, suite(plain(), thresholds={"passScore": 1, "maxCostUsd": 1}))

    assert done.grade.status is Status.FAILED
    assert "cost-unknown" in [reason.code for reason in done.grade.reasons]


def test_an_evaluation_that_the_user_ends_measured_nothing_more(tmp_path: Path) -> None:
    of = setting(tmp_path, script(SAYS_HI))

    class Stopping(Watcher):
        def ended(self, task: Task, index: int, graded: TrialGrade) -> None:
            super().ended(task, index, graded)
            of.stop.order()

    mark = str(tmp_path / "was here")
    code = f"import os, time; os.path.exists({mark!r}) and time.sleep(60); open({mark!r}, 'w')"
    endless_when_again = replace(of, agent=tuple(script(code)))
    done = evaluate(suite(plain("one"), plain("two")), None, endless_when_again, Stopping())

    assert done.is_stopped
    assert [one.task.task_id for one in done.trials] == ["one"]
    assert done.grade.status is Status.UNMEASURED
    assert "eval.completed" not in [event["type"] for event in log(of)]
    assert done.grade.summary is not None
    assert not done.grade.summary.passed
    assert runs.one_run(of.journal, of.eval_run).state == "interrupted"


def test_where_no_trial_ended_there_is_no_summary(tmp_path: Path) -> None:
    of = setting(tmp_path, script("import time; time.sleep(60)"))
    of.stop.order()

    done = evaluated(of, suite(plain()))

    assert (done.is_stopped, done.trials, done.grade.summary) == (True, (), None)
    assert runs.summary_of(of.journal, of.eval_run) is None


def test_an_agent_that_cannot_start_ends_the_evaluation(tmp_path: Path) -> None:
    of = setting(tmp_path, ["no-such-agent"])

    with pytest.raises(AgentError):
        evaluated(of, suite(plain()))

    assert runs.one_run(of.journal, of.eval_run).state == "failed"


def test_the_target_agent_of_the_suite_is_the_one_that_is_graded(tmp_path: Path) -> None:
    of = setting(tmp_path, calls_echo(), agent_id="shop.agent")
    path = {"match": "exact", "calls": [{"tool": "raw:echo"}]}

    done = evaluated(
        of,
        suite(
            task(expected={"kind": "trajectory", "trajectory": path}), targetAgentId="shop.agent"
        ),
    )

    assert done.grade.status is Status.PASSED


class TestRefusals:
    @pytest.mark.parametrize(
        ("more", "problem"),
        [
            pytest.param(
                {
                    "expected": {
                        "kind": "rubric",
                        "rubric": [{"criterion": "is polite", "weight": 1}],
                    }
                },
                "shop.json /tasks/1/expected/kind: task 'two' has kind rubric, and there is no "
                "judge; name one with --judge or --judge-url",
                id="a rubric",
            ),
            pytest.param(
                {"fixtures": {"onMiss": "live"}},
                "shop.json /tasks/1/fixtures/onMiss: task 'two' has onMiss live, and no live "
                "servers are known; name them with --config, or say onMiss fail",
                id="onMiss live without a config",
            ),
        ],
    )
    def test_name_the_task_and_the_field(self, more: dict[str, Any], problem: str) -> None:
        with pytest.raises(SuiteError) as refused:
            refuse_unrunnable(
                suite(task("one"), task("two", **more)), live_servers=(), name="shop.json"
            )

        assert str(refused.value) == problem

    def test_a_rubric_is_allowed_where_there_is_a_judge(self) -> None:
        refuse_unrunnable(
            suite(plain(expected=rubric(1))), live_servers=(), name="shop.json", has_judge=True
        )

    def test_live_misses_are_allowed_where_live_servers_are_known(self) -> None:
        live = suite(task(fixtures={"onMiss": "live"}))

        refuse_unrunnable(live, live_servers=["raw"], name="shop.json")


class Judging:
    """A judge with prepared answers, one a question, that keeps what it was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    def judge(self, question: Question, stop: Stop) -> Answer:
        self.asked.append(question)
        found = self.answers.pop(0)
        if found == STOPPED:
            stop.order()
        return found


STOPPED = NoJudgement("stopped by the user")
JUDGE_CALL = {
    "provider": "p",
    "model": "judge-1",
    "inputTokens": 9,
    "outputTokens": 1,
    "costEstimateUsd": 0.25,
}


class TestJudges:
    def judged(
        self, of: Setting, judge: Judging, *tasks: dict[str, Any], **more: Any
    ) -> Evaluation:
        thresholds = {"passScore": 0.5}
        asked = suite(*tasks, **{"thresholds": thresholds, **more})
        return evaluate(asked, None, of, Watcher(), measures=Measures(judge=judge))

    def test_r14_a_judgement_is_recorded_as_booleans_and_graded_from_the_log(
        self, tmp_path: Path
    ) -> None:
        of = setting(tmp_path, script("print('hi hunter2')"))
        judge = Judging(Judgement((True, False), ("polite", "no order"), (JUDGE_CALL,)))

        done = self.judged(of, judge, plain(expected=rubric(0.75, 0.25)))

        assert [event["type"] for event in log(of)] == [
            "eval.started",
            "agent.invocation-started",
            "agent.invocation-completed",
            "provider.usage",
            "eval.scored",
            "eval.completed",
        ]
        latency = done.trials[0].result.latency_ms
        assert log(of)[4]["payload"] == {
            "taskId": "one",
            "score": 0.75,
            "passed": True,
            "latencyMs": latency,
            "trialIndex": 0,
            "scoreLabel": "pass",
            "evaluatorType": "llm_judge",
            "x-sidecar-criteria-met": [True, False],
        }
        assert log(of)[3]["payload"] == JUDGE_CALL
        assert "no order" not in json.dumps(log(of))
        assert [problem for event in log(of) for problem in event_problems(event)] == []
        assert done.grade.status is Status.PASSED
        assert (done.grade.differences, done.grade.findings) == ((), ())
        assert isinstance(done.trials[0].answer, Judgement)

    def test_a_judge_sees_what_is_kept_and_no_secret(self, tmp_path: Path) -> None:
        of = setting(tmp_path, script("print('hi hunter2')"))
        judge = Judging(Judgement((True,)))

        self.judged(of, judge, plain(expected=rubric(1)))

        mask = of.masks.plain("hunter2")
        assert mask.startswith("[REDACTED:")
        assert judge.asked == [Question("say hi", f"hi {mask}", ("criterion 0",))]

    def test_r33_what_judges_cost_counts_in_the_total_and_never_in_efficiency(
        self, tmp_path: Path
    ) -> None:
        line = json.dumps({"type": "provider.usage", "payload": JUDGE_CALL})
        code = f"import os; open(os.environ['MCP_SIDECAR_EVENTS_FILE'], 'a').write({line!r})"
        of = setting(tmp_path, script(f"{code}; {SAYS_HI}"))
        answer = Judgement((True,), usage=(JUDGE_CALL, JUDGE_CALL))
        judge = Judging(answer, answer)

        done = self.judged(of, judge, plain(expected=rubric(1)), trials={"count": 2})

        assert done.grade.summary is not None
        (found,) = done.grade.summary.tasks
        assert (done.grade.summary.total_cost_usd, found.cost_usd) == (1.5, 0.5)
        assert found.efficiency is not None
        assert (found.efficiency.model_call_count, found.efficiency.input_tokens) == (1, 9)

    def test_r17_a_judge_that_fails_leaves_its_trial_unmeasured_and_the_others_as_they_are(
        self, tmp_path: Path
    ) -> None:
        of = setting(tmp_path, script(SAYS_HI))
        judge = Judging(
            Judgement((True,)),
            NoJudgement("timed out after 60 s", "hunter3", (JUDGE_CALL,)),
            Judgement((True,)),
        )

        done = self.judged(of, judge, plain(expected=rubric(1)), trials={"count": 3})

        scored = [event["payload"] for event in log(of) if event["type"] == "eval.scored"]
        assert [(one["trialIndex"], one["score"]) for one in scored] == [(0, 1), (2, 1)]
        (unjudged,) = [event["payload"] for event in log(of) if event["type"] == UNJUDGED]
        assert unjudged == {"taskId": "one", "trialIndex": 1, "why": "timed out after 60 s"}
        assert "hunter3" not in json.dumps(log(of))
        assert [problem for event in log(of) for problem in event_problems(event)] == []
        assert done.grade.status is Status.UNMEASURED
        assert done.grade.tasks[0].unmeasured == (1,)
        assert done.grade.differences == ()
        assert log(of)[-1]["payload"]["passed"] is False
        assert runs.one_run(of.journal, of.eval_run).state == "ended"

    def test_where_no_judgement_was_given_there_is_no_summary(self, tmp_path: Path) -> None:
        of = setting(tmp_path, script(SAYS_HI))

        done = self.judged(of, Judging(NoJudgement("exit code 1")), plain(expected=rubric(1)))

        assert (done.grade.status, done.grade.summary) == (Status.UNMEASURED, None)
        assert log(of)[-1]["type"] == UNJUDGED

    def test_no_judge_is_asked_where_the_score_is_known(self, tmp_path: Path) -> None:
        of = setting(tmp_path, script("import sys; sys.exit(3)"))
        judge = Judging()

        done = self.judged(of, judge, plain("one", expected=rubric(1)), plain("two"))

        assert judge.asked == []
        assert [one.answer for one in done.trials] == [None, None]
        scored = [event["payload"] for event in log(of) if event["type"] == "eval.scored"]
        assert [one["evaluatorType"] for one in scored] == ["deterministic"] * 2

    def test_r12_an_output_off_its_path_is_judged_and_keeps_its_score(self, tmp_path: Path) -> None:
        of = setting(tmp_path, calls_echo())
        path = {"match": "in-order", "calls": [], "forbidden": ["raw:echo"]}
        judge = Judging(Judgement((True,)))

        done = self.judged(of, judge, task(expected=rubric(1, trajectory=path)))

        assert done.grade.summary is not None
        (found,) = done.grade.summary.tasks
        assert (found.score, found.gated_score, found.passed) == (1, 0, False)

    def test_a_judge_may_say_that_it_is_no_model(self, tmp_path: Path) -> None:
        of = setting(tmp_path, script(SAYS_HI))

        self.judged(of, Judging(Judgement((True,), evaluator="human")), plain(expected=rubric(1)))

        assert log(of)[-2]["payload"]["evaluatorType"] == "human"

    def test_a_judge_that_the_user_ends_ends_the_evaluation(self, tmp_path: Path) -> None:
        of = setting(tmp_path, script(SAYS_HI))

        done = self.judged(of, Judging(STOPPED), plain("one", expected=rubric(1)), plain("two"))

        assert (done.is_stopped, done.trials) == (True, ())
        assert UNJUDGED not in [event["type"] for event in log(of)]
        assert runs.one_run(of.journal, of.eval_run).state == "interrupted"


def test_r48_a_baseline_is_named_at_the_start_and_compared_at_the_end(tmp_path: Path) -> None:
    of = setting(tmp_path, script(SAYS_HI))
    graded = suite(plain())
    first = evaluated(of, graded)
    assert first.grade.summary is not None
    again = replace(of, eval_run=ids.new_run_id(1.0, bytes(ids.RANDOMNESS_BYTES)))
    baseline = Baseline(first.grade.summary, of.eval_run)

    done = evaluate(graded, None, again, Watcher(), measures=Measures(baseline=baseline))

    events = log(again)
    assert events[0]["payload"]["baselineRunId"] == of.eval_run
    assert events[-1]["payload"]["regressionVsBaseline"] == 0
    assert done.grade.summary is not None
    assert done.grade.summary.regression is not None
    assert done.grade.summary.regression.verdict == "unchanged"
    assert runs.summary_of(again.journal, again.eval_run) == done.grade.summary
    assert [problem for event in events for problem in event_problems(event)] == []


def test_all_servers_that_were_shown_or_are_named_are_offered() -> None:
    shown = Cassette((), {"time": Server(), "git": Server()})
    path = {"match": "in-order", "calls": [], "forbidden": ["mail:send"]}
    named = suite(task(expected={"kind": "trajectory", "trajectory": path}))

    assert servers_of(named, shown) == ("time", "git", "raw", "mail")
    assert servers_of(named, None) == ("raw", "mail")
