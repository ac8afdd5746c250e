"""`mcp-sidecar clients`."""

import json
from pathlib import Path

import pytest

from sidecar.store.folders import journal_path
from sidecar.store.journal import Journal
from tests.cli.conftest import Project
from tests.store.samples import RUN

pytestmark = pytest.mark.usefixtures("home")


def entry_of(path: Path) -> str:
    """The id that `wrap` wrote into a config's entries."""
    (entry, *_) = json.loads(path.read_bytes())["mcpServers"].values()
    args: list[str] = entry["args"]
    return args[args.index("--config-entry") + 1]


def test_e09_a_wrapped_server_that_never_connected_is_said_so(project: Project, home: Path) -> None:
    project.write_config({"used": {"command": "x"}, "unused": {"command": "y"}})
    cursor = home / ".cursor" / "mcp.json"
    cursor.parent.mkdir()
    cursor.write_text('{"mcpServers": {"plain": {"command": "z"}}}', encoding="utf-8")
    assert project.tell("wrap", ".mcp.json").code == 0
    with Journal.open(journal_path(str(project.folder / ".sidecar"))) as journal:
        journal.start_run(RUN, mode="record")
        journal.start_session(RUN, server="unused", mode="record")  # but by no config
        journal.start_session(
            RUN, server="used", mode="record", config_entry=entry_of(project.folder / ".mcp.json")
        )

    told = project.tell("clients")
    (code, cursors) = json.loads(project.tell("clients", "--json").out)

    assert told.code == 0
    rows = [line.split() for line in told.out.splitlines()[1:]]
    assert [(row[0], row[-1]) for row in rows] == [
        ("Claude", str(project.folder / ".mcp.json")),
        ("Claude", str(project.folder / ".mcp.json")),
        ("Cursor", str(cursor)),
    ]
    assert "never" in rows[1]
    assert "never" not in rows[0] + rows[2]
    assert "the wrapped server 'unused' never connected: restart Claude Code" in told.err
    assert "'used'" not in told.err
    assert [one["lastConnected"] is None for one in code["servers"]] == [False, True]
    assert (cursors["path"], cursors["servers"][0]["wrapped"]) == (str(cursor), False)


def test_servers_of_one_name_in_two_configs_of_a_project_are_told_apart(project: Project) -> None:
    db = {"db": {"command": "x"}}
    project.write_config(db)
    (project.folder / ".cursor").mkdir()
    cursors = project.write_config(db, ".cursor/mcp.json")
    assert project.tell("wrap", ".mcp.json", str(cursors)).code == 0
    with Journal.open(journal_path(str(project.folder / ".sidecar"))) as journal:
        journal.start_run(RUN, mode="record")
        journal.start_session(RUN, server="db", mode="record", config_entry=entry_of(cursors))

    told = project.tell("clients", "--json")

    last = {one["path"]: one["servers"][0]["lastConnected"] for one in json.loads(told.out)}
    assert last.pop(str(cursors)) is not None
    assert last == {str(project.folder / ".mcp.json"): None}


def test_e09_a_server_that_another_config_overrides_is_said_so(
    project: Project, home: Path
) -> None:
    db = {"db": {"command": "x"}}
    project.write_config(db)
    state = home / ".claude.json"
    local = {"projects": {str(project.folder): {"mcpServers": db}}}
    state.write_text(json.dumps({**local, "mcpServers": db}), encoding="utf-8")
    assert project.tell("wrap", ".mcp.json").code == 0

    told = project.tell("clients")
    (mine, users) = json.loads(project.tell("clients", "--json").out)

    assert [line.split("  ")[1].strip() for line in told.out.splitlines()[1:]] == [
        "project (overridden)",
        "local",
        "user (overridden)",
    ]
    assert f"'db' never connected: Claude Code uses the one of {state}" in told.err
    assert [one["overriddenBy"] for one in (*mine["servers"], *users["servers"])] == [
        str(state),
        None,
        str(state),
    ]


def test_nothing_is_made_where_nothing_is_found(project: Project) -> None:
    (project.folder / ".mcp.json").unlink()

    plain, as_json = project.tell("clients"), project.tell("clients", "--json")

    assert (plain.code, plain.out) == (0, "")
    assert plain.err == "mcp-sidecar: no MCP config of a known client was found\n"
    assert json.loads(as_json.out) == []
    assert list(project.folder.iterdir()) == []


def test_a_broken_config_is_told_of_and_the_others_are_listed(project: Project, home: Path) -> None:
    project.write_config({"a": {"command": "x"}})
    broken = home / ".cursor" / "mcp.json"
    broken.parent.mkdir()
    broken.write_text('{"mcpServers": }', encoding="utf-8")

    told = project.tell("clients")

    assert told.code == 0
    assert len(told.out.splitlines()) == 2
    assert f"{broken}:1:16: the config is no JSON: a value is expected" in told.err


def test_a_journal_that_cannot_be_read_is_told_of_once(project: Project) -> None:
    project.write_config({"a": {"command": "x"}, "b": {"command": "y"}})
    assert project.tell("wrap", ".mcp.json").code == 0
    Path(journal_path(str(project.folder / ".sidecar"))).write_bytes(b"no database" * 100)

    told = project.tell("clients")

    assert told.code == 0
    assert told.err.count("journal.db: ") == 1


def test_another_project_is_looked_at_where_one_is_named(project: Project, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()

    assert project.tell("clients", "--project", str(other)).out == ""
    told = project.tell("clients", "--project", "nowhere")
    assert (told.code, "the project folder is no folder" in told.err) == (2, True)
