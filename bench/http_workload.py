"""What clients ask over HTTP, and what they must hear. Pure."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from bench.workload import BIG_BYTES, WrongAnswerError

_SHOWN = 200  # characters of a wrong answer


class Call(NamedTuple):
    """A call of a tool, and its answer.

    Attributes:
        tool: The tool's name.
        arguments: Its arguments.
        text: The text of the answer's only content block.
    """

    tool: str
    arguments: dict[str, Any]
    text: str


def small_calls(count: int) -> list[Call]:
    """Calls of one tool, each with arguments of its own."""
    return [_echo(f"message {number}") for number in range(count)]


def big_call() -> Call:
    """A call whose answer is a text of `BIG_BYTES` bytes."""
    return Call("big", {"size": BIG_BYTES}, "x" * BIG_BYTES)


def series(name: str, length: int) -> list[Call]:
    """The calls of one client among many, which it makes one after the other.

    Each second answer says whose it is, and each other one which of that client's it is:
    none can be taken for another client's, or for an earlier one of the same.

    Args:
        name: The client's; the server must not have counted for it before.
        length: How many.
    """
    return [
        Call("counter", {"key": name}, str(number // 2 + 1))
        if number % 2
        else _echo(f"{name}, {number}")
        for number in range(length)
    ]


def many_series(title: str, clients: int, length: int) -> list[list[Call]]:
    """The calls of many clients, each with its own name under the title."""
    return [series(f"{title}, client {number}", length) for number in range(clients)]


def check(call: Call, text: str | None) -> None:
    """See that an answer is the right one.

    Args:
        call: What was asked.
        text: The text of the answer's only content block; None if it is an error, or other.

    Raises:
        WrongAnswerError: If it is not.
    """
    if text != call.text:
        heard = None if text is None else text[:_SHOWN]
        raise WrongAnswerError(f"{call.tool} with {call.arguments} was answered with {heard!r}")


def check_steps(steps: Sequence[float], count: int) -> None:
    """See that the progress of a call came whole and in order.

    Raises:
        WrongAnswerError: If it did not.
    """
    if list(steps) != list(range(1, count + 1)):
        raise WrongAnswerError(f"{count} steps were told as {len(steps)}, or in another order")


def _echo(text: str) -> Call:
    return Call("echo", {"text": text}, text)
