"""What client and server say, paired into interactions."""

import json

import pytest

from sidecar.cassette.facts import Finished, Noted, Opened, Passed
from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.wire.mcp import META_CLIENT, META_SUBSCRIPTION
from tests.cassette.sessions import (
    Masked,
    Recording,
    answers,
    asks,
    call,
    calls,
    cancels,
    compact,
    notice,
    question,
    surface,
    tells,
    text_result,
)

LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
CHANGED = "notifications/tools/list_changed"


def stamped(ident: object) -> dict[str, object]:
    return {"_meta": {META_SUBSCRIPTION: ident}}


def test_a_request_and_its_answer_are_told_as_they_come() -> None:
    recording = Recording().client(calls(1, "echo", {"a": 1})).server(answers(1, "hi"))

    whole = call("echo", {"a": 1}, "hi")
    assert recording.facts == [
        Opened(0, whole._replace(response=None), None),
        Finished(0, whole, more_rounds=False),
    ]


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        pytest.param(
            '{"id":1,"result":{"isError":true,"content":[]}}',
            Response("result", '{"isError":true,"content":[]}'),
            id="J13 tool error",
        ),
        pytest.param(
            '{"id":1,"error":{"code":-32050,"message":"","data":{"retryAfter":3}}}',
            Response("error", '{"code":-32050,"message":"","data":{"retryAfter":3}}'),
            id="R23 JSON-RPC error",
        ),
        pytest.param(
            '{"id":1,"result":{"isError":false, "content":[]}}',
            Response("result", '{"isError":false, "content":[]}'),
            id="J13 said to be none",
        ),
        pytest.param(
            '{"id":1,"result":{"x-vendor":{"a":1.0},"content":[{"type":"widget"}]}}',
            Response("result", '{"x-vendor":{"a":1.0},"content":[{"type":"widget"}]}'),
            id="J12 J15 unknown members and content",
        ),
        pytest.param(
            '{"id":1,"result":{"resultType":"later"}}',
            Response("result", '{"resultType":"later"}'),
            id="N05 unknown result type",
        ),
        pytest.param('{"id":1,"result":null}', Response("result", "null"), id="null"),
    ],
)
def test_what_answered_is_kept_as_it_was_spelt(answer: str, response: Response) -> None:
    recording = Recording().client(calls(1, "echo")).server(answer)

    assert recording.facts[-1] == Finished(
        0, call("echo")._replace(response=response), more_rounds=False
    )


@pytest.mark.parametrize(
    ("asked", "answered"),
    [("1", "1.0"), ("9007199254740993", "9007199254740993.0"), ('"a\\/b"', '"a/b"')],
)
def test_j04_an_answer_finds_its_request_in_any_spelling_of_the_id(
    asked: str, answered: str
) -> None:
    recording = Recording()
    recording.client(f'{{"id":{asked},"method":"tools/list"}}')
    recording.server(f'{{"id":{answered},"result":{{}}}}')

    assert recording.interactions == (surface("tools/list", {}),)


def test_j01_an_id_of_another_type_is_another_id() -> None:
    recording = Recording().client(calls(1, "one"), calls("1", "other"))
    recording.server(answers("1", "for other"), answers(1, "for one"))

    assert recording.interactions == (
        call("one", result="for one"),
        call("other", result="for other"),
    )


def test_r03_parallel_calls_are_kept_in_the_order_of_their_requests() -> None:
    recording = Recording().client(*(calls(n, "get", {"n": n}) for n in (1, 2, 3)))
    recording.server(*(answers(n, f"answer {n}") for n in (3, 1, 2)))

    assert recording.interactions == tuple(call("get", {"n": n}, f"answer {n}") for n in (1, 2, 3))


def test_r02_equal_calls_are_each_kept() -> None:
    recording = Recording()
    for ident, status in ((1, "pending"), (2, "done")):
        recording.client(calls(ident, "status")).server(answers(ident, status))

    assert recording.interactions == (
        call("status", result="pending"),
        call("status", result="done"),
    )


