"""The journal's SQLite file: opened, checked, written in transactions by many processes.

On the hot path: nothing here may import more than the standard library's `sqlite3`.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType

from sidecar.errors import JournalError
from sidecar.store.file_lock import FileLock
from sidecar.store.folders import make_home
from sidecar.wire.typed import Any, TypeAlias

SCHEMA_VERSION = 1
"""In the file's `user_version`; `sidecar.store.schema` makes it."""
APPLICATION_ID = 0x4D435053
"""In the file's `application_id` ("MCPS"), so that no other program's file is taken for ours."""

PATIENCE_SECONDS = 30.0
"""How long one process waits while another writes."""

Row: TypeAlias = tuple[Any, ...]
Values: TypeAlias = Sequence[object] | Mapping[str, object]
"""What stands for the `?`s, or the `:names`, of a statement."""

_TRY_MILLISECONDS = 4  # SQLite's own wait grows to 100 ms a try, and then others are faster
_MAGIC = b"SQLite format 3\0"
_CHECKPOINT_PAGES = 4000  # 16 MB; at SQLite's 1000, every 150th call would wait for the disk


class Connection:
    """One connection, used by several threads: whoever is in a transaction has it alone.

    Attributes:
        path: The file.
        claims: How many claims on recordings its sessions have made, or tried to.
    """

    def __init__(self, path: str, connection: sqlite3.Connection, patience_seconds: float) -> None:
        self.path = path
        self.claims = 0
        self._sqlite = connection
        self._patience_seconds = patience_seconds
        self._lock = threading.RLock()
        self._depth = 0
        self._failure: JournalError | None = None  # of a write inside the open transaction
        self._undo: list[Callable[[], None]] = []
        self._transaction = Transaction(self)

    @classmethod
    def open(cls, path: str, *, patience_seconds: float = PATIENCE_SECONDS) -> Connection:
        """Open the journal; make it, or bring it up to date, where that is needed.

        Raises:
            JournalError: If that is not possible. A file that is not ours, or newer, stays
                as it is.
        """
        path = os.path.abspath(path)
        try:
            if not _has_content(path):
                _prepare(path, patience_seconds)
            connection, version = _connected(path, patience_seconds)
            if version < SCHEMA_VERSION:
                connection.close()
                _prepare(path, patience_seconds)
                connection, _ = _connected(path, patience_seconds)
            connection.execute(f"PRAGMA busy_timeout={_TRY_MILLISECONDS}")
        except sqlite3.Error as error:
            raise explained(error, path) from error
        except OSError as error:
            raise _unusable(error, path) from error
        return cls(path, connection, patience_seconds)

    def transaction(self) -> Transaction:
        """A block that is written as a whole, or not at all; blocks may be nested.

        Raises:
            JournalError: On entering, if another process writes for longer than the
                patience lasts; on leaving, if the block cannot be written.
        """
        return self._transaction

    def run(self, statement: str, values: Values = ()) -> sqlite3.Cursor:
        """Run one statement inside a transaction, whose end explains an error of it."""
        try:
            return self._sqlite.execute(statement, values)
        except UnicodeEncodeError:
            # A lone surrogate, which JSON can spell and SQLite cannot hold.
            return self._sqlite.execute(statement, [_encodable(value) for value in values])

    def write(self, statement: str, values: Sequence[object]) -> sqlite3.Cursor:
        """Run one statement with the open block, or as a transaction of its own.

        Alone it costs two statements less than a block.

        Raises:
            JournalError: If it cannot be written.
        """
        with self._lock:
            if self._depth:
                return self.run(statement, values)
            try:
                return self._patiently(statement, values)
            except UnicodeEncodeError:
                return self._patiently(statement, [_encodable(value) for value in values])
            except sqlite3.Error as error:
                raise explained(error, self.path) from error

    def rows(self, statement: str, values: Values = ()) -> list[Row]:
        """Read all rows of a query.

        Raises:
            JournalError: If the file cannot be read.
        """
        with self._lock:
            try:
                return self._patiently(statement, values).fetchall()
            except sqlite3.Error as error:
                raise explained(error, self.path) from error

    def each(self, statement: str, values: Values = ()) -> Iterator[Row]:
        """Read the rows of a query one by one: each may hold megabytes.

        Raises:
            JournalError: If the file cannot be read.
        """
        try:
            with self._lock:
                cursor = self._patiently(statement, values)
            while True:
                with self._lock:
                    row = cursor.fetchone()
                if row is None:
                    return
                yield row
        except sqlite3.Error as error:
            raise explained(error, self.path) from error

    def version(self) -> int:
        """A number that changes whenever another connection has written to the file.

        Raises:
            JournalError: If the file cannot be read.
        """
        return int(self.rows("PRAGMA data_version")[0][0])

    def on_rollback(self, undo: Callable[[], None]) -> None:
        """Say what else to take back if the open transaction is not written; if one is."""
        with self._lock:
            if self._depth:
                self._undo.append(undo)

    def close(self) -> None:
        """Close the file; more than once does no harm."""
        with self._lock:
            self._sqlite.close()

    def _patiently(self, statement: str, values: Values = ()) -> sqlite3.Cursor:
        """Run a statement outside of a transaction; try again while another process writes."""
        end = 0.0
        while True:
            try:
                return self._sqlite.execute(statement, values)
            except sqlite3.OperationalError as error:
                now = time.monotonic()
                end = end or now + self._patience_seconds
                if now >= end or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise

    def _begin(self) -> None:
        self._lock.acquire()
        if not self._depth:
            try:
                self._patiently("BEGIN IMMEDIATE")
            except BaseException as error:
                self._roll_back()
                self._lock.release()
                if isinstance(error, sqlite3.Error):
                    raise explained(error, self.path) from error
                raise
        self._depth += 1

    def _end(self, error: BaseException | None) -> None:
        try:
            self._depth -= 1
            if error is not None:
                self._fail(error)
            elif self._depth == 0:
                self._commit()
        finally:
            self._lock.release()

    def _commit(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            self._roll_back()
            raise failure
        try:
            self._sqlite.execute("COMMIT")
        except BaseException as error:
            if self._sqlite.in_transaction or isinstance(error, sqlite3.Error):
                self._fail(error)
            # Else it is written: the error is a signal's, that came in just then.
            self._undo.clear()
            raise
        self._undo.clear()

    def _fail(self, error: BaseException) -> None:
        """Roll back at the outermost block; until then, see to it that nothing is written."""
        failure = explained(error, self.path) if isinstance(error, sqlite3.Error) else None
        if self._depth:
            # Without SQLite's help, the statements before the one that failed would stay.
            self._failure = failure or JournalError("a write failed", place=self.path)
        else:
            self._failure = None
            self._roll_back()
        if failure is not None:
            raise failure from error

    def _roll_back(self) -> None:
        try:
            if self._sqlite.in_transaction:
                self._sqlite.execute("ROLLBACK")
        except sqlite3.Error:
            pass  # after a full disk or a lost file SQLite has rolled back by itself
        while self._undo:
            self._undo.pop()()


class Transaction:
    """The context manager of `Connection.transaction`."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection._begin()  # noqa: SLF001  # one class in two, for the `with`

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection._end(error)  # noqa: SLF001


def connect(path: str, patience_seconds: float) -> sqlite3.Connection:
    """Connect to a journal as it is, in autocommit mode."""
    connection = sqlite3.connect(
        path, timeout=patience_seconds, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(f"PRAGMA wal_autocheckpoint={_CHECKPOINT_PAGES}")
    except BaseException:
        connection.close()
        raise
    return connection


def version_of(connection: sqlite3.Connection, path: str) -> int:
    """The version of an open journal; 0 where it is yet to be made.

    Raises:
        JournalError: If it is another program's, or newer than this version reads.
        sqlite3.Error: If it cannot be read.
    """
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    ((application,),) = connection.execute("PRAGMA application_id").fetchall()
    ((empty,),) = connection.execute("SELECT NOT EXISTS (SELECT 1 FROM sqlite_master)").fetchall()
    if empty:
        return 0
    if application != APPLICATION_ID:
        raise JournalError(
            "this SQLite database belongs to another program; it was left as it is",
            place=path,
            hint="move it away, or choose another folder with --home",
        )
    if version > SCHEMA_VERSION:
        raise JournalError(
            f"the journal is of version {version}, newer than this program reads "
            f"({SCHEMA_VERSION}); it was left as it is",
            place=path,
            hint="upgrade mcp-sidecar, or choose another folder with --home",
        )
    return int(version)


def explained(error: sqlite3.Error, path: str) -> JournalError:
    """Say in the user's words what SQLite met, and what to do."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    problem, hint = _REASONS.get(code, (f"SQLite failed ({error})", _MOVE))
    return JournalError(problem, place=path, hint=hint)


_MOVE = "move the file away, and a new one is made; or choose another folder with --home"
_REASONS = {
    sqlite3.SQLITE_BUSY: (
        "another program has the journal locked",
        "close what has it open (a SQLite shell or browser?), then try again",
    ),
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "make room, or choose a folder on another disk with --home",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk failed, or is full",
        "see to the disk, or choose a folder on another one with --home",
    ),
    sqlite3.SQLITE_READONLY: (
        "the journal cannot be written",
        "give yourself the right to write it, or choose another folder with --home",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "the journal cannot be opened",
        "give yourself the right to write the folder, or choose another one with --home",
    ),
    sqlite3.SQLITE_NOTADB: ("this is no SQLite database; it was left as it is", _MOVE),
    sqlite3.SQLITE_CORRUPT: ("the journal is damaged", _MOVE),
}


