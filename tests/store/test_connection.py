import json
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest

from sidecar.errors import JournalError
from sidecar.store.connection import APPLICATION_ID, SCHEMA_VERSION, Connection
from sidecar.store.journal import Journal
from tests.store.processes import python
from tests.store.samples import (
    OTHER_RUN,
    RUN,
    answered,
    call,
    finished,
    open_journal,
    opened,
    record,
    started,
)

COUNT = "SELECT count(*) FROM runs"


def _insert(connection: Connection, run: str) -> None:
    connection.run(
        "INSERT INTO runs (run_id, mode, state, started_at) VALUES (?, 'record', 'running', '')",
        (run,),
    )


def test_a_block_is_written_as_a_whole(journal: Journal) -> None:
    with journal.connection.transaction():
        _insert(journal.connection, RUN)
        with journal.connection.transaction():
            _insert(journal.connection, OTHER_RUN)
        assert _seen_by_others(journal) == 0

    assert _seen_by_others(journal) == 2


def test_a_block_with_an_error_leaves_nothing_and_takes_back_what_it_was_told(
    journal: Journal,
) -> None:
    undone: list[int] = []

    def block() -> None:
        with journal.connection.transaction():
            _insert(journal.connection, RUN)
            journal.connection.on_rollback(lambda: undone.append(1))
            journal.connection.on_rollback(lambda: undone.append(2))
            raise LookupError

    with pytest.raises(LookupError):
        block()

    assert undone == [2, 1]
    assert journal.connection.rows(COUNT) == [(0,)]


def test_what_is_written_is_not_taken_back_by_a_later_error(journal: Journal) -> None:
    undone: list[int] = []
    journal.connection.on_rollback(lambda: undone.append(0))  # outside: there is nothing to undo
    with journal.connection.transaction():
        _insert(journal.connection, RUN)
        journal.connection.on_rollback(lambda: undone.append(1))
    with pytest.raises(JournalError), journal.connection.transaction():
        _insert(journal.connection, RUN)

    assert undone == []
    assert journal.connection.rows(COUNT) == [(1,)]


def test_an_inner_error_that_is_caught_still_keeps_the_outer_block_from_being_written(
    journal: Journal,
) -> None:
    def block() -> None:
        with journal.connection.transaction():
            _insert(journal.connection, RUN)
            with pytest.raises(JournalError), journal.connection.transaction():
                journal.connection.run("INSERT INTO no_such_table VALUES (1)")

    with pytest.raises(JournalError, match="no_such_table"):
        block()

    assert journal.connection.rows(COUNT) == [(0,)]
    with journal.connection.transaction():
        _insert(journal.connection, OTHER_RUN)
    assert journal.connection.rows(COUNT) == [(1,)]


def test_threads_take_turns_and_see_no_half_block(journal: Journal) -> None:
    entered, leave = threading.Event(), threading.Event()
    seen: list[object] = []

    def slow() -> None:
        with journal.connection.transaction():
            _insert(journal.connection, RUN)
            entered.set()
            leave.wait(10)
            _insert(journal.connection, OTHER_RUN)

    def look() -> None:
        seen.extend(journal.connection.rows(COUNT))

    writer, reader = threading.Thread(target=slow), threading.Thread(target=look)
    writer.start()
    assert entered.wait(10)
    reader.start()
    leave.set()
    writer.join(10)
    reader.join(10)

    assert seen == [(2,)]


