"""The edits of one entry's text, and how others' changes are kept when it is brought back."""

import json

import pytest

from sidecar.agents.configs.document import Document, read
from sidecar.agents.configs.wrapping import unwrap
from tests.agents.configs.samples import CASSETTE, PROGRAM, SERVE, plan, wrapped

TOLD = [
    *("proxy", "--server", "a", "--mode", "record", "--cassette", CASSETTE),
    *("--home", "/p/.sidecar", "--project", "/p", "--wrapped"),
]


def of_text(text: str, client: str = "claude-code", path: str = "/p/a.json") -> Document:
    return read(path, text.encode(), client=client)


def entry_after(entry: object, client: str = "claude-code", section: str = "mcpServers") -> object:
    found = of_text(json.dumps({section: {"a": entry}}), client)
    return json.loads(wrapped(found).text)[section]["a"]


def test_a_started_entry_is_told_to_start_the_sidecar_and_keeps_all_else() -> None:
    entry = {"type": "stdio", "command": "npx", "args": ["-y", "--"], "env": {"A": "${B}"}}

    assert entry_after(entry) == {
        **entry,
        "command": PROGRAM,
        "args": [*TOLD, "args", "npx", "-y", "--"],
    }
    assert entry_after({"command": "npx"}) == {
        "command": PROGRAM,
        "args": [*TOLD, "no-args", "npx"],
    }
    assert entry_after({"type": "local", "command": ["npx", "-y"]}, "opencode", "mcp") == {
        "type": "local",
        "command": [PROGRAM, *TOLD, "args", "npx", "-y"],
    }


def test_the_headers_of_a_url_go_where_no_list_of_processes_shows_them() -> None:
    entry = {
        "type": "sse",
        "url": "https://a.example/${P}",
        "headers": {"Authorization": "Bearer ${T}", "X-B": "b"},
        "timeout": 5,
    }
    how = "url:url,kind:type:sse,headers:headers"
    words = [
        *(*TOLD, how, "--transport", "sse"),
        *("--header-env", "Authorization=MCP_SIDECAR_HEADER_1"),
        *("--header-env", "X-B=MCP_SIDECAR_HEADER_2", "--url", "https://a.example/${P}"),
    ]

    assert entry_after(entry) == {
        "type": "stdio",
        "command": PROGRAM,
        "args": words,
        "env": {"MCP_SIDECAR_HEADER_1": "Bearer ${T}", "MCP_SIDECAR_HEADER_2": "b"},
        "timeout": 5,
    }


@pytest.mark.parametrize(
    ("client", "section", "variable"),
    [
        ("claude-code", "mcpServers", "${TEAM:-none}"),
        ("vscode", "servers", "${input:key}"),
        ("vscode", "servers", "${workspaceFolder}"),
        ("cursor", "mcpServers", "${env:TEAM}"),
        ("gemini", "mcpServers", "$TEAM"),
        ("continue", "mcpServers", "${{ secrets.TEAM }}"),
    ],
)
def test_w13_a_variable_stays_as_it_is_written_where_its_client_replaces_it(
    client: str, section: str, variable: str
) -> None:
    started = {"command": f"/x/{variable}", "args": [variable], "env": {"A": variable}}
    remote = {"url": f"https://a.example/{variable}", "headers": {"B": f"Bearer {variable}"}}

    after = entry_after(started, client, section)
    assert isinstance(after, dict)
    assert after["args"][-2:] == [f"/x/{variable}", variable]
    assert after["env"] == {"A": variable}
    after = entry_after(remote, client, section)
    assert isinstance(after, dict)
    assert after["args"][-1] == f"https://a.example/{variable}"
    assert after["env"] == {"MCP_SIDECAR_HEADER_1": f"Bearer {variable}"}


def test_by_way_of_serve_only_the_url_changes() -> None:
    entry = {"type": "http", "url": "https://a.example/mcp", "headers": {"A": "b"}}
    found = of_text(json.dumps({"mcpServers": {"a": entry}}))

    after = json.loads(wrapped(found, plan(serve=SERVE)).text)

    url = f"{SERVE}/a/mcp#mcp-sidecar=https://a.example/mcp"
    assert after == {"mcpServers": {"a": {**entry, "url": url}}}


@pytest.mark.parametrize("launcher", [(), ("-m", "sidecar")], ids=["script", "module"])
def test_w11_a_sidecar_without_its_script_is_brought_back_as_well(
    launcher: tuple[str, ...],
) -> None:
    text = '{"mcpServers": {"a": {"command": "npx", "args": ["-y"]}, "b": {"command": "c"}}}'
    told = plan()
    told = told.__class__(told.target, ("/usr/bin/python3", *launcher))

    after = wrapped(of_text(text), told)

    assert unwrap(of_text(after.text)).text == text


