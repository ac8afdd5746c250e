"""Every trial of every task, and the log that they leave."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sidecar.agents.evaluation import (
    Evaluation,
    evaluate,
    refuse_unrunnable,
    servers_of,
)
from sidecar.agents.trial import Setting
from sidecar.cassette.interaction import Cassette, Server
from sidecar.errors import AgentError, SuiteError
from sidecar.grading.grade import Status, grade
from sidecar.grading.trial import TrialGrade
from sidecar.store import runs
from sidecar.suite.documents import dump_document
from sidecar.suite.event_document import event_problems
from sidecar.suite.events import read_events
from sidecar.suite.model import AgentEvalSuite, Task
from tests.agents.trials import AGENT, ECHO, script, setting, suite, task

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

    slow = replace(of, agent=tuple(script(f"import time; {SAYS_HI}; time.sleep(0.5)")))
    done = evaluate(suite(plain("one"), plain("two")), None, slow, Stopping())

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
                "judge yet; choose kind golden or trajectory",
                id="a rubric",
            ),
            pytest.param(
                {"fixtures": {"toolResponses": [ECHO, {"tool": "echo"}]}},
                "shop.json /tasks/1/fixtures/toolResponses/1/tool: the entry for 'echo' can never "
                "be served: its tool names no server; write '<server>:<tool>', with the server's "
                "name in the agent's config",
                id="a tool without a server",
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

    def test_live_shadow_alone_is_refused(self) -> None:
        shadow = suite(task(), modes=["live-shadow"])

        with pytest.raises(SuiteError, match="live-shadow alone, which is not implemented"):
            refuse_unrunnable(shadow, live_servers=(), name="shop.json")

    def test_live_misses_are_allowed_where_live_servers_are_known(self) -> None:
        live = suite(task(fixtures={"onMiss": "live"}))

        refuse_unrunnable(live, live_servers=["raw"], name="shop.json")


def test_r40_live_shadow_is_not_among_the_modes_that_are_run(tmp_path: Path) -> None:
    of = setting(tmp_path, script(SAYS_HI))

    evaluated(of, suite(plain(), modes=["live-shadow", "regression", "golden"]))

    assert log(of)[0]["payload"]["modes"] == ["regression", "golden"]


def test_all_servers_that_were_shown_or_are_named_are_offered() -> None:
    shown = Cassette((), {"time": Server(), "git": Server()})
    path = {"match": "in-order", "calls": [], "forbidden": ["mail:send"]}
    named = suite(task(expected={"kind": "trajectory", "trajectory": path}))

    assert servers_of(named, shown) == ("time", "git", "raw", "mail")
    assert servers_of(named, None) == ("raw", "mail")
