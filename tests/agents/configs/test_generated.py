"""Generated configs, however oddly they are written: wrapped, told otherwise, brought back."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.agents.configs.document import read_servers
from sidecar.agents.configs.wrapping import unwrap
from tests.agents.configs.samples import plan, wrapped

_WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
# What YAML and TOML, too, may hold as it is.
_PRINTABLE = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=6)


def _is_name(text: str) -> bool:
    """Whether a server may be called so: not nothing, and no variable of any client."""
    return bool(text.strip()) and not {"$", "{"} & set(text)


_NAMES = st.lists(_PRINTABLE.filter(_is_name), min_size=1, max_size=3, unique=True)
_COMMANDS = st.sampled_from(
    ["npx", "/opt/x y/z", "uvx", "ünï", "a\\b", 'q"q', "it's", "a: b", "#c"]
)
_GAPS = st.sampled_from(["", " ", "  ", "\n", "\n\t", "\r\n  ", "/* c */", " // c\n "])


def check(path: str, text: str, *, mode: str = "passthrough") -> None:
    """Wrap, tell otherwise, and bring back; nothing may be skipped or differ."""
    before = read_servers(path, text.encode())

    once = wrapped(before)
    again = wrapped(read_servers(path, once.data))
    otherwise = wrapped(read_servers(path, once.data), plan(mode, None))

    assert again.data == once.data
    assert unwrap(read_servers(path, otherwise.data)).data == before.data
    assert [outcome.reason for outcome in once.outcomes if outcome.state != "wrapped"] == []


@st.composite
def jsonc(draw: st.DrawFn) -> str:
    """One to three entries, written as oddly as JSON with comments lets it."""

    def gap() -> str:
        return draw(_GAPS)

    def entry() -> str:
        members = [f'"command"{gap()}:{gap()}{json.dumps(draw(_COMMANDS))}']
        if draw(st.booleans()):
            words = [json.dumps(word) for word in draw(st.lists(_WORDS, max_size=3))]
            end = draw(st.sampled_from(["", ","])) if words else ""
            inside = f"{gap()},{gap()}".join(words) + end
            members.append(f'"args":{gap()}[{gap()}{inside}{gap()}]')
        if draw(st.booleans()):
            members.insert(draw(st.integers(0, len(members))), f'"x":{gap()}{{"y": [1.50]}}')
        return "{" + gap() + f"{gap()},{gap()}".join(members) + gap() + "}"

    names = draw(st.lists(_WORDS.filter(_is_name), min_size=1, max_size=3, unique=True))
    servers = f"{gap()},{gap()}".join(f"{json.dumps(name)}:{gap()}{entry()}" for name in names)
    return f'{gap()}{{{gap()}"mcpServers": {{{gap()}{servers}{gap()}}}{gap()}}}{gap()}'


@st.composite
def toml(draw: st.DrawFn) -> str:
    """One to three tables, dotted names and inline tables, with comments and odd spaces."""

    def space() -> str:
        return draw(st.sampled_from(["", " ", "\t"]))

    def text(value: str) -> str:
        if "'" in value or draw(st.booleans()):
            return json.dumps(value, ensure_ascii=False)
        return f"'{value}'"

    def words() -> str:
        gaps = st.sampled_from(["", " ", "\n  ", " # c\n"])
        items = [text(word) for word in draw(st.lists(_PRINTABLE, max_size=3))]
        return (
            "[" + draw(gaps) + "".join(f"{item}{draw(gaps)},{draw(gaps)}" for item in items) + "]"
        )

    lines = ["title = 'x' # a title"]
    for name in draw(_NAMES):
        key, kind = json.dumps(name, ensure_ascii=False), draw(st.sampled_from(["table", "dotted"]))
        lead = f"mcp_servers.{key}." if kind == "dotted" else ""
        members = [f"{lead}command{space()}={space()}{text(draw(_COMMANDS))}"]
        if draw(st.booleans()):
            members.append(f"{lead}args{space()}={space()}{words()}")
        members.insert(draw(st.integers(0, len(members))), f"{lead}enabled = true")
        ends = [space() + member + draw(st.sampled_from(["", " # c"])) for member in members]
        if kind == "dotted":
            lines[1:1] = ends  # before the first table
        else:
            lines += [f"[mcp_servers.{key}]{space()}", *ends]
    return draw(st.sampled_from(["\n", "\r\n"])).join([*lines, ""])


@st.composite
def yaml_text(draw: st.DrawFn, value: str) -> str:
    """A text, in quotes of either kind, or in none."""
    kinds = ["double", "single", "none" if value in ("npx", "uvx", "/opt/x y/z") else "double"]
    kind = draw(st.sampled_from(kinds))
    if kind == "none":
        return value
    single = "'" + value.replace("'", "''") + "'"
    return single if kind == "single" else json.dumps(value, ensure_ascii=False)


@st.composite
def yaml_entry(draw: st.DrawFn) -> list[str]:
    """The lines of an entry; the first one goes after its name."""
    end = st.sampled_from(["", " # c"])
    items = [draw(yaml_text(word)) for word in draw(st.lists(_PRINTABLE, max_size=3))]
    command = f"cmd: {draw(yaml_text(draw(_COMMANDS)))}"
    kind = draw(st.sampled_from(["braces", "block", "brackets", "none"]))
    if kind == "braces":
        return ["{" + f"type: stdio, {command}, args: [{', '.join(items)}]" + "}"]
    lines = ["", f"    {command}{draw(end)}", "    timeout: 300"]
    if kind == "block" and items:
        lead = draw(st.sampled_from(["    - ", "      - ", "    -   "]))
        return [*lines, f"    args:{draw(end)}", *(lead + item for item in items)]
    return [*lines, f"    args: [ {' , '.join(items)} ]{draw(end)}"] if kind != "none" else lines


@st.composite
def yaml(draw: st.DrawFn) -> str:
    """One to three entries, in blocks or braces."""
    lines = ["# Goose", "extensions:"]
    for name in draw(_NAMES):
        first, *rest = draw(yaml_entry())
        lines += [f"  {json.dumps(name, ensure_ascii=False)}: {first}".rstrip(" "), *rest]
    return draw(st.sampled_from(["\n", "\r\n"])).join([*lines, "GOOSE_MODE: auto"])


@settings(max_examples=50, deadline=None)
@given(text=jsonc(), mode=st.sampled_from(["record", "passthrough"]))
def test_w10_w11_json_however_it_is_written_is_brought_back_exactly(
    *, text: str, mode: str
) -> None:
    check("/p/a.json", text, mode=mode)


@settings(max_examples=30, deadline=None)
@given(text=toml())
def test_w10_w11_toml_however_it_is_written_is_brought_back_exactly(*, text: str) -> None:
    check("/p/.codex/config.toml", text)


@settings(max_examples=30, deadline=None)
@given(text=yaml())
def test_w10_w11_yaml_however_it_is_written_is_brought_back_exactly(*, text: str) -> None:
    check("/p/goose/config.yaml", text)
