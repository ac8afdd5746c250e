import json
import os
import signal
import stat
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from sidecar.errors import JournalError
from sidecar.store.ids import process_start
from sidecar.store.journal import Journal
from tests import paths
from tests.store.processes import WAIT_SECONDS, python, writer
from tests.store.samples import NOON_TEXT, OTHER_RUN, RUN, answered, call, open_journal, record

HEAVY = {
    "pydantic", "sqlite_utils", "mcp", "asyncio", "aiohttp", "rich",
    "dataclasses", "inspect", "pathlib", "argparse", "logging", "subprocess", "hashlib",
}  # fmt: skip


def test_a_new_journal_is_its_owners_alone_and_git_does_not_see_it(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    journal.start_run(RUN, mode="record")
    home = tmp_path / ".sidecar"

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()}
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {name: modes[name] for name in modes if name.startswith("journal.db")} == {
        "journal.db": 0o600,
        "journal.db-shm": 0o600,
        "journal.db-wal": 0o600,
        "journal.db.lock": 0o600,
    }
    assert (home / ".gitignore").read_text(encoding="utf-8") == "*\n"
    journal.close()


def test_a_journal_is_closed_at_the_end_of_its_block(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        journal.start_run(RUN, mode="record")

    with pytest.raises(JournalError):
        journal.start_run(RUN, mode="record")


def test_a_folder_of_the_users_own_keeps_its_rights_and_hides_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    Journal.open(str(tmp_path / "journal.db")).close()

    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert not (tmp_path / ".gitignore").exists()


def test_a_home_that_another_part_made_is_hidden_too(tmp_path: Path) -> None:
    (tmp_path / ".sidecar").mkdir()

    open_journal(tmp_path).close()

    assert (tmp_path / ".sidecar" / ".gitignore").exists()


def test_whichever_process_is_first_makes_the_run_and_the_others_fill_in(journal: Journal) -> None:
    journal.start_run(RUN, mode="record", cassette="demo")
    journal.start_run(RUN, mode="replay", cassette="other", agent_id="me", trial_index=0)

    rows = journal.connection.rows(
        "SELECT run_id, mode, state, cassette, agent_id, trial_index, started_at FROM runs"
    )
    assert rows == [(RUN, "record", "running", "demo", "me", 0, NOON_TEXT)]


def test_all_that_is_known_of_a_run_is_kept(journal: Journal) -> None:
    facts = {
        "agent_id": "a",
        "cassette": "c.jsonl",
        "command": '["python","agent.py"]',
        "input": '"do it"',
        "suite_id": "s",
        "task_id": "t",
        "trial_index": 2,
        "eval_run_id": OTHER_RUN,
    }
    journal.start_run(RUN, mode="replay", **facts)  # type: ignore[arg-type]  # a dict of facts
    journal.finish_run(RUN, state="failed", exit_code=3, output="done")

    ended = {"state": "failed", "exit_code": 3, "output": "done", "ended_at": NOON_TEXT}
    columns = [*facts, *ended]
    rows = journal.connection.rows(f"SELECT {', '.join(columns)} FROM runs")
    assert [dict(zip(columns, row, strict=True)) for row in rows] == [facts | ended]


def test_how_a_run_ended_is_said_again_without_losing_its_output(journal: Journal) -> None:
    journal.start_run(RUN, mode="record")
    journal.finish_run(RUN, state="interrupted", output="half")
    journal.finish_run(RUN, state="ended", exit_code=0)

    rows = journal.connection.rows("SELECT state, exit_code, output FROM runs")
    assert rows == [("ended", 0, "half")]


def test_a_session_says_which_process_saw_it(journal: Journal) -> None:
    journal.start_run(RUN, mode="record")
    session = journal.start_session(
        RUN, server="git", mode="record", agent_id="me", config_entry="e"
    )

    rows = journal.connection.rows(
        "SELECT id, run_id, server, mode, agent_id, config_entry, state, exit_code, pid,"
        " pid_start, started_at, ended_at FROM sessions"
    )
    pid = os.getpid()
    expected = (
        RUN,
        "git",
        "record",
        "me",
        "e",
        "running",
        None,
        pid,
        process_start(pid),
        NOON_TEXT,
    )
    assert rows == [(session.session_id, *expected, None)]


def test_a_name_from_the_command_line_that_is_no_unicode_is_kept_readable(
    journal: Journal,
) -> None:
    journal.start_run(RUN, mode="record", cassette="a\udcff")
    session = journal.start_session(RUN, server="s\udcff", mode="record")
    record(session, answered(call(server="s\udcff")))

    rows = journal.connection.rows("SELECT cassette, server, payload FROM runs, sessions, events")
    assert {(cassette, server) for cassette, server, _ in rows} == {("a\\udcff", "s\\udcff")}
    assert {json.loads(payload)["toolName"] for *_, payload in rows} == {"s\\udcff:git_log"}


def test_the_hot_path_imports_nothing_that_is_slow_to_import() -> None:
    script = (
        "import sys; before = set(sys.modules);"
        "import sidecar.store.journal, sidecar.store.cassettes, sidecar.store.folders;"
        "import sidecar.store.ids; print(*sorted(set(sys.modules) - before))"
    )

    # Without site packages, so that nothing else of this environment is imported.
    told = python(script, options=("-S",))
    imported = {name.partition(".")[0] for name in told.split()}

    assert "sqlite3" in imported
    assert imported & HEAVY == set()


def test_an_open_journal_of_today_is_opened_without_the_migrations(tmp_path: Path) -> None:
    open_journal(tmp_path).close()
    script = (
        "import sys; from sidecar.store.journal import Journal;"
        "Journal.open(sys.argv[1]).close(); print('sqlite_utils' in sys.modules)"
    )

    told = python(script, str(tmp_path / ".sidecar" / "journal.db"))

    assert told == "False\n"


def test_c04_eight_processes_make_one_journal_and_write_one_run_without_gaps(
    tmp_path: Path,
) -> None:
    path = tmp_path / ".sidecar" / "journal.db"
    with ExitStack() as stack:
        writers = [stack.enter_context(writer(path, RUN, "25")) for _ in range(8)]
        told = [process.communicate(timeout=WAIT_SECONDS)[0] for process in writers]
        assert [process.returncode for process in writers] == [0] * 8

    journal = open_journal(tmp_path)
    rows = [int(line) for text in told for line in text.split() if line != b"up"]
    assert len(set(rows)) == 8 * 25
    _assert_whole(journal, rows)
    migrations = journal.connection.rows("SELECT count(*) FROM _sqlite_migrations")
    assert migrations == [(1,)]
    sessions = "SELECT state, count(*) FROM sessions GROUP BY state"
    assert journal.connection.rows(sessions) == [("ended", 8)]
    journal.close()


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM], ids=["kill -9", "C11 TERM"])
def test_c11_a_killed_writer_loses_nothing_that_was_written(
    tmp_path: Path, sign: signal.Signals
) -> None:
    path = tmp_path / ".sidecar" / "journal.db"
    rows: list[int] = []
    for count in (0, 3, 25):
        with ExitStack() as stack:
            writers = [stack.enter_context(writer(path, RUN, "forever")) for _ in range(2)]
            for process in writers:
                assert process.stdout
                assert process.stdout.readline() == b"up\n"
                rows += [int(process.stdout.readline()) for _ in range(count)]
            for process in writers:
                process.send_signal(sign)
            for process in writers:
                rest, _ = process.communicate(timeout=WAIT_SECONDS)
                assert process.returncode == -sign
                rows += [int(line) for line in rest.split() if line != b"up"]

    journal = open_journal(tmp_path)
    assert rows
    _assert_whole(journal, rows)
    journal.close()


def test_a_process_killed_while_it_makes_the_journal_leaves_one_that_can_be_made(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.dying", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
        cwd=paths.ROOT,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 20  # each step of the making was met


def _assert_whole(journal: Journal, rows: list[int]) -> None:
    """Each row that was told of is answered, each event has its pair, no sequence is missing."""
    query = journal.connection.rows
    assert query("PRAGMA integrity_check") == [("ok",)]
    answers: dict[int, str] = dict(
        query("SELECT id, result FROM interactions WHERE state = 'answered'")
    )
    assert set(rows) <= answers.keys()
    sequences = [sequence for (sequence,) in query("SELECT sequence FROM events ORDER BY sequence")]
    assert sequences == list(range(len(sequences)))
    called: dict[int, str] = dict(
        query("SELECT interaction_id, event_id FROM events WHERE type = 'agent.tool-called'")
    )
    returned: dict[int, str] = dict(
        query("SELECT interaction_id, causation_id FROM events WHERE type = 'agent.tool-returned'")
    )
    assert returned.keys() == answers.keys()
    assert returned == {row: called[row] for row in returned}
    assert called.keys() == {row for (row,) in query("SELECT id FROM interactions")}
