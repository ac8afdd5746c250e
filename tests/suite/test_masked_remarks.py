"""What is told of arguments that are not compared, since a secret is masked in them."""

from typing import Any

import pytest

from sidecar.suite.calls import RecordedCall
from sidecar.suite.loosening import loosened
from sidecar.suite.masked_remarks import masked_remarks

SECRET = "[REDACTED:1]"


def told(*calls: tuple[str, Any]) -> list[str]:
    recorded = [
        RecordedCall(number, tool, arguments, None)
        for number, (tool, arguments) in enumerate(calls, 1)
    ]
    return [
        remark.text
        for remark in masked_remarks(recorded, [loosened(call.arguments, []) for call in recorded])
    ]


def test_p02_a_call_is_told_with_the_place_of_its_secret() -> None:
    assert told(("shop:buy", {"n": 1}), ("shop:login", {"key": SECRET, "user": "ann"})) == [
        "call 2 (shop:login): a secret is masked at /key, so it is not compared"
    ]


def test_p02_many_calls_of_a_tool_are_told_once() -> None:
    calls = [("shop:login", {"key": SECRET, "n": number}) for number in range(40)]

    assert told(*calls, ("shop:pay", {"card": SECRET, "n": 1})) == [
        "40 calls of shop:login: a secret is masked at /key, so it is not compared",
        "call 41 (shop:pay): a secret is masked at /card, so it is not compared",
    ]


def test_p02_many_places_are_counted() -> None:
    (text,) = told(("s:t", {"n": 1, **{f"k{number}": SECRET for number in range(7)}}))

    assert text == (
        "call 1 (s:t): secrets are masked at /k0, /k1, /k2, /k3, /k4 and 2 more, "
        "so these are not compared"
    )


@pytest.mark.parametrize(
    ("arguments", "rest"),
    [
        pytest.param([{"key": SECRET}], "is left, so any call", id="a call"),
        pytest.param([{"key": SECRET}, {"key": SECRET}], "is left, so any call", id="all calls"),
        pytest.param(
            [{"key": SECRET}, {"key": SECRET, "n": 1}], "is left in 1 of the 2, so any", id="one"
        ),
    ],
)
def test_p02_calls_of_which_nothing_is_left_to_compare_are_told(
    arguments: list[Any], rest: str
) -> None:
    (text,) = told(*[("s:t", one) for one in arguments])

    assert f"; no other argument {rest}" in text


def test_p02_arguments_that_are_masked_whole_have_no_place() -> None:
    (text,) = told(("s:t", [SECRET]))

    assert "a secret is masked at the arguments" in text
