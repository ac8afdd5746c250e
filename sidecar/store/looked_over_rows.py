"""Masks in a run's rows what only the whole of them told, once the run is over.

Rows are written while it goes on, each masked with what was known by then. A value that was
shown to be a secret later is in clear in those before it.

On the hot path: a proxy does this when it ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.errors import JournalError
from sidecar.store import recorded
from sidecar.store.connection import Connection
from sidecar.store.ids import process_start
from sidecar.store.journal import Journal
from sidecar.store.recorded import Recorded

_MAX_REWRITTEN_BYTES = 64 * 1024 * 1024  # about a second, in which nobody else can write

_Change = tuple[str, tuple[object, ...]]
"""A statement and its values; the last one is what was there, so that nothing newer is lost."""


def looked_over(rows: Sequence[Recorded], masks: Redactor) -> list[Recorded]:
    """Mask what is told by all rows of a run together.

    Args:
        rows: They.
        masks: The redactor of the journal.
    """
    from sidecar.cassette.second_look import looked_over as look  # noqa: PLC0415  # no replay's

    found = look([row.interaction for row in rows], masks)
    return [row._replace(interaction=new) for row, new in zip(rows, found, strict=True)]


def look_over(journal: Journal, run_id: str, masks: Redactor) -> None:
    """Mask in the journal what is told by all rows of a run together, if it is over.

    Raises:
        JournalError: If the journal cannot be read or written.
    """
    if not _goes_on(journal.connection, run_id):
        rows = recorded.of_run(journal.connection, run_id)
        keep(journal, run_id, rows, looked_over(rows, masks))


def keep(
    journal: Journal, run_id: str, rows: Sequence[Recorded], masked: Sequence[Recorded]
) -> None:
    """Write rows of a run that were looked over, if it is over, and let no trace remain.

    Args:
        journal: The journal.
        run_id: The run.
        rows: As they are in the journal.
        masked: As they are to be.

    Raises:
        JournalError: If the journal cannot be read or written.
    """
    pairs = [(old, new) for old, new in zip(rows, masked, strict=True) if old != new]
    if not pairs or _goes_on(journal.connection, run_id):
        return
    connection = journal.connection
    connection.rows("PRAGMA secure_delete=ON")
    with connection.transaction():
        for old, new in pairs:
            for statement, values in _changes(connection, old, new.interaction):
                connection.run(statement, values)
    forget(journal)


def forget(journal: Journal) -> None:
    """See to it that what was replaced in a journal is in none of its files.

    A large journal is not written anew; parts of old rows may be left in it then. Where
    another process reads, what is left goes when the last one closes the file.
    """
    with suppress(JournalError):  # what was to be written is written
        if os.path.getsize(journal.path) <= _MAX_REWRITTEN_BYTES:
            journal.connection.rows("VACUUM")
        journal.connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")


def _goes_on(connection: Connection, run_id: str) -> bool:
    """Whether a process may still write rows of the run; one that was killed does not."""
    sessions = connection.rows(
        "SELECT pid, pid_start FROM sessions WHERE run_id = ? AND state = 'running'", (run_id,)
    )
    return any(not start or process_start(pid) == start for pid, start in sessions)


def _changes(connection: Connection, old: Recorded, new: Interaction) -> Iterator[_Change]:
    was = old.interaction
    where = "UPDATE interactions SET {0} = ? WHERE id = ? AND {0} = ?"
    yield from _changed(where, was, new, (old.row,))
    where = (
        "UPDATE passages SET {0} = ?"
        " WHERE interaction_id = ? AND phase = ? AND position = ? AND {0} = ?"
    )
    for phase, before, after in (
        ("during", was.during, new.during),
        ("after", was.after, new.after),
    ):
        if before == after:
            continue
        places = connection.rows(
            "SELECT position FROM passages WHERE interaction_id = ? AND phase = ?"
            " ORDER BY position",
            (old.row, phase),
        )
        for (place,), one, other in zip(places, before, after, strict=False):
            yield from _changed(where, one, other, (old.row, phase, place))


def _changed(
    where: str, old: Interaction | Passage, new: Interaction | Passage, key: tuple[object, ...]
) -> Iterator[_Change]:
    texts = [("params", old.params, new.params)]
    was, now = _answer(old), _answer(new)
    if was is not None and now is not None:
        texts.append((was.member, was.text, now.text))
    for column, before, after in texts:
        if before != after:
            yield where.format(column), (after, *key, before)


def _answer(item: Interaction | Passage) -> Response | None:
    return item.response if isinstance(item, Interaction) else item.reply