def test_j05_an_id_in_flight_twice_is_paired_in_order() -> None:
    recording = Recording().client(calls(1, "slow"), calls(1, "fast"))
    recording.server(answers(1, "first"), answers(1, "second"), answers(1, "third"))

    assert recording.interactions == (
        call("slow", result="first"),
        call("fast", result="second"),
    )


def test_j05_over_http_an_answer_belongs_to_the_request_of_its_exchange() -> None:
    recording = Recording()
    recording.client(calls(1, "slow"), exchange="A").client(calls(1, "fast"), exchange="B")
    recording.server(tells(CHANGED), answers(1, "second"), exchange="B")
    recording.server(answers(1, "first"), exchange="A")

    assert recording.interactions == (
        call("slow", result="first"),
        call("fast", result="second", during=(notice(CHANGED),)),
    )


def test_h10_an_answer_on_a_stream_of_no_request_goes_to_the_one_that_waits_for_it() -> None:
    recording = Recording()
    recording.client(calls(1, "cut"), exchange="A").client(calls(2, "whole"), exchange="B")
    recording.server(tells(CHANGED), answers(2, "second"), exchange="B")
    recording.server(answers(1, "first"), exchange="a later stream")
    recording.server(answers(1, "first"), exchange="delivered again")

    assert [item.response for item in recording.interactions] == [
        call("cut", result="first").response,
        call("whole", result="second").response,
    ]


def test_h06_an_exchange_that_ends_without_an_answer_leaves_its_requests_unanswered() -> None:
    recording = Recording()
    recording.client(calls(1, "one"), exchange="A").client(calls(1, "two"), exchange="B")
    recording.gave_up("A", http_status=502).server(answers(1, "done"), exchange="B")

    assert recording.interactions == (
        call("one")._replace(response=None, http_status=502),
        call("two", result="done"),
    )
    assert recording.recorder.pending == ()


def test_the_http_status_of_an_answer_is_kept() -> None:
    recording = Recording().client(calls(1, "one"), exchange="A")
    recording.server(answers(1, "late"), exchange="A", http_status=500)

    assert [item.http_status for item in recording.interactions] == [500]


def test_j05_an_id_used_again_is_another_request() -> None:
    recording = Recording()
    for tool in ("one", "two"):
        recording.client(calls(9, tool)).server(answers(9, tool))

    assert recording.interactions == (call("one", result="one"), call("two", result="two"))


@pytest.mark.parametrize(
    "said",
    [
        pytest.param('{"id":7,"result":{}}', id="nobody asked"),
        pytest.param('{"id":null,"error":{"code":-32700}}', id="no id"),
        pytest.param("5", id="J07 no message"),
        pytest.param('{"id":1}', id="J07 an id and no more"),
    ],
)
def test_what_answers_nothing_is_not_recorded(said: str) -> None:
    recording = Recording().client(calls(1, "echo"))
    before = list(recording.facts)

    assert recording.server(said).facts == before


@pytest.mark.parametrize("said", [tells("notifications/initialized"), "5", '{"id":3,"result":{}}'])
def test_j08_what_is_no_request_is_no_interaction(said: str) -> None:
    assert Recording().client(said).facts == []


def test_j09_a_call_is_cancelled_before_its_answer() -> None:
    recording = Recording().client(calls(1, "slow"), cancels(1)).ended()

    cancelled = call("slow")._replace(response=None, cancelled=True)
    assert recording.facts[1:] == [
        Noted(0, cancelled),
        Finished(0, cancelled, more_rounds=False),
    ]


def test_j09_a_late_answer_of_a_cancelled_call_still_counts() -> None:
    recording = Recording().client(calls(1, "slow"), cancels(1)).server(answers(1, "late")).ended()

    assert recording.interactions == (call("slow", result="late"),)


@pytest.mark.parametrize(
    "ident", [1, 99, None, "1"], ids=["after", "unknown", "null", "other type"]
)
def test_j09_what_cannot_be_cancelled_any_more_is_left_alone(ident: object) -> None:
    recording = Recording().client(calls(1, "fast")).server(answers(1, "ok"))
    before = list(recording.facts)

    assert recording.client(cancels(ident)).facts == before


def test_j09_the_client_no_longer_waits_for_what_it_cancelled() -> None:
    recording = Recording().client(calls(1, "slow"), calls("b", "other"), cancels(1))

    assert recording.recorder.pending == ('"b"',)


