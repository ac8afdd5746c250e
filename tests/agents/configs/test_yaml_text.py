"""YAML read into places."""

from typing import Any

import pytest
from ruamel.yaml import YAML

from sidecar.agents.configs.nodes import BrokenTextError, Node, raw
from sidecar.agents.configs.yaml_text import Yaml
from tests.agents.configs.samples import BY_PATH

ODD = """a: 'it''s'  # c
"b c": [x, "y", {z: null}]
? d
: - e
  -   - f
g: no
h:
n: ~
yes: True
"""


def value_of(node: Node) -> Any:
    if node.kind == "map":
        return {member.name: value_of(member.value) for member in node.members}
    if node.kind == "list":
        return [value_of(item) for item in node.items]
    return node.value


@pytest.mark.parametrize("text", [ODD, ODD.replace("\n", "\r\n")], ids=["LF", "CRLF"])
def test_a_text_is_read_as_yaml_1_2(text: str) -> None:
    assert value_of(Yaml().parse(text)) == {
        "a": "it's",
        "b c": ["x", "y", {"z": None}],
        "d": ["e", ["f"]],
        "g": "no",
        "h": None,
        "n": None,
        "yes": True,
    }


def test_every_place_is_where_the_text_stands() -> None:
    text = "x:\r\n- name: 'a'  # c\r\n  args:\r\n  - -y # d\r\n"
    entry = Yaml().parse(text).members[0].value.items[0]

    assert [raw(text, member.key) for member in entry.members] == ["name", "args"]
    assert raw(text, entry.members[0].value.span) == "'a'"
    assert (entry.style, entry.members[1].value.style) == ("block", "block")
    assert raw(text, entry.members[1].value.items[0].span) == "-y"


def test_what_others_refer_to_and_what_has_no_place_for_a_text_is_shared() -> None:
    text = "a: &x [1]\nb: *x\nc: |\n  text\nd: plain\n"
    root = Yaml().parse(text)

    assert [member.value.shared for member in root.members] == [True, True, True, False]


def test_the_config_of_goose_is_read_as_ruamel_reads_it() -> None:
    text = BY_PATH["/home/u/.config/goose/config.yaml"].text
    wanted = YAML(typ="safe", pure=True).load(text)["extensions"]["git"]

    extensions = Yaml().parse(text).get("extensions")
    assert extensions is not None
    git = value_of(extensions.get("git"))  # type: ignore[arg-type]
    assert {**git, "timeout": int(git["timeout"])} == wanted


@pytest.mark.parametrize(
    ("text", "problem", "line", "column"),
    [
        pytest.param("", "the file is empty", 1, 1, id="empty"),
        pytest.param("# only a comment\n", "the file is empty", 1, 1, id="a comment"),
        pytest.param("a: [1\n", "expected ',' or ']'", 2, 1, id="an open list"),
        pytest.param("a: b\n---\nc: d\n", "but found another document", 2, 1, id="two documents"),
        pytest.param("a:\n\t- b\n", "found character", 2, 1, id="a tab"),
        pytest.param("a: \x01", "unacceptable character", 0, 0, id="a control character"),
        pytest.param("[" * 500, "it nests deeper", 0, 0, id="too deep"),
    ],
)
def test_what_is_broken_is_named_with_its_place(
    text: str, problem: str, line: int, column: int
) -> None:
    with pytest.raises(BrokenTextError) as caught:
        Yaml().parse(text)

    assert caught.value.problem.startswith(problem)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "added"),
    [
        pytest.param("s:\n  - a: 1 # c\n", "s:\n  - a: 1\n    b: 2 # c\n", id="a block"),
        pytest.param("s:\r\n- a: 1", "s:\r\n- a: 1\r\n  b: 2", id="W01 line ends stay"),
        pytest.param("s: [{a: 1}]", "s: [{a: 1, b: 2}]", id="within braces"),
    ],
)
def test_a_member_is_added_as_the_others_are_written(text: str, added: str) -> None:
    form = Yaml()
    holder = form.parse(text).members[0].value.items[0]
    at = holder.members[0].value.span.end

    written = form.member_after(text, holder, holder.members[0], form.name_and_value("b", "2"))

    assert text[:at] + written + text[at:] == added


def test_a_text_keeps_its_quotes_or_has_none_where_it_can() -> None:
    form = Yaml()

    assert form.alike("npx", "/opt/side car/x") == "/opt/side car/x"
    assert form.alike("npx", "/odd: #x") == '"/odd: #x"'
    assert form.alike("npx", "true") == '"true"'
    assert form.alike("'x'", "it's") == "'it''s'"
    assert form.alike('"x"', "y") == '"y"'
    assert form.flow_list([form.literal("a"), "b"]) == '["a", b]'
