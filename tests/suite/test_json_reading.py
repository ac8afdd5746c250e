"""Strict JSON: no name twice, no NaN, no lost digits, and errors that name a line."""

import pytest

from sidecar.cassette.arguments import canonical
from sidecar.errors import SuiteError
from sidecar.suite.json_reading import decode, decode_event, line_of, parse_json
from sidecar.wire.json_text import Number

TEXT = """{
  "a": [
    1,
    {"b/c": 2, "~": {
      "deep": 3}}
  ],
  "d": "x"
}"""


@pytest.mark.parametrize(
    ("pointer", "line"),
    [
        ("", 1),
        ("/a", 2),
        ("/a/0", 3),
        ("/a/1", 4),
        ("/a/1/b~1c", 4),
        ("/a/1/~0/deep", 5),
        ("/d", 7),
        ("/a/1/nothing/here", 4),
        ("/a/9", 2),
    ],
)
def test_a_pointer_leads_to_its_line(pointer: str, line: int) -> None:
    assert line_of(TEXT, pointer) == line


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        pytest.param('{"a": 1,\n "a": 2}', "f:2", "'a' is twice", id="a name twice"),
        pytest.param('{"b": 1,\n "x": [\n{"b": 1,\n"b": 2}]}', "f:4", "'b' is twice", id="deeper"),
        pytest.param('{"a": 1,\n', "f:2", "no JSON", id="cut off"),
        pytest.param('{"a": 1}\n{"b": 2}\n', "f:2", "no JSON: Extra data; one JSON", id="lines"),
        pytest.param("", "f:1", "no JSON", id="G07 empty file"),
        pytest.param('{"a": NaN}', "f", "NaN", id="T06 NaN"),
        pytest.param('{"a": -Infinity}', "f", "Infinity", id="infinity"),
        pytest.param("[" * 100_000, "f", "deeper", id="nesting"),
        pytest.param("1" * 5000, "f", "no JSON", id="an integer too long to read"),
    ],
)
def test_text_that_is_no_strict_json_is_refused(text: str, place: str, said: str) -> None:
    with pytest.raises(SuiteError) as refused:
        parse_json(text, name="f")

    assert refused.value.place == place
    assert said in str(refused.value)


def test_bytes_that_are_no_utf8_are_refused_with_their_line() -> None:
    with pytest.raises(SuiteError, match="f:2: the text is not UTF-8"):
        parse_json(b'{"a":\n"\xff"}', name="f")


@pytest.mark.parametrize("text", ['\ufeff{"a": 1}', b'\xef\xbb\xbf{"a": 1}'])
def test_a_byte_order_mark_is_passed_over(text: str | bytes) -> None:
    assert parse_json(text, name="f") == {"a": 1}


def test_a_document_keeps_how_a_number_was_spelt() -> None:
    value = decode('{"a": 1.50, "b": 1}')

    assert value == {"a": "1.50", "b": 1}
    assert isinstance(value["a"], Number)


@pytest.mark.parametrize("text", ["9007199254740993.0", "1e400", "1.50", "-0.0"])
def test_an_event_keeps_every_digit_for_comparison(text: str) -> None:
    assert canonical(decode_event(text)) == canonical(decode(text))


def test_a_number_of_an_event_is_a_float() -> None:
    assert decode_event("0.5") == 0.5