def test_j09_what_was_taken_back_long_ago_is_waited_for_no_more() -> None:
    recording = Recording().client(calls("kept", "open"))
    for number in range(300):
        recording.client(calls(number, "slow"), cancels(number))
    recording.server(answers(299, "late"), answers(0, "too late"), answers("kept", "done"))

    held = vars(recording.recorder)
    assert (len(held["_order"]), len(held["_open"]), len(held["_taken_back"])) == (63, 63, 63)
    states = [item.state for item in recording.interactions]
    assert states == ["answered", *["cancelled"] * 299, "answered"]
    assert [fact.number for fact in recording.facts if isinstance(fact, Finished)] == [
        *range(1, 237),
        300,
        0,
    ]


def test_j05_an_answer_goes_to_the_call_of_that_id_that_was_not_cancelled() -> None:
    recording = Recording().client(calls(1, "slow"), cancels(1), calls(1, "next"))
    recording.server(answers(1, "for next")).client(calls(1, "third"), cancels(1)).ended()

    assert recording.interactions == (
        call("slow")._replace(response=None, cancelled=True),
        call("next", result="for next"),
        call("third")._replace(response=None, cancelled=True),
    )


def test_s11_what_is_open_at_the_end_stays_without_an_answer() -> None:
    recording = Recording().client(calls(1, "one"), calls(2, "two")).server(answers(1, "ok"))

    pending = [recording.recorder.pending]
    assert recording.recorder.ended() == [
        Finished(1, call("two")._replace(response=None), more_rounds=False)
    ]
    pending.append(recording.recorder.pending)
    assert recording.recorder.ended() == []
    assert pending == [("2",), ()]


def test_what_comes_during_a_call_is_kept_with_it_in_order() -> None:
    recording = Recording().client(calls(1, "work"))
    recording.server(tells("notifications/message", data=1), tells("notifications/x"))
    recording.server(asks(1, "sampling/createMessage", {"p": 1}))
    recording.client({"id": 1, "result": {"role": "assistant"}})
    recording.server(tells("notifications/message", data=2), answers(1, "done"))

    assert recording.interactions == (
        call(
            "work",
            result="done",
            during=(
                notice("notifications/message", data=1),
                notice("notifications/x"),
                question("sampling/createMessage", {"role": "assistant"}, p=1),
                notice("notifications/message", data=2),
            ),
        ),
    )


def test_j11_ids_of_the_two_directions_are_not_mixed_up() -> None:
    recording = Recording().client(calls(1, "work")).server(asks(1, "roots/list"))
    recording.client({"id": 1, "error": {"code": -32601}}).server(answers(1, "done"))

    refused = Passage("roots/list", None, asked=True, reply=Response("error", '{"code":-32601}'))
    assert recording.interactions == (call("work", result="done", during=(refused,)),)


def test_j11_a_question_that_the_client_never_answers_has_no_reply() -> None:
    recording = Recording().client(calls(1, "work")).server(asks(5, "roots/list"))
    recording.client({"id": 6, "result": {}}).server(answers(1, "done"))

    assert recording.interactions == (
        call("work", result="done", during=(question("roots/list"),)),
    )


def test_a_reply_after_the_answer_is_still_noted() -> None:
    recording = Recording().client(calls(1, "work")).server(asks(5, "roots/list"))
    recording.server(answers(1, "done")).client({"id": 5, "result": {"roots": []}})

    answered = question("roots/list", {"roots": []})
    assert recording.facts[-1] == Passed(0, "during", 0, answered)
    assert recording.interactions == (call("work", result="done", during=(answered,)),)


def test_two_questions_of_one_id_are_answered_in_order() -> None:
    recording = Recording().client(calls(1, "work"))
    recording.server(asks(5, "a/one"), asks(5, "b/two"))
    recording.client({"id": 5, "result": {"n": 1}}, {"id": 5, "result": {"n": 2}})
    recording.server(answers(1, "done"))

    assert recording.interactions[0].during == (
        question("a/one", {"n": 1}),
        question("b/two", {"n": 2}),
    )


