"""What one proxy process writes of one server, while it happens.

On the hot path: nothing here may import more than the standard library's `sqlite3`.
A write that returned is in the file, whatever kills the process next; a write that raised
left nothing, and may be tried again.
"""

from __future__ import annotations

from sidecar.cassette.facts import Phase
from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.store.clock import Clock
from sidecar.store.connection import Connection, Transaction
from sidecar.wire.typed import NamedTuple, TypeAlias

_FINISH_SESSION = "UPDATE sessions SET state = ?, exit_code = ?, ended_at = ? WHERE id = ?"
_ADD = (
    "INSERT INTO interactions (run_id, session_id, server, method, tool, state, is_error,"
    " error_code, missed, entry, call_id, more_rounds, replayed, cancelled, started_at,"
    " arrived_ns, finished_ns, params, result, error, http_status)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_FINISH = (
    "UPDATE interactions SET state = ?, is_error = ?, error_code = ?, missed = ?,"
    " more_rounds = ?, cancelled = ?, finished_ns = ?, result = ?, error = ?,"
    " http_status = ? WHERE id = ?"
)
_CANCEL = "UPDATE interactions SET cancelled = 1 WHERE id = ?"
_PASSAGE = "INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_CLAIMS = (
    "SELECT id, session_id, entry FROM interactions"
    " WHERE run_id = ? AND id > ? AND entry IS NOT NULL ORDER BY id"
)

_Passages: TypeAlias = tuple[tuple[Passage, ...], tuple[Passage, ...]]
_PHASES = ("during", "after")
_NONE: _Passages = ((), ())


class Kept(NamedTuple):
    """One interaction, and what the journal keeps beside it.

    Attributes:
        interaction: What was seen.
        arrived_ns: When the request came, on the machine's monotonic clock.
        finished_ns: When it was answered, or was known never to be; None while it is open.
        error_code: Of a call that failed: the event's error code.
        missed: Why no recording answered it, in words; with the error code
            `sidecar.fixture_miss` the miss was the answer, else the live server answered.
        entry: The index of the cassette's entry that it uses up; the other processes of the
            run see that claim at once.
        replayed: Whether a recording answered it, or refused: a cassette that is extended
            must not hold it a second time.
        call: The row of the first round, where it goes on with a call of several rounds.
        more_rounds: Whether its answer asks for another round of the call.
    """

    interaction: Interaction
    arrived_ns: int
    finished_ns: int | None = None
    error_code: str | None = None
    missed: str | None = None
    entry: int | None = None
    replayed: bool = False
    call: int | None = None
    more_rounds: bool = False

    @property
    def state(self) -> str:
        """`open`, or how the interaction ended."""
        return "open" if self.finished_ns is None else self.interaction.state


