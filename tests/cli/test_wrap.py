"""`mcp-sidecar wrap`: real files, and a real server started as a client would."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sidecar.agents.configs.marks import entry_id
from sidecar.agents.configs.wrapping import Change
from sidecar.cli import wrap as wrap_module
from sidecar.cli.configs import planned
from tests import paths
from tests.cli.conftest import SERVER, Project

SECONDS = 30
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "desk", "version": "1"},
    },
}


pytestmark = pytest.mark.usefixtures("home")


def servers(project: Project, name: str = ".mcp.json") -> dict[str, Any]:
    document = json.loads((project.folder / name).read_text(encoding="utf-8"))
    found: dict[str, Any] = document["mcpServers"]
    return found


def test_a_config_is_wrapped_and_told_of(project: Project) -> None:
    project.write_config({"raw": {"command": "srv", "args": ["-v"], "env": {"A": "${B}"}}})

    told = project.tell("wrap", ".mcp.json", "--cassette", "checkout")

    folder = project.folder
    cassette = str(folder / "cassettes" / "checkout.jsonl")
    assert told.code == 0
    assert told.out == (
        f"{folder}/.mcp.json (Claude Code, project scope)\n"
        f"  raw  wrapped: record, cassette {cassette}\n"
    )
    assert "recordings go to .sidecar/journal.db: `mcp-sidecar runs list` lists them\n" in told.err
    assert "next, in Claude Code: start a new session; it asks again" in told.err
    assert servers(project) == {
        "raw": {
            "command": paths.MCP_SIDECAR,
            "args": [
                *("proxy", "--server", "raw", "--mode", "record", "--cassette", cassette),
                *("--home", f"{folder}/.sidecar", "--project", str(folder)),
                *("--config-entry", entry_id(str(folder / ".mcp.json"), ["mcpServers"])),
                *("--wrapped", "args", "srv", "-v"),
            ],
            "env": {"A": "${B}"},
        }
    }
    (backup,) = (folder / ".sidecar" / "backups").iterdir()
    assert json.loads(backup.read_bytes())["mcpServers"]["raw"]["command"] == "srv"


def test_w11_wrapping_again_changes_mode_and_cassette_and_never_nests(project: Project) -> None:
    config = project.folder / ".mcp.json"
    assert project.tell("wrap", ".mcp.json", "--cassette", "one").code == 0
    once = config.read_bytes()

    again = project.tell("wrap", ".mcp.json", "--cassette", "one")
    assert (again.code, config.read_bytes()) == (0, once)
    assert "raw  unchanged: record" in again.out
    assert "next, in" not in again.err

    other = project.tell("wrap", ".mcp.json", "--mode", "auto", "--cassette", "two")
    args = servers(project)["raw"]["args"]
    assert "raw  changed: auto, cassette" in other.out
    assert args.count("proxy") == 1
    assert args[args.index("--cassette") + 1] == str(project.folder / "cassettes" / "two.jsonl")
    assert len(list((project.folder / ".sidecar" / "backups").iterdir())) == 1


def test_w07_the_backup_is_of_what_was_replaced(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = {"raw": {"command": "other"}}

    def slowly(*given: Any) -> list[Change]:
        changes = planned(*given)
        project.write_config(theirs)
        return changes

    monkeypatch.setattr(wrap_module, "planned", slowly)

    assert project.tell("wrap", ".mcp.json").code == 0

    assert servers(project)["raw"]["args"][-1] == "other"
    (backup,) = (project.folder / ".sidecar" / "backups").iterdir()
    assert json.loads(backup.read_bytes())["mcpServers"] == theirs


def test_w15_a_wrapped_server_works_with_a_small_path_in_another_folder(project: Project) -> None:
    project.write_config({"raw": {"command": sys.executable, "args": [SERVER]}})
    assert project.tell("wrap", ".mcp.json", "--cassette", "gui").code == 0
    entry = servers(project)["raw"]

    called = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "echo"}}
    called["params"] = {"name": "echo", "arguments": {"text": "hi"}}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    lines = "".join(f"{json.dumps(line)}\n" for line in (INITIALIZE, ready, called))
    ended = subprocess.run(
        [entry["command"], *entry["args"]],
        input=lines.encode(),
        capture_output=True,
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"]},
        timeout=SECONDS,
        check=False,
    )

    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2], ended.stderr
    cassette = (project.folder / "cassettes" / "gui.jsonl").read_text(encoding="utf-8")
    assert '"method":"tools/call"' in cassette
    assert not Path("/.sidecar").exists()

    (listed,) = json.loads(project.tell("runs", "list", "--json").out)
    assert (listed["servers"], listed["calls"]) == (["raw"], 1)
    (config,) = json.loads(project.tell("clients", "--json").out)
    assert config["servers"][0]["lastConnected"] is not None


def test_a_dry_run_shows_the_difference_and_changes_nothing(project: Project) -> None:
    config = project.folder / ".mcp.json"
    before = config.read_bytes()

    told = project.tell("wrap", ".mcp.json", "--dry-run")

    assert told.code == 0
    assert told.out.startswith(f"--- {config}\n+++ {config}\n")
    assert '"--wrapped"' in told.out
    assert "nothing was changed" in told.err
    assert "next, in" not in told.err
    assert "recordings would go to .sidecar/journal.db" in told.err
    assert config.read_bytes() == before
    assert not (project.folder / ".sidecar").exists()


def test_servers_are_chosen_by_name(project: Project) -> None:
    project.write_config({name: {"command": name} for name in ("a", "b", "c")})

    assert project.tell("wrap", ".mcp.json", "--only", "a", "--only", "b").code == 0
    assert [entry["command"] == paths.MCP_SIDECAR for entry in servers(project).values()] == [
        True,
        True,
        False,
    ]
    assert project.tell("wrap", ".mcp.json", "--except", "a", "--except", "b").code == 0
    assert servers(project)["c"]["command"] == paths.MCP_SIDECAR
    told = project.tell("wrap", ".mcp.json", "--only", "bb")
    assert (told.code, told.err) == (
        2,
        f"mcp-sidecar: {project.folder}/.mcp.json: no server is called 'bb'; there are 'b'\n",
    )


def test_several_files_are_changed_or_none(project: Project) -> None:
    good = project.write_config({"a": {"command": "x"}}, "good.json")
    before = good.read_bytes()
    bad = project.folder / "bad.json"
    bad.write_bytes(b'{"mcpServers": {"a": {"command": "x"},,}}')

    told = project.tell("wrap", "good.json", "bad.json")

    assert told.code == 2
    assert f"{bad}:1:39: the config is no JSON" in told.err
    assert good.read_bytes() == before
    assert bad.read_bytes() == b'{"mcpServers": {"a": {"command": "x"},,}}'


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        pytest.param("a.json", "", "the config is empty", id="W08 empty"),
        pytest.param("a.json", '{"a": [}', ":1:8: the config is no JSON", id="W02 broken JSON"),
        pytest.param("a.toml", "a = [\n", "the config is no TOML", id="broken TOML"),
        pytest.param("a.yaml", "a: [\n", ":2:1: the config is no YAML", id="broken YAML"),
        pytest.param("a.ini", "[a]", "format is not known; known are .json", id="W14 unknown"),
        pytest.param("a.json", '{"a": 1}', "no section of MCP servers; known are", id="W14 none"),
        pytest.param(
            "a.json",
            '{"mcpServers": {"a": {"command": "x"}}, "servers": {"a": {"command": "x"}}}',
            "could be that of generic (`mcpServers`) or vscode (`servers`); say with --client",
            id="W14 two sections",
        ),
    ],
)
def test_what_cannot_be_wrapped_ends_with_2_and_stays_as_it_is(
    project: Project, name: str, text: str, problem: str
) -> None:
    path = project.folder / name
    path.write_text(text, encoding="utf-8")

    told = project.tell("wrap", name)

    assert told.code == 2
    assert problem in told.err
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--mode", "replay"], "mode replay needs --cassette, and 'raw' has none yet"),
        (["--mode", "auto"], "mode auto needs --cassette, and 'raw' has none yet"),
        (["--mode", "replay", "--cassette", "none"], "none.jsonl: there is no such cassette"),
        (["--cassette", "../x"], "'../x' is no cassette name"),
        (["--via-serve", "here"], "--via-serve needs a URL, not 'here'"),
        (["--via-serve", "http://["], "--via-serve needs a URL, not 'http://['"),
        (["--via-serve", "http://:8765"], "--via-serve needs a URL, not 'http://:8765'"),
        (["--via-serve", "http://h/?a=1"], "--via-serve needs a URL, not 'http://h/?a=1'"),
        (["--via-serve", "http://u:p@h/"], "--via-serve needs a URL, not one with a user in it"),
        (["--via-serve", "http://h/#a"], "--via-serve needs a URL, not 'http://h/#a'"),
        (["--project", "nowhere"], "the project folder is no folder"),
        (["--client", "none"], "Invalid value for '--client'"),
        (["--mode", "live"], "Invalid value for '--mode'"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    project: Project, words: list[str], problem: str
) -> None:
    config = project.folder / ".mcp.json"
    before = config.read_bytes()

    told = project.tell("wrap", ".mcp.json", *words)

    assert told.code == 2
    assert problem in told.err
    assert config.read_bytes() == before


def test_w14_two_sections_are_told_apart_by_the_client(project: Project) -> None:
    text = '{"mcpServers": {"a": {"command": "x"}}, "servers": {"b": {"command": "y"}}}'
    path = project.folder / "a.json"
    path.write_text(text, encoding="utf-8")

    told = project.tell("wrap", "a.json", "--client", "vscode")

    assert told.code == 0
    assert "`mcpServers` is not what VS Code reads there; it stayed as it is" in told.err
    after = json.loads(path.read_bytes())
    assert after["mcpServers"] == {"a": {"command": "x"}}
    assert after["servers"]["b"]["command"] == paths.MCP_SIDECAR


def test_entries_that_are_skipped_have_their_reason_and_alone_they_are_a_failure(
    project: Project,
) -> None:
    remote = {"url": "https://a.example/mcp", "oauth": {}}
    project.write_config({"a": {"command": "x"}, "b": remote})

    both = project.tell("wrap", ".mcp.json")
    named = project.tell("wrap", ".mcp.json", "--only", "a", "--only", "b")
    alone = project.tell("wrap", ".mcp.json", "--only", "b")

    assert (both.code, named.code, alone.code) == (0, 2, 2)
    assert "  b  skipped: the client logs in to it by itself (`oauth`)\n" in both.out
    assert "nothing was wrapped" in alone.err
    assert servers(project)["b"] == remote


def test_e10_a_server_with_a_url_is_started_or_led_to_serve(project: Project) -> None:
    remote = {"type": "sse", "url": "https://a.example/sse"}
    project.write_config({"web": remote})

    proxied = project.tell("wrap", ".mcp.json")
    args = servers(project)["web"]["args"]
    served = project.tell("wrap", ".mcp.json", "--via-serve", "http://127.0.0.1:8765/")

    assert "web may ask for a login (OAuth)" in proxied.err
    assert args[-4:] == ["--transport", "sse", "--url", "https://a.example/sse"]
    assert "web  changed: led to serve" in served.out
    assert servers(project)["web"] == {
        "type": "sse",
        "url": "http://127.0.0.1:8765/web/sse#mcp-sidecar=https://a.example/sse",
    }


def test_w14_one_scope_of_a_users_config_is_wrapped_and_what_is_gone_is_skipped(
    project: Project, home: Path
) -> None:
    state = home / ".claude.json"
    entry = {"mcpServers": {"db": {"command": "y"}}}
    here, gone = str(project.folder), str(home / "gone")
    state.write_text(json.dumps({"projects": {here: entry, gone: entry}} | entry), encoding="utf-8")

    one = project.tell("wrap", str(state), "--scope", here)

    after = json.loads(state.read_bytes())
    assert one.code == 0
    assert after["projects"][here] != entry
    assert (after["projects"][gone], after["mcpServers"]) == (entry, entry["mcpServers"])
    told = project.tell("wrap", str(state))
    assert f"  db  skipped: its project's folder is gone: {gone}\n" in told.out
    after = json.loads(state.read_bytes())
    assert (after["projects"][gone], after["mcpServers"] != entry["mcpServers"]) == (entry, True)
    assert project.tell("unwrap", str(state), "--scope", "user").code == 0
    after = json.loads(state.read_bytes())
    assert (after["projects"][here] != entry, after["mcpServers"]) == (True, entry["mcpServers"])


def test_w04_a_linked_config_stays_linked_and_belongs_to_the_links_project(
    project: Project, tmp_path: Path
) -> None:
    dotfiles = tmp_path / "dot"
    dotfiles.mkdir()
    link = project.folder / ".mcp.json"
    real = link.rename(dotfiles / "claude.json")
    link.symlink_to(real)
    before = real.read_bytes()

    assert project.tell("wrap", ".mcp.json").code == 0

    assert link.is_symlink()
    args = servers(project)["raw"]["args"]
    assert args[args.index("--project") + 1] == str(project.folder)
    assert project.tell("unwrap", ".mcp.json").code == 0
    assert (link.readlink(), real.read_bytes()) == (real, before)


def test_the_folders_of_clients_are_no_projects(project: Project) -> None:
    folder = project.folder / ".cursor"
    folder.mkdir()
    project.write_config({"a": {"command": "x"}}, ".cursor/mcp.json")

    assert project.tell("wrap", ".cursor/mcp.json", "--home", "elsewhere").code == 0

    args = servers(project, ".cursor/mcp.json")["a"]["args"]
    assert args[args.index("--project") + 1] == str(project.folder)
    assert args[args.index("--home") + 1] == str(project.folder / "elsewhere")
    assert (project.folder / "elsewhere" / "backups").is_dir()
