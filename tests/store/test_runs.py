import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.errors import SuiteError, UsageError
from sidecar.store import ids, runs
from sidecar.store.journal import Journal
from sidecar.store.runs import RunLine, SessionLine
from sidecar.store.session import Kept
from sidecar.suite.documents import summary_from_json
from sidecar.suite.event_document import event_problems
from sidecar.suite.events import read_events
from sidecar.suite.summary import EvalSummary
from tests.store.processes import WAIT_SECONDS, writer
from tests.store.samples import (
    NOON_TEXT,
    OTHER_RUN,
    RUN,
    ULID,
    answered,
    call,
    failed,
    open_journal,
    record,
    request,
    started,
)

EVAL_RUN = "local/01ARZ3NDEKTSV4RRFFQ69G5FAZ"
TOOL_ERROR = '{"content":[],"isError":true}'


def test_a_run_is_listed_with_all_that_is_known_of_it(journal: Journal) -> None:
    journal.start_run(
        RUN,
        mode="replay",
        agent_id="me",
        cassette="c",
        command='["agent"]',
        input='"in"',
        suite_id="s",
        task_id="t",
        trial_index=1,
        eval_run_id=EVAL_RUN,
    )
    session = journal.start_session(RUN, server="git", mode="replay", agent_id="me")
    session.close(exit_code=0)
    journal.finish_run(RUN, state="failed", exit_code=3, output='"out"')

    line = SessionLine("git", "replay", "me", "ended", 0, NOON_TEXT, NOON_TEXT)
    expected = RunLine(
        run_id=RUN,
        mode="replay",
        state="failed",
        agent_id="me",
        cassette="c",
        command='["agent"]',
        input='"in"',
        output='"out"',
        exit_code=3,
        suite_id="s",
        task_id="t",
        trial_index=1,
        eval_run_id=EVAL_RUN,
        started_at=NOON_TEXT,
        ended_at=NOON_TEXT,
        sessions=(line,),
        calls=0,
        errors=0,
        misses=0,
    )
    assert runs.list_runs(journal) == [expected]
    assert runs.one_run(journal, RUN) == expected


