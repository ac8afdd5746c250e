import pytest

from bench import http_workload
from bench.http_workload import Call
from bench.workload import BIG_BYTES, WrongAnswerError


def test_small_calls_have_arguments_of_their_own() -> None:
    assert http_workload.small_calls(2) == [
        Call("echo", {"text": "message 0"}, "message 0"),
        Call("echo", {"text": "message 1"}, "message 1"),
    ]


def test_a_big_call_wants_a_text_of_so_many_bytes() -> None:
    call = http_workload.big_call()

    assert (call.arguments, len(call.text)) == ({"size": BIG_BYTES}, BIG_BYTES)


def test_a_series_says_by_turns_whose_it_is_and_which_of_them() -> None:
    assert http_workload.series("a", 5) == [
        Call("echo", {"text": "a, 0"}, "a, 0"),
        Call("counter", {"key": "a"}, "1"),
        Call("echo", {"text": "a, 2"}, "a, 2"),
        Call("counter", {"key": "a"}, "2"),
        Call("echo", {"text": "a, 4"}, "a, 4"),
    ]


def test_many_clients_have_names_of_their_own() -> None:
    many = http_workload.many_series("t", 3, 2)

    assert [calls[1].arguments["key"] for calls in many] == [
        *("t, client 0", "t, client 1", "t, client 2")
    ]


def test_a_right_answer_passes() -> None:
    (call,) = http_workload.small_calls(1)

    http_workload.check(call, "message 0")


@pytest.mark.parametrize("text", [None, "", "message 1"])
def test_a_wrong_answer_does_not_pass(text: str | None) -> None:
    (call,) = http_workload.small_calls(1)

    with pytest.raises(WrongAnswerError, match="echo"):
        http_workload.check(call, text)


def test_steps_in_order_pass() -> None:
    http_workload.check_steps([1.0, 2.0, 3.0], 3)


@pytest.mark.parametrize("steps", [[], [1.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0, 3.0]])
def test_steps_that_are_missing_or_not_in_their_place_do_not_pass(steps: list[float]) -> None:
    with pytest.raises(WrongAnswerError):
        http_workload.check_steps(steps, 2)
