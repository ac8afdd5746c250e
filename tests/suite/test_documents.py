"""From text to model and back: nothing is lost, and the same model is the same text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.errors import SuiteError
from sidecar.suite.documents import (
    dump_document,
    parse_suite,
    parse_summary,
    suite_from_json,
    summary_from_json,
)
from sidecar.suite.model_base import wire_value
from tests.eval_data import Json, suite, summary, task

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_what_was_spelt_in_a_free_value_is_written_as_it_was() -> None:
    text = json.dumps(
        suite(task(fixtures={"toolResponses": [{"tool": "a:b", "response": "HERE"}]}))
    )
    spelt = '{"n": 1.50, "e": 1e2, "big": 123456789012345678901234567890, "z": -0.0}'

    written = dump_document(parse_suite(text.replace('"HERE"', spelt)))

    for number in ("1.50", "1e2", "123456789012345678901234567890", "-0.0"):
        assert f": {number}" in written


def test_a_suite_is_written_readably_and_ends_with_a_newline() -> None:
    written = dump_document(suite_from_json(suite(trials={})))

    assert written == (
        """{
  "suiteId": "shop.evals.refunds",
  "version": "1.0.0",
  "modes": [
    "golden"
  ],
  "trials": {},
  "tasks": [
    {
      "taskId": "task",
      "input": "do it",
      "expected": {
        "kind": "golden",
        "match": {
          "strategy": "exact",
          "value": "ok"
        }
      }
    }
  ]
}
"""
    )


def test_a_lone_surrogate_is_written_escaped() -> None:
    written = dump_document(suite_from_json(suite({**task(), "input": "\ud800é"})))

    assert "\\ud800\\u00e9" in written
    assert parse_suite(written).tasks[0].input == "\ud800é"


@given(JSON_VALUES)
def test_what_is_written_reads_back_equal(value: Json) -> None:
    made = suite_from_json(suite({**task(), "input": value}))
    again = parse_suite(dump_document(made))

    assert dump_document(again) == dump_document(made)
    assert json.loads(dump_document(made))["tasks"][0]["input"] == value


def test_the_deepest_value_that_is_read_can_be_written() -> None:
    deepest: Json = 1
    for _ in range(150):
        deepest = {"a": [deepest]}

    made = suite_from_json(suite({**task(), "input": deepest}))

    assert parse_suite(dump_document(made)) == made


@given(st.permutations(list(suite(trials={"count": 2}).items())))
def test_the_order_of_keys_makes_no_difference(items: list[tuple[str, Json]]) -> None:
    assert dump_document(suite_from_json(dict(items))) == dump_document(
        suite_from_json(suite(trials={"count": 2}))
    )


@given(st.binary())
def test_reading_any_bytes_gives_a_suite_or_a_refusal(data: bytes) -> None:
    with pytest.raises(SuiteError):
        parse_suite(data)


def test_a_summary_is_read_and_written() -> None:
    value = summary({"taskId": "a", "score": 1}, {"taskId": "b", "score": 0.5})

    assert wire_value(summary_from_json(value)) == value
    assert parse_summary(dump_document(summary_from_json(value))) == summary_from_json(value)
