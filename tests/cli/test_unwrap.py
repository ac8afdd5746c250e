"""`mcp-sidecar unwrap`."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Project

ODD = b"""\xef\xbb\xbf// mine\r
{"servers": {\r
\t"a": {"command": "x", "args": [ /* none */ ],},\r
\t"b": {"type": "http", "url": "https://a.example/mcp", "headers": {"X": "${input:x}"}, },\r
}, }"""

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def config(project: Project) -> Path:
    folder = project.folder / ".vscode"
    folder.mkdir()
    path = folder / "mcp.json"
    path.write_bytes(ODD)
    path.chmod(0o600)
    return path


def test_w11_a_wrapped_config_is_byte_for_byte_what_it_was_without_its_backup(
    project: Project, config: Path
) -> None:
    facts = config.stat()
    for mode in ("record", "passthrough"):
        assert project.tell("wrap", str(config), "--mode", mode).code == 0
    assert config.read_bytes() != ODD
    shutil.rmtree(project.folder / ".sidecar")

    told = project.tell("unwrap", str(config))

    assert told.code == 0
    assert told.out == (f"{config} (VS Code, project scope)\n  a  unwrapped\n  b  unwrapped\n")
    assert "next, in VS Code: restart the servers" in told.err
    assert config.read_bytes() == ODD
    after = config.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        facts.st_mode,
        facts.st_uid,
        facts.st_gid,
    )


def test_w11_unwrapping_twice_is_nothing(project: Project, config: Path) -> None:
    told = project.tell("unwrap", str(config))

    assert told.code == 0
    assert "  a  is not wrapped\n" in told.out
    assert told.err == "mcp-sidecar: nothing in it is wrapped\n"
    assert config.read_bytes() == ODD


def test_w11_what_was_added_stays_and_what_was_removed_stays_gone(project: Project) -> None:
    config = project.write_config({"a": {"command": "x"}, "b": {"command": "y"}})
    assert project.tell("wrap", ".mcp.json").code == 0
    document = json.loads(config.read_bytes())
    del document["mcpServers"]["a"]
    document["mcpServers"]["c"] = {"command": "z"}
    document["mcpServers"]["b"]["env"] = {"NEW": "1"}
    config.write_text(json.dumps(document, indent=1), encoding="utf-8")

    assert project.tell("unwrap", ".mcp.json").code == 0

    assert json.loads(config.read_bytes()) == {
        "mcpServers": {"b": {"command": "y", "env": {"NEW": "1"}}, "c": {"command": "z"}}
    }


def test_w08_an_empty_config_is_refused_and_stays_empty(project: Project) -> None:
    config = project.write_config({"a": {"command": "x"}})
    assert project.tell("wrap", ".mcp.json").code == 0
    config.write_bytes(b"")

    told = project.tell("unwrap", ".mcp.json")

    assert told.code == 2
    assert "the config is empty; if its client is just writing it, try again" in told.err
    assert config.read_bytes() == b""


def test_an_entry_that_cannot_be_brought_back_is_named_and_the_others_are(
    project: Project,
) -> None:
    config = project.write_config({"a": {"command": "x"}, "b": {"url": "https://a.example/mcp"}})
    assert project.tell("wrap", ".mcp.json").code == 0
    text = config.read_text(encoding="utf-8").replace('/mcp"]', '/mcp", "more"]')
    config.write_text(text, encoding="utf-8")

    told = project.tell("unwrap", ".mcp.json", "--only", "a", "--only", "b")

    assert told.code == 2
    assert "  a  unwrapped\n  b  skipped: words were added after its URL" in told.out
    assert json.loads(config.read_bytes())["mcpServers"]["a"] == {"command": "x"}


def test_a_dry_run_changes_nothing(project: Project, config: Path) -> None:
    assert project.tell("wrap", str(config)).code == 0
    wrapped = config.read_bytes()

    told = project.tell("unwrap", str(config), "--dry-run")

    assert told.code == 0
    assert '+\t"a": {"command": "x", "args": [ /* none */ ],},' in told.out.replace("\\t", "\t")
    assert config.read_bytes() == wrapped


def test_a_dry_run_does_not_say_what_to_do_next(project: Project, config: Path) -> None:
    assert project.tell("wrap", str(config)).code == 0
    wrapped = config.read_bytes()

    told = project.tell("unwrap", str(config), "--dry-run")

    assert (told.code, "next, in" in told.err) == (0, False)
    assert config.read_bytes() == wrapped


def test_w11_entries_that_stay_wrapped_are_a_failure(project: Project) -> None:
    hand = {"command": "mcp-sidecar", "args": ["proxy", "--server", "h", "srv"]}
    config = project.write_config(
        {"a": {"command": "x"}, "b": {"url": "https://a.example/mcp"}, "h": hand}
    )
    assert project.tell("wrap", ".mcp.json").code == 0
    whole = config.read_text(encoding="utf-8")
    config.write_text(whole.replace('/mcp"]', '/mcp", "more"]'), encoding="utf-8")

    stays = project.tell("unwrap", ".mcp.json")
    config.write_text(whole, encoding="utf-8")
    back = project.tell("unwrap", ".mcp.json")

    assert (stays.code, back.code) == (2, 0)
    assert "  b  skipped: words were added after its URL" in stays.out
    assert "  h  skipped: it starts `mcp-sidecar proxy`, but as written by hand" in back.out


@pytest.mark.parametrize("options", [(), ("--home", "elsewhere")], ids=["its home", "another one"])
def test_w11_a_damaged_entry_is_told_with_the_backup(
    project: Project, options: tuple[str, ...]
) -> None:
    config = project.write_config({"a": {"command": "x"}, "b": {"command": "y"}})
    assert project.tell("wrap", ".mcp.json", *options).code == 0
    document = json.loads(config.read_bytes())
    del document["mcpServers"]["a"]["args"]
    config.write_text(json.dumps(document), encoding="utf-8")

    told = project.tell("unwrap", ".mcp.json")

    (backup,) = project.folder.glob("*/backups/*")
    assert told.code == 2
    assert "  a  skipped: it is damaged: " in told.out
    assert f"a cannot be brought back: its file as it was is {backup}; write its own" in told.err
    assert json.loads(config.read_bytes())["mcpServers"]["b"] == {"command": "y"}
    assert project.tell("wrap", ".mcp.json", "--only", "a").code == 2


def test_w11_a_damaged_entry_without_a_backup_is_told_as_such(project: Project) -> None:
    project.write_config({"a": {"command": "/x/mcp-sidecar"}})

    told = project.tell("unwrap", ".mcp.json")

    assert told.code == 2
    assert "no backup of it was found; write its own command again" in told.err
