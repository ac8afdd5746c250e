"""What was asked and is not answered yet, and how what is said reaches the client."""

import json
from typing import Any

import pytest

from sidecar.proxy.http.remote.errands import Errand, Errands, Lines
from sidecar.proxy.link import Remark
from sidecar.wire.jsonrpc import Message
from tests.proxy.http.odd_server import (
    INITIALIZE,
    INITIALIZED,
    MODERN,
    call,
    modern,
    notice,
    request,
)


class Pipe:
    """The writer's side of a pipe that is always empty."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.lines.append(data)

    async def drain(self) -> None:
        return


class Heard:
    """Errands whose lines can be looked at."""

    def __init__(self) -> None:
        self.pipe = Pipe()
        self.remarks: dict[bytes, Remark] = {}
        self.learnt: list[tuple[str | None, str | None]] = []
        lines = Lines(self.pipe, self.remarks)  # type: ignore[arg-type]  # all that is used of it
        self.errands = Errands("far", lines, self._learn)

    def _learn(self, asked: Message, answer: Message) -> None:
        self.learnt.append((asked.method, answer.result))

    def asked(self, line: bytes) -> Errand:
        errand = Errand(line)
        self.errands.opened(errand)
        return errand


def answer(ident: object, result: object = "done") -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "result": result}).encode()


def test_an_errand_knows_what_its_line_says() -> None:
    def facts(line: bytes) -> tuple[Any, ...]:
        one = Errand(line)
        return (one.opens, one.notifies, one.version, one.takes_back, one.awaits, one.probes)

    assert facts(INITIALIZE) == (True, False, None, None, True, False)
    assert facts(INITIALIZED) == (False, True, None, None, False, False)
    assert facts(call(1)) == (False, False, None, None, True, False)
    assert facts(modern(1, "tools/call")) == (False, False, MODERN, None, True, False)
    assert facts(modern(1, "server/discover")) == (False, False, MODERN, None, True, True)
    assert facts(modern(1, "initialize")) == (True, False, None, None, True, False)
    assert facts(notice("cancelled", requestId="a")) == (False, True, None, '"a"', False, False)
    assert facts(answer(1)) == (False, False, None, None, False, False)
    assert facts(b"no json\n") == (False, False, None, None, True, False)


async def test_an_answer_settles_its_request_and_is_learnt_of_before_it_goes_on() -> None:
    heard = Heard()
    errand = heard.asked(call(1))

    assert await heard.errands.deliver(b" \n" + answer(1) + b"\r\n", errand)

    assert errand.asked == {}
    assert heard.errands.asking("1") is None
    assert heard.learnt == [("tools/call", '"done"')]
    assert heard.pipe.lines == [answer(1) + b"\n"]
    assert heard.errands.reached


async def test_j04_one_id_twice_in_flight_is_settled_where_its_answer_came() -> None:
    heard = Heard()
    first, second = heard.asked(call(1)), heard.asked(call(1))

    await heard.errands.deliver(answer(1), second)
    assert (len(first.asked), len(second.asked)) == (1, 0)
    await heard.errands.deliver(answer(1.0), None)
    assert (len(first.asked), len(second.asked)) == (0, 0)


async def test_an_answer_that_comes_on_another_stream_settles_its_request_too() -> None:
    heard = Heard()
    first, second = heard.asked(call(1)), heard.asked(call("1"))

    await heard.errands.deliver(answer("1"), first)

    assert (len(first.asked), len(second.asked)) == (1, 0)


async def test_what_is_given_up_gets_one_error_each_and_is_said_once(
    capfd: pytest.CaptureFixture[str],
) -> None:
    heard = Heard()
    batch = heard.asked(b"[" + call(1).strip() + b"," + request("x", "ping").strip() + b"]\n")

    await heard.errands.give_up(batch, "it broke", 500)
    await heard.errands.give_up(heard.asked(INITIALIZED), "it broke", 500)

    errors = [json.loads(line) for line in heard.pipe.lines]
    assert [error["id"] for error in errors] == [1, "x"]
    assert {error["error"]["message"] for error in errors} == {"server 'far': it broke"}
    assert heard.remarks == dict.fromkeys(heard.pipe.lines, Remark(is_ours=True, http_status=500))
    assert capfd.readouterr().err == "mcp-sidecar: server 'far': it broke\n"
    assert (heard.errands.failed, heard.errands.reached) == (True, False)


@pytest.mark.parametrize(("status", "is_said"), [(400, False), (405, False), (401, True)])
async def test_that_a_server_knows_nothing_of_discovery_is_not_worth_a_word(
    status: int, *, is_said: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    heard = Heard()

    await heard.errands.give_up(heard.asked(modern(1, "server/discover")), "no", status)

    assert len(heard.pipe.lines) == 1
    assert (capfd.readouterr().err != "") == is_said


async def test_what_is_no_message_is_not_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    heard = Heard()
    errand = heard.asked(call(1))

    assert not await heard.errands.deliver(b"<html>", errand, 200)
    assert not await heard.errands.deliver(b'{"detail":"no"}', errand, 404)
    assert not await heard.errands.deliver(b"noise", None)

    assert heard.pipe.lines == []
    assert capfd.readouterr().err == "[far] noise\n"


async def test_a_status_that_tells_something_is_remarked_on() -> None:
    heard = Heard()
    error = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Session not found"}}'

    await heard.errands.deliver(error, heard.asked(call(1)), 404)
    await heard.errands.deliver(answer(2), heard.asked(call(2)), 200)

    assert heard.remarks == {error + b"\n": Remark(is_ours=False, http_status=404)}


async def test_an_error_among_several_requests_keeps_its_id() -> None:
    heard = Heard()
    batch = heard.asked(b"[" + call(1).strip() + b"," + call(2).strip() + b"]\n")
    error = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}'

    await heard.errands.deliver(error, batch, 400)

    assert heard.pipe.lines == [error + b"\n"]
    assert len(batch.asked) == 2
