"""Servers of any client's config, told as Claude's programs write them."""

from pathlib import Path

import pytest

from sidecar.agents.configs.document import read_servers
from sidecar.agents.configs.plain_entries import PlainEntry, plain_entries
from sidecar.errors import ConfigError


def told(path: Path) -> list[PlainEntry]:
    return plain_entries(read_servers(str(path), path.read_bytes()))


def test_an_entry_is_told_with_its_line_and_what_the_client_fills_in(tmp_path: Path) -> None:
    path = tmp_path / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text(
        '{"mcpServers": {"a": {\n"command": "srv", "args": ["$ROOT", "a$"], "cwd": "/w",'
        ' "env": {"A": "${B}"}},\n"b": {"httpUrl": "https://b.example/mcp"},'
        ' "c": {"url": "https://c.example/sse"}}}',
        encoding="utf-8",
    )

    assert told(path) == [
        PlainEntry(
            "a",
            {"command": "srv", "args": ["${ROOT}", "a$"], "env": {"A": "${B}"}, "cwd": "/w"},
            2,
        ),
        PlainEntry("b", {"url": "https://b.example/mcp", "type": "http"}, 3),
        PlainEntry("c", {"url": "https://c.example/sse", "type": "sse"}, 3),
    ]


def test_e10_headers_and_variables_of_other_clients_are_written_as_ours(tmp_path: Path) -> None:
    codex = tmp_path / "config.toml"
    codex.write_text(
        '[mcp_servers.a]\nurl = "https://a.example/mcp"\nbearer_token_env_var = "KEY"\n'
        'env_http_headers = {X = "OTHER"}\n',
        encoding="utf-8",
    )
    opencode = tmp_path / "opencode.json"
    opencode.write_text(
        '{"mcp": {"a": {"type": "remote", "url": "https://{env:HOST}/mcp"}}}', encoding="utf-8"
    )

    (entry,) = told(codex)

    assert entry.entry["headers"] == {"X": "${OTHER}", "Authorization": "Bearer ${KEY}"}
    assert told(opencode)[0].entry["url"] == "https://${HOST}/mcp"


def test_servers_of_a_config_that_cannot_be_told_are_named(tmp_path: Path) -> None:
    anchored = tmp_path / "config.yaml"
    anchored.write_text("extensions:\n  a: &x {cmd: srv}\n", encoding="utf-8")
    none = tmp_path / "none.yaml"
    none.write_text("extensions:\n  a: {type: builtin}\n", encoding="utf-8")
    both = tmp_path / ".vscode" / "mcp.json"
    both.parent.mkdir()
    entry = '{"a": {"command": "x"}}'
    both.write_text(f'{{"servers": {entry}, "mcp": {{"servers": {entry}}}}}', encoding="utf-8")

    with pytest.raises(ConfigError, match="the server 'a' cannot be read: it has an anchor"):
        told(anchored)
    with pytest.raises(ConfigError, match="names no server that can be started"):
        told(none)
    with pytest.raises(ConfigError, match="has the server 'a' in two sections"):
        told(both)
