"""A grade in words."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sidecar.grading.grade import Grade, Status, grade
from sidecar.grading.regression import Baseline
from sidecar.report.grades import Notes, graded, oddities
from sidecar.suite.documents import suite_from_json, summary_from_json
from sidecar.suite.events import RunEvent, event_from_json
from sidecar.suite.model import AgentEvalSuite

RUN = "local/01J00000000000000000000001"
GOLDEN = {"kind": "golden", "match": {"strategy": "exact", "value": "right"}}


def path(*calls: Any, **more: Any) -> dict[str, Any]:
    return {"trajectory": {"match": "in-order", "calls": list(calls), **more}}


def expected_call(tool: str, args: Any) -> dict[str, Any]:
    return {"tool": tool, "args": args, "argsMatch": "exact"}


def suite(*expected: Any, **more: Any) -> AgentEvalSuite:
    tasks = [
        {"taskId": f"task-{number}", "input": None, "expected": one}
        for number, one in enumerate(expected, 1)
    ]
    return suite_from_json(
        {
            "suiteId": "tests.evals.grades",
            "version": "1.0.0",
            "modes": ["golden"],
            "thresholds": {"passScore": 1},
            "tasks": tasks,
            **more,
        }
    )


class Trial:
    """One trial of a log: its calls, and its output or its failure."""

    def __init__(
        self, *calls: tuple[str, Any], output: str = "right", failure: str | None = None
    ) -> None:
        self.calls = calls
        self.output = output
        self.failure = failure

    def events(self, task: str, index: int) -> Iterator[tuple[str, Any]]:
        bracket = {"invocationId": f"{task}.{index}", "agentId": "agent"}
        yield "agent.invocation-started", {**bracket, "source": "run-api"}
        for number, (tool, inputs) in enumerate(self.calls):
            call = {"agentId": "agent", "toolName": tool, "callId": f"call-{number}"}
            yield "agent.tool-called", {**call, "inputs": inputs}
            yield "agent.tool-returned", {**call, "outcome": {"content": []}}
        told = {"outcome": "completed", "x-sidecar-output": self.output}
        if self.failure is not None:
            told = {"outcome": "failed", "x-sidecar-failure": self.failure}
        yield "agent.invocation-completed", {**bracket, **told}
        score = {"taskId": task, "trialIndex": index, "score": 0, "passed": False}
        yield "eval.scored", score


def log(of: AgentEvalSuite, *trials: Trial) -> list[RunEvent]:
    """The log of a suite's trials, task by task; what it scores is wrong on purpose."""
    said: list[tuple[str, Any]] = [
        (
            "eval.started",
            {
                "suiteId": of.suite_id,
                "suiteVersion": of.version,
                "taskCount": len(of.tasks),
                "modes": ["golden"],
                "trialCount": of.trial_count,
            },
        )
    ]
    for number, trial in enumerate(trials):
        task = of.tasks[number // of.trial_count].task_id
        said += trial.events(task, number % of.trial_count)
    done = {"aggregateScore": 0, "passed": False, "taskCount": len(of.tasks), "passedCount": 0}
    said.append(("eval.completed", done))
    return [
        event_from_json(
            {
                "eventId": f"01J00000000000000000000000.{sequence:06d}",
                "runId": "local/01J00000000000000000000000",
                "sequence": sequence,
                "type": kind,
                "timestamp": "2026-01-01T00:00:00Z",
                "schemaVersion": 1,
                "payload": payload,
            }
        )
        for sequence, (kind, payload) in enumerate(said)
    ]


def grade_of(of: AgentEvalSuite, *trials: Trial) -> Grade:
    return grade(of, log(of, *trials))


def lines(found: Grade, notes: Notes | None = None) -> list[str]:
    """The report."""
    return graded(found, notes=notes).splitlines()


def test_a_passed_task_says_its_score_and_its_gate() -> None:
    of = suite({**GOLDEN, **path(expected_call("git:log", {"n": 1}))})

    assert lines(grade_of(of, Trial(("git:log", {"n": 1})))) == [
        "task-1: score 1, gate 1: passed",
        "  + all 1 expected calls were made, in order, among 1 calls",
        "  + the output is as expected (exact)",
        "PASSED: 1 of 1 task passed; the gating aggregate is 1, the bar 1",
    ]


def test_g15_a_forbidden_call_behind_a_right_answer_is_named() -> None:
    of = suite({**GOLDEN, **path(expected_call("git:log", {"n": 1}), forbidden=["git:reset"])})

    found = grade_of(of, Trial(("git:reset", {}), ("git:log", {"n": 1})))

    assert lines(found) == [
        "task-1: score 1, gate 0: failed",
        "  - step 1 called git:reset, which is forbidden",
        "  + all 1 expected calls were made, in order, among 2 calls",
        "  + the output is as expected (exact)",
        "FAILED: 0 of 1 task passed; the gating aggregate is 0, below the bar of 1 "
        "(ungated it is 1)",
    ]


def test_g15_a_differing_argument_is_named_with_what_was_expected_and_seen() -> None:
    of = suite({**GOLDEN, **path(expected_call("git:log", {"n": {"max": 1}}))})

    found = lines(grade_of(of, Trial(("git:log", {"n": {"max": 2}}))))

    assert "  - step 1 (git:log): argument /n/max was 2, expected 1" in found


def test_t07_each_trial_keeps_its_verdict_and_its_reasons() -> None:
    of = suite(GOLDEN, trials={"count": 2})

    assert lines(grade_of(of, Trial(), Trial(output="wrong"))) == [
        "task-1: score 0.5, gate 0.5: failed",
        "  - 1 of 2 trials passed; all must",
        "  trial 1 of 2: score 1, passed",
        "    + the output is as expected (exact)",
        "  trial 2 of 2: score 0, failed",
        '    - the output is "wrong", expected "right"',
        "FAILED: 0 of 1 task passed; the gating aggregate is 0.5, below the bar of 1",
    ]


def test_t10_trials_that_made_the_same_calls_are_told() -> None:
    of = suite(GOLDEN, trials={"count": 2})
    same = Trial(("git:log", {}))

    found = lines(grade_of(of, same, same))

    assert "  ! all 2 trials made the same calls: they tell no more than one" in found


def test_a_failed_agent_is_told_with_what_it_said() -> None:
    of = suite(GOLDEN, GOLDEN)

    found = grade_of(of, Trial(failure="exit code 3"), Trial())

    assert lines(found, {("task-1", 0): ["the agent's last words: oh\x1b[2J no"]}) == [
        "task-1: score 0, gate 0: failed",
        "  - the agent failed: exit code 3",
        "  - an agent that failed scores 0",
        "  ! the agent's last words: oh\\x1b[2J no",
        "task-2: score 1, gate 1: passed",
        "  + the output is as expected (exact)",
        "FAILED: 1 of 2 tasks passed; the gating aggregate is 0.5, below the bar of 1",
    ]
    assert (found.status, found.exit_code) == (Status.FAILED, 1)


def test_t09_a_suite_of_failed_agents_measured_nothing() -> None:
    of = suite(GOLDEN, GOLDEN)

    found = grade_of(of, Trial(failure="exit code 3"), Trial(failure="timed out after 1 s"))

    assert lines(found)[-1] == "NOT MEASURED: 0 of 2 tasks passed; the agent failed in every trial"
    assert (found.status, found.exit_code) == (Status.UNMEASURED, 2)


def test_t09_a_log_without_trials_measured_nothing() -> None:
    found = grade(suite(GOLDEN), [])

    assert lines(found) == [
        "task-1: not measured",
        "  - trial 1 of 1: no score in the log",
        "NOT MEASURED: no trial of any task was measured",
    ]
    assert oddities(found).splitlines() == [
        "the log: the log has no eval.started",
        "the log: the log has no eval.completed",
    ]
    assert found.exit_code == 2


def test_what_is_known_of_a_trial_that_the_log_has_no_score_of_is_told() -> None:
    notes = {("task-1", 0): ["the judge gave no judgement: exit code 1"]}

    assert lines(grade(suite(GOLDEN), []), notes)[:3] == [
        "task-1: not measured",
        "  - trial 1 of 1: no score in the log",
        "  ! the judge gave no judgement: exit code 1",
    ]


def test_a_passed_suite_ends_with_0() -> None:
    of = suite(GOLDEN)

    assert grade_of(of, Trial()).exit_code == 0


def test_what_the_log_says_otherwise_is_told_apart_from_the_grade() -> None:
    found = grade_of(suite(GOLDEN), Trial())

    assert "the log" not in graded(found)
    assert oddities(found).splitlines() == [
        "the log differs: task task-1, trial 1: score is 0 there, computed 1",
        "the log differs: task task-1, trial 1: passed is false there, computed true",
        "the log differs: eval.completed: aggregateScore is 0 there, computed 1",
        "the log differs: eval.completed: passed is false there, computed true",
        "the log differs: eval.completed: passedCount is 0 there, computed 1",
    ]


def test_every_oddity_of_a_log_is_told() -> None:
    of = suite(*[GOLDEN] * 30)

    assert oddities(grade_of(of, *[Trial()] * 30)).count("the log differs") == 63


def test_a_log_without_oddities_is_not_spoken_of() -> None:
    found = replace(grade_of(suite(GOLDEN), Trial()), differences=())

    assert oddities(found) == ""


@pytest.mark.parametrize(
    ("before", "said"),
    [
        pytest.param(
            0.5,
            f"against {RUN}: score +0.5, inconclusive: of 1 paired tasks 1 went up and 0 down"
            " (exact test, p = 1, alpha 0.05)",
            id="R48 inconclusive",
        ),
        pytest.param(
            1,
            f"against {RUN}: score +0, unchanged: of 1 paired tasks 0 went up and 0 down",
            id="R48 unchanged",
        ),
    ],
)
def test_a_comparison_with_a_baseline_is_told_before_the_verdict(before: float, said: str) -> None:
    of = suite(GOLDEN)
    entry = {"taskId": "task-1", "score": before, "passed": before == 1}
    value = {
        "suiteId": of.suite_id,
        "suiteVersion": of.version,
        "aggregateScore": before,
        "passed": True,
        "taskCount": 1,
        "passedCount": int(before),
        "tasks": [entry],
    }
    baseline = Baseline(summary_from_json(value), RUN)

    told = lines(grade(of, log(of, Trial()), baseline=baseline))

    assert told[-2] == said
    assert told[-1].startswith("PASSED: 1 of 1 task passed")


def test_a_baseline_is_called_as_the_user_calls_it() -> None:
    of = suite(GOLDEN)
    found = grade_of(of, Trial())
    assert found.summary is not None
    compared = grade(of, log(of, Trial()), baseline=Baseline(found.summary, RUN))

    text = graded(compared, baseline="old/\x1b[31mnow.json")

    assert RUN not in text
    assert "\nagainst old/\\x1b[31mnow.json: score +0, unchanged" in text


def test_nothing_in_a_reason_steers_the_terminal() -> None:
    of = suite({**GOLDEN, **path(forbidden=["git:\x1b[31m[bold]reset"])})

    text = graded(grade_of(of, Trial(("git:\x1b[31m[bold]reset", {}))), width=200)

    assert "[bold]reset, which is forbidden" in text
    assert "\x1b[31m[bold]" not in text


@pytest.mark.parametrize("width", [40, 200])
def test_a_terminal_gets_lines_that_fit_and_colours(width: int) -> None:
    of = suite({**GOLDEN, **path(expected_call("git:log", {"n": 1}))})

    text = graded(grade_of(of, Trial(output="wrong")), width=width)

    plain = "".join(part.partition("m")[2] or part for part in text.split("\x1b["))
    assert max(map(len, plain.splitlines())) <= width
    assert "\x1b[" in text
