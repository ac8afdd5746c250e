"""The tool calls of a recording, as the trajectory counts them."""

import json

import pytest

from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.errors import PromotionError
from sidecar.suite.calls import RecordedCall, recorded_calls
from sidecar.wire.json_text import Number, parse
from tests.suite.recordings import call, failed_call, request, text_result, unanswered


def round_of_call(result: object, **params: object) -> Interaction:
    text = json.dumps({"name": "book", "arguments": {"day": 1}, **params})
    return Interaction("trips", "tools/call", text, Response("result", json.dumps(result)))


def texts(one: RecordedCall) -> str:
    assert one.response is not None
    return str(json.loads(one.response.text)["content"][0]["text"])


ASKS = {"resultType": "input_required", "requestState": "s1", "inputRequests": {}}


def test_g12_only_tool_calls_are_calls() -> None:
    found = recorded_calls(
        [
            request("git", "initialize", {}),
            request("git", "tools/list", {"tools": []}),
            call("git:log", {"n": 1}),
            request("git", "resources/read", {}),
            request("git", "ping", {}),
        ]
    )

    assert found == (
        RecordedCall(1, "git:log", {"n": 1}, Response("result", json.dumps(text_result("ok")))),
    )


def test_j19_absent_arguments_are_an_empty_object() -> None:
    (found,) = recorded_calls([call("git:log")])

    assert found.arguments == {}


def test_numbers_keep_their_spelling() -> None:
    text = '{"name": "pay", "arguments": {"sum": 9007199254740993.0}}'
    (found,) = recorded_calls([Interaction("bank", "tools/call", text, Response("result", "{}"))])

    assert found.arguments == {"sum": Number("9007199254740993.0")}


def test_a_call_of_several_rounds_is_one_call_with_its_last_answer() -> None:
    final = text_result("booked", resultType="complete")
    found = recorded_calls(
        [
            round_of_call(ASKS),
            call("trips:list"),
            round_of_call({**ASKS, "requestState": "s2"}, requestState="s1", inputResponses={}),
            round_of_call(final, requestState="s2", inputResponses={"q": {}}),
        ]
    )

    assert [one.tool for one in found] == ["trips:book", "trips:list"]
    assert found[0].arguments == {"day": 1}
    assert found[0].response is not None
    assert parse(found[0].response.text) == final
    assert not found[0].is_unfinished
    assert found[0].asked


def test_n04_equal_calls_at_the_same_time_each_get_their_own_answer() -> None:
    asks = {"resultType": "input_required", "inputRequests": {}}
    found = recorded_calls(
        [
            round_of_call(asks),
            round_of_call(asks),
            call("trips:list"),
            round_of_call(text_result("first"), inputResponses={}),
            round_of_call(text_result("second"), inputResponses={}),
        ]
    )

    assert [one.tool for one in found] == ["trips:book", "trips:book", "trips:list"]
    assert [texts(one) for one in found] == ["first", "second", "ok"]


def test_n04_the_rounds_of_two_servers_are_told_apart() -> None:
    asks = {"resultType": "input_required", "inputRequests": {}}
    found = recorded_calls(
        [
            round_of_call(asks)._replace(server="planes"),
            round_of_call(asks),
            round_of_call(text_result("by train"), inputResponses={}),
            round_of_call(text_result("by plane"), inputResponses={})._replace(server="planes"),
        ]
    )

    assert [(one.tool, texts(one)) for one in found] == [
        ("planes:book", "by plane"),
        ("trips:book", "by train"),
    ]


def test_a_call_lasts_from_its_first_request_to_its_last_answer() -> None:
    final = text_result("booked")
    interactions = [
        round_of_call(ASKS),
        request("trips", "tools/list", {"tools": []}),
        call("trips:list"),
        round_of_call(final, requestState="s1", inputResponses={}),
        call("trips:list"),
    ]

    found = recorded_calls(interactions, [(1, 2), (3, 4), (5, 6), (7, 9), None])

    assert [one.span for one in found] == [(1, 9), (5, 6), None]
    assert [one.span for one in recorded_calls(interactions)] == [None] * 3


def test_a_round_that_goes_on_with_no_known_call_is_a_call() -> None:
    found = recorded_calls(
        [
            unanswered(round_of_call(ASKS)),
            round_of_call(text_result("done")),
            round_of_call(text_result("odd"), requestState="s9"),
        ]
    )

    assert [one.is_unfinished for one in found] == [True, False, False]


def test_a_call_whose_last_round_asks_for_input_is_unfinished() -> None:
    (found,) = recorded_calls([round_of_call(ASKS)])

    assert found.is_unfinished
    assert not found.is_error


@pytest.mark.parametrize(
    ("interaction", "expected"),
    [
        pytest.param(call("git:log"), (False, False), id="a result"),
        pytest.param(failed_call("git:log"), (True, False), id="a tool error"),
        pytest.param(
            call("git:log", error={"code": -32602, "message": "no"}),
            (True, False),
            id="a JSON-RPC error",
        ),
        pytest.param(unanswered(call("git:log")), (False, True), id="nothing"),
    ],
)
def test_what_answered_a_call_is_told(
    interaction: Interaction, expected: tuple[bool, bool]
) -> None:
    (found,) = recorded_calls([interaction])

    assert (found.is_error, found.is_unfinished) == expected


def test_a_request_of_the_server_during_the_call_is_told() -> None:
    asked = Passage("elicitation/create", "{}", asked=True, reply=Response("result", "{}"))

    (found,) = recorded_calls([call("trips:book", during=(asked,))])

    assert found.asked


@pytest.mark.parametrize(
    "params",
    [
        pytest.param('{"name":"log","arguments":' + "[" * 100_000 + "]" * 100_000 + "}", id="deep"),
        pytest.param('{"arguments":{}}', id="no name"),
        pytest.param(None, id="no params"),
    ],
)
def test_a_call_that_cannot_be_read_is_refused_by_its_number(params: str | None) -> None:
    broken = Interaction("git", "tools/call", params, Response("result", "{}"))

    with pytest.raises(PromotionError, match="call 2, of git, names no tool or nests too deep"):
        recorded_calls([call("git:log"), broken])
