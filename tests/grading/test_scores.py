"""Golden outputs and rubrics."""

from fractions import Fraction

import pytest

from sidecar.grading.scores import golden_reason, judgement_in, rubric_score, unmet
from sidecar.suite.json_reading import decode
from sidecar.suite.model import Criterion, GoldenMatch, Strategy
from tests.eval_data import Json
from tests.grading import told

deep: Json = 1
for _ in range(400):
    deep = [deep]


@pytest.mark.parametrize(
    ("strategy", "value", "output", "right"),
    [
        pytest.param("exact", "ok", "ok", True, id="R13 exact"),
        pytest.param("exact", "ok", "ok ", False, id="R13 nothing is trimmed"),
        pytest.param("exact", "ok", "OK", False, id="R13 case counts"),
        pytest.param("exact", "1", 1, True, id="R13 a number as text"),
        pytest.param("exact", {"b": 1, "a": 2}, '{"a":2,"b":1}', True, id="R13 an object as text"),
        pytest.param("exact", {"a": 1}, '{"a": 1}', False, id="R13 exact text has no white space"),
        pytest.param("exact", None, "null", True, id="R13 null as text"),
        pytest.param("exact", True, "true", True, id="R13 true as text"),
        pytest.param(
            "contains", "refund approved", "Your refund approved.", True, id="R13 contains"
        ),
        pytest.param("contains", "approved", "denied", False, id="R13 contains not"),
        pytest.param("contains", "", "anything", True, id="R13 nothing is contained in anything"),
        pytest.param("contains", '"a":1', {"b": 2, "a": 1}, True, id="R13 contains in an object"),
        pytest.param("contains", 42, "it is 42", True, id="R13 contains a number"),
        pytest.param("json-match", {"a": 1, "b": [2]}, {"b": [2], "a": 1.0}, True, id="R13 json"),
        pytest.param("json-match", {"a": 1}, ' {"a" : 1.0e0}\n', True, id="R13 json in text"),
        pytest.param("json-match", {"a": 1}, '{"a": true}', False, id="R13 R7 json in text, true"),
        pytest.param("json-match", {"a": 1}, "a is 1", False, id="R13 no json: 0, no error"),
        pytest.param("json-match", {"a": 1}, '{"a": 1, "a": 1}', False, id="R13 R7 a name twice"),
        pytest.param("json-match", {"a": 1}, {"a": 1, "b": 2}, False, id="R13 json, one more"),
        pytest.param("json-match", "text", "text", True, id="R13 a text is not parsed for a text"),
        pytest.param("json-match", "1", 1, False, id="R13 a text is no number"),
        pytest.param("json-match", 1, "1", True, id="R13 a number in text"),
        pytest.param("json-match", [1], deep, False, id="too deep to compare"),
        pytest.param("json-match", [1], "[" * 400 + "]" * 400, False, id="text too deep"),
        pytest.param("exact", "x", deep, False, id="too deep to be text"),
        pytest.param(
            "exact", "by [REDACTED:1]", "by [REDACTED:0011223344556677]", True, id="secret"
        ),
        pytest.param("contains", "[REDACTED:1]", "a [REDACTED:2] b", True, id="secret contained"),
        pytest.param(
            "json-match", {"k": "[REDACTED:1]"}, '{"k": "[REDACTED:2]"}', True, id="secret in json"
        ),
    ],
)
def test_an_output_is_right_or_not(
    strategy: Strategy, value: Json, output: Json, *, right: bool
) -> None:
    reason = golden_reason(GoldenMatch(strategy=strategy, value=value), output)

    assert (reason is None) is right


@pytest.mark.parametrize(
    ("strategy", "value", "output", "said"),
    [
        ("exact", "ok", "no", 'the output is "no", expected "ok"'),
        ("contains", "ok", "no", 'the output does not contain "ok"; it is "no"'),
        (
            "json-match",
            {"a": {"b": 1}},
            {"a": {"b": 2}},
            "the output: argument /a/b was 2, expected 1",
        ),
        ("json-match", 1, "x", 'the output is no JSON: "x"'),
    ],
)
def test_a_wrong_output_says_why(strategy: Strategy, value: Json, output: Json, said: str) -> None:
    reason = golden_reason(GoldenMatch(strategy=strategy, value=value), output)

    assert reason is not None
    assert told.texts([reason]) == [said]
    # In all of these both sides are short enough to be shown whole.
    shown = "1" if said.endswith(("expected 1", '"x"')) else '"ok"'
    assert reason.expected == shown


def test_a_recorded_number_is_compared_by_its_value() -> None:
    value = decode('{"n": 1.50}')

    assert golden_reason(GoldenMatch(strategy="json-match", value=value), '{"n": 1.5}') is None


def criteria(*weights: float) -> tuple[Criterion, ...]:
    return tuple(Criterion(criterion="c", weight=weight) for weight in weights)


@pytest.mark.parametrize(
    ("weights", "met", "score"),
    [
        pytest.param((0.5, 0.5), (True, True), Fraction(1), id="R14 all"),
        pytest.param((0.5, 0.5), (False, False), Fraction(0), id="R14 none"),
        pytest.param(
            (0.7, 0.2, 0.1), (True, False, True), Fraction(4, 5), id="R14 R32 exact tenths"
        ),
        pytest.param((1, 0.5), (False, True), Fraction(1, 3), id="R14 normalised"),
        pytest.param((0, 0), (True, True), Fraction(0), id="R14 no weight"),
    ],
)
def test_a_rubric_is_the_weighted_share_of_what_is_met(
    weights: tuple[float, ...], met: tuple[bool, ...], score: Fraction
) -> None:
    assert rubric_score(criteria(*weights), met) == score


def test_each_criterion_must_be_judged() -> None:
    with pytest.raises(ValueError, match="2 criteria, 1 judgements"):
        rubric_score(criteria(1, 1), (True,))


@pytest.mark.parametrize(
    ("recorded", "judgement"),
    [
        pytest.param([True, False], (True, False), id="one boolean a criterion"),
        pytest.param([True], None, id="too few"),
        pytest.param([True, True, True], None, id="too many"),
        pytest.param([1, 0], None, id="numbers"),
        pytest.param([True, None], None, id="one left open"),
        pytest.param("ft", None, id="text"),
        pytest.param(None, None, id="nothing"),
    ],
)
def test_r14_a_judgement_is_read_back_whole_or_not_at_all(
    recorded: Json, judgement: tuple[bool, ...] | None
) -> None:
    assert judgement_in(recorded, criteria(1, 1)) == judgement


def test_what_is_not_met_is_named_with_its_number_and_weight() -> None:
    rubric = (Criterion(criterion='says "yes"', weight=0.25), *criteria(0.5, 0.25))

    assert unmet(rubric, (True, True, True)) == ""
    assert unmet(rubric, (False, True, False)) == (
        r'criterion 1, "says \"yes\"" (weight 0.25); criterion 3, "c" (weight 0.25)'
    )


def test_a_judgement_of_another_length_names_nothing() -> None:
    with pytest.raises(ValueError, match="zip"):
        unmet(criteria(1, 1), (True,))
