"""`mcp-sidecar serve`: what its words mean, what it refuses, and its life as a process."""

from __future__ import annotations

import json
import os
import signal
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest

from sidecar.cli.options import Places
from sidecar.cli.serve import command, options_of
from sidecar.errors import ConfigError, SidecarError, UsageError
from sidecar.proxy.http.endpoint import Limits, ServeOptions, ServerEntry
from sidecar.store import cassettes
from tests import paths
from tests.servers.listening import Listening

RUN = "local/01JDPR0XY00000000000000000"
SERVERS = {
    "near": {"command": "srv", "args": ["-x"], "env": {"A": "b"}, "cwd": "/w"},
    "far": {"type": "http", "url": "https://h.test/mcp", "headers": {"X-Key": "${KEY}"}},
    "old": {"type": "sse", "url": "https://h.test/${PART:-sse}"},
}
RAW_SERVER = str(paths.ROOT / "tests" / "servers" / "raw_server.py")
TAPE = (
    f'{{"cassette":1,"run":"{RUN}","servers":{{"silent":{{"protocol":""}}}},"complete":true}}\n'
    '{"server":"up","request":{"method":"tools/call","params":{"name":"a","arguments":{}}},'
    '"response":{"result":{"content":[]}}}\n'
)


def config(folder: Path, servers: object) -> str:
    path = folder / "servers.json"
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return str(path)


def parsed(folder: Path, *words: str) -> ServeOptions:
    context = command.make_context("serve", list(words))
    return options_of(context.params, Places(str(folder), str(folder / "home")))  # type: ignore[arg-type]


# --- what the words mean


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    options = parsed(tmp_path, "--config", config(tmp_path, {"up": {"command": "srv"}}))

    assert options.run.startswith("local/")
    assert options == ServeOptions(
        servers=(ServerEntry("up", ("srv",)),),
        mode="record",
        journal=str(tmp_path / "home" / "journal.db"),
        run=options.run,
        port=8765,
    )


def test_all_that_can_be_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "k")
    monkeypatch.setenv("THE_TOKEN", "secret")
    words = [
        "--config", config(tmp_path, SERVERS), "--mode", "auto", "--cassette", "tape",
        "--on-miss", "live", "--overwrite", "--host", "0.0.0.0", "--port", "0", "--run", RUN,
        "--allow-host", "sidecar", "--allow-host", "other", "--allow-origin", "https://a.test",
        "--token-env", "THE_TOKEN", "--agent-id", "core:a", "--max-body-bytes", "1",
        "--max-message-bytes", "2", "--header-seconds", "3", "--upload-seconds", "4",
        "--connect-seconds", "5", "--answer-seconds", "0", "--drain-seconds", "0.5",
        "--max-connections", "6", "--max-sessions", "7",
    ]  # fmt: skip

    assert parsed(tmp_path, *words) == ServeOptions(
        servers=(
            ServerEntry("near", ("srv", "-x"), (("A", "b"),), cwd="/w"),
            ServerEntry(
                "far", url="https://h.test/mcp", headers=(("X-Key", "k"),), transport="http"
            ),
            ServerEntry("old", url="https://h.test/sse", transport="sse"),
        ),
        mode="auto",
        journal=str(tmp_path / "home" / "journal.db"),
        run=RUN,
        cassette=str(tmp_path / "cassettes" / "tape.jsonl"),
        agent_id="core:a",
        on_miss="live",
        overwrite=True,
        host="0.0.0.0",
        port=0,
        token="secret",
        allowed_hosts=("sidecar", "other"),
        allowed_origins=("https://a.test",),
        limits=Limits(1, 2, 3, 4, 5, 0, 0.5, 2.0, 6, 7),
    )


def test_the_run_and_the_token_may_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_SIDECAR_RUN", RUN)
    monkeypatch.setenv("MCP_SIDECAR_TOKEN", "secret")
    options = parsed(tmp_path, "--config", config(tmp_path, {"up": {"command": "srv"}}))

    assert (options.run, options.token) == (RUN, "secret")


def test_a_replay_takes_its_servers_from_the_cassette_and_needs_no_variables(
    tmp_path: Path,
) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.write_text(TAPE, encoding="utf-8")
    words = ("--mode", "replay", "--cassette", str(tape))

    assert parsed(tmp_path, *words).servers == (ServerEntry("silent"), ServerEntry("up"))
    named = parsed(tmp_path, *words, "--config", config(tmp_path, SERVERS)).servers
    assert [server.name for server in named] == ["near", "far", "old"]


