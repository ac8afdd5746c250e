"""The raw server's tools, seen without the sidecar: each oddity is really there."""

import json
from typing import Any

import pytest

from tests.servers.conftest import Start
from tests.servers.raw_client import Message, RawClient


def said(value: dict[str, Any]) -> str:
    text = value["result"]["content"][0]["text"]
    assert isinstance(text, str)
    return text


def methods(before: tuple[Message, ...]) -> list[str]:
    return [message.value["method"] for message in before]


# --- tools


def test_the_plain_tools_do_what_they_say(client: RawClient) -> None:
    assert said(client.call("echo", {"text": "日本語🎉"}).value) == "日本語🎉"
    assert client.call("add", {"a": 2, "b": 3}).value["result"]["structuredContent"] == {"sum": 5}
    assert [said(client.call("counter", {"k": key}).value) for key in "aab"] == ["1", "2", "1"]


@pytest.mark.parametrize(
    "params",
    [
        {"name": "params"},
        {"name": "params", "arguments": {}},
        {"name": "params", "arguments": None},
        {"name": "params", "arguments": []},
        {"name": "params", "arguments": {"a": None}},
    ],
)
def test_absent_arguments_can_be_told_from_empty_ones(
    client: RawClient, params: dict[str, Any]
) -> None:
    assert json.loads(said(client.request("tools/call", params).value)) == params


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 3_000_000])
@pytest.mark.parametrize("modern", [False, True])
def test_a_line_has_the_length_asked_for(start: Start, size: int, *, modern: bool) -> None:
    client = start()
    client.discover() if modern else client.initialize()

    assert len(client.call("big", {"line_bytes": size}).line) == size + 1


@pytest.mark.parametrize(
    ("variant", "result"),
    [
        (
            "structured",
            {"isError": True, "content": [], "structuredContent": {"code": "RATE_LIMITED"}},
        ),
        ("text", {"content": [{"type": "text", "text": "the disk is full"}], "isError": True}),
        ("empty", {"isError": True, "content": []}),
        ("missing", {"isError": True}),
        ("null", {"isError": True, "content": None}),
        ("false", {"content": [{"type": "text", "text": "fine"}], "isError": False}),
    ],
)
def test_a_failure_has_the_shape_asked_for(
    client: RawClient, variant: str, result: dict[str, Any]
) -> None:
    assert client.call("fail", {"variant": variant}).value["result"] == result


def test_a_failure_can_begin_with_an_image(client: RawClient) -> None:
    result = client.call("fail", {"variant": "image_first"}).value["result"]

    assert result["isError"] is True
    assert [block["type"] for block in result["content"]] == ["image", "text"]


def test_an_error_of_the_protocol_has_data(client: RawClient) -> None:
    error = {"code": -32050, "message": "try later", "data": {"retryAfter": 3}}

    assert client.call("rpc_error").value["error"] == error


def test_progress_has_the_token_of_the_caller_and_comes_first(client: RawClient) -> None:
    before = client.call("progress", token="t1").before

    assert [message.value["params"] for message in before] == [
        {"progressToken": "t1", "progress": step, "total": 3, "message": f"step {step}"}
        for step in (1, 2, 3)
    ]
    assert client.call("progress").before == ()


def test_log_messages_come_before_the_answer(client: RawClient) -> None:
    before = client.call("log", {"text": "hi", "count": 2}).before

    assert methods(before) == ["notifications/message"] * 2


def test_a_tool_added_is_told_of_and_works(client: RawClient) -> None:
    before = client.call("add_tool", {"name": "late"}).before
    after = client.call("add_tool", {"name": "later", "after": True}).before
    then = client.call("later", {"text": "here"})

    assert methods(before) == ["notifications/tools/list_changed"]
    assert methods(after) == []
    assert methods(then.before) == ["notifications/tools/list_changed"]
    assert said(then.value) == "here"


@pytest.mark.parametrize(
    ("tool", "method"),
    [
        ("ask_roots", "roots/list"),
        ("ask_sampling", "sampling/createMessage"),
        ("ask_elicitation", "elicitation/create"),
    ],
)
def test_a_question_has_an_id_of_the_servers_own(client: RawClient, tool: str, method: str) -> None:
    call = client.start_call(tool, {"id": 1})
    asked = client.read_request(method).value
    client.answer(asked["id"], {"told": "this"})

    assert asked["id"] == 1
    result = client.read_until(call).value["result"]
    assert result["structuredContent"] == {"answer": {"result": {"told": "this"}}}


