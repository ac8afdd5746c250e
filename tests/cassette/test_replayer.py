"""A client answered from a cassette."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.cassette.facts import Finished, Opened
from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.wire.json_text import parse
from sidecar.wire.jsonrpc import id_key, read_line
from sidecar.wire.mcp import META_SUBSCRIPTION, META_VERSION
from tests.cassette.sessions import (
    Masked,
    NoMasks,
    Playing,
    Recording,
    answers,
    asks,
    call,
    calls,
    cancels,
    compact,
    kept,
    message,
    notice,
    question,
    surface,
    tells,
    text_result,
)

CHANGED = "notifications/tools/list_changed"
PROGRESS = "notifications/progress"
LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
MISS = text_result("No recorded answer for this tool call.", isError=True)


def stamped(ident: object) -> dict[str, object]:
    return {"_meta": {META_SUBSCRIPTION: ident}}


def test_a_recorded_call_is_answered_under_the_callers_id() -> None:
    playing = Playing([call("echo", {"a": 2}), call("echo", {"a": 1}, "hi")])
    step = playing.step(calls("x", "echo", {"a": 1}))

    asked = call("echo", {"a": 1})._replace(response=None)
    assert step.facts == (
        Opened(0, asked, entry=1),
        Finished(0, call("echo", {"a": 1}, "hi")),
    )
    assert [json.loads(line) for line in step.lines] == [
        {"jsonrpc": "2.0", "id": "x", "result": text_result("hi")}
    ]


@pytest.mark.parametrize(
    "ident",
    ['"1"', '"init-a"', "0", "-5", "9007199254740993", '""', "1.0", '"\\u00e9"', "7" * 5000],
    ids=lambda ident: ident[:20],
)
def test_j01_the_id_comes_back_as_it_was_spelt(ident: str) -> None:
    playing = Playing([surface("tools/list", {})])

    assert playing.lines(f'{{"id":{ident},"method":"tools/list"}}') == [
        f'{{"jsonrpc":"2.0","id":{ident},"result":{{}}}}\n'.encode()
    ]


@pytest.mark.parametrize(
    "response",
    [
        Response("result", '{"content":[{"type":"text","text":"x"}], "isError":true}'),
        Response("error", '{"code":-32050, "message":"later","data":{"retryAfter":3}}'),
        Response("result", '{"resultType":"later","x":1}'),
        Response("result", "null"),
    ],
    ids=["J13 tool error", "R23 whole error object", "N05 unknown result type", "null"],
)
def test_what_answered_is_said_again_as_it_was_spelt(response: Response) -> None:
    playing = Playing([call("a")._replace(response=response)])

    assert playing.lines(calls(1, "a")) == [
        f'{{"jsonrpc":"2.0","id":1,"{response.member}":{response.text}}}\n'.encode()
    ]


def test_r01_equal_calls_are_answered_in_recorded_order() -> None:
    playing = Playing([call("status", result="pending"), call("status", result="done")])

    assert [playing.says(calls(n, "status")) for n in (1, 2, 3)] == [
        [answers(1, "pending")],
        [answers(2, "done")],
        [{"id": 3, "result": MISS}],
    ]


def test_j05_one_id_in_flight_twice_is_answered_twice_and_not_swapped() -> None:
    playing = Playing(
        [call("slow", result="a", during=(question("roots/list", {}),)), call("fast", result="b")]
    )

    assert playing.says(calls(1, "slow")) == [asks("sidecar-1", "roots/list")]
    assert playing.says(calls(1, "fast")) == [answers(1, "b")]
    assert playing.says({"id": "sidecar-1", "result": {}}) == [answers(1, "a")]


def test_e03_what_came_during_and_after_a_call_comes_again_in_its_place() -> None:
    playing = Playing(
        [
            call(
                "add",
                result="ok",
                during=(notice("notifications/message", data="x"), Passage("notifications/x")),
                after=(notice(CHANGED),),
            ),
            surface("tools/list", {"n": 2}),
        ]
    )

    assert playing.says(calls(1, "add")) == [
        tells("notifications/message", data="x"),
        tells("notifications/x"),
        answers(1, "ok"),
        tells(CHANGED),
    ]
    assert playing.says(asks(2, "tools/list")) == [answers(2, {"n": 2})]
    assert playing.says(asks(3, "tools/list")) == [answers(3, {"n": 2})]


@pytest.mark.parametrize(
    ("meta", "told"),
    [
        pytest.param({"progressToken": "t9"}, ["t9"], id="J10 the callers own token"),
        pytest.param({"progressToken": 0}, [0], id="J10 of any type"),
        pytest.param({}, [], id="J10 none without a token"),
    ],
)
def test_progress_comes_under_the_callers_token(meta: Any, told: list[Any]) -> None:
    playing = Playing(
        [
            call(
                "work",
                during=(notice(PROGRESS, progress=1.5, total=3),),
                after=(notice(PROGRESS, progress=3),),
            )
        ]
    )

    assert playing.says(calls(1, "work", _meta=meta)) == [
        *(tells(PROGRESS, progressToken=token, progress=1.5, total=3) for token in told),
        answers(1, "ok"),
    ]


def test_j10_tokens_of_parallel_calls_are_not_mixed_up() -> None:
    playing = Playing(
        [
            call(tool, during=(question("roots/list", {}), notice(PROGRESS, progress=n)))
            for n, tool in enumerate(("one", "two"))
        ]
    )
    playing.says(calls(1, "one", _meta={"progressToken": "a"}))
    playing.says(calls(2, "two", _meta={"progressToken": "b"}))

    assert playing.says({"id": "sidecar-2", "result": {}}) == [
        tells(PROGRESS, progress=1, progressToken="b"),
        answers(2, "ok"),
    ]
    assert playing.says({"id": "sidecar-1", "result": {}}) == [
        tells(PROGRESS, progress=0, progressToken="a"),
        answers(1, "ok"),
    ]


def test_j11_the_answer_waits_for_the_clients_replies() -> None:
    playing = Playing(
        [
            call(
                "book",
                during=(
                    notice("notifications/message", data=1),
                    question("elicitation/create", {"action": "accept"}, message="When?"),
                    notice("notifications/message", data=2),
                    question("sampling/createMessage", {"role": "assistant"}),
                ),
            )
        ]
    )

    step = playing.step(calls(1, "book"))
    assert [type(fact) for fact in step.facts] == [Opened]
    assert [json.loads(line)["method"] for line in step.lines] == [
        "notifications/message",
        "elicitation/create",
    ]
    assert playing.says({"id": "sidecar-1", "result": {"action": "decline"}}) == [
        tells("notifications/message", data=2),
        asks("sidecar-2", "sampling/createMessage"),
    ]
    last = playing.step({"id": "sidecar-2", "error": {"code": -1}})
    assert [type(fact) for fact in last.facts] == [Finished]
    assert [json.loads(line)["id"] for line in last.lines] == [1]


def test_a_question_that_was_never_answered_is_not_waited_for() -> None:
    playing = Playing([call("work", during=(question("roots/list"), notice("notifications/x")))])

    assert playing.says(calls(1, "work")) == [
        asks("sidecar-1", "roots/list"),
        tells("notifications/x"),
        answers(1, "ok"),
    ]
    assert playing.replayer.owns_reply(message({"id": "sidecar-1", "result": {}}))
    assert playing.says({"id": "sidecar-1", "result": {}}) == []


def test_a_question_after_the_answer_is_asked_and_its_reply_taken() -> None:
    playing = Playing([call("work", after=(question("roots/list", {"roots": []}),))])

    assert playing.says(calls(1, "work")) == [answers(1, "ok"), asks("sidecar-1", "roots/list")]
    assert playing.replayer.owns_reply(message({"id": "sidecar-1", "result": {}}))
    assert playing.says({"id": "sidecar-1", "result": {}}) == []
    assert not playing.replayer.owns_reply(message({"id": "sidecar-1", "result": {}}))


def test_a_reply_to_nothing_is_ignored_and_not_owned() -> None:
    playing = Playing([call("work")])

    assert not playing.replayer.owns_reply(message({"id": 1, "result": {}}))
    assert playing.says({"id": 1, "result": {}}) == []
    assert playing.facts == []


def test_a_server_that_took_its_question_back_does_so_again() -> None:
    playing = Playing(
        [
            call(
                "work",
                during=(
                    question("elicitation/create"),
                    notice("notifications/cancelled", reason="late"),
                ),
                after=(notice("notifications/cancelled", reason="later"),),
            )
        ]
    )

    assert playing.says(calls(1, "work")) == [
        asks("sidecar-1", "elicitation/create"),
        tells("notifications/cancelled", reason="late", requestId="sidecar-1"),
        answers(1, "ok"),
    ]


def test_j08_a_notification_gets_no_answer_and_uses_nothing_up() -> None:
    playing = Playing([call("echo")])

    assert playing.lines({"method": "tools/call", "params": {"name": "echo"}}) == []
    assert playing.lines(tells("notifications/initialized")) == []
    assert playing.says(calls(1, "echo")) == [answers(1, "ok")]


@pytest.mark.parametrize(
    ("said", "ident"),
    [("null", None), ("5", None), ('"x"', None), ("{}", None), ('{"jsonrpc":"2.0","id":1}', 1)],
)
def test_j07_what_is_no_message_is_refused(said: str, ident: int | None) -> None:
    playing = Playing([call("echo")])

    assert playing.says(said) == [
        {"id": ident, "error": {"code": -32600, "message": "Not a JSON-RPC message"}}
    ]
    assert playing.facts == []


def test_s11_what_was_never_answered_fails_and_does_not_hang() -> None:
    recorded = call("crash", during=(notice("notifications/x"),))._replace(response=None)
    playing = Playing([recorded])
    step = playing.step(calls(1, "crash"))

    assert step.facts[1:] == (Finished(0, recorded._replace(during=())),)
    assert [json.loads(line) for line in step.lines] == [
        {"jsonrpc": "2.0", **tells("notifications/x")},
        {
            "jsonrpc": "2.0",
            "id": 1,
            "error": {"code": -32000, "message": "The server ended before it answered"},
        },
    ]


def test_j09_a_cancelled_call_stays_open_again_and_blocks_nothing() -> None:
    recorded = call("slow", during=(notice("notifications/x"),))._replace(
        response=None, cancelled=True
    )
    playing = Playing([recorded, call("fast")])
    step = playing.step(calls(1, "slow"))

    assert [json.loads(line)["method"] for line in step.lines] == ["notifications/x"]
    assert step.facts == (
        Opened(0, recorded._replace(cancelled=False, during=()), entry=0),
        Finished(0, recorded._replace(during=())),
    )
    assert playing.says(cancels(1)) == []
    assert playing.says(calls(2, "fast")) == [answers(2, "ok")]


def test_j09_a_call_that_is_cancelled_while_it_waits_is_not_answered() -> None:
    asking = call("book", result="a", during=(question("roots/list", {}),))
    playing = Playing([asking, asking._replace(params=compact({"name": "other"}))])
    playing.says(calls(1, "book"))
    playing.says(calls("1", "other"))

    assert playing.step(cancels(1)).facts == (
        Finished(0, call("book")._replace(response=None, cancelled=True)),
    )
    assert playing.replayer.owns_reply(message({"id": "sidecar-1", "result": {}}))
    assert playing.says({"id": "sidecar-1", "result": {}}) == []
    assert playing.says({"id": "sidecar-2", "result": {}}) == [answers("1", "a")]


@pytest.mark.parametrize("ident", [1, 99, None])
def test_j09_a_cancellation_of_something_else_changes_nothing(ident: object) -> None:
    playing = Playing([call("fast"), call("book", during=(question("roots/list", {}),))])
    playing.says(calls(1, "fast"))
    playing.says(calls(2, "book"))

    assert playing.step(cancels(ident)).facts == ()
    assert playing.says({"id": "sidecar-1", "result": {}}) == [answers(2, "ok")]


@pytest.mark.parametrize("interactions", [[], [surface("ping", {"n": 1})]], ids=["not", "once"])
def test_ping_always_answers_recorded_or_not(interactions: list[Interaction]) -> None:
    playing = Playing(interactions)

    assert [playing.says(asks(n, "ping")) for n in (1, 2)] == [
        [{"id": 1, "result": {}}],
        [{"id": 2, "result": {}}],
    ]
    assert playing.facts == []


@pytest.mark.parametrize("method", ["ping", "server/discover"])
def test_n01_what_only_the_other_era_has_is_not_there(method: str) -> None:
    playing = Playing([])

    [said] = playing.says(asks(1, method, {"_meta": {META_VERSION: "2026-07-28"}}))

    assert said["error"]["code"] == -32601


def test_a_log_level_may_be_set_though_nobody_set_one() -> None:
    playing = Playing([surface("logging/setLevel", {"n": 1}, {"level": "info"})])

    assert playing.says(asks(1, "logging/setLevel", {"level": "info"})) == [answers(1, {"n": 1})]
    assert playing.says(asks(2, "logging/setLevel", {"level": "debug"})) == [
        {"id": 2, "result": {}}
    ]


class Counting(NoMasks):
    """A redactor that masks nothing, and counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def json_text(self, text: str) -> str:
        self.asked.append(text)
        return text


