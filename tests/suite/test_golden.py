"""Which output a promoted task expects."""

from typing import Any

import pytest

from sidecar.errors import PromotionError, UsageError
from sidecar.wire.json_text import Number
from tests.suite.test_promotion import LOG, promote, remarks, task


@pytest.mark.parametrize(
    ("wanted", "match"),
    [
        pytest.param({}, {"strategy": "exact", "value": '{"a": 1.0}'}, id="by default"),
        pytest.param({"golden": "exact"}, {"strategy": "exact", "value": '{"a": 1.0}'}, id="exact"),
        pytest.param(
            {"golden": "contains"},
            {"strategy": "contains", "value": '{"a": 1.0}'},
            id="contains",
        ),
        pytest.param(
            {"golden": "json-match"},
            {"strategy": "json-match", "value": {"a": Number("1.0")}},
            id="json-match",
        ),
        pytest.param(
            {"golden": "contains", "text": "1.0"},
            {"strategy": "contains", "value": "1.0"},
            id="contains a text of one's own",
        ),
    ],
)
def test_the_output_is_compared_as_wanted(wanted: dict[str, Any], match: dict[str, Any]) -> None:
    expected = task(LOG, output='{"a": 1.0}', **wanted)["expected"]

    assert (expected["kind"], expected["match"]) == ("golden", match)


@pytest.mark.parametrize(
    ("output", "remark"),
    [
        pytest.param(None, "the recording has no output of the agent", id="none"),
        pytest.param("", "the recording has no output of the agent", id="empty"),
        pytest.param(
            "key [REDACTED:1]", "a secret is masked in the recorded output", id="P02 masked"
        ),
    ],
)
def test_without_a_usable_output_the_path_alone_is_graded(output: str | None, remark: str) -> None:
    assert task(LOG, output=output)["expected"].keys() == {"kind", "trajectory"}
    assert task(LOG, output=output)["expected"]["kind"] == "trajectory"
    assert remarks(LOG, code="output", output=output) == [f"{remark}: only the path is graded"]


@pytest.mark.parametrize("golden", ["exact", "contains", "json-match"])
def test_a_strategy_that_needs_the_output_is_refused_without_one(golden: Any) -> None:
    with pytest.raises(PromotionError, match="needs the recorded output, but the recording"):
        promote(LOG, output=None, golden=golden)


def test_a_text_of_ones_own_needs_no_output() -> None:
    found = task(LOG, output=None, golden="contains", text="three")

    assert found["expected"]["match"] == {"strategy": "contains", "value": "three"}


def test_a_text_that_the_run_itself_did_not_say_is_refused() -> None:
    with pytest.raises(PromotionError, match="own output does not contain 'four'"):
        promote(LOG, output="one two three", golden="contains", text="four")


def test_masks_in_a_text_are_equal_to_one_another() -> None:
    text = "key [REDACTED:2]"

    found = task(LOG, output="the key [REDACTED:1].", golden="contains", text=text)

    assert found["expected"]["match"] == {"strategy": "contains", "value": text}


def test_an_output_that_is_no_json_cannot_be_matched_as_json() -> None:
    with pytest.raises(PromotionError, match="the recorded one is not"):
        promote(LOG, golden="json-match")


def test_an_empty_text_is_refused() -> None:
    with pytest.raises(UsageError, match="matches anything"):
        promote(LOG, golden="contains", text="")


def test_none_grades_the_path_alone() -> None:
    assert task(LOG, golden="none")["expected"]["kind"] == "trajectory"


def test_a_task_that_grades_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="the task would grade nothing"):
        promote(LOG, golden="none", trajectory=None)
