"""From a log to trials: brackets, order, gaps, and what belongs to no trial."""

from collections.abc import Callable

import pytest

from sidecar.errors import SuiteError
from sidecar.grading.evidence import TrialEvidence
from sidecar.grading.log_reading import MAX_FINDINGS, LogReader, OutOfOrderError, read_trial
from sidecar.grading.reasons import Reason
from sidecar.suite.events import RunEvent, event_from_json
from tests.eval_data import RUN_ID, Log, suite
from tests.grading import told


def events(log: Log) -> list[RunEvent]:
    return [event_from_json(value) for value in log.events]


def read(log: Log, agent_id: str | None = None) -> tuple[list[TrialEvidence], LogReader]:
    reader = LogReader(agent_id)
    return list(reader.trials(events(log))), reader


def defects(log: Log, agent_id: str | None = None) -> list[list[str]]:
    return [told.codes(trial.defects) for trial in read(log, agent_id)[0]]


def findings(log: Log, agent_id: str | None = None) -> list[str]:
    return told.codes(read(log, agent_id)[1].facts().findings)


def begun() -> Log:
    return Log().begin(suite())


def tools(trial: TrialEvidence) -> list[str]:
    return [call.tool for call in trial.calls]


def test_r1_a_trial_is_the_calls_inside_its_bracket() -> None:
    log = begun().trial("one", "a:1", "a:2").trial("two", "b:1").end(1, 2, 2, passed=True)

    trials, reader = read(log)

    assert [tools(trial) for trial in trials] == [["a:1", "a:2"], ["b:1"]]
    assert [trial.defects for trial in trials] == [(), ()]
    facts = reader.facts()
    assert (facts.agent_id, facts.findings) == ("agent", ())
    assert facts.started is not None
    assert facts.completed is not None


def test_r1_delegates_calls_are_kept_with_their_agent() -> None:
    log = begun()
    log.open()
    log.open("helper")
    log.call("a:1").call("b:1", agent="helper")
    log.close("invocation-2", agent="helper")
    log.close("invocation-1").scored()

    ((trial,), _) = read(log)

    assert [(call.tool, call.agent_id) for call in trial.calls] == [
        ("a:1", "agent"),
        ("b:1", "helper"),
    ]
    assert trial.defects == ()


def test_g12_only_tool_calls_are_calls() -> None:
    log = begun()
    log.open()
    for kind in ("agent.decided", "agent.reasoned", "acme.tools-listed", "run.progressed"):
        log.add(kind, {"toolName": "a:1"})
    log.call("a:1").close().scored()

    ((trial,), _) = read(log)

    assert tools(trial) == ["a:1"]


def test_g11_g18_the_order_is_that_of_the_sequence_not_of_the_times() -> None:
    log = begun()
    log.open()
    first, second = log.called("a:1"), log.called("a:2")
    log.returned(second).returned(first).close().scored()
    for event in log.events:
        event["timestamp"] = "2026-11-30T10:00:00Z"
    first["timestamp"] = "2026-11-30T10:00:01Z"

    ((trial,), _) = read(log)

    assert tools(trial) == ["a:1", "a:2"]


def test_v1_and_v2_logs_read_the_same() -> None:
    log = begun().trial("task", ("a:1", {"x": 1}), output="ok")
    names = {
        "agent.tool-called": "agent.toolCalled",
        "agent.tool-returned": "agent.toolReturned",
        "agent.invocation-started": "agent.invocation.started",
        "agent.invocation-completed": "agent.invocation.completed",
    }
    old = Log()
    old.events = [
        {
            **{k: v for k, v in event.items() if k != "schemaVersion"},
            "type": names.get(event["type"], event["type"]),
        }
        for event in log.events
    ]

    assert read(old)[0] == read(log)[0]


def test_r2_overlapping_brackets_of_one_agent_are_named_on_both() -> None:
    log = begun()
    log.open()
    log.call("a:1")
    log.open()
    log.call("a:2").close("invocation-1").scored("one")
    log.close("invocation-2").scored("two")

    assert defects(log) == [["overlap"], ["overlap"]]


def without(log: Log, *numbers: int) -> Log:
    log.events = [event for event in log.events if event["sequence"] not in numbers]
    return log


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        pytest.param((3,), "event 3 is missing from the log", id="one"),
        pytest.param((3, 4), "events 3 to 4 are missing from the log", id="two"),
    ],
)
def test_a_gap_inside_a_bracket_is_a_defect_of_its_trial(
    missing: tuple[int, ...], said: str
) -> None:
    log = without(begun().trial("task", "a:1", "a:2", "a:3"), *missing)

    ((trial,), _) = read(log)

    assert said in told.texts(trial.defects)


