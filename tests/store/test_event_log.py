import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sidecar.cassette.interaction import Interaction
from sidecar.store import event_log, runs
from sidecar.store.journal import Journal
from sidecar.store.session import Kept
from tests.store.samples import (
    NOON_TEXT,
    OTHER_RUN,
    RUN,
    ULID,
    Known,
    answered,
    call,
    failed,
    open_journal,
    opened,
    record,
    request,
    started,
)

EVAL_RUN = "local/01ARZ3NDEKTSV4RRFFQ69G5FAZ"
TOOL_ERROR = '{"content":[],"isError":true}'


def log(journal: Journal, run: str = RUN) -> list[dict[str, Any]]:
    """A run's log as it is exported; SQL programs see the same."""
    exported = [json.loads(line) for line in runs.events(journal, run)]
    rows = journal.connection.rows(
        "SELECT event_id, sequence, type, timestamp, causation_id, payload FROM events"
        " WHERE run_id = ? ORDER BY sequence",
        (run,),
    )
    keys = ("eventId", "sequence", "type", "timestamp", "causationId")
    assert [tuple(event.get(key) for key in keys) for event in exported] == [
        row[:5] for row in rows
    ]
    assert [event["payload"] for event in exported] == [json.loads(row[5]) for row in rows]
    return exported


def test_a_call_is_two_events_and_the_return_is_caused_by_the_call(journal: Journal) -> None:
    row = started(journal).add(Kept(answered(call()), 1_000_000, 6_400_000))

    shared = {"agentId": "agent", "toolName": "git:git_log", "callId": f"call-{row}"}
    envelope = {"runId": RUN, "schemaVersion": 1}
    assert log(journal) == [
        {
            **envelope,
            "eventId": f"{ULID}.{row:06d}c",
            "sequence": 0,
            "type": "agent.tool-called",
            "timestamp": NOON_TEXT,
            "payload": {**shared, "transport": "mcp", "inputs": {"n": 1}},
        },
        {
            **envelope,
            "eventId": f"{ULID}.{row:06d}r",
            "sequence": 1,
            "type": "agent.tool-returned",
            "timestamp": NOON_TEXT.replace("20.000", "20.005"),
            "causationId": f"{ULID}.{row:06d}c",
            "payload": {**shared, "durationMs": 5, "outcome": {"content": []}},
        },
    ]


@pytest.mark.parametrize(
    ("interaction", "error"),
    [
        pytest.param(answered(call()), None, id="a result"),
        pytest.param(
            answered(call(), TOOL_ERROR),
            ("mcp_error", "the tool answered with an error"),
            id="a tool error",
        ),
        pytest.param(
            failed(call()), ("mcp_error", "the tool answered with an error"), id="a JSON-RPC error"
        ),
        pytest.param(call(), ("sidecar.unanswered", "no answer came"), id="S11 nothing"),
        pytest.param(
            call()._replace(cancelled=True),
            ("sidecar.unanswered", "no answer came"),
            id="cancelled",
        ),
        pytest.param(
            answered(call(), '{"resultType":"later"}'),
            ("sidecar.unanswered", "no answer came"),
            id="N05 a result of a kind that is not known",
        ),
    ],
)
def test_a_return_has_an_outcome_or_an_error_in_fixed_words(
    journal: Journal, interaction: Interaction, error: tuple[str, str] | None
) -> None:
    record(started(journal), interaction)

    payload = log(journal)[1]["payload"]
    assert ("outcome" in payload) == (error is None)
    told = payload.get("error")
    assert told == (None if error is None else {"code": error[0], "message": error[1]})


