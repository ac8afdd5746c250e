"""Reading logs: lazily, v1 and v2, JSON Lines and arrays."""

import json

import pytest

from sidecar.cassette.arguments import ABSENT, canonical
from sidecar.errors import SuiteError
from sidecar.suite.events import RunEvent, ToolCall, ToolReturn, event_from_json, read_events
from sidecar.suite.payloads import EvalScored, InvocationStarted
from tests.eval_data import AGENT, RUN_ID, Json, Log

LOG = Log()
LOG.open()
LOG.call("crm:lookup", {"id": 1.5})
LOG.call("crm:lookup", error="mcp_error")
LOG.close()
LOG.scored("task", 0.5, passed=False)

MISSED: dict[str, Json] = {"x-sidecar-miss": True}


def lines(events: list[Json]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


def test_an_event_holds_what_a_grader_reads() -> None:
    called, returned = LOG.events[1], LOG.events[2]

    assert event_from_json(called) == RunEvent(
        sequence=1,
        type="agent.tool-called",
        run_id=RUN_ID,
        event_id=called["eventId"],
        causation_id=None,
        payload=ToolCall(AGENT, "crm:lookup", "call-1", {"id": 1.5}),
    )
    assert event_from_json(returned) == RunEvent(
        sequence=2,
        type="agent.tool-returned",
        run_id=RUN_ID,
        event_id=returned["eventId"],
        causation_id=called["eventId"],
        payload=ToolReturn(AGENT, "crm:lookup", "call-1", None, answered_live=False),
    )


def test_rarer_events_hold_their_payload_model() -> None:
    payloads = [event.payload for event in read_events(lines(LOG.events))]

    assert payloads[0] == InvocationStarted(
        invocation_id="invocation-1", agent_id=AGENT, source="run-api"
    )
    assert payloads[-1] == EvalScored(task_id="task", score=0.5, passed=False)


def test_a_failed_call_holds_its_code() -> None:
    payload = event_from_json(LOG.events[4]).payload

    assert payload == ToolReturn(AGENT, "crm:lookup", "call-2", "mcp_error", answered_live=False)


def test_a_miss_that_was_answered_live_is_marked() -> None:
    log = Log().call("a:b", **MISSED)
    log.call("a:b", error="sidecar.fixture_miss", **MISSED)

    returns = [event_from_json(log.events[at]).payload for at in (1, 3)]
    assert [one.answered_live for one in returns if isinstance(one, ToolReturn)] == [True, True]


def test_withheld_arguments_are_absent_not_null() -> None:
    log = Log()
    log.called("a:b", "withheld")
    log.called("a:b", None)
    log.events[1]["payload"]["inputs"] = None

    calls = [event_from_json(event).payload for event in log.events]
    assert [one.inputs for one in calls if isinstance(one, ToolCall)] == [ABSENT, None]


def test_an_unknown_type_is_carried_and_not_read() -> None:
    log = Log()
    log.add("acme.thing-happened", {"any": "thing"})

    assert event_from_json(log.events[0]).payload is None
    assert event_from_json(log.events[0]).type == "acme.thing-happened"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(lines(LOG.events), id="JSON Lines"),
        pytest.param(lines(LOG.events).encode(), id="bytes"),
        pytest.param(lines(LOG.events).rstrip("\n"), id="no last newline"),
        pytest.param("\n" + lines(LOG.events).replace("\n", "\r\n\n"), id="blank lines and CRLF"),
        pytest.param("\ufeff" + lines(LOG.events), id="byte order mark"),
        pytest.param(json.dumps(LOG.events), id="an array"),
        pytest.param(json.dumps(LOG.events, indent=1).encode(), id="an array on many lines"),
        pytest.param(lines(LOG.events).splitlines(keepends=True), id="an open file's lines"),
    ],
)
def test_a_log_may_come_in_any_of_these_forms(text: str | bytes | list[str]) -> None:
    assert list(read_events(text)) == [event_from_json(event) for event in LOG.events]


def test_a_line_separator_inside_a_string_ends_no_line() -> None:
    log = Log()
    log.called("a:b", {"text": "one\u2028two\x85three"})

    (event,) = read_events(json.dumps(log.events[0], ensure_ascii=False))

    assert event.payload == ToolCall(AGENT, "a:b", "call-1", {"text": "one\u2028two\x85three"})


def test_a_log_is_read_lazily() -> None:
    def endless() -> Json:
        while True:
            yield json.dumps(LOG.events[1])

    events = read_events(endless())

    assert next(events) == next(events)


def test_no_digit_of_an_argument_is_lost() -> None:
    text = json.dumps(LOG.events[1]).replace("1.5", "9007199254740993.0")
    (event,) = read_events(text)

    assert isinstance(event.payload, ToolCall)
    assert canonical(event.payload.inputs) == '{"id":9007199254740993}'


