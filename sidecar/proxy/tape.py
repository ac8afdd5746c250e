"""Carries facts into the journal.

A request and its answer that come within the same moment are one write: a call to a quick
server costs one transaction, and a slow one's request is written while it is waited for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import nullcontext

from sidecar.cassette.facts import Fact, Finished, Noted, Opened, Passed
from sidecar.cassette.interaction import Interaction
from sidecar.cassette.outcome import error_code
from sidecar.errors import JournalError
from sidecar.proxy.streams import say
from sidecar.store.session import Kept, Session
from sidecar.wire.mcp import client_name
from sidecar.wire.typed import NamedTuple

_FEW = 2  # a request and its answer


class _Timed(NamedTuple):
    fact: Fact
    at_ns: int
    missed: str | None = None


class Tape:
    """One session's writer.

    A write that fails costs the recording, never the traffic: it is said once, nothing
    more is written, and the session does not end in order, so its run is incomplete.
    """

    def __init__(self, session: Session, *, names_agent: bool) -> None:
        """Wrap a session.

        Args:
            session: The journal's side.
            names_agent: Whether the client's own name becomes the events' agent id.
        """
        self.session = session
        self.broken = False
        self._names_agent = names_agent
        self._lock = threading.Lock()
        self._queue: list[_Timed] = []
        self._live = _Track(session, replayed=False)
        self._played = _Track(session, replayed=True)

    @property
    def waiting(self) -> bool:
        """Whether facts are queued that no `flush` has written yet."""
        return bool(self._queue)

    def queue(self, facts: Iterable[Fact], missed: str | None = None) -> None:
        """Take facts of a recorder; they are written by the next `flush`.

        Args:
            facts: In order; whoever calls keeps other threads from calling meanwhile.
            missed: Of requests that are answered live: why no recording answers them.
        """
        now = time.monotonic_ns()
        self._queue.extend([_Timed(fact, now, missed) for fact in facts])

    def flush(self) -> None:
        """Write all that is queued, by whichever thread it was, in one transaction."""
        with self._lock:
            batch = self._queue[:]
            del self._queue[: len(batch)]
            if not batch or self.broken:
                return
            # Each write is whole by itself; a block only makes many of them cheaper.
            many = len(batch) > _FEW
            try:
                with self.session.transaction() if many else nullcontext():
                    self._write(self._live, batch)
            except JournalError as error:
                self.give_up(error)

    def write(self, facts: Iterable[Fact], arrived_ns: int) -> None:
        """Write facts of a replayer, at once.

        Raises:
            JournalError: If they cannot be written.
        """
        now = time.monotonic_ns()
        batch = [_Timed(fact, arrived_ns if isinstance(fact, Opened) else now) for fact in facts]
        if batch and not self.broken:
            # Not under the lock of `flush`, which enters a transaction while it holds it.
            with self.session.transaction():
                self._write(self._played, batch)

    def give_up(self, error: JournalError) -> None:
        """Write nothing more; say so, once."""
        if self.broken:
            return
        self.broken = True
        say(f"{error}; what follows is not recorded, and the run stays incomplete")

    def end(self, *, exit_code: int | None, state: str) -> None:
        """Write what is queued, and end the session: as failed, if not all could be written."""
        self.flush()
        try:
            self.session.close(exit_code=exit_code, state="failed" if self.broken else state)
        except JournalError as error:
            say(str(error))

    def _write(self, track: _Track, batch: list[_Timed]) -> None:
        for timed in batch:
            if self._names_agent and isinstance(timed.fact, Opened):
                self._name_agent(timed.fact.interaction)
            track.take(timed)
        track.settle()

    def _name_agent(self, interaction: Interaction) -> None:
        name = client_name(interaction.method, interaction.params)
        if name:
            self._names_agent = False
            self.session.set_agent_id(agent_id_of(name))


class _Track:
    """Which rows the numbers of one source of facts have in the journal."""

    def __init__(self, session: Session, *, replayed: bool) -> None:
        self._session = session
        self._replayed = replayed
        self._rows: dict[int, int] = {}
        self._open: dict[int, Kept] = {}  # known, whether written or not
        self._last_finished: int | None = None

    def take(self, timed: _Timed) -> None:
        """Take a fact; what is finished is written at once."""
        match timed.fact:
            case Opened(number, interaction, call, entry):
                self._open[number] = Kept(
                    interaction,
                    timed.at_ns,
                    missed=timed.missed,
                    entry=entry,
                    replayed=self._replayed,
                    call=None if call is None else self._rows.get(call),
                )
            case Finished(number, interaction, more_rounds, code, missed):
                opened = self._open.pop(number)
                self._finish(
                    number,
                    opened._replace(
                        interaction=interaction,
                        finished_ns=timed.at_ns,
                        error_code=code or error_code(interaction),
                        missed=missed or opened.missed,
                        more_rounds=more_rounds,
                    ),
                )
            case Noted(number, interaction):
                self.settle()
                if number in self._rows:
                    self._session.note(self._rows[number], interaction)
            case Passed(number, phase, position, passage):
                self.settle()
                if number in self._rows:
                    self._session.add_passage(self._rows[number], phase, position, passage)

    def settle(self) -> None:
        """Write the requests that are still open, so that they are known of."""
        for number, kept in self._open.items():
            if number not in self._rows:
                self._rows[number] = self._session.add(kept)

    def _finish(self, number: int, kept: Kept) -> None:
        if number in self._rows:
            self._session.finish(self._rows[number], kept)
        else:
            self._rows[number] = self._session.add(kept)
        if not kept.more_rounds:
            self._let_go(number)

    def _let_go(self, number: int) -> None:
        """Forget what was finished before: only the last answered request may get more."""
        if self._last_finished is not None:
            row = self._rows.pop(self._last_finished, None)
            if row is not None:
                self._session.let_go(row)
        self._last_finished = number


def agent_id_of(name: str) -> str:
    """Make a client's name fit the pattern of agent ids, `[A-Za-z0-9._~:-]{1,128}`."""
    fitted = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "._~:-") else "-"
        for letter in name
    )
    return fitted[:128] or "agent"