def test_a_request_is_looked_through_for_secrets_once() -> None:
    masks = Counting()
    playing = Playing([call("echo", {"a": 1}), surface("tools/list", {"tools": []})], masks=masks)
    masks.asked.clear()

    playing.step(calls(1, "echo", {"a": 1}))
    playing.step({"id": 2, "method": "tools/list", "params": {}})

    assert masks.asked == [compact({"name": "echo", "arguments": {"a": 1}}), "{}"]


def test_r37_a_missed_call_is_a_tool_error_of_one_fixed_text() -> None:
    playing = Playing([call("echo", {"key": "s3cret"})], masks=Masked("s3cret", "[REDACTED:1]"))
    step = playing.step(calls(1, "echo", {"key": "s3cret", "n": 2}))

    asked = call("echo", {"key": "[REDACTED:1]", "n": 2})
    missed = (
        "arguments-differ: no recording of srv:echo has these arguments; "
        "the nearest (interaction 1) differs at /n: recorded nothing, asked for 2"
    )
    assert playing.missed == [missed]
    assert step.facts == (
        Opened(0, asked._replace(response=None)),
        Finished(
            0,
            asked._replace(response=Response("result", compact(MISS))),
            error_code="sidecar.fixture_miss",
            missed=missed,
        ),
    )
    assert [json.loads(line) for line in step.lines] == [
        {"jsonrpc": "2.0", "id": 1, "result": MISS}
    ]
    assert playing.matcher.leftover() == (0,)


