import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.cassette.redaction.placeholders import (
    Renumberer,
    numbers_in,
    placeholder,
    renumber,
    unify,
)
from sidecar.wire.json_text import JsonValue, Number

ONE, TWO, THREE = (placeholder(b"salt", secret) for secret in (b"1", b"2", b"3"))


def test_a_placeholder_hides_its_secret_behind_a_key() -> None:
    assert len(ONE) == len("[REDACTED:0123456789abcdef]")
    assert placeholder(b"salt", b"1") == ONE != TWO
    assert placeholder(b"other", b"1") != ONE
    assert placeholder(b"x" * 65, b"1") != placeholder(b"x" * 66, b"1")


def test_placeholders_are_numbered_in_the_order_in_which_they_appear_first() -> None:
    assert renumber([f"{TWO} {ONE}", "none", f"{THREE}{TWO}"]) == [
        "[REDACTED:1] [REDACTED:2]",
        "none",
        "[REDACTED:3][REDACTED:1]",
    ]


def test_numbers_that_are_there_stay_and_are_given_to_no_other_secret() -> None:
    assert renumber([ONE, f"[REDACTED:1] {TWO}", "[REDACTED:3]", ONE]) == [
        "[REDACTED:2]",
        "[REDACTED:1] [REDACTED:4]",
        "[REDACTED:3]",
        "[REDACTED:2]",
    ]


def test_a_renumberer_goes_on_from_text_to_text() -> None:
    renumberer = Renumberer(taken=[2])
    text = "nothing here"

    assert renumberer.text(text) is text
    assert [renumberer.text(text) for text in (ONE, TWO, f"[REDACTED:4]{THREE}", ONE)] == [
        "[REDACTED:1]",
        "[REDACTED:3]",
        "[REDACTED:4][REDACTED:5]",
        "[REDACTED:1]",
    ]


def test_sixteen_digits_are_a_hash_and_no_number() -> None:
    assert numbers_in("[REDACTED:1234567890123456] [REDACTED:12] [REDACTED]") == {12}


@pytest.mark.parametrize(
    ("value", "unified"),
    [
        pytest.param(f"a {ONE} b", "a [REDACTED] b", id="journal"),
        pytest.param("[REDACTED:7]", "[REDACTED]", id="cassette"),
        pytest.param("[REDACTED]", "[REDACTED]", id="unified already"),
        pytest.param("[REDACTED:xyz]", "[REDACTED:xyz]", id="none of ours"),
        pytest.param([ONE, 1, None, True], ["[REDACTED]", 1, None, True], id="list"),
        pytest.param({"a": {"b": TWO}}, {"a": {"b": "[REDACTED]"}}, id="object"),
        pytest.param(
            {ONE: 1, "a": 2, TWO: 3, THREE: 4},
            {"[REDACTED]": 1, "a": 2, "[REDACTED] 2": 3, "[REDACTED] 3": 4},
            id="names that become equal",
        ),
    ],
)
def test_x02_unified_placeholders_are_all_equal(value: JsonValue, unified: JsonValue) -> None:
    assert unify(value) == unified


def test_unify_leaves_other_texts_and_numbers_as_they_are() -> None:
    text, number = "plain", Number("1e400")

    assert unify(text) is text
    assert unify(number) is number


@given(st.lists(st.sampled_from([ONE, TWO, THREE, "[REDACTED:1]", "[REDACTED:2]", " x "])))
def test_r21_renumbering_twice_is_renumbering_once(pieces: list[str]) -> None:
    once = renumber(["".join(pieces), *pieces])

    assert renumber(once) == once
    assert unify(once) == unify(["".join(pieces), *pieces])