LONG = """{"mcpServers": {"a": {
  "command": "npx",
  "args": ["-y"]
}}}"""


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        pytest.param(
            LONG, ('"-y"', '"-y", "added"'), LONG.replace('"-y"', '"-y", "added"'), id="more words"
        ),
        pytest.param(LONG, (', "-y"', ""), LONG.replace('"-y"', ""), id="a word taken out"),
        pytest.param(
            LONG,
            ('"command"', '"env": {"X": "1"}, "command"'),
            LONG.replace('"command"', '"env": {"X": "1"}, "command"'),
            id="a member added",
        ),
        pytest.param(LONG, ("/side car/", "/moved/"), LONG, id="our program moved"),
        pytest.param(LONG, ('"a": {', '"b": {'), LONG.replace('"a"', '"b"'), id="renamed"),
        pytest.param(
            '{"mcpServers": {"a": {"command": "npx"}}}',
            ('"npx"]', '"npx", "-y"]'),
            '{"mcpServers": {"a": {"command": "npx", "args": ["-y"]}}}',
            id="words where there were none",
        ),
        pytest.param(
            '{"mcpServers": {"a": {"command": "npx"}}}',
            ('"args": [', '"env": {}, "args": ['),
            '{"mcpServers": {"a": {"command": "npx", "env": {}}}}',
            id="a member between",
        ),
    ],
)
def test_w11_what_others_changed_stays_when_an_entry_is_brought_back(
    before: str, change: tuple[str, str], after: str
) -> None:
    text = wrapped(of_text(before)).text
    assert change[0] in text

    assert unwrap(of_text(text.replace(*change, 1))).text == after


def test_w11_an_entry_that_a_formatter_rewrote_is_brought_back() -> None:
    text = json.dumps(json.loads(wrapped(of_text(LONG)).text), indent=4)

    assert json.loads(unwrap(of_text(text)).text) == json.loads(LONG)
    bare = wrapped(of_text('{"mcpServers": {"a": {"command": "npx", "args": []}}}')).text
    comma = json.dumps(json.loads(bare), indent=4).replace('"npx"\n', '"npx",\n')
    assert json.loads(unwrap(of_text(comma)).text)["mcpServers"]["a"]["args"] == []


@pytest.mark.parametrize(
    ("entry", "change", "reason"),
    [
        pytest.param(
            {"command": "npx", "args": ["-y"]},
            ('"record"', '/* mode */ "record"'),
            "a comment stands among our words in line 1: move it",
            id="a comment",
        ),
        pytest.param(
            {"url": "https://a.example/mcp"},
            ('mcp"]', 'mcp", "more"]'),
            "words were added after its URL: take them out first",
            id="words after a URL",
        ),
        pytest.param(
            {"url": "https://a.example/mcp", "headers": {"A": "b"}},
            ('"MCP_SIDECAR_HEADER_1"', '"NEW": "x", "MCP_SIDECAR_HEADER_1"'),
            "`NEW` was added to its `env`: take it out first",
            id="a variable",
        ),
        pytest.param(
            {"url": "https://a.example/mcp", "headers": {"A": "b"}},
            ('"MCP_SIDECAR_HEADER_1"', '"NEW": "x", "MORE": "y", "MCP_SIDECAR_HEADER_1"'),
            "`NEW`, `MORE` were added to its `env`: take them out first",
            id="two variables",
        ),
        pytest.param(
            {"command": "npx"},
            (', "args"', ', /* why */ "args"'),
            "its `args` cannot be taken out without a comment beside them",
            id="a comment beside",
        ),
    ],
)
def test_w11_what_would_be_lost_is_not_brought_back_but_named(
    entry: object, change: tuple[str, str], reason: str
) -> None:
    before = wrapped(of_text(json.dumps({"mcpServers": {"a": entry}}))).text
    text = before.replace(*change, 1)
    assert text != before

    change_back = unwrap(of_text(text))

    assert [(one.state, one.reason) for one in change_back.outcomes] == [("skipped", reason)]
    assert change_back.text == text


def test_a_command_is_brought_back_as_it_was_spelt() -> None:
    text = '{"mcpServers": {"a": {"command": "\\u006e\\/px", "args": []}}}'

    change = wrapped(of_text(text))

    assert [one.state for one in change.outcomes] == ["wrapped"]
    assert unwrap(of_text(change.text)).text == text