def test_r37_a_missed_call_of_the_modern_era_is_complete() -> None:
    asked = calls(1, "echo", _meta={META_VERSION: "2026-07-28"})

    assert Playing([]).says(asked) == [{"id": 1, "result": {"resultType": "complete", **MISS}}]


def test_r08_a_call_that_is_used_up_is_a_miss() -> None:
    playing = Playing([call("echo")])
    playing.says(calls(1, "echo"))

    assert playing.says(calls(2, "echo")) == [{"id": 2, "result": MISS}]
    assert playing.missed == [
        "used-up: every recording of this call of srv:echo was served already"
    ]


def test_r10_another_missed_request_is_a_json_rpc_error() -> None:
    playing = Playing([])

    assert playing.says(asks(1, "resources/list")) == [
        {"id": 1, "error": {"code": -32010, "message": "No recorded answer for this request"}}
    ]
    assert playing.missed == ["not-recorded: no recording has this srv:resources/list"]


def test_a_miss_is_left_to_the_caller_before_it_is_refused() -> None:
    asked = message(calls(1, "echo"))
    step = Playing([]).replayer.from_client(asked)

    assert (step.facts, step.lines) == ((), ())
    assert step.missed is not None
    assert step.missed.message == asked
    assert step.missed.miss.reason == "unknown-tool"