@pytest.mark.parametrize(
    ("how", "error", "live"),
    [
        pytest.param(
            {"error_code": "sidecar.fixture_miss", "missed": "used up", "replayed": True},
            {"code": "sidecar.fixture_miss", "message": "no recorded call answers this one"},
            None,
            id="R36 a miss that failed closed",
        ),
        pytest.param({"missed": "used up"}, None, True, id="a miss that was answered live"),
        pytest.param(
            {"missed": "used up", "error_code": "mcp_error"},
            {"code": "mcp_error", "message": "the tool answered with an error"},
            True,
            id="a miss that was answered live, with an error",
        ),
        pytest.param(
            {"error_code": "vendor.code"},
            {"code": "vendor.code", "message": "the call failed"},
            None,
            id="another code",
        ),
        pytest.param({}, None, None, id="no miss"),
    ],
)
def test_a_miss_is_told_by_its_event(
    journal: Journal, how: Known, error: object, *, live: bool | None
) -> None:
    record(started(journal, mode="replay"), answered(call()), **how)

    payload = log(journal)[1]["payload"]
    assert (payload.get("error"), payload.get("x-sidecar-miss")) == (error, live)


def test_g12_only_tool_calls_are_events(journal: Journal) -> None:
    session = started(journal)
    for method in ("initialize", "tools/list", "ping", "resources/read"):
        record(session, answered(request(method)))

    assert log(journal) == []


def test_a_call_that_is_open_has_not_returned(journal: Journal) -> None:
    opened(started(journal), call())

    assert [event["type"] for event in log(journal)] == ["agent.tool-called"]


def test_g11_order_is_that_of_the_monotonic_clock_and_sequences_have_no_gaps(
    journal: Journal,
) -> None:
    session = started(journal)
    rows = [
        session.add(Kept(answered(call("slow")), 1, 9)),
        session.add(Kept(answered(call("late")), 5, 6)),
        session.add(Kept(answered(call("early")), 2, 3)),
        session.add(Kept(answered(request("tools/list")), 1, 2)),
        session.add(Kept(answered(call("same moment")), 9, 9)),
    ]

    events = log(journal)
    assert [event["sequence"] for event in events] == list(range(8))
    assert [(event["payload"]["callId"], event["type"][11:]) for event in events] == [
        (f"call-{rows[0]}", "called"),
        (f"call-{rows[2]}", "called"),
        (f"call-{rows[2]}", "returned"),
        (f"call-{rows[1]}", "called"),
        (f"call-{rows[1]}", "returned"),
        (f"call-{rows[4]}", "called"),
        (f"call-{rows[0]}", "returned"),
        (f"call-{rows[4]}", "returned"),
    ]


def test_n04_a_call_of_several_rounds_is_one_call_from_its_first_request_on(
    journal: Journal,
) -> None:
    session = started(journal)
    asking = answered(call(), '{"resultType":"input_required"}')
    first = session.add(Kept(asking, 0, 2_000_000, more_rounds=True))
    second = session.add(Kept(answered(call()), 10_000_000, 12_000_000, call=first))

    events = log(journal)
    assert [(event["type"], event.get("causationId")) for event in events] == [
        ("agent.tool-called", None),
        ("agent.tool-returned", f"{ULID}.{first:06d}c"),
    ]
    assert [event["eventId"] for event in events] == [
        f"{ULID}.{first:06d}c",
        f"{ULID}.{first:06d}r",
    ]
    assert [event["payload"]["callId"] for event in events] == [f"call-{first}"] * 2
    assert events[1]["payload"]["durationMs"] == 12
    assert events[1]["payload"]["outcome"] == {"content": []}
    assert second != first


def test_n04_two_calls_of_several_rounds_at_once_are_not_mixed_up(journal: Journal) -> None:
    session = started(journal)
    firsts = [record(session, answered(call()), more_rounds=True) for _ in range(2)]
    for number, row in enumerate(reversed(firsts)):
        record(session, answered(call(), f'"{number}"'), call=row)

    outcomes = {
        (event["causationId"], event["payload"]["callId"], event["payload"]["outcome"])
        for event in log(journal)[2:]
    }
    assert outcomes == {
        (f"{ULID}.{firsts[1]:06d}c", f"call-{firsts[1]}", "0"),
        (f"{ULID}.{firsts[0]:06d}c", f"call-{firsts[0]}", "1"),
    }


