"""The journal: what every run's proxies saw, written while it happens.

On the hot path: nothing here may import more than the standard library's `sqlite3`.
A write that returned is in the file, whatever kills the process next; a write that raised
left nothing, and may be tried again.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache

from sidecar.store.clock import SYSTEM_CLOCK, Clock
from sidecar.store.connection import PATIENCE_SECONDS, Connection
from sidecar.store.ids import process_start
from sidecar.store.session import Session
from sidecar.wire.typed import TYPE_CHECKING

__all__ = ["SYSTEM_CLOCK", "Clock", "Journal", "Session"]


if TYPE_CHECKING:
    from typing import Self, TypedDict, Unpack

    class RunFacts(TypedDict, total=False):
        """What may be known of a run when it starts; JSON values as their text."""

        agent_id: str | None
        cassette: str | None
        command: str | None
        input: str | None
        suite_id: str | None
        task_id: str | None
        trial_index: int | None
        eval_run_id: str | None


_FACTS = (
    "agent_id", "cassette", "command", "input", "suite_id", "task_id", "trial_index",
    "eval_run_id",
)  # fmt: skip
_START_RUN = (
    f"INSERT INTO runs (run_id, mode, state, pid, pid_start, started_at, {', '.join(_FACTS)})"
    f" VALUES (?, ?, 'running', ?, ?, ?{', ?' * len(_FACTS)}) ON CONFLICT (run_id) DO UPDATE SET "
    + ", ".join(f"{fact} = coalesce({fact}, excluded.{fact})" for fact in _FACTS)
)
_FINISH_RUN = (
    "UPDATE runs SET state = ?, exit_code = ?, output = coalesce(?, output), ended_at = ?"
    " WHERE run_id = ?"
)
_WATCHED_MODE = (
    "SELECT mode FROM runs WHERE run_id = ? AND command IS NOT NULL AND state = 'running'"
)
_START_SESSION = (
    "INSERT INTO sessions (run_id, server, mode, agent_id, config_entry, state, pid, pid_start,"
    " started_at) VALUES (?, ?, ?, ?, ?, 'running', ?, ?, ?)"
)


class Journal:
    """The journal of one process; its threads may share it. `with` closes it at the end."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self.connection = connection
        self.clock = clock

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @classmethod
    def open(
        cls,
        path: str,
        *,
        clock: Clock = SYSTEM_CLOCK,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> Journal:
        """Open a journal, and make it if there is none.

        Args:
            path: Its file.
            clock: Where time comes from.
            patience_seconds: How long to wait while another process writes.

        Raises:
            JournalError: If it can be neither opened nor made; what is there stays.
        """
        return cls(Connection.open(path, patience_seconds=patience_seconds), clock)

    @property
    def path(self) -> str:
        """The journal's file."""
        return self.connection.path

    def start_run(self, run_id: str, *, mode: str, **facts: Unpack[RunFacts]) -> None:
        """Note that a run exists; whichever of its processes is first makes it.

        What is known already stays; what was not is filled in.

        Raises:
            JournalError: If it cannot be written.
        """
        values = (*_process(), self.clock.timestamp(), *[facts.get(fact) for fact in _FACTS])
        with self.connection.transaction():
            self.connection.run(_START_RUN, (run_id, mode, *values))

    def finish_run(
        self,
        run_id: str,
        *,
        state: str,
        exit_code: int | None = None,
        output: str | None = None,
    ) -> None:
        """Note how a run ended.

        Args:
            run_id: The run.
            state: How its agent ended: `ended`, `failed` or `interrupted`.
            exit_code: The agent's, if it ended by itself.
            output: What the agent gave, as JSON text or plain text.

        Raises:
            JournalError: If it cannot be written.
        """
        values = (state, exit_code, output, self.clock.timestamp(), run_id)
        with self.connection.transaction():
            self.connection.run(_FINISH_RUN, values)

    def is_watched(self, run_id: str) -> bool:
        """Tell whether `mcp-sidecar` started the run's agent, and is there to speak of it.

        Raises:
            JournalError: If it cannot be read.
        """
        return self.watched_mode(run_id) is not None

    def watched_mode(self, run_id: str) -> str | None:
        """Tell in which mode `mcp-sidecar` runs the run's agent; None if it does not.

        Raises:
            JournalError: If it cannot be read.
        """
        rows = self.connection.rows(_WATCHED_MODE, (run_id,))
        return str(rows[0][0]) if rows else None

    def start_session(
        self,
        run_id: str,
        *,
        server: str,
        mode: str,
        agent_id: str | None = None,
        config_entry: str | None = None,
    ) -> Session:
        """Begin what one proxy sees of one server.

        Args:
            run_id: The run.
            server: The server's name.
            mode: What the proxy does.
            agent_id: The agent, if its name is known.
            config_entry: The id of the config's entry that started it, if a wrapped one did.

        Raises:
            JournalError: If it cannot be written.
        """
        values = (run_id, server, mode, agent_id, config_entry, *_process(), self.clock.timestamp())
        with self.connection.transaction():
            row = self.connection.run(_START_SESSION, values).lastrowid
        assert row is not None
        return Session(self.connection, self.clock, run_id, row=row)

    def close(self) -> None:
        """Close the file; more than once does no harm."""
        self.connection.close()


@lru_cache(maxsize=1)
def _process() -> tuple[int, str]:
    """This process: its pid, and since when it has it."""
    pid = os.getpid()
    # Elsewhere it takes another process to learn it; the pid alone must do.
    return pid, process_start(pid) if sys.platform == "linux" else ""