class _Interrupted:
    """A SQLite connection in which a signal's handler raises once, beside a statement."""

    def __init__(self, connection: sqlite3.Connection, statement: str, *, before: bool) -> None:
        self._connection = connection
        self._statement = statement
        self._before = before

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    def execute(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        interrupts = statement == self._statement
        if interrupts:
            self._statement = ""
        if interrupts and self._before:
            raise KeyboardInterrupt
        done = self._connection.execute(statement, values)
        if interrupts:
            raise KeyboardInterrupt
        return done


@pytest.mark.parametrize(
    ("statement", "before", "kept"),
    [
        pytest.param("BEGIN IMMEDIATE", True, 0, id="C11 before it begins"),
        pytest.param("BEGIN IMMEDIATE", False, 0, id="C11 as soon as it has begun"),
        pytest.param("COMMIT", True, 0, id="C11 before it is written"),
        pytest.param("COMMIT", False, 1, id="C11 as soon as it is written"),
    ],
)
def test_c11_a_signal_beside_a_block_leaves_it_whole_and_the_journal_usable(
    journal: Journal, statement: str, *, before: bool, kept: int
) -> None:
    undone: list[int] = []
    real = journal.connection._sqlite
    interrupted = _Interrupted(real, statement, before=before)
    journal.connection._sqlite = cast("sqlite3.Connection", interrupted)

    def block() -> None:
        with journal.connection.transaction():
            journal.connection.on_rollback(lambda: undone.append(1))
            _insert(journal.connection, RUN)

    with pytest.raises(KeyboardInterrupt):
        block()

    assert len(undone) == (1 if statement == "COMMIT" and not kept else 0)
    assert _seen_by_others(journal) == kept
    with journal.connection.transaction():
        _insert(journal.connection, OTHER_RUN)
    assert _seen_by_others(journal) == kept + 1


def test_rows_are_read_one_by_one_too(journal: Journal) -> None:
    with journal.connection.transaction():
        _insert(journal.connection, RUN)
        _insert(journal.connection, OTHER_RUN)

    rows = journal.connection.each("SELECT run_id FROM runs ORDER BY run_id")

    assert [next(rows), next(rows)] == [(RUN,), (OTHER_RUN,)]
    assert list(rows) == []


@pytest.mark.parametrize("read", ["rows", "each"])
def test_a_query_that_fails_is_explained(journal: Journal, read: str) -> None:
    with pytest.raises(JournalError, match="no such table"):
        list(getattr(journal.connection, read)("SELECT * FROM no_such_table"))


def test_closing_twice_does_no_harm(journal: Journal) -> None:
    journal.close()
    journal.close()


def test_a_locked_journal_is_explained_after_a_bounded_wait_and_then_usable(
    tmp_path: Path,
) -> None:
    journal = open_journal(tmp_path, patience_seconds=0.05)
    session = started(journal)
    other = sqlite3.connect(journal.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(JournalError, match="another program has the journal locked") as caught:
        record(session, answered(call()))

    assert caught.value.place == journal.path
    assert caught.value.hint
    other.execute("ROLLBACK")
    other.close()
    record(session, answered(call()))
    journal.close()


def test_a_journal_that_another_program_keeps_to_itself_is_explained(tmp_path: Path) -> None:
    open_journal(tmp_path).close()
    path = tmp_path / ".sidecar" / "journal.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")

    with pytest.raises(JournalError, match="another program has the journal locked"):
        open_journal(tmp_path, patience_seconds=0.05)

    other.close()


def test_a_newer_journal_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    open_journal(tmp_path).close()
    path = tmp_path / ".sidecar" / "journal.db"
    newer = sqlite3.connect(path)
    newer.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    newer.close()
    before = path.read_bytes()

    with pytest.raises(JournalError, match=r"newer than this program reads .*upgrade mcp-sidecar"):
        open_journal(tmp_path)

    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(b"just a text\n" * 100, "this is no SQLite database", id="a text"),
        pytest.param(b"\0" * 5000, "this is no SQLite database", id="zeros"),
        pytest.param(b"x", "this is no SQLite database", id="one letter"),
    ],
)
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / ".sidecar" / "journal.db"
    path.parent.mkdir()
    path.write_bytes(content)

    with pytest.raises(JournalError, match=f"{problem}.*move the file away"):
        open_journal(tmp_path)

    assert path.read_bytes() == content


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION])
def test_another_programs_database_is_refused_and_left_as_it_is(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / ".sidecar" / "journal.db"
    path.parent.mkdir()
    other = sqlite3.connect(path)
    other.executescript(f"CREATE TABLE bookmarks (id); PRAGMA user_version={version}")
    other.close()
    before = path.read_bytes()

    with pytest.raises(JournalError, match="belongs to another program"):
        open_journal(tmp_path)

    assert path.read_bytes() == before


def test_a_journal_may_be_named_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    journal = Journal.open("journal.db")

    assert journal.path == str(tmp_path / "journal.db")
    journal.close()


def test_an_empty_file_becomes_a_journal(tmp_path: Path) -> None:
    path = tmp_path / ".sidecar" / "journal.db"
    path.parent.mkdir()
    path.touch()

    journal = open_journal(tmp_path)

    assert journal.connection.rows("PRAGMA application_id") == [(APPLICATION_ID,)]
    journal.close()


def test_a_damaged_journal_is_explained(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    session = started(journal)
    for _ in range(50):
        record(session, answered(call()))
    journal.close()
    path = tmp_path / ".sidecar" / "journal.db"
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)  # all but the first page, which has the schema
    path.write_bytes(data)

    def use() -> None:
        journal = open_journal(tmp_path)
        try:
            journal.connection.rows("SELECT * FROM interactions")
        finally:
            journal.close()

    with pytest.raises(JournalError, match=r"the journal is damaged; move the file away"):
        use()


def test_a_journal_that_was_cut_off_is_explained(tmp_path: Path) -> None:
    open_journal(tmp_path).close()
    path = tmp_path / ".sidecar" / "journal.db"
    path.write_bytes(path.read_bytes()[:6000])

    def use() -> None:
        journal = open_journal(tmp_path)
        try:
            record(started(journal), answered(call()))
        finally:
            journal.close()

    with pytest.raises(JournalError, match="the journal is damaged"):
        use()


def test_a_folder_in_the_place_of_the_file_is_explained(tmp_path: Path) -> None:
    (tmp_path / ".sidecar" / "journal.db").mkdir(parents=True)

    with pytest.raises(JournalError, match="the journal cannot be") as caught:
        open_journal(tmp_path)

    assert caught.value.hint


def test_a_file_in_the_place_of_the_folder_is_explained(tmp_path: Path) -> None:
    (tmp_path / ".sidecar").write_text("mine", encoding="utf-8")

    with pytest.raises(JournalError, match="a file is in the place of the folder"):
        open_journal(tmp_path)

    assert (tmp_path / ".sidecar").read_text(encoding="utf-8") == "mine"


READ_ONLY = """
import os, sys
from sidecar.errors import JournalError
from sidecar.store import schema
from sidecar.store.journal import Journal
if os.geteuid() == 0:
    os.seteuid(65534)  # root may write everywhere; nobody may not
try:
    journal = Journal.open(sys.argv[1], patience_seconds=1)
    journal.start_run("local/01ARZ3NDEKTSV4RRFFQ69G5FAV", mode="record")
except JournalError as error:
    print(error)
"""


def test_a_folder_that_may_not_be_written_is_explained(readable_by_all: Path) -> None:
    readable_by_all.chmod(0o555)

    told = python(READ_ONLY, str(readable_by_all / ".sidecar" / "journal.db"))

    assert "the journal cannot be made (Permission denied)" in told
    assert "choose another one with --home" in told
    assert list(readable_by_all.iterdir()) == []


def test_a_journal_that_may_only_be_read_is_explained(readable_by_all: Path) -> None:
    journal = Journal.open(str(readable_by_all / "journal.db"))
    record(started(journal), answered(call()))
    journal.close()
    (readable_by_all / "journal.db").chmod(0o444)
    before = (readable_by_all / "journal.db").read_bytes()

    told = python(READ_ONLY, str(readable_by_all / "journal.db"))

    assert "the journal cannot be" in told
    assert "give yourself the right to write" in told
    assert (readable_by_all / "journal.db").read_bytes() == before


def test_a_disk_that_turns_read_only_is_explained(journal: Journal) -> None:
    """Simulated: SQLite answers as for a read-only file where `query_only` is set."""
    session = started(journal)
    journal.connection.rows("PRAGMA query_only=ON")

    with pytest.raises(JournalError, match="the journal cannot be written; give yourself"):
        record(session, answered(call()))

    journal.connection.rows("PRAGMA query_only=OFF")
    record(session, answered(call()))


def test_a_full_disk_is_explained_and_leaves_no_half_block(journal: Journal) -> None:
    """Simulated: SQLite answers as for a full disk where `max_page_count` is reached."""
    session = started(journal)
    row = opened(session, call())
    done = answered(call(), f'{{"content":"{"x" * 1_000_000}"}}')
    journal.connection.rows("PRAGMA max_page_count=60")

    with pytest.raises(JournalError, match="the disk is full; make room"):
        finished(session, row, done)

    states = "SELECT state, result FROM interactions"
    assert journal.connection.rows(states) == [("open", None)]
    assert journal.connection.rows("SELECT count(*) FROM events") == [(1,)]
    journal.connection.rows("PRAGMA max_page_count=100000")
    finished(session, row, done)
    assert done.response
    assert journal.connection.rows(states) == [("answered", done.response.text)]
    assert journal.connection.rows("SELECT count(*) FROM events") == [(2,)]


FULL = """
import json, os, resource, sys
from sidecar.errors import JournalError
from sidecar.store.journal import Journal
from tests.store.samples import RUN, answered, call, finished, opened, record, started

journal = Journal.open(sys.argv[1])
session = started(journal)
size = os.path.getsize(sys.argv[1] + "-wal") + 60_000
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
asked, told = call(), None
for count in range(1000):
    row = None
    try:
        row = opened(session, asked)
        finished(session, row, answered(asked))
    except JournalError as error:
        told = str(error)
        break
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
if row is not None:
    finished(session, row, answered(asked))
record(session, answered(asked))
events = journal.connection.rows("SELECT sequence FROM events ORDER BY sequence")
states = journal.connection.rows("SELECT state, count(*) FROM interactions GROUP BY state")
check = journal.connection.rows("PRAGMA integrity_check")
print(json.dumps([told, [row for row, in events], dict(states), check, count, row is not None]))
"""


def test_files_that_may_not_grow_are_explained_and_written_again_when_they_may(
    tmp_path: Path,
) -> None:
    told, events, states, check, count, halfway = json.loads(
        python(FULL, str(tmp_path / ".sidecar" / "journal.db"))
    )

    assert "the disk failed, or is full; see to the disk" in told
    assert 0 < count < 1000
    assert events == list(range(2 * (count + 1 + halfway)))
    assert states == {"answered": count + 1 + halfway}
    assert check == [["ok"]]


def test_an_older_journal_is_brought_up_to_date_and_keeps_what_it_has(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    record(started(journal), answered(call()))
    journal.close()
    path = tmp_path / ".sidecar" / "journal.db"
    older = sqlite3.connect(path)
    older.execute("PRAGMA user_version=0")
    older.close()

    journal = open_journal(tmp_path)

    assert journal.connection.rows("PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert journal.connection.rows("SELECT count(*) FROM events") == [(2,)]
    journal.close()


def test_a_journal_moved_with_its_wal_file_has_all_that_was_written(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    record(started(journal), answered(call()))
    shutil.copytree(tmp_path / ".sidecar", tmp_path / "copy" / ".sidecar")

    copied = open_journal(tmp_path / "copy")

    assert copied.connection.rows("SELECT count(*) FROM events") == [(2,)]
    copied.close()
    journal.close()


def _seen_by_others(journal: Journal) -> int:
    other = sqlite3.connect(journal.path)
    ((count,),) = other.execute(COUNT)
    other.close()
    return int(count)


@pytest.fixture
def readable_by_all() -> Iterator[Path]:
    """A folder that every user of the machine can reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="sidecar-test-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)