def test_e03_what_comes_after_an_answer_belongs_to_it() -> None:
    recording = Recording().client(calls(1, "add")).server(answers(1, "ok"), tells(CHANGED))

    assert recording.facts[-1] == Passed(0, "after", 0, notice(CHANGED))
    assert recording.interactions == (call("add", result="ok", after=(notice(CHANGED),)),)


def test_each_of_many_messages_after_an_answer_is_told_alone() -> None:
    recording = Recording().client(calls(1, "add")).server(answers(1, "ok"))
    for number in range(50):
        recording.server(asks(number, "ping")).client({"id": number, "result": {}})

    asked, answered = question("ping"), question("ping", {})
    assert recording.facts[2:] == [
        Passed(0, "after", number, passage) for number in range(50) for passage in (asked, answered)
    ]
    assert recording.interactions[0].after == (answered,) * 50


def test_what_comes_before_any_request_belongs_to_the_first() -> None:
    recording = Recording().server(tells("notifications/hello"), asks(1, "roots/list"))
    recording.client({"id": 1, "result": {}}, asks(1, "initialize")).server(answers(1, {}))

    assert recording.interactions == (
        surface(
            "initialize", {}, during=(notice("notifications/hello"), question("roots/list", {}))
        ),
    )


def test_without_a_token_the_newest_open_request_is_meant() -> None:
    recording = Recording().client(calls(1, "one"), calls(2, "two"))
    recording.server(tells("notifications/x"), answers(2, "b"), tells("notifications/y"))
    recording.server(answers(1, "a"), tells("notifications/z"))

    assert recording.interactions == (
        call(
            "one",
            result="a",
            during=(notice("notifications/y"),),
            after=(notice("notifications/z"),),
        ),
        call("two", result="b", during=(notice("notifications/x"),)),
    )


def test_j10_progress_belongs_to_its_token_and_is_kept_without_it() -> None:
    recording = Recording().client(
        calls(1, "one", _meta={"progressToken": "t1"}), calls(2, "two", _meta={"progressToken": 1})
    )
    recording.server(
        tells("notifications/progress", progressToken="t1", progress=1),
        tells("notifications/progress", progressToken=1, progress=2),
        tells("notifications/progress", progressToken="1", progress=3),
    )
    recording.client(calls(3, "three")).server(*(answers(n, "ok") for n in (1, 2, 3)))

    assert recording.interactions == (
        call("one", result="ok", during=(notice("notifications/progress", progress=1),)),
        call("two", result="ok", during=(notice("notifications/progress", progress=2),)),
        call("three", result="ok"),
    )


def test_j10_progress_that_comes_too_late_is_not_taken_for_another_calls() -> None:
    late = tells("notifications/progress", progressToken="t1", progress=9)
    recording = Recording().client(calls(1, "one", _meta={"progressToken": "t1"}))
    recording.server(answers(1, "a")).client(calls(2, "two", _meta={"progressToken": "t2"}))
    recording.server(late, answers(2, "b"))

    assert recording.interactions == (
        call("one", result="a", after=(notice("notifications/progress", progress=9),)),
        call("two", result="b"),
    )


def test_what_comes_after_a_cancelled_call_is_not_kept_with_the_ones_before_it() -> None:
    recording = Recording().client(calls(1, "slow"), cancels(1))
    recording.server(tells("notifications/x")).client(calls(2, "fast"))
    recording.server(answers(2, "ok"), tells(CHANGED)).ended()

    assert recording.interactions == (
        call("slow", during=(notice("notifications/x"),))._replace(response=None, cancelled=True),
        call("fast", result="ok", after=(notice(CHANGED),)),
    )


def test_a_server_that_takes_its_question_back_is_kept_without_the_id() -> None:
    recording = Recording().client(calls(1, "work"))
    recording.server(
        asks(77, "elicitation/create"),
        tells("notifications/cancelled", requestId=77, reason="late"),
        answers(1, "done"),
    )

    assert recording.interactions[0].during == (
        question("elicitation/create"),
        notice("notifications/cancelled", reason="late"),
    )