def test_n04_a_round_may_go_to_another_process(journal: Journal, tmp_path: Path) -> None:
    first = record(started(journal), answered(call()), more_rounds=True)
    with_own_connection = open_journal(tmp_path)
    record(started(with_own_connection), answered(call()), call=first)
    with_own_connection.close()

    assert [event.get("causationId") for event in log(journal)] == [None, f"{ULID}.{first:06d}c"]


def test_the_agent_of_a_session_is_named_in_all_its_events(journal: Journal) -> None:
    journal.start_run(RUN, mode="record")
    first = journal.start_session(RUN, server="git", mode="record")
    record(first, answered(call()))
    first.set_agent_id('an "agent"')
    record(journal.start_session(RUN, server="git", mode="record"), answered(call()))

    agents = [event["payload"]["agentId"] for event in log(journal)]
    assert agents == ['an "agent"', 'an "agent"', "agent", "agent"]


def test_names_that_need_escapes_stay_json(journal: Journal) -> None:
    odd = Interaction('s"\n', "tools/call", '{"name":"é\\"\\u0000\\n"}', None)
    record(started(journal, server='s"\n'), answered(odd))

    assert {event["payload"]["toolName"] for event in log(journal)} == {'s"\n:é"\0\n'}


def test_arguments_that_are_absent_are_empty_and_others_are_any_json(journal: Journal) -> None:
    session = started(journal)
    for params in (
        None, "{}", '{"name":"a"}', '{"name":"a","arguments":null}',
        '{"name":"a","arguments":"text"}', '{"name":"a","arguments":[1,1e2,{}]}', "[]",
    ):  # fmt: skip
        opened(session, call()._replace(params=params))

    inputs = [event["payload"]["inputs"] for event in log(journal)]
    assert inputs == [{}, {}, {}, None, "text", [1, 1e2, {}], {}]


def test_an_events_own_log_is_there_though_no_run_was_started(journal: Journal) -> None:
    ident = runs.add_event(journal, RUN, "example.thing", {"a": 1})

    assert [json.loads(line)["eventId"] for line in runs.events(journal, RUN)] == [ident]


def test_the_log_of_an_evaluation_holds_those_of_its_trials(journal: Journal) -> None:
    journal.start_run(EVAL_RUN, mode="run")
    runs.add_event(journal, EVAL_RUN, "eval.started", {})
    for run in (RUN, OTHER_RUN):
        journal.start_run(run, mode="replay", eval_run_id=EVAL_RUN)
        begin = runs.add_event(journal, EVAL_RUN, "agent.invocation-started", {})
        record(started(journal, run=run), answered(call(arguments=f'{{"of":"{run}"}}')))
        runs.add_event(journal, EVAL_RUN, "agent.invocation-completed", {}, begin)
    started(journal, run="local/01ARZ3NDEKTSV4RRFFQ69G5FA0").add(Kept(call(), 0))

    events = log(journal, EVAL_RUN)
    assert [event["sequence"] for event in events] == list(range(9))
    assert {event["runId"] for event in events} == {EVAL_RUN}
    assert len({event["eventId"] for event in events}) == 9
    assert [event["type"].partition(".")[2] for event in events] == [
        "started",
        "invocation-started", "tool-called", "tool-returned", "invocation-completed",
        "invocation-started", "tool-called", "tool-returned", "invocation-completed",
    ]  # fmt: skip
    by_id = {event["eventId"]: event["sequence"] for event in events}
    causes = [by_id.get(event.get("causationId", "")) for event in events]
    assert causes == [None, None, None, 2, 1, None, None, 6, 5]
    assert [events[n]["payload"]["inputs"] for n in (2, 6)] == [{"of": RUN}, {"of": OTHER_RUN}]
    assert len(log(journal)) == 2


def test_every_type_with_contents_says_where_they_are() -> None:
    assert set(event_log.CONTENT_OF) == {event_log.TOOL_CALLED, event_log.TOOL_RETURNED}


def test_a_program_with_an_older_sqlite_can_read_the_view() -> None:
    """The operator `->` came with SQLite 3.38; Python 3.11 may come with an older one."""
    assert "->" not in event_log.EVENTS_VIEW
    assert sqlite3.sqlite_version_info >= (3, 25)