INITIALIZED = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s"}}


def test_what_follows_a_handshake_waits_for_the_client_to_finish_it() -> None:
    playing = Playing(
        [surface("initialize", INITIALIZED, after=(question("roots/list", {}), notice(CHANGED)))]
    )

    assert playing.says(asks(1, "initialize", {"protocolVersion": "2025-06-18"})) == [
        answers(1, INITIALIZED)
    ]
    assert playing.says(tells("notifications/initialized")) == [
        asks("sidecar-1", "roots/list"),
        tells(CHANGED),
    ]
    assert playing.says(tells("notifications/initialized")) == []


def test_a_second_client_can_initialize_and_is_told_nothing_twice() -> None:
    playing = Playing(
        [
            surface(
                "initialize",
                INITIALIZED,
                during=(notice("notifications/x"),),
                after=(notice(CHANGED),),
            )
        ]
    )
    asked = {"protocolVersion": "2025-06-18", "clientInfo": {"name": "a"}}
    playing.says(asks(1, "initialize", asked))
    playing.says(tells("notifications/initialized"))

    step = playing.step(asks(2, "initialize", {**asked, "clientInfo": {"name": "b"}}))
    assert [json.loads(line)["result"] for line in step.lines] == [INITIALIZED]
    assert step.facts[0] == Opened(
        1, surface("initialize", {}, {**asked, "clientInfo": {"name": "b"}})._replace(response=None)
    )
    assert playing.says(tells("notifications/initialized")) == []