def test_a_gap_outside_brackets_is_a_finding() -> None:
    log = without(begun().trial("one", "a:1").trial("two"), 0)

    assert defects(log) == [[], []]
    assert findings(log) == ["sequence-gap", "no-eval-started", "no-eval-completed"]


def test_a_sequence_used_twice_is_named() -> None:
    log = begun().trial("task", "a:1")
    log.events[3]["sequence"] = 2

    assert "sequence-twice" in defects(log)[0]


def test_t08_an_event_that_was_sent_again_counts_once() -> None:
    log = begun().trial("task", "a:1").end(1, 1, 1, passed=True)
    log.events.insert(3, log.events[2])
    log.events.append(log.events[-1])

    ((trial,), reader) = read(log)

    assert (tools(trial), trial.defects) == (["a:1"], ())
    assert told.codes(reader.facts().findings) == ["event-twice", "event-twice"]


def test_a_log_out_of_order_is_refused_here() -> None:
    log = begun().trial("task", "a:1")
    log.events.reverse()

    with pytest.raises(OutOfOrderError, match="comes after"):
        read(log)


def test_events_of_two_runs_are_refused() -> None:
    log = begun().trial("task")
    log.events[2]["runId"] = "local/" + "9" * 26

    with pytest.raises(SuiteError, match="two runs"):
        read(log)


def test_an_unclosed_bracket_is_a_defect() -> None:
    log = begun()
    log.open()
    log.call("a:1").scored()

    assert defects(log) == [["unclosed-bracket"]]


def test_a_score_without_a_bracket_is_a_defect() -> None:
    assert defects(begun().scored()) == [["no-bracket"]]


def test_a_score_after_two_brackets_is_a_defect() -> None:
    log = begun()
    log.open()
    log.call("a:1").close()
    log.open()
    log.call("b:1").close().scored("one").scored("two")

    assert defects(log) == [["unclear-bracket"], ["no-bracket"]]
    assert findings(log) == ["no-score", "no-eval-completed"]


def test_a_bracket_without_a_score_is_a_finding() -> None:
    log = begun()
    log.open()
    log.close()
    log.open()

    assert findings(log)[:2] == ["no-score", "no-score"]


def test_a_bracket_that_closes_unopened_is_named() -> None:
    inside, outside = begun(), begun()
    inside.open()
    inside.close("invocation-9").close("invocation-1").scored()
    outside.close("invocation-9")

    assert defects(inside) == [["unopened-bracket"]]
    assert findings(outside) == ["unopened-bracket", "no-eval-completed"]


def test_a_call_outside_every_bracket_is_a_finding() -> None:
    log = begun().trial("task")
    log.call("a:late").call("b:1", agent="helper")

    assert findings(log) == ["stray-call", "no-eval-completed"]


def test_the_target_agent_may_be_given() -> None:
    log = begun()
    log.open("helper")
    log.close(agent="helper").scored()

    assert defects(log, "agent") == [["no-bracket"]]
    facts = read(log, "agent")[1].facts()
    assert facts.findings[-1].text == (
        "no bracket is of the target agent, agent; the first is of helper"
    )
    assert defects(log) == [[]]


def test_r33_model_calls_outside_brackets_are_the_judges() -> None:
    log = begun()
    log.open()
    log.usage().usage().close().usage(costEstimateUsd=0.5).scored()

    ((trial,), reader) = read(log)

    assert trial.usage.calls == 2
    assert (reader.facts().judge_usage.calls, float(reader.facts().judge_usage.cost or 0)) == (
        1,
        0.5,
    )


def test_a_second_start_or_end_is_a_finding() -> None:
    log = begun().begin(suite(), trialCount=9).end(1, 1, 1, passed=True)
    log.end(0, 1, 0, passed=False)

    facts = read(log)[1].facts()

    assert told.codes(facts.findings) == ["twice", "twice"]
    assert facts.completed is not None
    assert facts.completed.passed


def test_findings_are_bounded() -> None:
    log = begun()
    for _ in range(MAX_FINDINGS + 10):
        log.call("a:stray")

    assert len(findings(log)) == MAX_FINDINGS


def test_one_trial_can_be_read_before_it_has_a_score() -> None:
    log = Log()
    log.open()
    log.call("a:1").close(output="ok")

    trial = read_trial(events(log), agent_id="agent")

    assert (tools(trial), trial.output, trial.scored, trial.defects) == (["a:1"], "ok", None, ())


def test_a_trial_is_that_of_the_agent_who_is_asked_for() -> None:
    log = Log()
    log.open("helper")
    log.call("h:1", agent="helper")
    log.open("agent")
    log.call("a:1", error="sidecar.fixture_miss")
    log.close("invocation-2").close("invocation-1", agent="helper")

    trial = read_trial(events(log), agent_id="agent")

    assert (tools(trial), trial.failed_closed, trial.defects) == (["a:1"], True, ())