def test_the_newest_revision_asks_by_a_result_instead(start: Start) -> None:
    client = start()
    client.discover()

    asked = client.call("ask_elicitation").value["result"]
    again = {
        "name": "ask_elicitation",
        "arguments": {},
        "requestState": asked["requestState"],
        "inputResponses": {"question": {"action": "decline"}},
    }
    answered = client.request("tools/call", again).value["result"]

    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"]["question"]["method"] == "elicitation/create"
    assert answered["structuredContent"] == {"answer": {"result": {"action": "decline"}}}


# --- calls at once


def test_a_slow_call_holds_up_no_other(client: RawClient) -> None:
    slow = client.start_call("slow", {"key": "a"}, token=1)
    client.read_request("notifications/progress")

    assert client.call("echo", {"text": "quick"}).before == ()
    client.call("release", {"key": "a"})
    assert said(client.read_until(slow).value) == "a: released"


def test_a_slow_call_ends_by_itself_in_time(client: RawClient) -> None:
    assert said(client.call("slow", {"seconds": 0.01}).value) == "slow: time"


def test_many_big_answers_at_once_stay_whole(client: RawClient) -> None:
    calls = [client.start_call("big", {"bytes": 1 << 20}) for _ in range(16)]

    assert {len(said(client.read_until(call).value)) for call in calls} == {1 << 20}


def test_a_cancelled_call_is_not_answered(client: RawClient) -> None:
    slow = client.start_call("slow", token=1)
    client.read_request("notifications/progress")
    client.notify("notifications/cancelled", {"requestId": slow})
    client.close_stdin()

    assert client.read_rest() == []


def test_a_cancelled_call_may_be_answered_late(start: Start) -> None:
    client = start("--late-answers")
    slow = client.start_call("slow", token=1)
    client.read_request("notifications/progress")
    client.notify("notifications/cancelled", {"requestId": slow})

    assert said(client.read_until(slow).value) == "slow: cancelled"


def test_to_cancel_what_is_not_under_way_changes_nothing(client: RawClient) -> None:
    client.notify("notifications/cancelled", {"requestId": "later"})

    params = {"name": "echo", "arguments": {"text": "here"}}
    assert said(client.request("tools/call", params, request_id="later").value) == "here"


# --- odd answers


def test_numbers_and_escapes_are_spelled_as_meant(client: RawClient) -> None:
    line = client.call("odd_numbers").line

    for spelling in (
        rb"\u00e9t\u00e9 ",
        "été 日本語🎉".encode(),
        rb"\ud83c\udf89 \/",
        b'"hundred":1e2,"one":1.0,"big":1915883588174806058,"huge":1e400,"minus":-0,"tiny":1E-7}',
    ):
        assert spelling in line


def test_extras_are_at_every_level_of_a_result(client: RawClient) -> None:
    message = client.call("vendor").value

    result = message["result"]
    holders = (message, result, result["content"][0], result["structuredContent"])
    assert [holder["x-vendor"] for holder in holders] == [{"a": 1}] * 4
    assert result["_meta"] == {"com.example/trace": "t-1"}


def test_content_may_be_of_any_type(client: RawClient) -> None:
    content = client.call("blocks").value["result"]["content"]

    assert [block["type"] for block in content] == ["resource_link", "audio", "widget"]


def test_a_line_of_junk_comes_before_an_answer(client: RawClient) -> None:
    assert [message.line for message in client.call("junk_line").before] == [b"\xff\xfe\n"]


@pytest.mark.parametrize(
    ("variant", "lines"),
    [
        ("twice", [b'{"jsonrpc":"2.0","id":7,"result":@}', b'{"jsonrpc":"2.0","id":7,"result":@}']),
        (
            "stray",
            [b'{"jsonrpc":"2.0","id":"nobody","result":@}', b'{"jsonrpc":"2.0","id":7,"result":@}'],
        ),
        ("float_id", [b'{"jsonrpc":"2.0","id":7.0,"result":@}']),
        (
            "both",
            [b'{"jsonrpc":"2.0","id":7,"result":@,"error":{"code":-1,"message":"both"}}'],
        ),
        (
            "null_id",
            [
                b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}',
                b'{"jsonrpc":"2.0","id":7,"result":@}',
            ],
        ),
        ("spaced", [b' { "id" : 7 , "result":@, "jsonrpc" :"2.0" } ']),
        ("array_result", [b'{"jsonrpc":"2.0","id":7,"result":[1,2]}']),
        ("no_version", [b'{"id":7,"result":@}']),
    ],
)
def test_an_answer_can_be_odd(client: RawClient, variant: str, lines: list[bytes]) -> None:
    params = {"name": "odd_answer", "arguments": {"variant": variant}}
    client.start("tools/call", params, request_id=7)
    client.close_stdin()

    result = b'{"content":[{"type":"text","text":"odd"}]}'
    assert client.read_rest() == [line.replace(b"@", result) + b"\n" for line in lines]