def _connected(path: str, patience_seconds: float) -> tuple[sqlite3.Connection, int]:
    connection = connect(path, patience_seconds)
    try:
        return connection, version_of(connection, path)
    except BaseException:
        connection.close()
        raise


def _has_content(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0
    except FileNotFoundError:
        return False


def _prepare(path: str, patience_seconds: float) -> None:
    """Make the file, or bring it up to date, in one process at a time."""
    make_home(os.path.dirname(path))
    with FileLock(path + ".lock", patience_seconds=patience_seconds):
        _make_file(path)
        connection = connect(path, patience_seconds)
        try:
            if version_of(connection, path) < SCHEMA_VERSION:
                # Imported here: sqlite_utils takes half a second, and one run in hundreds.
                from sidecar.store import schema  # noqa: PLC0415

                schema.migrate(connection)
        finally:
            connection.close()


def _make_file(path: str) -> None:
    """Make the file if there is none; SQLite gives the rights of it to those beside it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        head = os.read(descriptor, len(_MAGIC))
    finally:
        os.close(descriptor)
    # SQLite itself would take a short text for an empty database, and write over it.
    if head not in (b"", _MAGIC):
        problem, hint = _REASONS[sqlite3.SQLITE_NOTADB]
        raise JournalError(problem, place=path, hint=hint)


def _unusable(error: OSError, path: str) -> JournalError:
    place = error.filename if isinstance(error.filename, str) else path
    if isinstance(error, FileExistsError | NotADirectoryError):
        return JournalError(
            "a file is in the place of the folder that holds the journal",
            place=place,
            hint="move it away, or choose another folder with --home",
        )
    return JournalError(
        f"the journal cannot be made ({error.strerror})",
        place=place,
        hint="give yourself the right to write the folder, or choose another one with --home",
    )


def _encodable(value: object) -> object:
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "backslashreplace").decode()
