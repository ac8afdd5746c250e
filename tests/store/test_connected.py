"""When a server was last started behind the sidecar."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sidecar.errors import JournalError
from sidecar.store.clock import Clock
from sidecar.store.connected import Connected, last_connected
from sidecar.store.connection import SCHEMA_VERSION
from sidecar.store.folders import journal_path
from sidecar.store.journal import Journal
from tests.store.samples import NOON, RUN


def test_the_last_of_several_starts_is_told(tmp_path: Path) -> None:
    home = str(tmp_path / ".sidecar")
    times = iter(range(100))
    clock = Clock(now=lambda: NOON + next(times), monotonic=lambda: 1.0)
    started = []
    with Journal.open(journal_path(home), clock=clock) as journal:
        journal.start_run(RUN, mode="record")
        for code, server in enumerate(("git", "git", "time")):
            session = journal.start_session(RUN, server=server, mode="record")
            session.close(exit_code=code)
        rows = journal.connection.rows("SELECT started_at FROM sessions ORDER BY id")
        started = [row[0] for row in rows]

    assert last_connected(home) == {
        ("git", ""): Connected(started[1], 1),
        ("time", ""): Connected(started[2], 2),
    }


def test_servers_of_one_name_in_two_configs_are_told_apart(tmp_path: Path) -> None:
    home = str(tmp_path)
    with Journal.open(journal_path(home)) as journal:
        journal.start_run(RUN, mode="record")
        for entry in (None, "a1"):
            journal.start_session(RUN, server="git", mode="record", config_entry=entry)

    assert list(last_connected(home)) == [("git", ""), ("git", "a1")]


def test_where_there_is_no_journal_none_is_made(tmp_path: Path) -> None:
    assert last_connected(str(tmp_path / "none")) == {}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("version", "servers"), [(0, []), (SCHEMA_VERSION, [("git", "")])])
def test_a_journal_is_read_as_it_is(
    tmp_path: Path, version: int, servers: list[tuple[str, str]]
) -> None:
    home = tmp_path / "a #1%20?b"
    path = Path(journal_path(str(home)))
    with Journal.open(str(path)) as journal:
        journal.start_run(RUN, mode="record")
        journal.start_session(RUN, server="git", mode="record").close(exit_code=0)
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA user_version={version}")
    before = path.read_bytes()

    assert list(last_connected(str(home))) == servers

    assert path.read_bytes() == before


def test_a_journal_that_somebody_is_about_to_make_is_left_to_them(tmp_path: Path) -> None:
    path = Path(journal_path(str(tmp_path)))
    path.touch()

    assert last_connected(str(tmp_path)) == {}
    assert path.read_bytes() == b""


def test_a_journal_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    Path(journal_path(str(tmp_path))).write_bytes(b"no database, but long enough" * 40)

    with pytest.raises(JournalError):
        last_connected(str(tmp_path))
