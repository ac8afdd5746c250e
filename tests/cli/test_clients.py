"""`mcp-sidecar clients`."""

import itertools
import json
import re
import shlex
from pathlib import Path

import pytest

from sidecar.proxy.link import START_FAILED
from sidecar.store import cassettes
from sidecar.store.clock import Clock
from sidecar.store.folders import journal_path
from sidecar.store.journal import Journal
from tests.cli.conftest import Project
from tests.store.samples import NOON, OTHER_RUN, RUN, answered, call, record

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


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_e09_what_connected_later_than_the_cassettes_run_is_told_of(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_elsewhere: bool
) -> None:
    project.write_config({"one": {"command": "x"}, "two": {"command": "y"}})
    assert project.tell("wrap", ".mcp.json", "--cassette", "demo").code == 0
    entry = entry_of(project.folder / ".mcp.json")
    cassette = project.folder / "cassettes" / "demo.jsonl"
    with Journal.open(journal_path(str(project.folder / ".sidecar"))) as journal:
        for run in (RUN, OTHER_RUN):
            journal.start_run(run, mode="record", cassette=str(cassette))
            for name in ("one", "two"):
                session = journal.start_session(run, server=name, mode="record", config_entry=entry)
                record(session, answered(call(server=name)))
                session.close(exit_code=0)
            cassettes.save_run(journal, run, str(cassette), overwrite=False, extend=False)
    if is_elsewhere:
        monkeypatch.chdir(tmp_path)

    told = project.tell("clients", "--project", str(project.folder))

    assert told.err.count("which holds another run") == 1
    (command,) = re.findall("`mcp-sidecar (cassette save .*)`", told.err)
    assert OTHER_RUN in command
    assert project.tell(*shlex.split(command.replace("NAME", "other"))).code == 0
    saved = cassettes.load(str(project.folder / "cassettes" / "other.jsonl"))
    assert saved.cassette.run == OTHER_RUN


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        pytest.param({"command": "x"}, "could not be started when it last connected", id="started"),
        pytest.param(
            {"type": "http", "url": "http://127.0.0.1:9/mcp"},
            "could not be reached when it last connected",
            id="reached",
        ),
    ],
)
def test_a_server_that_could_not_be_used_when_it_last_connected_is_said_so(
    project: Project, entry: dict[str, str], problem: str
) -> None:
    project.write_config({"one": entry})
    assert project.tell("wrap", ".mcp.json").code == 0
    config_entry = entry_of(project.folder / ".mcp.json")
    told = []
    seconds = itertools.count(NOON)
    clock = Clock(now=lambda: next(seconds), monotonic=lambda: 0.0)
    path = journal_path(str(project.folder / ".sidecar"))
    with Journal.open(path, clock=clock) as journal:
        journal.start_run(RUN, mode="record")
        for code in (START_FAILED, 0):
            session = journal.start_session(
                RUN, server="one", mode="record", config_entry=config_entry
            )
            session.close(exit_code=code)
            told.append(project.tell("clients").err)

    assert [problem in err for err in told] == [True, False]


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