def test_the_newest_recording_and_the_newest_evaluation_are_found(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        assert (runs.last_recorded(journal), runs.last_evaluation(journal)) == (None, None)
        for run, mode, cassette in [
            ("local/a", "record", "c"),
            ("local/b", "auto", None),
            ("local/c", "eval", None),
            ("local/d", "replay", "c"),
        ]:
            journal.start_run(run, mode=mode, cassette=cassette)

        assert runs.run_ids(journal) == ["local/a", "local/b", "local/c", "local/d"]
        assert runs.last_recorded(journal) == "local/b"
        assert runs.last_recorded(journal, cassette="c") == "local/a"
        assert runs.last_recorded(journal, cassette="gone") is None
        assert runs.last_evaluation(journal) == "local/c"


def test_runs_are_listed_newest_first_and_no_more_than_asked_for(journal: Journal) -> None:
    for run in (RUN, OTHER_RUN, EVAL_RUN):
        journal.start_run(run, mode="record")

    assert [run.run_id for run in runs.list_runs(journal)] == [EVAL_RUN, OTHER_RUN, RUN]
    assert [run.run_id for run in runs.list_runs(journal, limit=1)] == [EVAL_RUN]


def test_a_run_that_is_not_there_is_an_error_with_the_next_step(journal: Journal) -> None:
    with pytest.raises(UsageError, match=f"has no run {RUN}; `mcp-sidecar runs list`"):
        runs.one_run(journal, RUN)


def test_calls_errors_and_misses_are_counted(journal: Journal) -> None:
    session = started(journal, mode="replay")
    record(session, answered(request("tools/list")))
    record(session, failed(request("resources/read")))
    record(session, answered(call()))
    record(session, answered(call(), TOOL_ERROR))
    record(session, failed(call()))
    record(session, call())
    refused = answered(call(), TOOL_ERROR)
    record(session, refused, missed="used up", error_code="sidecar.fixture_miss", replayed=True)
    record(session, answered(call(), TOOL_ERROR), missed="used up")
    first = record(session, answered(call()), more_rounds=True)
    record(session, answered(call()), call=first)

    line = runs.one_run(journal, RUN)
    assert (line.calls, line.errors, line.misses) == (7, 4, 2)


def test_the_servers_of_a_run_are_named_once_in_order(journal: Journal) -> None:
    for server in ("time", "git", "time"):
        started(journal, server=server)

    assert runs.one_run(journal, RUN).servers == ("time", "git")


@pytest.mark.parametrize(
    ("sessions", "state"),
    [
        pytest.param(["ended", "ended"], "ended", id="all in order"),
        pytest.param(["ended", "failed"], "failed", id="one failed"),
        pytest.param(["interrupted", "failed"], "interrupted", id="one was interrupted"),
        pytest.param(["ended", None], "running", id="one still runs"),
        pytest.param([], "running", id="no session yet, and who began it lives"),
    ],
)
def test_a_run_that_an_agent_started_ends_with_its_proxies(
    journal: Journal, sessions: list[str | None], state: str
) -> None:
    journal.start_run(RUN, mode="record")
    for how in sessions:
        session = started(journal)
        if how:
            session.close(exit_code=0, state=how)

    line = runs.one_run(journal, RUN)
    assert line.state == state
    assert line.ended_at == (None if state == "running" else NOON_TEXT)


def test_a_run_that_we_started_goes_on_after_its_proxies(journal: Journal) -> None:
    journal.start_run(RUN, mode="record", command='["agent"]')
    started(journal).close(exit_code=0)

    assert runs.one_run(journal, RUN).state == "running"
    journal.finish_run(RUN, state="interrupted")
    assert runs.one_run(journal, RUN).state == "interrupted"


def test_what_was_killed_is_interrupted_and_not_running_for_ever(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    with writer(Path(journal.path), RUN, "forever") as process:
        assert process.stdout
        assert process.stdout.readline() == b"up\n"
        process.stdout.readline()
        assert runs.one_run(journal, RUN).state == "running"
        assert runs.open_sessions(journal, RUN) == 1
        process.kill()
        process.communicate(timeout=WAIT_SECONDS)

    line = runs.one_run(journal, RUN)
    assert (line.state, [session.state for session in line.sessions]) == (
        "interrupted",
        ["interrupted"],
    )
    assert runs.open_sessions(journal, RUN) == 0
    journal.close()


@pytest.mark.parametrize(
    ("pid", "start", "alive"),
    [
        pytest.param(os.getpid(), ids.process_start(os.getpid()), 1, id="it runs"),
        pytest.param(os.getpid(), "another boot 7", 0, id="another process has its pid"),
        pytest.param(os.getpid(), "", 1, id="only the pid is known, and is in use"),
        pytest.param(2**22 + 1, "", 0, id="only the pid is known, and is free"),
        pytest.param(None, "", 0, id="nothing is known"),
    ],
)
def test_a_session_is_open_while_its_process_runs(
    journal: Journal, pid: int | None, start: str, alive: int
) -> None:
    started(journal)
    with journal.connection.transaction():
        journal.connection.run("UPDATE sessions SET pid = ?, pid_start = ?", (pid, start))

    assert runs.open_sessions(journal, RUN) == alive


def test_a_log_is_whole_and_its_contents_are_spelt_as_they_were(journal: Journal) -> None:
    spelt = '{"e":1e2, "u":"\\u00e9","long":12345678901234567890123}'
    interaction = answered(call(arguments=spelt), spelt)
    row = started(journal).add(Kept(interaction, 0, 5_000_000))

    shared = f'"agentId":"agent","toolName":"git:git_log","callId":"call-{row}"'
    later = NOON_TEXT.replace("20.000", "20.005")
    called = f"{ULID}.{row:06d}c"
    assert list(runs.events(journal, RUN)) == [
        f'{{"eventId":"{called}","runId":"{RUN}","sequence":0,"type":"agent.tool-called",'
        f'"timestamp":"{NOON_TEXT}","schemaVersion":1,'
        f'"payload":{{{shared},"transport":"mcp","inputs":{spelt}}}}}',
        f'{{"eventId":"{ULID}.{row:06d}r","runId":"{RUN}","sequence":1,'
        f'"type":"agent.tool-returned","timestamp":"{later}","schemaVersion":1,'
        f'"causationId":"{called}","payload":{{{shared},"durationMs":5,"outcome":{spelt}}}}}',
    ]


def test_every_event_of_a_log_is_a_v2_run_event_and_is_read_by_the_grader(
    journal: Journal,
) -> None:
    session = started(journal)
    usage = {"provider": "p", "model": "m", "inputTokens": 1, "outputTokens": 2}
    runs.add_event(journal, RUN, "provider.usage", usage)
    record(session, answered(call()))
    record(session, failed(call()))
    record(session, call())
    record(session, answered(call()), missed="why")

    lines = list(runs.events(journal, RUN))
    assert [event_problems(json.loads(line)) for line in lines] == [()] * 9
    assert [event.sequence for event in read_events(lines)] == list(range(9))


def test_events_of_ones_own_stand_in_order_with_their_causes(journal: Journal) -> None:
    first = runs.add_event(journal, RUN, "example.thing", {"a": [1, None]})
    second = runs.add_event(journal, RUN, "example.thing", "é\ud800", first)

    shared = {"runId": RUN, "type": "example.thing", "timestamp": NOON_TEXT, "schemaVersion": 1}
    assert first != second
    assert [json.loads(line) for line in runs.events(journal, RUN)] == [
        {**shared, "eventId": first, "sequence": 0, "payload": {"a": [1, None]}},
        {
            **shared,
            "eventId": second,
            "sequence": 1,
            "causationId": first,
            "payload": "é\ud800",
        },
    ]


def test_a_log_of_large_contents_is_written_event_by_event(journal: Journal) -> None:
    big = '"' + "x" * 3_000_000 + '"'
    session = started(journal)
    record(session, answered(call(), big))
    lines: Iterator[str] = runs.events(journal, RUN)

    first = next(lines)
    record(session, answered(call()))

    assert '"sequence":0' in first
    assert [json.loads(line)["sequence"] for line in lines][:1] == [1]


@pytest.fixture
def summary() -> EvalSummary:
    return summary_from_json(
        {
            "suiteId": "acme.evals.a",
            "suiteVersion": "1.0.0",
            "aggregateScore": 0.5,
            "passed": False,
            "taskCount": 1,
            "passedCount": 0,
            "tasks": [{"taskId": "t", "score": 0.5, "passed": False}],
        }
    )


def test_a_summary_is_kept_and_a_later_one_replaces_it(
    journal: Journal, summary: EvalSummary
) -> None:
    assert runs.summary_of(journal, EVAL_RUN) is None

    runs.save_summary(journal, EVAL_RUN, summary)
    runs.save_summary(journal, EVAL_RUN, summary)

    assert runs.summary_of(journal, EVAL_RUN) == summary
    rows = journal.connection.rows(
        "SELECT run_id, suite_id, suite_version, json_extract(summary, '$.aggregateScore'),"
        " saved_at FROM summaries"
    )
    assert rows == [(EVAL_RUN, "acme.evals.a", "1.0.0", 0.5, NOON_TEXT)]


def test_a_summary_that_someone_broke_is_an_error(journal: Journal, summary: EvalSummary) -> None:
    runs.save_summary(journal, EVAL_RUN, summary)
    with journal.connection.transaction():
        journal.connection.run("UPDATE summaries SET summary = '{}'")

    with pytest.raises(SuiteError, match=f"summary of {EVAL_RUN}"):
        runs.summary_of(journal, EVAL_RUN)
