"""TOML read into places."""

import tomllib
from typing import Any

import pytest

from sidecar.agents.configs.nodes import raw
from sidecar.agents.configs.toml_text import Toml
from tests.agents.configs.reading import value_of
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
