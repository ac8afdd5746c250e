"""`mcp-sidecar runs`: list, show, export."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.cassette.outcome import FIXTURE_MISS
from sidecar.store import cassettes
from sidecar.store.clock import Clock
from sidecar.store.connection import Connection
from sidecar.store.journal import Journal
from tests.cli.conftest import Project
from tests.store.samples import NOON, OTHER_RUN, RUN, answered, call, record


@pytest.fixture
def recorded(project: Project) -> Project:
    """Two runs; the second one is a replay with a miss."""
    times = iter(range(1000))
    clock = Clock(now=lambda: NOON + next(times), monotonic=lambda: 1.0)
    journal = Journal.open(str(project.folder / ".sidecar" / "journal.db"), clock=clock)
    for run, mode in ((RUN, "record"), (OTHER_RUN, "replay")):
        journal.start_run(run, mode=mode, agent_id="me")
        session = journal.start_session(run, server="git", mode=mode, agent_id="me")
        record(session, answered(call(arguments='{"text":"\\u001b[31m"}')))
        if mode == "replay":
            refused = answered(call("nope"), '{"content":[],"isError":true}')
            missed = "unknown-tool: no recording has a call of git:nope"
            record(session, refused, error_code=FIXTURE_MISS, missed=missed, replayed=True)
        session.close(exit_code=0)
    journal.close()
    return project


def test_the_newest_run_is_listed_first(recorded: Project) -> None:
    told = recorded.tell("runs", "list")

    assert (told.code, told.err) == (0, "")
    assert [line.split()[0] for line in told.out.splitlines()] == ["run", OTHER_RUN, RUN]


def test_a_list_can_be_cut_and_read_by_programs(recorded: Project) -> None:
    told = recorded.tell("runs", "list", "--limit", "1", "--json")

    (run,) = json.loads(told.out)
    assert (run["runId"], run["calls"], run["misses"]) == (OTHER_RUN, 2, 1)


def test_where_nothing_was_recorded_there_is_nothing_to_list_and_nothing_is_made(
    project: Project,
) -> None:
    plain, as_json = project.tell("runs", "list"), project.tell("runs", "list", "--json")

    assert (plain.code, plain.out) == (0, "")
    assert "No run is recorded yet" in plain.err
    assert (as_json.code, as_json.out) == (0, "[]\n")
    assert [path.name for path in project.folder.iterdir()] == [".mcp.json"]


def test_r20_a_run_says_of_each_miss_which_of_three_it_was(recorded: Project) -> None:
    told = recorded.tell("runs", "show", "last")

    assert told.code == 0
    assert f"run: {OTHER_RUN}\n" in told.out
    assert "Misses:\n  2: unknown-tool: no recording has a call of git:nope" in told.out


def test_what_tools_wrote_is_shown_escaped(recorded: Project) -> None:
    told = recorded.tell("runs", "show", "last")

    assert "\x1b" not in told.out
    assert '{"text":"\\u001b[31m"}' in told.out


def test_a_run_can_be_read_by_programs(recorded: Project) -> None:
    told = recorded.tell("runs", "show", RUN, "--json")

    run = json.loads(told.out)
    assert run["runId"] == RUN
    assert [item["tool"] for item in run["interactions"]] == ["git_log"]


def test_the_events_of_a_run_are_exported_a_line_each(recorded: Project) -> None:
    told = recorded.tell("runs", "export", RUN, "--format", "events")

    events = [json.loads(line) for line in told.out.splitlines()]
    assert [(event["sequence"], event["type"]) for event in events] == [
        (0, "agent.tool-called"),
        (1, "agent.tool-returned"),
    ]
    assert events[0]["payload"]["inputs"] == {"text": "\x1b[31m"}
    assert events[1]["causationId"] == events[0]["eventId"]


@pytest.mark.parametrize("form", ["events", "cassette"])
def test_an_export_to_a_file_is_the_one_to_standard_output(recorded: Project, form: str) -> None:
    told = recorded.tell("runs", "export", RUN, "--format", form)
    written = recorded.tell("runs", "export", RUN, "--format", form, "-o", "out/x.jsonl")

    assert written == (0, "", "")
    assert (recorded.folder / "out" / "x.jsonl").read_bytes() == told.out.encode()
    if form == "cassette":
        loaded = cassettes.load(str(recorded.folder / "out" / "x.jsonl"))
        assert loaded.cassette.run == RUN


def test_an_export_replaces_a_file_only_when_told(recorded: Project) -> None:
    path = recorded.folder / "x.jsonl"
    path.write_text("mine", encoding="utf-8")
    words = ("runs", "export", RUN, "--format", "events", "-o", "x.jsonl")

    refused = recorded.tell(*words)
    kept = path.read_text(encoding="utf-8")
    replaced = recorded.tell(*words, "--overwrite")

    assert (refused.code, kept) == (2, "mine")
    assert "x.jsonl: the file is there already; --overwrite replaces it" in refused.err
    assert replaced.code == 0
    assert path.read_text(encoding="utf-8").startswith('{"eventId"')


def test_an_export_that_cannot_be_written_is_an_error(recorded: Project) -> None:
    told = recorded.tell("runs", "export", RUN, "--format", "events", "-o", ".mcp.json/x")

    assert told.code == 2
    assert ".mcp.json/x: the file cannot be written" in told.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("show", "nope"), "there is no run 'nope'", id="no such run"),
        pytest.param(("show", "01A"), "2 runs begin with '01A'", id="several runs"),
        pytest.param(("export", "last"), "Missing option '--format'", id="no format"),
        pytest.param(("export", "last", "--format", "x"), "'x' is not one of", id="format"),
        pytest.param(("list", "--limit", "0"), "'--limit'", id="limit"),
    ],
)
def test_bad_usage_is_an_error(recorded: Project, words: tuple[str, ...], said: str) -> None:
    told = recorded.tell("runs", *words)

    assert told.code == 2
    assert said in told.err


def newer(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()


def foreign(path: Path) -> None:
    for other in path.parent.glob("journal.db*"):
        other.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE notes (text TEXT)")
    connection.close()


def no_database(path: Path) -> None:
    path.write_text("mine, and no database at all\n" * 100, encoding="utf-8")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param(newer, "newer than this program reads", id="newer"),
        pytest.param(foreign, "belongs to another program", id="foreign"),
        pytest.param(no_database, "no SQLite database", id="no database"),
        pytest.param(folder, "", id="a folder"),
    ],
)
@pytest.mark.parametrize("verb", ["list", "show last", "record"])
def test_a_journal_that_cannot_be_used_is_an_error_and_stays_as_it_is(
    recorded: Project, spoil: Callable[[Path], None], said: str, verb: str
) -> None:
    path = recorded.folder / ".sidecar" / "journal.db"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    agent = recorded.agent(("echo", {}))
    words = (
        ["record", "--cassette", "demo", "--", *agent]
        if verb == "record"
        else ["runs", *verb.split()]
    )

    told = recorded.tell(*words)

    assert told.code == 2
    assert told.err.startswith(f"mcp-sidecar: {path}: ")
    assert said in told.err
    assert "; " in told.err  # the next step
    assert (path.read_bytes() if path.is_file() else None) == before
    assert recorded.starts() == 0


def test_a_journal_that_is_locked_is_an_error(
    recorded: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recorded.folder / ".sidecar" / "journal.db"
    opened = Connection.open
    monkeypatch.setattr(
        Connection,
        "open",
        classmethod(lambda _, path, **__: opened(path, patience_seconds=0.05)),
    )
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    agent = recorded.agent(("echo", {}))
    told = recorded.tell("record", "--cassette", "demo", "--", *agent)
    holder.close()

    assert told.code == 2
    assert f"{path}: another program has the journal locked; close what has it open" in told.err
    assert recorded.starts() == 0


def test_a_folder_that_cannot_be_written_is_an_error(project: Project) -> None:
    (project.folder / ".sidecar").write_text("a file", encoding="utf-8")

    told = project.tell("record", "--cassette", "demo", "--", *project.agent(("echo", {})))

    assert told.code == 2
    assert told.err.startswith(f"mcp-sidecar: {project.folder / '.sidecar'}")
    assert "--home" in told.err
    assert (project.folder / ".sidecar").read_text(encoding="utf-8") == "a file"


def test_runs_that_their_cassette_does_not_hold_are_named(project: Project) -> None:
    path = str(project.folder / "cassettes" / "one.jsonl")
    third = RUN[:-1] + "9"
    times = iter(range(1000))
    clock = Clock(now=lambda: NOON + next(times), monotonic=lambda: 1.0)
    with Journal.open(str(project.folder / ".sidecar" / "journal.db"), clock=clock) as journal:
        for run in (RUN, OTHER_RUN, third):
            journal.start_run(run, mode="record", cassette=path)
            session = journal.start_session(run, server="git", mode="record")
            record(session, answered(call()))
            session.close(exit_code=0)
            cassettes.save_run(journal, run, path, overwrite=False, extend=False)

    told = project.tell("runs", "list")

    assert f"{third} and 1 older run are not in cassettes/one.jsonl" in told.err
    assert f"`mcp-sidecar cassette save {third} --cassette NAME`" in told.err
    assert project.tell("cassette", "save", third, "--overwrite").code == 0
    assert project.tell("runs", "list").err == ""


def test_a_home_that_no_journal_can_be_in_is_no_empty_list(project: Project) -> None:
    assert project.tell("runs", "list").code == 0

    named = project.tell("runs", "list", "--home", "nowhere")
    (project.folder / ".sidecar").write_bytes(b"")
    file = project.tell("runs", "list", "--json")

    assert (named.code, file.code, file.out) == (2, 2, "")
    assert f"{project.folder}/nowhere: there is no such folder; check --home" in named.err
    assert f"{project.folder}/.sidecar: the sidecar's folder is no folder" in file.err
