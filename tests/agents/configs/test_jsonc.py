"""JSON with comments and trailing commas, read into places."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.agents.configs.jsonc import Jsonc
from sidecar.agents.configs.nodes import BrokenTextError, Node, raw

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=10,
)


def value_of(node: Node) -> Any:
    if node.kind == "map":
        return {member.name: value_of(member.value) for member in node.members}
    if node.kind == "list":
        return [value_of(item) for item in node.items]
    is_number = node.kind == "other" and isinstance(node.value, str)
    return json.loads(node.value) if is_number else node.value  # type: ignore[arg-type]


@settings(max_examples=60)
@given(value=_VALUES, indent=st.sampled_from([None, 2, "\t"]), plain=st.booleans())
def test_plain_json_is_read_as_it_is_meant(
    *, value: Any, indent: int | str | None, plain: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=plain)

    assert value_of(Jsonc().parse(text)) == value


def test_w02_comments_and_trailing_commas_are_read_wherever_they_stand() -> None:
    text = """// one
    { /* two */ "a" /* three */ : // four
      [1, /* , */ -2.5e3, // five
      ], "b": "http://x//y", "c": "\\" // no", "d": { "e": null, }, // six
    } // seven"""

    assert value_of(Jsonc().parse(text)) == {
        "a": [1, -2500.0],
        "b": "http://x//y",
        "c": '" // no',
        "d": {"e": None},
    }


def test_every_place_is_where_the_text_stands() -> None:
    text = '{"a\\u0062": [ "x", {"y": true} ]}'
    root = Jsonc().parse(text)

    (member,) = root.members
    assert (member.name, raw(text, member.key)) == ("ab", '"a\\u0062"')
    assert [raw(text, item.span) for item in member.value.items] == ['"x"', '{"y": true}']
    assert raw(text, root.span) == text


@pytest.mark.parametrize(
    ("text", "problem", "line", "column"),
    [
        pytest.param("", "the file is empty", 1, 1, id="empty"),
        pytest.param(" // only a comment", "the file is empty", 1, 19, id="a comment"),
        pytest.param('{"a":1,\n "b"}', '":" is expected', 2, 5, id="no colon"),
        pytest.param('{"a":1 "b":2}', '"," or "}" is expected', 1, 8, id="no comma"),
        pytest.param("[1,,2]", "a value is expected", 1, 4, id="W02 two commas"),
        pytest.param("{,}", 'a name in double quotes, or "}", is expected', 1, 2, id="one comma"),
        pytest.param(
            "{a: 1}", 'a name in double quotes, or "}", is expected', 1, 2, id="no quotes"
        ),
        pytest.param('{"a":', "a value is expected", 1, 6, id="cut"),
        pytest.param('{"a": "b', "unterminated string starting at", 1, 7, id="an open string"),
        pytest.param('["\\q"]', "invalid \\escape", 1, 3, id="an unknown escape"),
        pytest.param("[01]", "a value is expected", 1, 2, id="a leading zero"),
        pytest.param("[NaN]", "a value is expected", 1, 2, id="NaN"),
        pytest.param("{}\n{}", "something stands after the end", 2, 1, id="two values"),
        pytest.param("/* open", "a value is expected", 1, 1, id="an open comment"),
        pytest.param("[" * 201, "it nests deeper than 200", 1, 201, id="too deep"),
    ],
)
def test_w02_what_is_broken_is_named_with_its_place(
    text: str, problem: str, line: int, column: int
) -> None:
    with pytest.raises(BrokenTextError) as caught:
        Jsonc().parse(text)

    assert caught.value.problem.startswith(problem)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "added"),
    [
        pytest.param('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"b": 2\n}', id="a line of its own"),
        pytest.param('{\r\n  "a": 1}', '{\r\n  "a": 1,\r\n  "b": 2}', id="W01 line ends stay"),
        pytest.param('{ "a": 1 }', '{ "a": 1, "b": 2 }', id="on one line"),
        pytest.param('{"a":1}', '{"a":1,"b": 2}', id="without spaces"),
    ],
)
def test_a_member_is_added_as_the_others_are_written(text: str, added: str) -> None:
    form = Jsonc()
    root = form.parse(text)
    (member,) = root.members
    at = member.value.span.end

    written = form.member_after(text, root, member, form.name_and_value("b", "2"))

    assert text[:at] + written + text[at:] == added
    assert form.flow_list(['"x"', "1"]) == '["x", 1]'
    assert form.alike("'old'", "ü") == '"ü"'


def test_what_no_path_leads_to_is_passed_over_unless_it_has_comments() -> None:
    text = """{"a": {"x": {"y": [1]}, "z": {"no": 1}}, "b": {"deep": [{}]}, "c": [ /* c */ 1],
      "d": {"p": {"k": [2], "l": [3]}, "q": 4}}"""

    root = Jsonc().parse(text, [("a", "x"), ("d", "*", "k")])

    assert value_of(root) == {
        "a": {"x": {"y": [1]}, "z": {}},
        "b": {},
        "c": [1],
        "d": {"p": {"k": [2], "l": []}, "q": 4},
    }
    assert [raw(text, member.value.span)[-2:] for member in root.members] == [
        "}}",
        "]}",
        "1]",
        "4}",
    ]


@pytest.mark.parametrize("inner", ['{"a": NaN}', '{"a": 01}'])
def test_what_is_passed_over_is_json_all_the_same(inner: str) -> None:
    with pytest.raises(BrokenTextError):
        Jsonc().parse(f'{{"x": {inner}, "a": 1}}', [("a",)])
