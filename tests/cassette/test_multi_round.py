"""Which call a round goes on with."""

import json
from typing import Any

import pytest

from sidecar.cassette.multi_round import RoundLinks

ASKS = '{"resultType":"input_required","inputRequests":{}}'


def params(tool: str = "book", arguments: Any = None, **more: Any) -> str:
    return json.dumps({"name": tool, "arguments": arguments or {}, **more})


def asks(state: str) -> str:
    return json.dumps({"resultType": "input_required", "requestState": state})


def test_n04_a_round_goes_on_with_the_call_of_its_state_once() -> None:
    links = RoundLinks()

    assert links.goes_on(params(), asks("s1"), 4)
    assert links.goes_on(params(), asks("s2"), 5)
    assert links.call_of(params(requestState="s2")) == 5
    assert links.call_of(params("other", {"a": 1}, requestState="s1")) == 4
    assert links.call_of(params(requestState="s1")) is None


@pytest.mark.parametrize("first_round", [params(), None, "[1]"])
def test_a_first_round_goes_on_with_nothing(first_round: str | None) -> None:
    links = RoundLinks()
    links.goes_on(params(), ASKS, 4)

    assert links.call_of(first_round) is None


def test_n04_a_state_may_come_back_in_another_spelling() -> None:
    links = RoundLinks()
    links.goes_on(params(), '{"resultType":"input_required","requestState":"a\\u002Bb"}', 4)

    assert links.call_of(params(requestState="a+b")) == 4


def test_n04_calls_of_one_state_are_gone_on_with_in_order() -> None:
    links = RoundLinks()
    for call in (4, 5):
        links.goes_on(params(), asks("same"), call)

    assert [links.call_of(params(requestState="same")) for _ in range(3)] == [4, 5, None]


def test_n04_without_a_state_tool_and_arguments_tell_the_call() -> None:
    links = RoundLinks()
    links.goes_on(params("book", {"x": 1}), ASKS, 4)
    links.goes_on(params("book", {"x": 2}), ASKS, 5)

    assert links.call_of(params("book", {"x": 3}, inputResponses={})) is None
    assert links.call_of(params("pay", {"x": 2}, inputResponses={})) is None
    assert links.call_of(params("book", {"x": 2}, inputResponses={})) == 5
    assert links.call_of(params("book", {"x": 1}, inputResponses={})) == 4


@pytest.mark.parametrize(
    "result",
    [
        '{"content":[]}',
        '{"resultType":"complete","requestState":"s1"}',
        '{"resultType":"later","requestState":"s1"}',
    ],
    ids=["handshake era", "complete", "N05 unknown"],
)
def test_an_answer_that_asks_for_nothing_ends_the_call(result: str) -> None:
    links = RoundLinks()

    assert not links.goes_on(params(), result, 4)
    assert links.call_of(params(requestState="s1")) is None
