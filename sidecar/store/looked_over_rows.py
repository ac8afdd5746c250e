"""Masks in a run's rows what only the whole of them told, once the run is over.

Rows are written while it goes on, each masked with what was known by then. A value that was
shown to be a secret later is in clear in those before it, in why a request missed, and in
what the agent was given and gave.

On the hot path: a proxy does this when it ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain

from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cassette.texts import Change
from sidecar.errors import JournalError
from sidecar.store import recorded
from sidecar.store.connection import Connection
from sidecar.store.ids import process_start
from sidecar.store.journal import Journal
from sidecar.store.recorded import Recorded
from sidecar.wire.json_text import join, members
from sidecar.wire.typed import NamedTuple

_MAX_REWRITTEN_BYTES = 64 * 1024 * 1024  # about a second, in which nobody else can write

_FACTS = (
    ("runs", "rowid", "command"),
    ("runs", "rowid", "input"),
    ("runs", "rowid", "output"),
    ("lifecycle", "id", "payload"),
)
_EXTENSION = "x-"  # of a payload's members, those that are not the protocol's hold contents
_COMMANDS_OF_TRIALS = "SELECT command FROM runs WHERE eval_run_id = ? AND command IS NOT NULL"
_CUT_WORD = r'[^\s"]+…'

_Update = tuple[str, tuple[object, ...]]
"""A statement and its values; the last one is what was there, so that nothing newer is lost."""


class SecondLook(NamedTuple):
    """What a second look at a run comes to.

    Attributes:
        before: What its proxies saw, as it is in the journal.
        rows: The same, masked by what the whole of the run tells.
        facts: What is to be changed of the rest that is kept of the run.
        look: Masks what is told in any other text of the run.
    """

    before: Sequence[Recorded]
    rows: list[Recorded]
    facts: Sequence[_Update]
    look: Change


def second_look(journal: Journal, run_id: str, masks: Redactor) -> SecondLook:
    """Look at all that is kept of a run; nothing is written.

    Args:
        journal: The journal.
        run_id: The run.
        masks: The redactor of the journal.

    Raises:
        JournalError: If the journal cannot be read.
    """
    from sidecar.cassette.second_look import looked_over  # noqa: PLC0415  # not at the start

    rows = recorded.of_run(journal.connection, run_id)
    facts = list(_facts(journal.connection, run_id))
    commands = journal.connection.rows(_COMMANDS_OF_TRIALS, (run_id,))
    beside = chain((fact.text for fact in facts), (text for (text,) in commands))
    found, look = looked_over([row.interaction for row in rows], masks, beside=beside)
    masked = [_looked_at(row, new, look) for row, new in zip(rows, found, strict=True)]
    return SecondLook(rows, masked, [one for fact in facts for one in fact.changed(look)], look)


def look_over(journal: Journal, run_id: str, masks: Redactor) -> Change:
    """Mask in the journal what is told by all that is kept of a run, if it is over.

    Returns:
        What masks the same in other texts of the run.

    Raises:
        JournalError: If the journal cannot be read or written.
    """
    looked = second_look(journal, run_id, masks)
    keep(journal, run_id, looked)
    return looked.look


def keep(journal: Journal, run_id: str, looked: SecondLook) -> None:
    """Write what a second look masked, and let no trace remain of what was there.

    While a proxy of the run still writes, what proxies saw stays as it is.

    Raises:
        JournalError: If the journal cannot be read or written.
    """
    connection = journal.connection
    updates = list(looked.facts)
    pairs = [pair for pair in zip(looked.before, looked.rows, strict=True) if pair[0] != pair[1]]
    if pairs and not _goes_on(connection, run_id):
        updates += [one for pair in pairs for one in _changes(connection, *pair)]
    if not updates:
        return
    connection.rows("PRAGMA secure_delete=ON")
    with connection.transaction():
        for statement, values in updates:
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


class _Fact(NamedTuple):
    """A text that is kept of a run beside what its proxies saw, and where."""

    table: str
    key: str
    column: str
    row: int
    text: str

    def changed(self, look: Change) -> Iterator[_Update]:
        """Mask what is told in it."""
        new = _payload(self.text, look) if self.column == "payload" else look(self.text)
        if new != self.text:
            table, key, column = self[:3]
            statement = f"UPDATE {table} SET {column} = ? WHERE {key} = ? AND {column} = ?"
            yield statement, (new, self.row, self.text)


def _facts(connection: Connection, run_id: str) -> Iterator[_Fact]:
    for table, key, column in _FACTS:
        query = f"SELECT {key}, {column} FROM {table} WHERE run_id = ?"
        for row, text in connection.rows(query, (run_id,)):
            if text is not None:
                yield _Fact(table, key, column, row, text)


def _payload(text: str, look: Change) -> str:
    found = members(text) or {}
    new = {
        name: look(item) if name.startswith(_EXTENSION) else item for name, item in found.items()
    }
    return text if new == found else join(new)


def _looked_at(row: Recorded, interaction: Interaction, look: Change) -> Recorded:
    missed = row.missed and look(row.missed)
    if missed and interaction.params != row.interaction.params:
        # It shows the beginnings of long arguments: a secret may have been cut.
        missed = compiled(_CUT_WORD).sub("…", missed)
    return row._replace(interaction=interaction, missed=missed)


def _changes(connection: Connection, old: Recorded, looked: Recorded) -> Iterator[_Update]:
    was, new = old.interaction, looked.interaction
    where = "UPDATE interactions SET {0} = ? WHERE id = ? AND {0} = ?"
    yield from _changed(where, was, new, (old.row,))
    if looked.missed != old.missed:
        yield where.format("missed"), (looked.missed, old.row, old.missed)
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
) -> Iterator[_Update]:
    texts = [("params", old.params, new.params)]
    was, now = _answer(old), _answer(new)
    if was is not None and now is not None:
        texts.append((was.member, was.text, now.text))
    for column, before, after in texts:
        if before != after:
            yield where.format(column), (after, *key, before)


def _answer(item: Interaction | Passage) -> Response | None:
    return item.response if isinstance(item, Interaction) else item.reply