def test_h16_an_older_revision_is_negotiated() -> None:
    playing = Playing([surface("initialize", INITIALIZED)])

    assert playing.says(asks(1, "initialize", {"protocolVersion": "2024-11-05"})) == [
        answers(1, {**INITIALIZED, "protocolVersion": "2024-11-05"})
    ]


def test_n01_a_modern_recording_answers_an_older_client_again_and_again() -> None:
    playing = Playing([surface("server/discover", {"capabilities": {"tools": {}}})])
    expected = {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "recorded", "version": ""},
    }

    for ident in (1, 2):
        step = playing.step(asks(ident, "initialize", {"protocolVersion": "2025-06-18"}))
        assert [json.loads(line) for line in step.lines] == [
            {"jsonrpc": "2.0", **answers(ident, expected)}
        ]
        assert [type(fact) for fact in step.facts] == [Opened, Finished]
    assert playing.says(asks(3, "server/discover")) == [answers(3, {"capabilities": {"tools": {}}})]


def test_n01_a_recording_with_a_handshake_makes_a_modern_client_fall_back() -> None:
    playing = Playing([surface("initialize", INITIALIZED)])

    assert playing.says(asks(1, "server/discover")) == [
        {"id": 1, "error": {"code": -32601, "message": "Method not found"}}
    ]
    assert playing.says(asks(2, "initialize", {"protocolVersion": "2025-06-18"})) == [
        answers(2, INITIALIZED)
    ]


def test_n01_a_discovery_that_failed_answers_no_handshake() -> None:
    failed = surface("server/discover", {})._replace(response=Response("error", '{"code":-32601}'))
    playing = Playing([failed])

    assert playing.says(asks(1, "initialize")) == [
        {"id": 1, "error": {"code": -32010, "message": "No recorded answer for this request"}}
    ]


