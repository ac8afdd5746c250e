"""`mcp-sidecar serve`: what its words mean, what it refuses, and its life as a process."""

from __future__ import annotations

import json
import os
import signal
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from aiohttp import web

from sidecar.cli.options import Places
from sidecar.cli.serve import command, options_of
from sidecar.errors import CassetteError, ConfigError, SidecarError, UsageError
from sidecar.proxy.http import server
from sidecar.proxy.http.endpoint import Limits, ServedServer, ServeOptions
from sidecar.store import cassettes
from sidecar.store.settings import Rules
from tests import paths
from tests.proxy.http.odd_server import OddServer, answered
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
    given = command.make_context("serve", list(words)).params
    rules = Rules(given.pop("mask_key"), given.pop("mask_pattern"), given.pop("mask_env"))
    where = Places(str(folder), str(folder / "home"))
    return options_of({**given, "redaction": rules}, where)  # type: ignore[typeddict-item]


# --- what the words mean


def test_a_working_directory_is_meant_from_where_the_config_is(tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    path = config(tmp_path / ".cursor", {"up": {"command": "srv", "cwd": "servers/up"}})

    (server,) = parsed(tmp_path, "--config", path).servers
    assert server.cwd == str(tmp_path / "servers" / "up")


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    options = parsed(tmp_path, "--config", config(tmp_path, {"up": {"command": "srv"}}))

    assert options.run.startswith("local/")
    assert options == ServeOptions(
        servers=(ServedServer("up", ("srv",)),),
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
        "--max-connections", "6", "--max-sessions", "7", "--idle-seconds", "8",
    ]  # fmt: skip

    assert parsed(tmp_path, *words) == ServeOptions(
        servers=(
            ServedServer("near", ("srv", "-x"), (("A", "b"),), cwd="/w"),
            ServedServer(
                "far", url="https://h.test/mcp", headers=(("X-Key", "k"),), transport="http"
            ),
            ServedServer("old", url="https://h.test/sse", transport="sse"),
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
        limits=Limits(1, 2, 3, 4, 5, 0, 0.5, 2.0, 6, 7, 8),
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

    assert parsed(tmp_path, *words).servers == (ServedServer("silent"), ServedServer("up"))
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
        (("--config", "{config}", "--allow-host", "http://x/"), "--allow-host http://x/: that is"),
        (("--config", "{config}", "--allow-origin", "app.local"), "--allow-origin app.local: that"),
        (("--config", "{dots}"), "under the name '..'"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], problem: str
) -> None:
    monkeypatch.setenv("ODD", "a\nb")
    monkeypatch.setenv("EMPTY", "")
    tape = tmp_path / "tape.jsonl"
    tape.write_text(TAPE, encoding="utf-8")
    (tmp_path / "dots").mkdir()
    there = {
        "{config}": config(tmp_path, {"up": {"command": "srv"}}),
        "{dots}": config(tmp_path / "dots", {"..": {"command": "srv"}}),
        "{tape}": str(tape),
    }

    with pytest.raises(UsageError, match=problem) as caught:
        parsed(tmp_path, *[there.get(word, word) for word in words])
    assert caught.value.hint


def test_the_config_may_be_of_any_client_that_wrap_knows(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[mcp_servers.up]\ncommand = "srv"\nargs = ["-x"]\n', encoding="utf-8")

    (server,) = parsed(tmp_path, "--config", str(path)).servers

    assert (server.name, server.command) == ("up", ("srv", "-x"))


def test_seconds_are_a_number(tmp_path: Path) -> None:
    with pytest.raises(click.BadParameter, match="nan is no number"):
        parsed(tmp_path, "--config", config(tmp_path, SERVERS), "--drain-seconds", "nan")


@pytest.mark.parametrize(
    ("mode", "is_left"),
    [("record", True), ("passthrough", True), ("auto", False)],
)
def test_a_header_that_only_the_client_fills_in_is_left_to_it_or_refused(
    tmp_path: Path, mode: str, *, is_left: bool
) -> None:
    headers = {"Authorization": "Bearer ${input:token}", "X-A": "b"}
    file = config(tmp_path, {"far": {"url": "https://h.test/mcp", "headers": headers}})
    words = ("--config", file, "--mode", mode, "--cassette", "demo")

    if is_left:
        (served,) = parsed(tmp_path, *words).servers
        assert served.headers == (("X-A", "b"),)
    else:
        with pytest.raises(ConfigError, match="which only an agent's client fills in"):
            parsed(tmp_path, *words)


def test_a_variable_that_is_missing_is_told_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs the variable KEY"):
        parsed(tmp_path, "--config", config(tmp_path, SERVERS))


def test_what_the_project_masks_is_masked_wherever_the_journal_is(tmp_path: Path) -> None:
    (tmp_path / "sidecar.toml").write_text('[redaction]\nkeys = ["plate"]\n', encoding="utf-8")
    masks = ("--mask-key", "ward", "--mask-pattern", "MRN-.*", "--mask-env", "A", "--mask-env", "B")

    options = parsed(tmp_path, "--config", config(tmp_path, {"up": {"command": "srv"}}), *masks)

    assert options.redaction == Rules(("plate", "ward"), ("MRN-.*",), ("A", "B"))


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
        with urllib.request.urlopen(request, timeout=30) as response:  # our own
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


def served_text(answer: tuple[int, bytes]) -> str:
    status, body = answer
    assert status == 200
    text = json.loads(body)["result"]["content"][0]["text"]
    assert isinstance(text, str)
    return text


def test_x08_secrets_that_it_is_given_are_in_no_file_and_its_token_with_no_server(
    tmp_path: Path,
) -> None:
    # Nothing but their places tells that these are secrets.
    token, header, argument = "gate-word-of-ours", "header-word-of-theirs", "Zq8knownValue9"

    async def whoami(request: web.Request, message: Any) -> web.Response:
        text = f"you are {request.headers['Authorization']}, not {token} or {argument}"
        return answered(message, {"content": [{"type": "text", "text": text}]})

    run = f"import sys, runpy; sys.argv = [{RAW_SERVER!r}]; "
    run += f"runpy.run_path({RAW_SERVER!r}, None, '__main__')"
    near = {"command": paths.PYTHON, "args": ["-c", run, "--access-token", argument]}
    with OddServer({"tools/call": whoami}) as server:
        far = {"url": server.url, "headers": {"Authorization": f"Bearer {header}"}}
        servers = config(tmp_path, {"near": near, "far": far})
        words = ("--config", servers, "--cassette", "tape", "--run", RUN, "--token-env", "GATE")
        with serving(tmp_path, *words, servers=2, env={"GATE": token}) as sidecar:

            def told(name: str, tool: str, **arguments: object) -> str:
                headers = {**MODERN, "Mcp_Name": tool, "X_MCP_Sidecar_Token": token}
                return served_text(ask(sidecar.urls[name], call(tool, **arguments), **headers))

            everything = f"{token} {header} {argument}"
            assert told("near", "echo", text=everything) == everything
            assert told("near", "env", names=["GATE"]) == "{}"
            assert told("far", "whoami") == f"you are Bearer {header}, not {token} or {argument}"
            assert sidecar.end() == 0

    kept = [path for name in (".sidecar", "cassettes") for path in (tmp_path / name).iterdir()]
    assert {path.name for path in kept} >= {"journal.db", "tape.jsonl"}
    for path in kept:
        for secret in (token, header, argument):
            assert secret.encode() not in path.read_bytes(), (path, secret)
    assert b"you are Bearer [REDACTED:" in (tmp_path / "cassettes" / "tape.jsonl").read_bytes()


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
    assert [line.strip() for line in sidecar.said[-2:]] == [
        f"mcp-sidecar: run {RUN}: 0 calls, 0 errors",
        "mcp-sidecar: cassette cassettes/tape.jsonl",
    ]


def test_a_cassette_of_another_run_is_told_of_at_the_start(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.write_text(TAPE, encoding="utf-8")
    servers = config(tmp_path, {"up": {"command": "srv"}})

    with serving(tmp_path, "--config", servers, "--cassette", str(tape)) as sidecar:
        told = [line for line in sidecar.said if "is of another run and stays as it is" in line]
        assert sidecar.end() == 0

    assert len(told) == 1
    assert tape.read_text(encoding="utf-8") == TAPE


def test_a_broken_cassette_is_told_of_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "serve", lambda _: pytest.fail("it serves"))
    tape = tmp_path / "tape.jsonl"
    tape.write_text(TAPE + "{", encoding="utf-8")
    servers = config(tmp_path, {"up": {"command": "srv"}})

    with pytest.raises(CassetteError, match="is broken"):
        command.main(
            ["--config", servers, "--cassette", str(tape), "--project", str(tmp_path)],
            standalone_mode=False,
        )


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
