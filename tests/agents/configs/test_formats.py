"""What holds of each format that configs are written in; what is one's own has its own file."""

from typing import TypeAlias

import pytest

from sidecar.agents.configs.jsonc import Jsonc
from sidecar.agents.configs.nodes import BrokenTextError, Format, Node
from sidecar.agents.configs.toml_text import Toml
from sidecar.agents.configs.yaml_text import Yaml

Broken: TypeAlias = tuple[str, str, str, tuple[int, int]]
"""What is broken, the text, the problem as it begins, and line and column."""
Added: TypeAlias = tuple[str, str, str]
"""What a map is like, the text with one member, and the text with another after it."""

NAME_OR_END = 'a name in double quotes, or "}", is expected'
BROKEN: dict[Format, list[Broken]] = {
    Jsonc(): [
        ("empty", "", "the file is empty", (1, 1)),
        ("a comment", " // only a comment", "the file is empty", (1, 19)),
        ("no colon", '{"a":1,\n "b"}', '":" is expected', (2, 5)),
        ("no comma", '{"a":1 "b":2}', '"," or "}" is expected', (1, 8)),
        ("W02 two commas", "[1,,2]", "a value is expected", (1, 4)),
        ("one comma", "{,}", NAME_OR_END, (1, 2)),
        ("no quotes", "{a: 1}", NAME_OR_END, (1, 2)),
        ("cut", '{"a":', "a value is expected", (1, 6)),
        ("an open string", '{"a": "b', "unterminated string", (1, 7)),
        ("a control character", '["a\x01"]', "invalid control character", (1, 4)),
        ("an unknown escape", '["\\q"]', "invalid \\escape", (1, 3)),
        ("a leading zero", "[01]", "a value is expected", (1, 2)),
        ("NaN", "[NaN]", "a value is expected", (1, 2)),
        ("two values", "{}\n{}", "something stands after the end", (2, 1)),
        ("an open comment", "/* open", "a value is expected", (1, 1)),
        ("too deep", "[" * 201, "it nests deeper than 200", (1, 201)),
    ],
    Toml(): [
        ("a table twice", "[a]\n[a]\n", "cannot declare", (2, 3)),
        ("an open string", 'a = "b\n', "illegal character", (1, 7)),
        ("at the end", "a = ", "invalid value", (0, 0)),
        ("too deep", "a = " + "[" * 5000, "it cannot be read", (0, 0)),
    ],
    Yaml(): [
        ("empty", "", "the file is empty", (1, 1)),
        ("a comment", "# only a comment\n", "the file is empty", (1, 1)),
        ("an open list", "a: [1\n", "expected ',' or ']'", (2, 1)),
        (
            "two documents",
            "a: b\n---\nc: d\n",
            "expected a single document in the stream but found another",
            (2, 1),
        ),
        ("a tab", "a:\n\t- b\n", "found character", (2, 1)),
        ("a control character", "a: \x01", "unacceptable character", (0, 0)),
        ("too deep", "[" * 500, "it nests deeper", (0, 0)),
    ],
}
ADDED: dict[Format, list[Added]] = {
    Jsonc(): [
        ("a line of its own", '{"m": {\n\t"a": 1\n}}', '{"m": {\n\t"a": 1,\n\t"b": 2\n}}'),
        ("W01 line ends stay", '{"m": {\r\n  "a": 1}}', '{"m": {\r\n  "a": 1,\r\n  "b": 2}}'),
        ("on one line", '{"m": { "a": 1 }}', '{"m": { "a": 1, "b": 2 }}'),
        ("without spaces", '{"m":{"a":1}}', '{"m":{"a":1,"b": 2}}'),
    ],
    Toml(): [
        ("a table", "[m]\n  a = 1 # c\n", "[m]\n  a = 1\n  b = 2 # c\n"),
        ("a dotted name", "m.a = 1\r\n", "m.a = 1\r\nm.b = 2\r\n"),
        ("an inline table", "m = {a = 1}", "m = {a = 1, b = 2}"),
    ],
    Yaml(): [
        ("a block", "m:\n  - a: 1 # c\n", "m:\n  - a: 1\n    b: 2 # c\n"),
        ("W01 line ends stay", "m:\r\n- a: 1", "m:\r\n- a: 1\r\n  b: 2"),
        ("within braces", "m: [{a: 1}]", "m: [{a: 1, b: 2}]"),
    ],
}


def name_of(form: Format) -> str:
    return type(form).__name__


@pytest.mark.parametrize(
    ("form", "text", "problem", "place"),
    [
        pytest.param(form, *case, id=f"{name_of(form)}: {what}")
        for form, cases in BROKEN.items()
        for what, *case in cases
    ],
)
def test_w02_what_is_broken_is_named_with_its_place(
    form: Format, text: str, problem: str, place: tuple[int, int]
) -> None:
    with pytest.raises(BrokenTextError) as caught:
        form.parse(text)

    assert caught.value.problem.startswith(problem)
    assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize(
    ("form", "text", "added"),
    [
        pytest.param(form, *case, id=f"{name_of(form)}: {what}")
        for form, cases in ADDED.items()
        for what, *case in cases
    ],
)
def test_a_member_is_added_as_the_others_are_written(form: Format, text: str, added: str) -> None:
    found = form.parse(text).get("m")
    assert found is not None
    holder: Node = found.items[0] if found.kind == "list" else found
    (member,) = holder.members
    at = member.value.span.end

    written = form.member_after(text, holder, member, form.name_and_value("b", "2"))

    assert text[:at] + written + text[at:] == added


@pytest.mark.parametrize(
    ("form", "old", "new", "written"),
    [
        pytest.param(Jsonc(), "'old'", "ü", '"ü"', id="Jsonc: has one kind of quotes"),
        pytest.param(Toml(), "'x'", "/a b", "'/a b'", id="Toml: single ones"),
        pytest.param(Toml(), "'x'", "it's", '"it\'s"', id="Toml: where they do not do"),
        pytest.param(Toml(), '"x"', "y", '"y"', id="Toml: double ones"),
        pytest.param(Yaml(), "npx", "/opt/side car/x", "/opt/side car/x", id="Yaml: none"),
        pytest.param(Yaml(), "npx", "/odd: #x", '"/odd: #x"', id="Yaml: where it needs some"),
        pytest.param(Yaml(), "npx", "true", '"true"', id="Yaml: what would be no text"),
        pytest.param(Yaml(), "'x'", "it's", "'it''s'", id="Yaml: single ones"),
        pytest.param(Yaml(), '"x"', "y", '"y"', id="Yaml: double ones"),
    ],
)
def test_a_text_keeps_its_quotes_where_it_can(
    form: Format, old: str, new: str, written: str
) -> None:
    assert form.alike(old, new) == written


@pytest.mark.parametrize(
    ("form", "items", "written"),
    [
        pytest.param(Jsonc(), ['"x"', "1"], '["x", 1]', id="Jsonc"),
        pytest.param(Toml(), [Toml().literal("a\x7f")], '["a\\u007f"]', id="Toml"),
        pytest.param(Yaml(), [Yaml().literal("a"), "b"], '["a", b]', id="Yaml"),
    ],
)
def test_a_list_is_written_on_one_line(form: Format, items: list[str], written: str) -> None:
    assert form.flow_list(items) == written
