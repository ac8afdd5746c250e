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


def test_a_server_that_its_client_has_turned_off_is_left_out(tmp_path: Path) -> None:
    codex = tmp_path / "config.toml"
    servers = '[mcp_servers.a]\ncommand = "x"\nenabled = false\n[mcp_servers.b]\ncommand = "y"\n'
    codex.write_text(servers, encoding="utf-8")
    windsurf = tmp_path / "mcp_config.json"
    windsurf.write_text(
        '{"mcpServers": {"a": {"serverUrl": "https://a.example/mcp", "disabled": true},'
        ' "b": {"command": "y", "disabled": false}}}',
        encoding="utf-8",
    )

    assert [one.name for one in told(codex)] == ["b"]
    assert [one.name for one in told(windsurf)] == ["b"]
    codex.write_text(f"{servers}enabled = false\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="the servers 'a', 'b' are turned off in the config"):
        told(codex)


def test_what_goose_takes_as_it_is_stays_as_it_is(tmp_path: Path) -> None:
    goose = tmp_path / "config.yaml"
    goose.write_text(
        "extensions:\n"
        "  a: {cmd: srv, args: ['$PATH'], envs: {A: '$B'}}\n"
        "  b: {uri: 'https://b.example/mcp', headers: {X: '$KEY'}}\n",
        encoding="utf-8",
    )

    started, remote = (one.entry for one in told(goose))

    assert started == {"command": "srv", "args": ["$PATH"], "env": {"A": "$B"}}
    assert remote["headers"] == {"X": "${KEY}"}


def test_numbers_and_switches_of_an_environment_are_words_and_the_rest_is_named(
    tmp_path: Path,
) -> None:
    goose = tmp_path / "config.yaml"
    goose.write_text(
        "extensions:\n  a:\n    cmd: srv\n    envs: {PORT: 8080, LOUD: True, NONE: null}\n",
        encoding="utf-8",
    )

    assert told(goose)[0].entry["env"] == {"PORT": "8080", "LOUD": "True", "NONE": None}
    goose.write_text("extensions:\n  a:\n    cmd: srv\n    envs: {A: [1]}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="'a' cannot be read: its `A` is no plain text") as caught:
        told(goose)
    assert caught.value.place == f"{goose}:3"


def test_a_variable_of_codex_that_is_no_name_makes_no_header(tmp_path: Path) -> None:
    codex = tmp_path / "config.toml"
    codex.write_text(
        '[mcp_servers.a]\nurl = "https://a.example/mcp"\nbearer_token_env_var = 1\n'
        "env_http_headers = {X = 2}\n",
        encoding="utf-8",
    )

    assert "headers" not in told(codex)[0].entry


def test_a_client_has_built_in_what_names_none_of_its_own_members(tmp_path: Path) -> None:
    goose = tmp_path / "config.yaml"
    goose.write_text(
        "extensions:\n  a: {type: builtin, command: x}\n  b: {cmd: srv}\n", encoding="utf-8"
    )

    assert [one.name for one in told(goose)] == ["b"]