def as_v1(event: Json, name: str) -> Json:
    kept = {key: item for key, item in event.items() if key != "schemaVersion"}
    return {
        **kept,
        "type": name,
        "runId": "run-7",
        "eventId": "e",
        "engineVersion": "1.2",
        "more": 1,
    }


@pytest.mark.parametrize(
    ("at", "v1", "v2"),
    [
        (0, "agent.invocation.started", "agent.invocation-started"),
        (1, "agent.toolCalled", "agent.tool-called"),
        (2, "agent.toolReturned", "agent.tool-returned"),
        (5, "agent.invocation.completed", "agent.invocation-completed"),
        (6, "eval.scored", "eval.scored"),
    ],
)
def test_v1_is_read_as_v2(at: int, v1: str, v2: str) -> None:
    value = as_v1(LOG.events[at], v1)
    value["payload"] = {**value["payload"], "explanation": "v1 payloads are open"}
    if "agentId" in value["payload"]:
        value["payload"]["agentId"] = "my agent / 7"

    event = event_from_json(value)

    assert (event.type, event.run_id, event.event_id) == (v2, "run-7", "e")
    assert getattr(event.payload, "agent_id", "my agent / 7") == "my agent / 7"


@pytest.mark.parametrize("v1", ["agent.promptResolved", "agent.reasoning.delta"])
def test_the_other_renamed_types_are_renamed(v1: str) -> None:
    kind = event_from_json({**LOG.events[1], "type": v1, "payload": {}}).type

    assert kind in {"agent.prompt-resolved", "agent.reasoning-delta"}


def test_an_odd_but_legal_envelope_is_read() -> None:
    value = json.dumps({**LOG.events[1], "sequence": "SEQ"}).replace('"SEQ"', "7.0")

    assert next(read_events(value)).sequence == 7


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"sequence": -1}, "events:1 /sequence", id="sequence"),
        pytest.param({"sequence": True}, "events:1 /sequence", id="G10 a boolean sequence"),
        pytest.param({"eventId": ""}, "events:1 /eventId", id="event id"),
        pytest.param({"type": 3}, "events:1 /type", id="type"),
        pytest.param({"runId": None}, "events:1 /runId", id="run id"),
        pytest.param({"causationId": 3}, "events:1 /causationId", id="causation"),
        pytest.param({"payload": {}}, "events:1 /payload /agentId", id="payload"),
        pytest.param({"payload": []}, "events:1 /payload", id="payload a list"),
        pytest.param(
            {"payload": {**LOG.events[1]["payload"], "toolName": 1.5}},
            "/toolName",
            id="a number as a name",
        ),
    ],
)
def test_a_line_that_is_no_event_is_named(change: Json, said: str) -> None:
    with pytest.raises(SuiteError) as refused:
        list(read_events(json.dumps({**LOG.events[1], **change})))

    assert said in str(refused.value)


@pytest.mark.parametrize("missing", ["sequence", "eventId", "runId", "type", "payload"])
def test_a_missing_key_is_named(missing: str) -> None:
    value = {key: item for key, item in LOG.events[1].items() if key != missing}

    with pytest.raises(SuiteError, match=f"'{missing}' is missing"):
        event_from_json(value)


@pytest.mark.parametrize("payload", [None, [], "text"])
def test_a_payload_that_is_no_object_is_refused(payload: Json) -> None:
    for event in (LOG.events[1], LOG.events[2]):
        with pytest.raises(SuiteError, match="/payload"):
            event_from_json({**event, "payload": payload})


def test_a_line_that_is_no_utf8_is_named() -> None:
    with pytest.raises(SuiteError, match="events:2: the line is not UTF-8"):
        list(read_events([lines(LOG.events[:1]).encode(), b'{"\xff": 1}']))


def test_an_outcome_beside_an_error_is_refused() -> None:
    value = json.loads(json.dumps(LOG.events[2]))
    value["payload"]["error"] = {"code": "c", "message": "m"}

    with pytest.raises(SuiteError, match="not both"):
        event_from_json(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param('{"a": 1}\n{"a":', "events:1", id="no event"),
        pytest.param(lines(LOG.events[:2]) + '{"a":\n', "events:3: the line is no JSON", id="cut"),
        pytest.param(
            '\n{\n  "suiteId": "a"\n}\n', "events:2: this is one JSON document", id="suite"
        ),
        pytest.param(lines(LOG.events[:1]) + '{"a":1,"a":2}', "events:2", id="a name twice"),
        pytest.param("7\n", "events:1: an event is a JSON object", id="a number"),
        pytest.param("\n\n[1]", "events /0: an event is a JSON object", id="an array of numbers"),
        pytest.param("\n[{},\n", "events:3: no JSON", id="a broken array, its line"),
    ],
)
def test_a_broken_log_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(SuiteError) as refused:
        list(read_events(text))

    assert said in str(refused.value)
