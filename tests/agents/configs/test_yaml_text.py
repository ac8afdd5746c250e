"""YAML read into places."""

import pytest
from ruamel.yaml import YAML

from sidecar.agents.configs.nodes import raw
from sidecar.agents.configs.yaml_text import Yaml
from tests.agents.configs.reading import value_of
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