@pytest.mark.parametrize(
    ("meta", "kept"),
    [
        pytest.param({"progressToken": "t"}, None, id="J10 progress token"),
        pytest.param(
            {"traceparent": "00", "tracestate": "a", "baggage": "b"}, None, id="N03 trace"
        ),
        pytest.param(
            {META_CLIENT: {"name": "a"}, "progressToken": 1},
            {META_CLIENT: {"name": "a"}},
            id="N03 other members stay",
        ),
        pytest.param({}, {}, id="empty as it was"),
    ],
)
def test_what_names_one_request_is_not_kept(meta: object, kept: object) -> None:
    recording = Recording().client(calls(1, "echo", {"a": 1}, _meta=meta))

    expected = {"name": "echo", "arguments": {"a": 1}, **({} if kept is None else {"_meta": kept})}
    assert recording.interactions[0].params == compact(expected)


def test_secrets_are_masked_wherever_something_is_kept() -> None:
    recording = Recording(masks=Masked("s3cret", "[M]")).client(
        calls(1, "login", {"key": "s3cret"})
    )
    recording.server(
        tells("notifications/x", key="s3cret"), asks(2, "elicitation/create", key="s3cret")
    )
    recording.client({"id": 2, "error": {"message": "s3cret"}}).server(answers(1, "s3cret"))
    recording.server(tells("notifications/y", key="s3cret")).client(calls(3, "fail"))
    recording.server({"id": 3, "error": {"message": "s3cret"}})

    kept = repr(recording.facts)
    assert "s3cret" not in kept
    asked = Passage(
        "elicitation/create",
        '{"key":"[M]"}',
        asked=True,
        reply=Response("error", '{"message":"[M]"}'),
    )
    assert recording.interactions == (
        call(
            "login",
            {"key": "[M]"},
            "[M]",
            during=(notice("notifications/x", key="[M]"), asked),
            after=(notice("notifications/y", key="[M]"),),
        ),
        call("fail")._replace(response=Response("error", '{"message":"[M]"}')),
    )


ASKS_INPUT = {"resultType": "input_required", "requestState": "S1", "inputRequests": {"q": {}}}


def test_n04_the_rounds_of_a_call_are_one_call() -> None:
    recording = Recording().client(calls(1, "book", {"x": 1})).server(answers(1, ASKS_INPUT))
    more = {"inputResponses": {"q": "yes"}, "requestState": "S1"}
    recording.client(calls(2, "book", {"x": 1}, **more))
    recording.server(answers(2, {**ASKS_INPUT, "requestState": "S2"}))
    recording.client(calls(3, "book", {"x": 1}, **{**more, "requestState": "S2"}))
    recording.server(answers(3, text_result("booked", resultType="complete")))

    opened = [fact.call for fact in recording.facts if isinstance(fact, Opened)]
    more_rounds = [fact.more_rounds for fact in recording.facts if isinstance(fact, Finished)]
    assert opened == [None, 0, 0]
    assert more_rounds == [True, True, False]
    assert [one.params for one in recording.interactions[1:2]] == [
        compact({"name": "book", "arguments": {"x": 1}, **more})
    ]


def test_n04_parallel_calls_in_rounds_are_told_apart_by_their_state() -> None:
    recording = Recording().client(calls(1, "book", {"x": 1}), calls(2, "book", {"x": 1}))
    recording.server(answers(1, ASKS_INPUT), answers(2, {**ASKS_INPUT, "requestState": "S2"}))
    recording.client(
        calls(3, "book", {"x": 1}, inputResponses={}, requestState="S2"),
        calls(4, "book", {"x": 1}, inputResponses={}, requestState="S1"),
        calls(5, "book", {"x": 1}),
    )

    assert [fact.call for fact in recording.facts if isinstance(fact, Opened)] == [
        None,
        None,
        1,
        0,
        None,
    ]


def test_n04_a_tool_error_ends_a_call_and_so_does_a_json_rpc_error() -> None:
    recording = Recording().client(calls(1, "book"), calls(2, "book"))
    recording.server(answers(1, text_result("no", isError=True)), {"id": 2, "error": {"code": 1}})

    assert [fact.more_rounds for fact in recording.facts if isinstance(fact, Finished)] == [
        False,
        False,
    ]