# --- what it refuses


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "serve needs --config"),
        (("--mode", "replay"), "mode replay needs --cassette"),
        (("--mode", "auto", "--config", "{config}"), "mode auto needs --cassette"),
        (("--mode", "replay", "--cassette", "{tape}", "--on-miss", "live"), "serve needs --config"),
        (("--config", "{config}", "--run", "x"), "is no run id"),
        (("--config", "{config}", "--token-env", "NOT_SET"), "'NOT_SET', which is not set"),
        (("--config", "{config}", "--token-env", "ODD"), "the token in ODD cannot stand"),
        (("--config", "{config}", "--token-env", "EMPTY"), "the token in EMPTY cannot stand"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], problem: str
) -> None:
    monkeypatch.setenv("ODD", "a\nb")
    monkeypatch.setenv("EMPTY", "")
    tape = tmp_path / "tape.jsonl"
    tape.write_text(TAPE, encoding="utf-8")
    there = {"{config}": config(tmp_path, {"up": {"command": "srv"}}), "{tape}": str(tape)}

    with pytest.raises(UsageError, match=problem) as caught:
        parsed(tmp_path, *[there.get(word, word) for word in words])
    assert caught.value.hint


def test_a_variable_that_is_missing_is_told_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs the variable KEY"):
        parsed(tmp_path, "--config", config(tmp_path, SERVERS))


def test_a_cassette_that_names_no_server_is_told(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.write_text('{"cassette":1,"servers":{},"complete":true}\n', encoding="utf-8")

    with pytest.raises(SidecarError, match="names no server"):
        parsed(tmp_path, "--mode", "replay", "--cassette", str(tape))


# --- its life


def serving(
    folder: Path, *words: str, env: Mapping[str, str] | None = None, servers: int = 1
) -> Listening:
    given = [paths.MCP_SIDECAR, "serve", "--project", str(folder), "--port", "0", *words]
    environ = {k: v for k, v in os.environ.items() if not k.startswith("MCP_SIDECAR_")}
    return Listening(given, cwd=folder, env={**environ, **(env or {})}, servers=servers)


def ask(url: str, body: object, **headers: str) -> tuple[int, bytes]:
    request = urllib.request.Request(  # our own
        url,
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        | {name.replace("_", "-"): value for name, value in headers.items()},
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as response:  # our own
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def call(tool: str, **arguments: object) -> dict[str, object]:
    params = {
        "name": tool,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "me", "version": "1"},
        },
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


MODERN = {
    "MCP_Protocol_Version": "2026-07-28",
    "Mcp_Method": "tools/call",
    "Mcp_Name": "echo",
}


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order_and_the_cassette_is_saved(
    tmp_path: Path, sign: signal.Signals
) -> None:
    entry = {"command": paths.PYTHON, "args": [RAW_SERVER]}
    words = ("--config", config(tmp_path, {"a b": entry}), "--cassette", "tape", "--run", RUN)

    with serving(tmp_path, *words) as sidecar:
        assert sidecar.url.endswith("/a%20b/mcp")
        ask(sidecar.url, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {
                "name": "me", "version": "1"}}})  # fmt: skip
        sidecar.process.send_signal(sign)
        assert sidecar.end() == 0

    cassette = cassettes.load(str(tmp_path / "cassettes" / "tape.jsonl")).cassette
    assert (cassette.run, cassette.complete) == (RUN, True)
    assert [item.method for item in cassette.interactions] == ["initialize"]


def test_a_replay_answers_what_is_recorded_and_ends_with_1_after_a_miss(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.write_text(TAPE, encoding="utf-8")
    words = ("--mode", "replay", "--cassette", str(tape))

    with serving(tmp_path, *words, servers=2) as sidecar:
        status, body = ask(sidecar.urls["up"], call("a"), **{**MODERN, "Mcp_Name": "a"})
        assert (status, b'"content":[]' in body) == (200, True)
        assert sidecar.end() == 0
    with serving(tmp_path, *words, servers=2) as sidecar:
        status, body = ask(sidecar.urls["up"], call("b"), **{**MODERN, "Mcp_Name": "b"})
        assert (status, b'"isError":true' in body) == (200, True)
        assert sidecar.end() == 1
    assert tape.read_text(encoding="utf-8") == TAPE


def test_h20_it_asks_for_its_token(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.write_text(TAPE, encoding="utf-8")
    words = ("--mode", "replay", "--cassette", str(tape), "--host", "0.0.0.0")
    headers = {**MODERN, "Mcp_Name": "a"}

    with pytest.raises(TimeoutError, match="there is no token"), serving(tmp_path, *words):
        pass
    token = {"MCP_SIDECAR_TOKEN": "secret-of-ours"}
    with serving(tmp_path, *words, servers=2, env=token) as sidecar:
        url = sidecar.urls["up"]
        assert url.startswith("http://127.0.0.1:")
        assert ask(url, call("a"), **headers)[0] == 401
        assert ask(url, call("a"), **headers, X_MCP_Sidecar_Token="secret-of-ours")[0] == 200
        assert sidecar.end() == 0
    kept = b"".join(file.read_bytes() for file in (tmp_path / ".sidecar").iterdir())
    assert b"secret-of-ours" not in kept
