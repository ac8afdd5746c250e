"""What `mcp-sidecar wrap` says besides what it changed."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from sidecar.cassette.file_format import Loaded
from sidecar.cli import wrap_remarks
from sidecar.store import cassettes
from tests.cli.conftest import Project

pytestmark = pytest.mark.usefixtures("home")


def test_e09_other_places_of_the_same_server_are_named(project: Project, home: Path) -> None:
    project.write_config({"db": {"command": "x"}})
    other = home / ".claude.json"
    other.write_text('{"mcpServers": {"db": {"command": "y"}}}', encoding="utf-8")

    told = project.tell("wrap", ".mcp.json")

    shown = "`mcp-sidecar clients` shows which counts"
    assert f"Claude Code also finds db in {other}: {shown}" in told.err


def test_w07_a_file_that_its_client_rewrites_is_named_as_such(project: Project, home: Path) -> None:
    state = home / ".claude.json"
    state.write_text('{"mcpServers": {"db": {"command": "y"}}}', encoding="utf-8")

    state_told = project.tell("wrap", str(state)).err
    project_told = project.tell("wrap", ".mcp.json").err

    wanted = "Claude Code rewrites this file as it runs: "
    assert (wanted in state_told, wanted in project_told) == (True, False)
    assert f"{wanted}if it runs now, end it, and look with `mcp-sidecar clients`" in state_told
    told = project.tell("wrap", str(state), "--dry-run").err
    assert f"{wanted}end it before you wrap" in told


def test_what_becomes_of_the_cassette_is_said(project: Project) -> None:
    cassette = project.folder / "cassettes" / "one.jsonl"
    cassette.parent.mkdir()
    cassette.write_bytes(b"")

    there = project.tell("wrap", ".mcp.json", "--cassette", "one").err

    assert "cassettes/one.jsonl is there already, and another run stays in the journal" in there
    assert "`--mode auto` adds to it" in there


def test_w15_a_sidecar_that_may_vanish_is_named(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "/home/u/.cache/uv/archive/bin/mcp-sidecar"
    monkeypatch.setattr(wrap_remarks, "sidecar_command", lambda: (program,))

    assert f"{program} is in a cache" in project.tell("wrap", ".mcp.json").err


def test_e10_the_serve_that_entries_are_led_to_is_named_with_what_it_is_to_do(
    project: Project,
) -> None:
    remote = {"url": "https://a.example/mcp"}
    project.write_config({"web": remote, "raw": {"command": "x"}})
    url = "http://127.0.0.1:8790"

    plain = project.tell("wrap", ".mcp.json", "--via-serve", url)
    told = project.tell(
        "wrap", ".mcp.json", "--via-serve", url, "--mode", "passthrough", "--cassette", "c"
    )

    assert (
        f"what is led to {url} is served by `mcp-sidecar serve --config .mcp.json --port 8790`"
        in (plain.err)
    )
    assert "serve --config .mcp.json --port 8790 --mode passthrough --cassette c`" in told.err
    assert "raw  changed: passthrough" in told.out
    options = ("--mode", "passthrough", "--cassette", "c")
    alone = project.tell("wrap", ".mcp.json", "--only", "web", "--via-serve", url, *options)
    assert alone.code == 2
    assert "--mode and --cassette say nothing to servers that are led to `serve`" in alone.err


def test_a_cassette_without_a_server_is_told_where_it_is_to_answer_for_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.record("demo", ("echo", {"text": "hi"}))
    raw = json.loads((project.folder / ".mcp.json").read_bytes())["mcpServers"]["raw"]
    project.write_config({"raw": raw, "other": raw})
    loaded: list[str] = []

    def counted(path: str) -> Loaded:
        loaded.append(path)
        return cassettes.load(path)

    monkeypatch.setattr(wrap_remarks, "cassettes", SimpleNamespace(load=counted))

    told = project.tell("wrap", ".mcp.json", "--mode", "replay", "--cassette", "demo")

    assert told.code == 0
    wanted = "cassettes/demo.jsonl has 'raw', and nothing of 'other'"
    assert told.err.count("and nothing of") == told.err.count(wanted) == 1
    assert len(loaded) == 1


def test_a_server_name_with_a_colon_is_warned_of(project: Project) -> None:
    project.write_config({"a:b": {"command": "x"}, "c": {"command": "y"}})

    told = project.tell("wrap", ".mcp.json")

    assert told.err.count("has a colon, and tools are told as SERVER:TOOL") == 1


def test_what_holds_for_several_files_is_said_once(project: Project) -> None:
    project.write_config({"b": {"command": "y"}}, "b.json")

    told = project.tell("wrap", ".mcp.json", "b.json")

    assert told.err.count("recordings go to .sidecar/journal.db") == 1
    assert told.out.count("wrapped: record") == 2
