"""JSON without loss."""

import contextlib
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.wire.json_text import (
    JsonValue,
    NotJsonError,
    Number,
    dump,
    elements,
    join,
    leading_members,
    members,
    number_key,
    parse,
    parse_plain,
    without,
)

SPACE = st.text(" \t\n\r", max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)
LONG = "7" * 5000
DEEP = "[" * 100_000 + '"]"' + "]" * 100_000

BROKEN = [
    "",
    " ",
    "{",
    "}",
    "{}}",
    "{} {}",
    '{"a"}',
    '{"a":}',
    '{"a":1',
    '{"a":1,}',
    '{"a":1,,"b":2}',
    '{"a" 1}',
    "{a:1}",
    "{'a':1}",
    '{"a":1 "b":2}',
    '{"a\n":1}',
    '{"a":[1}',
    "nul",
    "[1,]",
    "[1 2]",
    "[",
    "1 2",
    "\ufeff{}",
]


@given(JSON)
def test_what_is_dumped_is_parsed_to_the_same(value: JsonValue) -> None:
    assert parse_plain(dump(value)) == value


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=4), SPACE)
def test_members_and_join_are_inverse(value: dict[str, JsonValue], space: str) -> None:
    text = json.dumps(value, separators=(f"{space},{space}", f"{space}:{space}"))
    found = members(f"{space}{text}{space}")

    assert found is not None
    assert {name: parse_plain(item) for name, item in found.items()} == value
    assert members(join(found)) == found


@given(st.lists(JSON, max_size=4), SPACE)
def test_elements_are_the_texts_of_the_items(value: list[JsonValue], space: str) -> None:
    text = json.dumps(value, separators=(f"{space},{space}", ":"))
    found = elements(f"{space}{text}{space}")

    assert found is not None
    assert [parse_plain(item) for item in found] == value


@given(st.text() | st.text('{}[]",:\\0e.- \n'))
def test_whatever_the_text_only_one_error_is_raised(text: str) -> None:
    for read in (parse, parse_plain, members, elements):
        with contextlib.suppress(NotJsonError):
            read(text)
    leading_members(text)


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("read", [parse, parse_plain, members, elements])
def test_what_is_no_json_is_refused(read: object, text: str) -> None:
    assert callable(read)
    with pytest.raises(NotJsonError):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        "1e2",
        "1.0",
        "-0",
        "1E400",
        "9007199254740993.0",
        "12345678901234567890123456789012345",
        LONG,
        '"\\u00e9\\/"',
        '"\\ud800"',
        '{"b":1, "a":2,"b":3}',
        "[ 1 ,2]",
        DEEP,
    ],
    ids=lambda text: text[:20],
)
def test_a_member_keeps_its_spelling(text: str) -> None:
    assert members(f'{{"x": {text} , "y":null}}') == {"x": text, "y": "null"}
    assert elements(f"[ {text} ,null]") == [text, "null"]


def test_of_a_name_given_twice_the_last_counts() -> None:
    assert members('{"a":1,"b":2,"a":3}') == {"a": "3", "b": "2"}


@pytest.mark.parametrize("text", ["[1]", '"x"', "7", "null", LONG, DEEP], ids=lambda text: text[:5])
def test_what_is_no_object_has_no_members(text: str) -> None:
    assert members(f" {text}\n") is None


@pytest.mark.parametrize("text", ["{}", '"[]"', "7", "null", LONG], ids=lambda text: text[:5])
def test_what_is_no_array_has_no_elements(text: str) -> None:
    assert elements(f" {text}\n") is None


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' + "[" * 100_000 + "]" * 99_999 + "}",
        '{"a":' + "[" * 100_000,
        '{"a":' + "[" * 100_000 + '"' + "]" * 100_000 + "}",
        '{"a":' + "[" * 100_000 + "[{]}" + "]" * 100_000 + "}",
    ],
    ids=["one bracket missing", "cut off", "an open string", "brackets crossed"],
)
def test_what_nests_too_deep_to_be_read_still_has_to_close_its_brackets(text: str) -> None:
    with pytest.raises(NotJsonError):
        members(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("1", 1, id="integer"),
        pytest.param("9007199254740993", 9007199254740993, id="beyond 2^53"),
        pytest.param("1.0", Number("1.0"), id="fraction"),
        pytest.param("1e400", Number("1e400"), id="exponent"),
        pytest.param(LONG, Number(LONG), id="5,000 digits"),
        pytest.param(f'[1,{LONG},{{"a":2}}]', [1, Number(LONG), {"a": 2}], id="among others"),
        pytest.param('"1.0"', "1.0", id="a string"),
    ],
)
def test_j17_numbers_are_read_exactly(text: str, value: JsonValue) -> None:
    found = parse(text)

    assert found == value
    assert type(found) is type(value)
    assert dump(found) == text