class Session:
    """What one proxy process writes about one server. Threads may share it."""

    def __init__(self, connection: Connection, clock: Clock, run_id: str, *, row: int) -> None:
        self.session_id = row
        self.run_id = run_id
        self._connection = connection
        self._clock = clock
        self._passages: dict[int, _Passages] = {}  # what is in the file already
        self._claims_seen = 0
        self._claims_made = 0
        self._others_seen: tuple[int, int] | None = None  # how far others had come at the last look

    def transaction(self) -> Transaction:
        """A block whose writes are kept together, or not at all; other processes wait.

        Raises:
            JournalError: On entering, if another process writes for longer than the
                patience lasts; on leaving, if the block cannot be written.
        """
        return self._connection.transaction()

    def set_agent_id(self, agent_id: str) -> None:
        """Name the agent; the run keeps the first name that it is given.

        Raises:
            JournalError: If it cannot be written.
        """
        with self._connection.transaction():
            self._connection.run(
                "UPDATE sessions SET agent_id = ? WHERE id = ?", (agent_id, self.session_id)
            )
            self._connection.run(
                "UPDATE runs SET agent_id = coalesce(agent_id, ?) WHERE run_id = ?",
                (agent_id, self.run_id),
            )

    def add(self, kept: Kept) -> int:
        """Write an interaction, open or finished; return its row.

        Raises:
            JournalError: If it cannot be written.
        """
        seen = kept.interaction
        result, error = _texts(seen.response)
        if kept.entry is not None:
            self._claims_made += 1
            self._connection.claims += 1
        values = (
            self.run_id,
            self.session_id,
            seen.server,
            seen.method,
            seen.tool if seen.is_tool_call else None,
            kept.state,
            int(seen.is_error),
            kept.error_code,
            kept.missed,
            kept.entry,
            kept.call,
            int(kept.more_rounds),
            int(kept.replayed),
            int(seen.cancelled),
            self._clock.timestamp(),
            kept.arrived_ns,
            kept.finished_ns,
            seen.params,
            result,
            error,
            seen.http_status,
        )
        if not seen.during and not seen.after:
            row = self._connection.write(_ADD, values).lastrowid
            assert row is not None
            return row
        with self._connection.transaction():
            row = self._connection.run(_ADD, values).lastrowid
            assert row is not None
            self._write_passages(row, seen)
        return row

    def finish(self, row: int, kept: Kept) -> None:
        """Write how an interaction that was added open has ended.

        Raises:
            JournalError: If it cannot be written.
        """
        seen = kept.interaction
        result, error = _texts(seen.response)
        failed, goes_on = int(seen.is_error), int(kept.more_rounds)
        state = (kept.state, failed, kept.error_code, kept.missed, goes_on, int(seen.cancelled))
        values = (*state, kept.finished_ns, result, error, seen.http_status, row)
        if not seen.during and not seen.after:
            self._connection.write(_FINISH, values)
            return
        with self._connection.transaction():
            self._connection.run(_FINISH, values)
            self._write_passages(row, seen)

    def note(self, row: int, interaction: Interaction) -> None:
        """Write anew what came besides the answer, and whether the request was taken back.

        Raises:
            JournalError: If it cannot be written.
        """
        with self._connection.transaction():
            if interaction.cancelled:
                self._connection.run(_CANCEL, (row,))
            self._write_passages(row, interaction)

    def add_passage(self, row: int, phase: Phase, position: int, passage: Passage) -> None:
        """Write one passage that came after the answer, or got its reply then.

        Raises:
            JournalError: If it cannot be written.
        """
        self._connection.write(_PASSAGE, (row, phase, position, *_passage_values(passage)))

    def let_go(self, row: int) -> None:
        """Forget what is known of a row; if more comes, all its passages are written again."""
        self._passages.pop(row, None)

    def served_by_others(self) -> list[int]:
        """The entries that other sessions of the run have used up since the last call.

        Raises:
            JournalError: If it cannot be read.
        """
        seen = self._claims_seen
        others = (self._connection.version(), self._connection.claims - self._claims_made)
        if others == self._others_seen:  # as at most calls: to look costs more than to write
            return []
        self._others_seen = others
        rows = self._connection.rows(_CLAIMS, (self.run_id, seen))
        if rows:
            self._claims_seen = rows[-1][0]
            # One's own claims, if taken back, leave their ids to another's.
            self._connection.on_rollback(lambda: setattr(self, "_claims_seen", seen))
        return [entry for _, session, entry in rows if session != self.session_id]

    def close(self, *, exit_code: int | None, state: str = "ended") -> None:
        """Note how the session ended.

        Args:
            exit_code: The server's, if it ended by itself.
            state: `ended` only if everything that was seen is written.

        Raises:
            JournalError: If it cannot be written.
        """
        values = (state, exit_code, self._clock.timestamp(), self.session_id)
        with self._connection.transaction():
            self._connection.run(_FINISH_SESSION, values)

    def _write_passages(self, row: int, interaction: Interaction) -> None:
        """Write those passages of an interaction that are new, or got their reply."""
        now = (interaction.during, interaction.after)
        if now == _NONE:
            return
        before = self._passages.get(row, _NONE)
        for phase, old, new in zip(_PHASES, before, now, strict=True):
            # Equal items are mostly the same ones, so this is one quick look at each.
            start = len(old) if new[: len(old)] == old else 0
            for position in range(start, len(new)):
                values = _passage_values(new[position])
                self._connection.run(_PASSAGE, (row, phase, position, *values))
        self._passages[row] = now
        self._connection.on_rollback(lambda: self._passages.__setitem__(row, before))


def _passage_values(passage: Passage) -> tuple[str | None, ...]:
    kind = "request" if passage.asked else "notification"
    return kind, passage.method, passage.params, *_texts(passage.reply)


def _texts(response: Response | None) -> tuple[str | None, str | None]:
    """The text of the result, and of the error."""
    if response is None:
        return None, None
    return (response.text, None) if response.member == "result" else (None, response.text)
