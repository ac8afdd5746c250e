"""Equality of JSON values, and the three ways in which arguments match."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.cassette.arguments import (
    ABSENT,
    Absent,
    ArgsMatch,
    Difference,
    canonical,
    contains,
    differences,
    equal,
    matches,
)
from sidecar.wire.json_text import JsonValue, NotJsonError, Number, parse

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3)
    ),
    max_leaves=10,
)


def nested(levels: int) -> JsonValue:
    value: JsonValue = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param("1", "1.0", id="R7 integer and fraction"),
        pytest.param("1", "1e0", id="R7 exponent"),
        pytest.param("100", "1E2", id="R7 zeros"),
        pytest.param("0", "-0", id="R7 minus zero"),
        pytest.param("0.1", "1e-1", id="R7 small"),
        pytest.param('{"a":1,"b":2}', '{"b":2,"a":1}', id="R7 order of members"),
        pytest.param('"\\u00e9\\/"', '"é/"', id="R7 escapes"),
        pytest.param("[[1.0],{}]", "[[1],{}]", id="R7 nested"),
        pytest.param("9007199254740993", "9007199254740993.0", id="J17 beyond 2^53"),
        pytest.param("7" * 5000, "7" * 5000 + ".0", id="J17 5,000 digits"),
        pytest.param('"\\ud800"', '"\\uD800"', id="lone surrogate"),
    ],
)
def test_values_are_equal(left: str, right: str) -> None:
    assert equal(parse(left), parse(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param("1", "true", id="G10 true is no number"),
        pytest.param("0", "false", id="G10 false is no number"),
        pytest.param('{"n":[true]}', '{"n":[1]}', id="G10 nested"),
        pytest.param("1", '"1"', id="R7 a string is no number"),
        pytest.param('"1.0"', "1.0", id="R7 a string is no number as spelt"),
        pytest.param("null", "{}", id="R7 null"),
        pytest.param('{"a":null}', "{}", id="J19 null is not missing"),
        pytest.param("[]", "{}", id="array and object"),
        pytest.param("[1,2]", "[2,1]", id="R7 order of items"),
        pytest.param("[[1],2]", "[1,[2]]", id="nesting"),
        pytest.param('"é"', '"e\\u0301"', id="R7 no normalisation"),
        pytest.param("9007199254740993", "9007199254740992", id="J17 neighbours"),
        pytest.param("9007199254740993.0", "9007199254740992.0", id="J17 as fractions"),
        pytest.param("1e400", "1e401", id="J17 beyond a float"),
        pytest.param("1e400", "Infinity", id="J17 no infinity"),
        pytest.param('{"a":"b"}', '{"a":{"b":1}}', id="member and object"),
    ],
)
def test_values_differ(left: str, right: str) -> None:
    assert not equal(parse(left), parse(right))


@given(JSON, JSON)
def test_r7_equal_values_and_only_they_have_one_canonical_text(
    left: JsonValue, right: JsonValue
) -> None:
    def tagged(value: JsonValue) -> object:
        # Python's own equality is right once booleans are told from numbers.
        if isinstance(value, dict):
            return {name: tagged(item) for name, item in value.items()}
        if isinstance(value, list):
            return [tagged(item) for item in value]
        return (type(value), value)

    assert (canonical(left) == canonical(right)) is (tagged(left) == tagged(right))
    assert canonical(left) == canonical(parse(json.dumps(left, indent=1)))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_r7_a_float_is_equal_to_its_own_text(number: float) -> None:
    assert equal(number, Number(repr(number)))


def test_tuples_are_arrays() -> None:
    assert equal((1, (2,)), [1, [2]])


def test_300_levels_can_be_compared_and_no_more() -> None:
    assert equal(nested(300), nested(300))
    assert contains({"more": 1, **nested(300)}, nested(300))
    assert differences("exact", nested(300), nested(299))
    for depth in (301, 100_000):
        with pytest.raises(NotJsonError):
            canonical(nested(depth))


# R5 as a table: args, inputs, exact, subset.
@pytest.mark.parametrize(
    ("expected", "observed", "exact", "subset"),
    [
        pytest.param('{"a":1}', '{"a":1}', True, True, id="equal"),
        pytest.param('{"a":1}', '{"a":1,"b":2}', False, True, id="R5 more members"),
        pytest.param('{"a":1,"b":2}', '{"a":1}', False, False, id="R5 a member missing"),
        pytest.param('{"a":1}', '{"a":2}', False, False, id="R5 another value"),
        pytest.param('{"a":1}', '{"a":1.0}', True, True, id="R7 1 and 1.0"),
        pytest.param('{"a":1}', '{"a":true}', False, False, id="G10 1 and true"),
        pytest.param('{"a":{"b":1}}', '{"a":{"b":1,"c":2}}', False, True, id="R5a nested members"),
        pytest.param('{"a":{"b":1}}', '{"a":1}', False, False, id="R5a no object there"),
        pytest.param('{"a":[1,2]}', '{"a":[1,2]}', True, True, id="R5b array"),
        pytest.param('{"a":[1,2]}', '{"a":[2,1]}', False, False, id="R5b R05 order of items"),
        pytest.param('{"a":[1]}', '{"a":[1,2]}', False, False, id="R5b length"),
        pytest.param(
            '{"a":[{"b":1}]}', '{"a":[{"b":1,"c":2}]}', False, False, id="R5b whole items"
        ),
        pytest.param("{}", '{"a":1}', False, True, id="R5c empty object"),
        pytest.param("{}", "[1]", False, True, id="R5c empty object, no object seen"),
        pytest.param("{}", "{}", True, True, id="J19 both empty"),
        pytest.param('{"f":{}}', '{"f":{"x":1}}', False, True, id="R5c nested empty object"),
        pytest.param('{"f":{}}', '{"f":[]}', False, False, id="R5c asks for an object"),
        pytest.param('{"f":{}}', "{}", False, False, id="R5c asks for the member"),
        pytest.param("[1]", "[1]", True, True, id="R5d array at the top"),
        pytest.param("[1]", "[1,2]", False, False, id="R5d whole"),
        pytest.param("null", "null", True, True, id="R5d J19 null"),
        pytest.param("null", "{}", False, False, id="J19 null is no object"),
        pytest.param('"x"', "{}", False, False, id="J19 a string is no object"),
        pytest.param('{"a":null}', "{}", False, False, id="J19 null is not missing"),
        pytest.param('{"a":null}', '{"a":null,"b":1}', False, True, id="R5 null member"),
    ],
)
def test_r5_arguments_match(expected: str, observed: str, *, exact: bool, subset: bool) -> None:
    found = {
        how: matches(how, parse(expected), parse(observed)) for how in ("exact", "subset", "ignore")
    }
    differing = {
        how: differences(how, parse(expected), parse(observed)) == ()
        for how in ("exact", "subset", "ignore")
    }

    assert found == {"exact": exact, "subset": subset, "ignore": True}
    assert differing == found


@pytest.mark.parametrize(
    ("args_match", "expected", "observed", "fits"),
    [
        ("exact", ABSENT, ABSENT, True),
        ("exact", ABSENT, {}, False),
        ("exact", {}, ABSENT, False),
        ("subset", ABSENT, {"a": 1}, True),
        ("subset", {}, ABSENT, True),
        ("subset", {"a": 1}, ABSENT, False),
        ("subset", 1, ABSENT, False),
        ("ignore", ABSENT, {"a": 1}, True),
        ("ignore", {"a": 1}, ABSENT, True),
    ],
)
def test_r5e_no_arguments_at_all(
    args_match: ArgsMatch, expected: JsonValue | Absent, observed: JsonValue | Absent, *, fits: bool
) -> None:
    assert matches(args_match, expected, observed) is fits
    assert (differences(args_match, expected, observed) == ()) is fits


@pytest.mark.parametrize(
    ("args_match", "expected", "observed", "found"),
    [
        pytest.param(
            "exact",
            {"a": 1, "b": {"c": 2, "d": 3}},
            {"a": 1, "b": {"c": 5, "d": 3}},
            [Difference("/b/c", 2, 5)],
            id="one value",
        ),
        pytest.param(
            "exact",
            {"a": 1, "b": 2},
            {"b": 2, "c": 3},
            [Difference("/a", 1, ABSENT), Difference("/c", ABSENT, 3)],
            id="missing and extra",
        ),
        pytest.param(
            "subset", {"a": 1}, {"c": 3}, [Difference("/a", 1, ABSENT)], id="extra ones are allowed"
        ),
        pytest.param(
            "subset",
            {"a": [{"b": 1}]},
            {"a": [{"b": 1, "c": 2}]},
            [Difference("/a/0/c", ABSENT, 2)],
            id="R5b but not in an array",
        ),
        pytest.param("exact", {"a": [1, 2]}, {"a": [1, 3]}, [Difference("/a/1", 2, 3)], id="item"),
        pytest.param(
            "exact", {"a": [1]}, {"a": [1, 2]}, [Difference("/a", [1], [1, 2])], id="length"
        ),
        pytest.param(
            "exact",
            {"a/b": {"~": 1}},
            {"a/b": {"~": 2}},
            [Difference("/a~1b/~0", 1, 2)],
            id="pointer",
        ),
        pytest.param("exact", {}, None, [Difference("", {}, None)], id="the whole value"),
        pytest.param(
            "exact", {"a": True}, {"a": 1}, [Difference("/a", expected=True, seen=1)], id="G10"
        ),
        pytest.param("exact", {}, ABSENT, [Difference("", {}, ABSENT)], id="nothing seen"),
    ],
)
def test_differences_name_the_place_and_both_values(
    args_match: ArgsMatch,
    expected: JsonValue | Absent,
    observed: JsonValue | Absent,
    found: list[Difference],
) -> None:
    seen = differences(args_match, expected, observed)

    assert list(map(repr, seen)) == list(map(repr, found))


@given(JSON, JSON)
def test_what_matches_has_no_differences_and_what_does_not_has_some(
    left: JsonValue, right: JsonValue
) -> None:
    for how in ("exact", "subset", "ignore"):
        assert (differences(how, left, right) == ()) is matches(how, left, right)
        assert matches(how, left, left)
