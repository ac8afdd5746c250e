"""Makes a journal in processes that are killed, each at a later statement, until one is not.

After each the journal must be one that can be made, and used. Run with an empty folder; the
number of statements goes to standard output. A program of its own, since it forks.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import sidecar.store.schema  # noqa: F401  # before the forks, which would each import it again
from sidecar.store.journal import Journal

_connect: Callable[..., sqlite3.Connection] = sqlite3.connect


def main(folder: str) -> None:
    statement = 0
    died = True
    while died:
        path = str(Path(folder, str(statement), "journal.db"))
        died = _dies(path, statement)
        with Journal.open(path) as journal:
            journal.start_run("local/01K0000000000000000000000A", mode="record")
            assert journal.connection.rows("PRAGMA integrity_check") == [("ok",)]
        statement += 1
    os.write(1, b"%d\n" % statement)


def _dies(path: str, statement: int) -> bool:
    """Make the journal in a child that is killed as it begins its n-th statement."""
    child = os.fork()
    if not child:
        try:
            _die_at(statement)
            Journal.open(path).close()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _die_at(statement: int) -> None:
    left = statement

    def count(_text: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def connected(*arguments: object, **options: object) -> sqlite3.Connection:
        connection = _connect(*arguments, **options)
        connection.set_trace_callback(count)
        return connection

    sqlite3.connect = connected  # type: ignore[assignment]  # in this child alone


if __name__ == "__main__":
    main(*sys.argv[1:])
