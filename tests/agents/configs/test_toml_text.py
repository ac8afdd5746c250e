"""TOML read into places."""

import tomllib
from typing import Any

import pytest

from sidecar.agents.configs.nodes import BrokenTextError, Node, raw
from sidecar.agents.configs.toml_text import Toml
from tests.agents.configs.samples import BY_PATH

ODD = """a.b.c = 'q'  # ]]
"q.k" = { x = [ 1, # one
  "]", ], y.z = true } # }
text = \"\"\"
line "quoted" \\
  on\"\"\"\"
raw = '''it's'''
when = 2026-11-30T10:00:00Z
[t."u v".w]
n = -1_000.5
[[list]]
command = "no"
[[list]]
[t.x]
"""


def value_of(node: Node) -> Any:
    """The value of a tree whose other values are texts; tables of arrays are left out."""
    if node.kind == "map":
        return {member.name: value_of(member.value) for member in node.members}
    if node.kind == "list":
        return [value_of(item) for item in node.items]
    return node.value


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items() if name != "list"}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value if isinstance(value, str | bool) else "other"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(ODD, id="odd"),
        pytest.param(ODD.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(BY_PATH["/home/u/.codex/config.toml"].text, id="Codex"),
        pytest.param("", id="empty"),
    ],
)
def test_a_text_is_read_as_tomllib_reads_it(text: str) -> None:
    def known(value: Any, wanted: Any) -> bool:
        if wanted == "other":
            return isinstance(value, str)
        if isinstance(wanted, dict):
            return set(value) == set(wanted) and all(known(value[k], wanted[k]) for k in wanted)
        if isinstance(wanted, list):
            return len(value) == len(wanted) and all(map(known, value, wanted))
        return bool(value == wanted)

    assert known(value_of(Toml().parse(text)), plain(tomllib.loads(text)))


def test_every_place_is_where_the_text_stands() -> None:
    text = "[s.'a b'] # x\n  k.command = \"c\\u0064\"\n"
    root = Toml().parse(text)

    entry = root.members[0].value.member("a b")
    assert entry is not None
    assert (raw(text, entry.key), entry.lead) == ("'a b'", "s.")
    command = entry.value.members[0].value.members[0]
    assert (command.name, command.lead, command.value.text) == ("command", "k.", "cd")
    assert raw(text, command.value.span) == '"c\\u0064"'


def test_a_name_that_is_written_in_several_places_is_known_as_such() -> None:
    once, twice = "[h]\na = 1\nb = 2\n", "h.a = 1\nh.b = 2\n"

    assert [Toml().parse(text).members[0].parts for text in (once, twice)] == [1, 2]


@pytest.mark.parametrize(
    ("text", "problem", "line", "column"),
    [
        pytest.param("[a]\n[a]\n", "cannot declare", 2, 3, id="a table twice"),
        pytest.param('a = "b\n', "illegal character", 1, 7, id="an open string"),
        pytest.param("a = ", "invalid value", 0, 0, id="at the end"),
        pytest.param("a = " + "[" * 5000, "it cannot be read", 0, 0, id="too deep"),
    ],
)
def test_what_is_broken_is_named_with_its_place(
    text: str, problem: str, line: int, column: int
) -> None:
    with pytest.raises(BrokenTextError) as caught:
        Toml().parse(text)

    assert caught.value.problem.startswith(problem)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "path", "added"),
    [
        pytest.param("[a]\n  x = 1 # c\n", "a", "[a]\n  x = 1\n  b = 2 # c\n", id="a table"),
        pytest.param("a.x = 1\r\n", "a", "a.x = 1\r\na.b = 2\r\n", id="a dotted name"),
        pytest.param("a = {x = 1}", "a", "a = {x = 1, b = 2}", id="an inline table"),
    ],
)
def test_a_member_is_added_as_the_others_are_written(text: str, path: str, added: str) -> None:
    form = Toml()
    holder = form.parse(text).get(path)
    assert holder is not None
    at = holder.members[0].value.span.end

    written = form.member_after(text, holder, holder.members[0], form.name_and_value("b", "2"))

    assert text[:at] + written + text[at:] == added


def test_a_text_keeps_its_quotes_where_it_can() -> None:
    form = Toml()

    assert form.alike("'x'", "/a b") == "'/a b'"
    assert form.alike("'x'", "it's") == '"it\'s"'
    assert form.alike('"x"', "y") == '"y"'
    assert form.flow_list([form.literal("a\x7f")]) == '["a\\u007f"]'
