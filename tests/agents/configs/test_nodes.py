"""Edits of a text, and how places in it are named."""

import json
import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from sidecar.agents.configs.nodes import (
    BrokenTextError,
    Edit,
    Member,
    Node,
    Span,
    applied,
    column_of,
    double_quoted,
    indent_of,
    newline_of,
    raw,
)


def test_edits_are_applied_in_the_order_of_their_places() -> None:
    edits = [Edit(4, 5, "E"), Edit(0, 1, ""), Edit(4, 4, "+"), Edit(2, 4, "cd")]

    assert applied("aBXXe.", edits) == "Bcd+E."


def test_a_place_is_named_by_line_and_column() -> None:
    error = BrokenTextError.at("odd", "ab\r\ncd", 5)

    assert (error.problem, error.line, error.column) == ("odd", 2, 2)


def test_a_member_is_found_by_its_name_and_only_a_text_is_a_text() -> None:
    text = Node("text", Span(5, 8), "x")
    node = Node("map", Span(0, 9), members=(Member("a", Span(1, 4), text),))

    assert node.get("a") is text
    assert node.get("b") is None
    assert text.text == "x"
    assert (node.text, Node("other", Span(0, 1), "1").text) == (None, None)


def test_what_stands_before_a_place_is_known() -> None:
    text = "a\r\n\t b: c"

    assert (indent_of(text, 5), indent_of(text, 8)) == ("\t ", None)
    assert column_of(text, 5) == 2
    assert (newline_of(text), newline_of("a\nb"), newline_of("ab")) == ("\r\n", "\n", "\n")
    assert raw(text, Span(5, 6)) == "b"


@settings(max_examples=60)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_a_text_in_double_quotes_is_read_alike_by_all_three_formats(value: str) -> None:
    written = double_quoted(value)

    assert json.loads(written) == value
    if value.isprintable():  # JSON alone writes every character as it may stand in it
        assert tomllib.loads(f"v = {written}")["v"] == value
        assert YAML(typ="safe", pure=True).load(f"v: {written}")["v"] == value


def test_half_a_character_is_written_so_that_it_can_be_encoded() -> None:
    assert double_quoted("\ud800\x7f") == '"\\ud800\\u007f"'