def test_a_trial_that_is_scored_already_is_refused() -> None:
    with pytest.raises(SuiteError) as refused:
        read_trial(events(Log().trial("task")), agent_id="agent")

    assert str(refused.value) == "the trial has a score already; give its events without it"


def test_a_trial_without_its_bracket_has_a_defect() -> None:
    trial = read_trial([], agent_id="agent")

    assert told.codes(trial.defects) == ["no-bracket"]


UNJUDGED = "mcp-sidecar.trial-unjudged"


def test_r17_a_trial_that_was_not_judged_is_left_out_and_the_next_one_keeps_its_score() -> None:
    log = begun()
    log.open()
    log.call("a:1").close().usage()
    log.add(UNJUDGED, {"taskId": "one", "trialIndex": 1, "why": "timed out after 60 s"})
    log.trial("two", "b:1")

    trials, reader = read(log)

    assert [(tools(trial), trial.defects) for trial in trials] == [(["b:1"], ())]
    facts = reader.facts()
    assert facts.judge_usage.calls == 1
    assert facts.findings[0] == Reason(
        "not-judged", "task one, trial 2 was not judged: timed out after 60 s"
    )
    assert "no-score" not in told.codes(facts.findings)


def test_a_trial_that_was_not_judged_may_have_no_index() -> None:
    log = begun()
    log.open()
    log.close()
    log.add(UNJUDGED, {"taskId": "one", "why": "exit code 1"})

    (said, *_) = read(log)[1].facts().findings

    assert said.text == "task one was not judged: exit code 1"


def stray(log: Log) -> None:
    log.call("a:1")


def unopened(log: Log) -> None:
    log.close("nobody")


def unscored(log: Log) -> None:
    log.open()
    log.close()


def scored_late(log: Log) -> None:
    log.open()
    log.close()
    log.trial("task")


def overlapping(log: Log) -> None:
    log.open()
    log.open()
    log.close("invocation-1").scored()


def in_a_helper(log: Log) -> None:
    log.open()
    log.open("helper")
    log.close("invocation-2", agent="helper")
    log.close("invocation-1").scored()


@pytest.mark.parametrize(
    ("write", "found", "of_the_trial"),
    [
        pytest.param(
            stray, ["a:1 was called outside every trial (event 1)"], [], id="a stray call"
        ),
        pytest.param(
            unopened, ["the bracket nobody closes unopened"], [], id="an unopened bracket"
        ),
        pytest.param(unscored, ["no eval.scored follows bracket invocation-1"], [], id="no score"),
        pytest.param(
            scored_late,
            ["no eval.scored follows bracket invocation-1 at once"],
            [
                "no eval.scored follows bracket invocation-1 at once:"
                " whose score this is cannot be told"
            ],
            id="T08 a bracket too many",
        ),
        pytest.param(
            overlapping,
            ["no eval.scored follows bracket invocation-2"],
            ["the brackets invocation-1 and invocation-2 of one agent overlap"],
            id="R2 two at once",
        ),
        pytest.param(in_a_helper, [], [], id="R1 a helper's bracket is none of the trials"),
    ],
)
def test_what_is_wrong_with_a_log_is_told_in_these_words(
    write: Callable[[Log], None], found: list[str], of_the_trial: list[str]
) -> None:
    log = begun()
    write(log)

    trials, reader = read(log)

    said = told.texts(reader.facts().findings)
    assert [text for text in said if text != "the log has no eval.completed"] == found
    assert [text for trial in trials for text in told.texts(trial.defects)] == of_the_trial


def test_r2_of_two_open_brackets_the_first_has_the_first_score() -> None:
    log = begun()
    log.open()
    log.call("a:1")
    log.open()
    log.scored("one").scored("two")

    trials, reader = read(log)

    assert [tools(trial) for trial in trials] == [["a:1"], []]
    assert told.codes(reader.facts().findings) == ["no-eval-completed"]


def test_a_call_keeps_its_place_in_the_log() -> None:
    ((trial,), _) = read(begun().trial("task", "a:1", "a:2"))

    assert [call.sequence for call in trial.calls] == [2, 4]


def test_a_log_of_two_runs_is_refused_by_their_names() -> None:
    log = begun().trial("task")
    log.events[-1]["runId"] = "local/other-00000000000000"

    with pytest.raises(SuiteError) as refused:
        read(log)

    assert str(refused.value) == (
        f"the log holds events of two runs, {RUN_ID} and local/other-00000000000000;"
        " grade each run's log on its own"
    )


def test_an_event_out_of_order_is_named_with_what_to_do() -> None:
    log = begun().trial("task", "a:1")
    log.events[2], log.events[3] = log.events[3], log.events[2]

    with pytest.raises(OutOfOrderError) as refused:
        read(log)

    assert str(refused.value) == "event 2 comes after event 3; sort the log by sequence"