def test_only_a_tool_call_has_rounds() -> None:
    recording = Recording().client(asks(1, "prompts/get", {"name": "p"}))
    recording.server(answers(1, ASKS_INPUT))
    recording.client(asks(2, "prompts/get", {"name": "p", "requestState": "S1"}))

    assert [fact.call for fact in recording.facts if isinstance(fact, Opened)] == [None, None]
    assert [fact.more_rounds for fact in recording.facts if isinstance(fact, Finished)] == [False]


def test_a_listen_is_named_by_its_place_and_not_by_its_id() -> None:
    recording = Recording().client(asks("listen-7", LISTEN), asks("listen-8", LISTEN, {"more": 1}))
    recording.server(
        tells(ACKNOWLEDGED, **stamped("listen-7"), notifications={}),
        tells(ACKNOWLEDGED, **stamped("listen-8")),
        tells("notifications/resources/updated", **stamped("listen-7"), uri="u"),
        tells("notifications/cancelled", requestId="listen-8"),
        tells(CHANGED, **stamped("unknown")),
        {"id": "listen-7", "result": {**stamped("listen-7"), "resultType": "complete"}},
    ).ended()

    first, second = recording.interactions
    assert [json.loads(item.params or "null") for item in first.during] == [
        {**stamped(0), "notifications": {}}
    ]
    assert [(item.method, json.loads(item.params or "null")) for item in second.during] == [
        (ACKNOWLEDGED, stamped(1)),
        ("notifications/resources/updated", {**stamped(0), "uri": "u"}),
        ("notifications/cancelled", {"requestId": 1}),
        (CHANGED, {}),
    ]
    assert first.response is not None
    assert json.loads(first.response.text) == {**stamped(0), "resultType": "complete"}
    assert second.response is None


def test_e03_what_a_listen_brings_is_kept_with_the_call_that_caused_it() -> None:
    recording = Recording().client(asks("l", LISTEN)).server(tells(ACKNOWLEDGED, **stamped("l")))
    recording.server(tells("notifications/early", **stamped("l"))).client(calls(1, "add"))
    recording.server(answers(1, "ok"), tells(CHANGED, **stamped("l")))
    recording.client(calls(2, "work")).server(tells(CHANGED, **stamped("l")), answers(2, "ok"))
    recording.ended()

    changed = Passage(CHANGED, compact(stamped(0)))
    listen = Interaction(
        "srv",
        LISTEN,
        None,
        None,
        during=(
            Passage(ACKNOWLEDGED, compact(stamped(0))),
            Passage("notifications/early", compact(stamped(0))),
        ),
    )
    assert recording.interactions == (
        listen,
        call("add", result="ok", after=(changed,)),
        call("work", result="ok", during=(changed,)),
    )


def test_an_acknowledgement_goes_to_its_listen_though_a_call_is_newer() -> None:
    recording = Recording().client(asks("l", LISTEN), calls(1, "work"))
    recording.server(tells(ACKNOWLEDGED, **stamped("l")), answers(1, "ok")).ended()

    assert recording.interactions == (
        Interaction(
            "srv", LISTEN, None, None, during=(Passage(ACKNOWLEDGED, compact(stamped(0))),)
        ),
        call("work", result="ok"),
    )


def test_nothing_is_remembered_of_what_is_finished() -> None:
    recording = Recording()
    for number in range(50):
        recording.client(calls(number, "echo")).server(asks(number, "roots/list"))
        recording.client({"id": number, "result": {}}).server(answers(number, ASKS_INPUT))
        recording.client(calls(f"{number}+", "echo", requestState="S1"))
        recording.server(answers(f"{number}+", "done"))

    held = vars(recording.recorder)
    assert [held[name] for name in ("_open", "_order", "_asked", "_early")] == [{}, [], {}, []]
    assert held["_rounds"]._asking == {}


def test_without_params_nothing_is_made_up() -> None:
    recording = Recording().client('{"id":1,"method":"tools/list"}')
    recording.server('{"method":"notifications/x"}', '{"id":1,"result":{}}')

    assert recording.interactions == (
        surface("tools/list", {}, during=(Passage("notifications/x", None),)),
    )