ASKS_INPUT = {"resultType": "input_required", "requestState": "S1", "inputRequests": {"q": {}}}


def booking() -> Recording:
    """Two bookings at once, of two and of three rounds."""
    more = {"inputResponses": {"q": "yes"}}
    recording = Recording().client(calls(1, "book", {"x": 1}), calls(2, "book", {"x": 1}))
    recording.server(answers(1, ASKS_INPUT), answers(2, {**ASKS_INPUT, "requestState": "S2"}))
    recording.client(
        calls(3, "book", {"x": 1}, requestState="S2", **more),
        calls(4, "book", {"x": 1}, requestState="S1", **more),
    )
    recording.server(answers(4, "first"), answers(3, {**ASKS_INPUT, "requestState": "S3"}))
    recording.client(calls(5, "book", {"x": 1}, requestState="S3", **more))
    return recording.server(answers(5, "second")).ended()


def test_n04_calls_of_several_rounds_are_replayed_in_parallel_as_one_call_each() -> None:
    playing = Playing(booking().interactions)
    more = {"inputResponses": {"q": "yes"}}
    said = [
        *playing.says(calls(1, "book", {"x": 1})),
        *playing.says(calls(2, "book", {"x": 1})),
        *playing.says(calls(3, "book", {"x": 1}, requestState="S1", **more)),
        *playing.says(calls(4, "book", {"x": 1}, requestState="S2", **more)),
        *playing.says(calls(5, "book", {"x": 1}, requestState="S3", **more)),
    ]

    assert said == [
        answers(1, ASKS_INPUT),
        answers(2, {**ASKS_INPUT, "requestState": "S2"}),
        answers(3, "first"),
        answers(4, {**ASKS_INPUT, "requestState": "S3"}),
        answers(5, "second"),
    ]
    opened = [fact.call for fact in playing.facts if isinstance(fact, Opened)]
    finished = [fact.more_rounds for fact in playing.facts if isinstance(fact, Finished)]
    assert opened == [None, None, 0, 1, 1]
    assert finished == [True, True, False, True, False]


def test_n04_a_round_that_misses_still_belongs_to_its_call() -> None:
    playing = Playing(booking().interactions)
    playing.says(calls(1, "book", {"x": 1}))

    playing.says(calls(2, "book", {"x": 1}, requestState="S1", inputResponses={"q": "no"}))
    assert [fact.call for fact in playing.facts if isinstance(fact, Opened)] == [None, 0]


def listening() -> tuple[Interaction, ...]:
    recording = Recording().client(asks("l-1", LISTEN))
    recording.server(tells(ACKNOWLEDGED, **stamped("l-1"))).client(calls(1, "add"))
    recording.server(answers(1, "ok"), tells(CHANGED, **stamped("l-1")))
    return recording.ended().interactions


def test_e03_a_listen_gets_what_came_under_its_own_id_in_its_place() -> None:
    playing = Playing(kept(listening()))
    step = playing.step(asks("mine", LISTEN))

    assert [json.loads(line) for line in step.lines] == [
        {"jsonrpc": "2.0", **tells(ACKNOWLEDGED, **stamped("mine"))}
    ]
    listen = Interaction("srv", LISTEN, None, None)
    assert step.facts == (Opened(0, listen, entry=0), Finished(0, listen))
    assert playing.says(calls(1, "add")) == [answers(1, "ok"), tells(CHANGED, **stamped("mine"))]


def test_who_does_not_listen_gets_nothing_of_it() -> None:
    assert Playing(listening()).says(calls(1, "add")) == [answers(1, "ok")]

    playing = Playing(listening())
    playing.says(asks("mine", LISTEN))
    playing.says(cancels("mine"))
    assert playing.says(calls(1, "add")) == [answers(1, "ok")]


