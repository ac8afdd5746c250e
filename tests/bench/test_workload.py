import json

import pytest

from bench import workload
from bench.workload import Request, WrongAnswerError


def _answer(ident: object, text: str) -> bytes:
    result = {"content": [{"type": "text", "text": text}]}
    return json.dumps({"jsonrpc": "2.0", "id": ident, "result": result}).encode() + b"\n"


def _right(request: Request) -> bytes:
    return _answer(request.id, request.text)


def test_small_calls_take_two_tools_in_turn_with_other_arguments_each() -> None:
    messages = [json.loads(request.line) for request in workload.small_calls(4)]

    assert [message["params"] for message in messages] == [
        {"name": "echo", "arguments": {"text": "message 0"}},
        {"name": "add", "arguments": {"a": 1, "b": 1}},
        {"name": "echo", "arguments": {"text": "message 2"}},
        {"name": "add", "arguments": {"a": 3, "b": 1}},
    ]
    assert [message["id"] for message in messages] == [2, 3, 4, 5]


def test_what_follows_other_calls_has_ids_of_its_own() -> None:
    small, big = workload.small_calls(3), workload.big_calls(2, first=3)

    assert [request.id for request in [*small, *big]] == [2, 3, 4, 5, 6]


def test_every_line_ends_once() -> None:
    lines = [request.line for request in workload.small_calls(4)]
    lines += [workload.handshake(), workload.greeting()]

    assert [line.find(b"\n") for line in lines] == [len(line) - 1 for line in lines]


def test_a_right_answer_passes() -> None:
    (request,) = workload.echo_calls(1)

    workload.check(request, _right(request))


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(_answer(3, "message 0"), id="another id"),
        pytest.param(_answer("2", "message 0"), id="an id of another type"),
        pytest.param(_answer(2, "message 1"), id="another text"),
        pytest.param(b'{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":""}}\n', id="an error"),
        pytest.param(b'{"jsonrpc":"2.0","id":2,"result":{"content":[]}}\n', id="no content"),
        pytest.param(b"[]\n", id="no message"),
    ],
)
def test_a_wrong_answer_does_not_pass(answer: bytes) -> None:
    (request,) = workload.echo_calls(1)

    with pytest.raises(WrongAnswerError):
        workload.check(request, answer)


def test_answers_may_come_in_any_order() -> None:
    requests = workload.echo_calls(3)

    workload.check_all(requests, [_right(request) for request in reversed(requests)])


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param([0, 1], id="one is missing"),
        pytest.param([0, 1, 1], id="one came twice, another not"),
        pytest.param([0, 1, 2, 2], id="one came twice"),
    ],
)
def test_each_request_must_be_answered_once(chosen: list[int]) -> None:
    requests = workload.echo_calls(3)

    with pytest.raises(WrongAnswerError):
        workload.check_all(requests, [_right(requests[index]) for index in chosen])


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"id": 1, "error": {"code": -32010, "message": ""}}, id="an error"),
        pytest.param({"id": 2, "result": {"serverInfo": {"name": "tiny-server"}}}, id="other id"),
        pytest.param({"id": 1, "result": {"serverInfo": {"name": "other"}}}, id="other server"),
    ],
)
def test_a_handshake_that_the_server_did_not_answer_does_not_pass(answer: object) -> None:
    with pytest.raises(WrongAnswerError):
        workload.check_handshake(json.dumps(answer).encode())
