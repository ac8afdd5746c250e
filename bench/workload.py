"""What the contestants are asked, and what they have to answer."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

BIG_BYTES = 5_000_000
FIRST_CALL_ID = 2  # 1 is the handshake's

_HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench-client", "version": "1.0.0"},
}


class WrongAnswerError(Exception):
    """A contestant answered something else than the server would have."""


class Request(NamedTuple):
    """A request, and the text of its answer.

    Attributes:
        id: Its JSON-RPC id.
        line: Its bytes, the newline included.
        text: The text of the tool's only content block.
    """

    id: int
    line: bytes
    text: str


def small_calls(count: int) -> list[Request]:
    """Calls of two tools in turn, each with arguments of its own."""
    return [_echo(number) if number % 2 == 0 else _add(number) for number in range(count)]


def echo_calls(count: int, *, first: int = 0) -> list[Request]:
    """Calls of one tool, each with arguments of its own, counted from `first`."""
    return [_echo(first + number) for number in range(count)]


def big_calls(count: int, *, first: int = 0) -> list[Request]:
    """Calls whose result is a text of `BIG_BYTES` bytes, counted from `first`."""
    return [
        _call(first + number, "big", {"bytes": BIG_BYTES}, "x" * BIG_BYTES)
        for number in range(count)
    ]


def handshake() -> bytes:
    """The line that asks for `initialize`."""
    return _line({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO})


def greeting() -> bytes:
    """The line that ends the handshake; nothing answers it."""
    return _line({"jsonrpc": "2.0", "method": "notifications/initialized"})


def check_handshake(answer: bytes) -> None:
    """See that `initialize` was answered by the server, or from its recording.

    Raises:
        WrongAnswerError: If it was not.
    """
    message = _read(answer)
    result = message.get("result")
    if message.get("id") != 1 or not result or result["serverInfo"]["name"] != "tiny-server":
        raise WrongAnswerError(f"initialize was answered with {answer[:300]!r}")


def check(request: Request, answer: bytes) -> None:
    """See that an answer is the right one.

    Raises:
        WrongAnswerError: If its id or its text is another.
    """
    message = _read(answer)
    if message.get("id") != request.id or _text(message) != request.text:
        raise WrongAnswerError(f"{request.line[:300]!r} was answered with {answer[:300]!r}")


def check_all(requests: Sequence[Request], answers: Sequence[bytes]) -> None:
    """See that each request was answered once and rightly, in whatever order.

    Raises:
        WrongAnswerError: If one was not.
    """
    by_id = {_read(answer).get("id"): answer for answer in answers}
    if len(answers) != len(requests) or len(by_id) != len(requests):
        raise WrongAnswerError(f"{len(requests)} requests got {len(answers)} answers")
    for request in requests:
        check(request, by_id.get(request.id, b"{}"))


def _echo(number: int) -> Request:
    text = f"message {number}"
    return _call(number, "echo", {"text": text}, text)


def _add(number: int) -> Request:
    return _call(number, "add", {"a": number, "b": 1}, str(number + 1))


def _call(number: int, tool: str, arguments: dict[str, Any], text: str) -> Request:
    ident = FIRST_CALL_ID + number
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": params}
    return Request(ident, _line(message), text)


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _read(answer: bytes) -> dict[str, Any]:
    message = json.loads(answer)
    if not isinstance(message, dict):
        raise WrongAnswerError(f"no message: {answer[:300]!r}")
    return message


def _text(message: dict[str, Any]) -> object:
    try:
        (block,) = message["result"]["content"]
        return block["text"]
    except (KeyError, TypeError, ValueError):
        return None