def test_a_listen_that_is_served_again_is_acknowledged_again() -> None:
    playing = Playing(listening())
    playing.says(asks("a", LISTEN))

    assert playing.says(asks("b", LISTEN)) == [tells(ACKNOWLEDGED, **stamped("b"))]


def test_listens_are_told_apart_by_what_they_listen_to() -> None:
    recording = Recording().client(asks("l", LISTEN, {"n": 1}), asks("m", LISTEN, {"n": 2}))
    recording.server(tells(ACKNOWLEDGED, **stamped("l")), tells(ACKNOWLEDGED, **stamped("m")))
    recording.client(calls(1, "add")).server(answers(1, "ok"), tells(CHANGED, **stamped("m")))
    playing = Playing(recording.ended().interactions)
    playing.says(asks("two", LISTEN, {"n": 2}))
    playing.says(asks("one", LISTEN, {"n": 1}))

    assert playing.says(calls(1, "add")) == [answers(1, "ok"), tells(CHANGED, **stamped("two"))]


def test_a_listen_that_the_server_ended_is_ended_under_the_clients_id() -> None:
    recording = Recording().client(asks("l", LISTEN), asks("m", LISTEN))
    recording.server(
        tells(ACKNOWLEDGED, **stamped("l")),
        tells(ACKNOWLEDGED, **stamped("m")),
        tells("notifications/cancelled", requestId="m"),
        {"id": "l", "result": stamped("l")},
    )
    playing = Playing(recording.ended().interactions)

    assert playing.says(asks("x", LISTEN)) == [
        tells(ACKNOWLEDGED, **stamped("x")),
        {"id": "x", "result": stamped("x")},
    ]
    assert playing.says(asks("y", LISTEN)) == [
        tells(ACKNOWLEDGED, **stamped("y")),
        tells("notifications/cancelled", requestId="y"),
    ]


def test_r15_a_server_answers_only_for_itself() -> None:
    playing = Playing(
        [call("search", result="one", server="one"), call("search", server="two")], "two"
    )

    assert playing.says(calls(1, "search")) == [answers(1, "ok")]
    assert playing.says(calls(2, "search")) == [{"id": 2, "result": MISS}]


def test_what_is_journalled_of_a_request_is_masked_and_without_ids() -> None:
    playing = Playing([call("login", {"key": "[REDACTED:1]"})], masks=Masked("s3cret"))
    asked = calls(1, "login", {"key": "s3cret"}, _meta={"progressToken": 1})

    assert playing.step(asked).facts[0] == Opened(
        0,
        call("login", {"key": "[REDACTED:0123456789abcdef]"})._replace(response=None),
        entry=0,
    )


LONG = "7" * 5000
ODD = [
    pytest.param("1e2", id="exponent"),
    pytest.param("[1.0, -0, 1E+400]", id="J17 numbers"),
    pytest.param("12345678901234567890123456789012345", id="J17 35 digits"),
    pytest.param(LONG, id="J17 5,000 digits"),
    pytest.param('{"a":1, "b":2,"a":3}', id="members given twice"),
    pytest.param('"\\u00e9\\/\\uD83D\\ude00 \\ud800"', id="escapes and a lone surrogate"),
    pytest.param('"日本語🎉"', id="S05 no escapes"),
    pytest.param('"\u2028\u2029\x7f\x85"', id="line ends of other kinds"),
    pytest.param("[" * 5000 + "]" * 5000, id="5,000 levels"),
    pytest.param('{"x":' * 500 + "1" + "}" * 500, id="500 levels"),
    pytest.param("{ \t \r }", id="white space"),
    pytest.param("NaN", id="not a number"),
]


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("member", ["result", "error"])
@pytest.mark.parametrize("batch", [False, True], ids=["alone", "J07 in a batch"])
def test_c02_a_result_survives_record_write_read_and_replay_byte_for_byte(
    text: str, member: str, *, batch: bool
) -> None:
    line = f'{{"jsonrpc":"2.0","id":1,"{member}":{text}}}'
    recording = Recording().client(calls(1, "a"))
    if batch:
        for one in read_line(f"[5, {line}]".encode()) or []:
            recording.server(one.text)
    else:
        recording.server(line)
    again = kept(kept(recording.interactions))

    assert again == recording.interactions
    assert Playing(again).lines(calls(1, "a")) == [line.encode() + b"\n"]