def test_numbers_are_floats_where_they_are_only_looked_at() -> None:
    assert parse_plain("[1,1.5,1e2]") == [1, 1.5, 100.0]
    with pytest.raises(NotJsonError):
        parse_plain(LONG)


def test_too_deep_is_refused_and_not_a_recursion_error() -> None:
    deep: JsonValue = "x"
    for _ in range(2 * sys.getrecursionlimit()):
        deep = [deep]

    for read in (parse, parse_plain):
        with pytest.raises(NotJsonError):
            read(DEEP)
    with pytest.raises(NotJsonError):
        dump(deep)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({"a": [1, "é"]}, '{"a":[1,"é"]}', id="compact and readable"),
        pytest.param({"é": "\ud800"}, '{"\\u00e9":"\\ud800"}', id="a lone surrogate is escaped"),
        pytest.param(
            {"\ud800": Number("1.0")}, '{"\\ud800":1.0}', id="and beside a number as spelt"
        ),
        pytest.param(
            {"é": (Number("1e2"), [Number("2.50")], "1e2")},
            '{"é":[1e2,[2.50],"1e2"]}',
            id="numbers",
        ),
    ],
)
def test_values_are_written(value: JsonValue, text: str) -> None:
    assert dump(value) == text


@pytest.mark.parametrize(
    ("text", "names", "left"),
    [
        pytest.param('{"a":1, "b":2}', ("a",), '{"b":2}', id="one"),
        pytest.param('{"a":1, "b":1e2}', ("a", "c"), '{"b":1e2}', id="spelling stays"),
        pytest.param('{ "a":1}', ("b",), '{ "a":1}', id="none: the same text"),
        pytest.param("[1]", ("a",), "[1]", id="no object"),
    ],
)
def test_members_can_be_taken_out(text: str, names: tuple[str, ...], left: str) -> None:
    assert without(text, names) == left


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param('{"a": 1, "b": [2], "c": "cut', {"a": "1", "b": "[2]"}, id="in a string"),
        pytest.param('{"a":1,"b":23', {"a": "1"}, id="perhaps in a number"),
        pytest.param('{"a":1,"b"', {"a": "1"}, id="before a value"),
        pytest.param('{"a":1}', {"a": "1"}, id="not at all"),
        pytest.param("[1", {}, id="no object"),
        pytest.param("", {}, id="nothing"),
    ],
)
def test_of_a_text_that_is_cut_off_the_whole_members_are_found(
    text: str, found: dict[str, str]
) -> None:
    assert leading_members(text) == found


EQUAL = [
    ["1", "1.0", "1e0", "10e-1", "1.000", "0.1E1", "1E+0"],
    ["0", "-0", "0.0", "0e5", "-0.00e-7"],
    ["-100", "-1e2", "-100.0"],
    ["9007199254740993", "9007199254740993.0", "9.007199254740993e15"],
    ["10000000000000000000", "1e19"],
    ["100000000000000000000", "1e20", "10e19"],
    ["1" + "0" * 5000, "1e5000", "0.1e5001"],
    ["1e400", "10e399"],
    ["0.001", "1e-3"],
    ["9007199254740992"],
    ["1e401"],
    ["12"],
    ["1.2"],
    ["-1"],
    ["NaN"],
    ["true"],
    ["1e" + "9" * 5000],
]


@pytest.mark.parametrize("same", EQUAL, ids=lambda same: same[-1][:20])
def test_equal_numbers_have_one_key_and_others_another(same: list[str]) -> None:
    keys = {number_key(text) for text in same}
    others = {number_key(text) for texts in EQUAL if texts is not same for text in texts}

    assert len(keys) == 1
    assert not keys & others


@given(st.integers(), st.integers(0, 30))
def test_a_number_is_equal_to_itself_in_any_spelling(number: int, zeros: int) -> None:
    assert number_key(f"{number}.{'0' * zeros}e0" if zeros else f"{number}e0") == number_key(
        str(number)
    )
    assert number_key(f"{number}e{zeros}") == number_key(str(number * 10**zeros))