@pytest.mark.parametrize("text", [item for item in ODD if item.id != "not a number"])
def test_odd_arguments_and_notifications_survive_too(text: str) -> None:
    recording = Recording().client(
        f'{{"id":1,"method":"tools/call","params":{{"name":"a","arguments":{{"x":{text}}}}}}}'
    )
    recording.server(
        f'{{"method":"notifications/x","params":{{"x":{text}}}}}',
        f'{{"id":9,"method":"roots/list","params":{{"x":{text}}}}}',
    )
    recording.client(f'{{"id":9,"result":{text}}}').server(answers(1, "ok"))
    again = kept(recording.interactions)

    assert again == recording.interactions
    playing = Playing(again)
    assert playing.lines(
        f'{{"id":7,"method":"tools/call","params":{{"name":"a","arguments":{{"x":{text}}}}}}}'
    ) == [
        f'{{"jsonrpc":"2.0","method":"notifications/x","params":{{"x":{text}}}}}\n'.encode(),
        f'{{"jsonrpc":"2.0","id":"sidecar-1","method":"roots/list","params":{{"x":{text}}}}}\n'.encode(),
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=4,
)
CALLS = st.tuples(
    st.sampled_from("AB"), st.dictionaries(st.sampled_from("xy"), JSON, max_size=2), JSON
)


@given(
    recorded=st.lists(CALLS, max_size=5),
    chance=st.randoms(use_true_random=False),
    spaces=st.booleans(),
)
def test_a_replay_of_a_recording_gives_the_recorded_answers(
    recorded: list[tuple[str, Any, Any]], chance: Any, *, spaces: bool
) -> None:
    recording = Recording()
    lines = []
    for ident, (tool, arguments, _) in enumerate(recorded):
        recording.client(calls(ident, tool, arguments))
    order = list(range(len(recorded)))
    chance.shuffle(order)
    for ident in order:
        result = json.dumps(recorded[ident][2], ensure_ascii=chance.random() < 0.5)
        lines.append(f'{{"jsonrpc":"2.0","id":{ident},"result":{result}}}\n'.encode())
        recording.server(lines[-1].decode())

    playing = Playing(kept(recording.ended().interactions))
    replayed = []
    for ident, (tool, arguments, _) in enumerate(recorded):
        asked = {"jsonrpc": "2.0", **calls(ident, tool, arguments)}
        replayed += playing.lines(json.dumps(asked, indent=1 if spaces else None))

    assert sorted(replayed) == sorted(lines)
    assert playing.missed == []
    assert playing.matcher.leftover() == ()


def test_the_same_session_recorded_twice_is_the_same() -> None:
    def session(first: int, token: str) -> tuple[Interaction, ...]:
        recording = Recording().client(
            asks(first, "tools/list", {"_meta": {"progressToken": token}})
        )
        recording.server(
            tells(PROGRESS, progressToken=token, progress=1),
            asks(f"q{first}", "roots/list"),
        )
        recording.client({"id": f"q{first}", "result": {}})
        return recording.server(answers(first, {"tools": []})).ended().interactions

    assert session(0, "a") == session(100, "b")


def test_ids_of_our_own_questions_are_strings_that_no_client_uses() -> None:
    playing = Playing([call("a", during=(question("roots/list", {}),))])
    (line,) = playing.lines(calls(1, "a"))

    assert id_key(json.dumps(parse(line.decode())["id"])) == ("string", "sidecar-1")
