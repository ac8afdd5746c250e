"""Reads runs and their event logs from the journal."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from errno import ESRCH
from typing import Literal, NamedTuple, TypeAlias

from sidecar.errors import UsageError
from sidecar.store.connection import Row
from sidecar.store.event_log import CONTENT_OF, EVENTS_OF_LOG, TOOL_CALLED
from sidecar.store.ids import process_start, ulid_of
from sidecar.store.journal import Journal
from sidecar.suite.documents import dump_document, parse_summary
from sidecar.suite.summary import EvalSummary
from sidecar.wire.json_text import JsonValue, dump
from sidecar.wire.mcp import members_of

EVAL_MODE = "eval"
"""The mode of a run that is an evaluation, and no run of an agent."""

State: TypeAlias = Literal["running", "ended", "failed", "interrupted"]
"""`interrupted`: it was stopped, or killed, and nobody said how it ended."""

_RUNS = """
    SELECT run_id, mode, state, agent_id, cassette, command, input, output, exit_code, suite_id,
        task_id, trial_index, eval_run_id, started_at, ended_at, pid, pid_start
    FROM runs
"""
_SESSIONS = """
    SELECT server, mode, agent_id, state, exit_code, started_at, ended_at, pid, pid_start
    FROM sessions WHERE run_id = ? ORDER BY id
"""
_COUNTS = """
    SELECT coalesce(sum(method = 'tools/call' AND call_id IS NULL), 0),
        coalesce(sum(method = 'tools/call' AND NOT (replayed AND missed IS NOT NULL)
            AND (is_error = 1 OR state = 'unanswered')), 0),
        coalesce(sum(missed IS NOT NULL), 0)
    FROM interactions WHERE run_id = ?
"""
_NEWEST = "ORDER BY started_at DESC, rowid DESC LIMIT 1"
_NEXT_EVENT = "SELECT coalesce(max(id), 0) + 1 FROM lifecycle"
_ADD_EVENT = (
    "INSERT INTO lifecycle (run_id, at_ns, event_id, type, timestamp, causation_id, payload)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)


class SessionLine(NamedTuple):
    """What one proxy of a run was.

    Attributes:
        server: The server's name.
        mode: `record`, `replay`, `auto` or `passthrough`.
        agent_id: The agent that it saw; None if none said its name.
        state: How it ended.
        exit_code: The server's, if it ended by itself.
        started_at: ISO 8601.
        ended_at: ISO 8601; None if nobody saw the end.
    """

    server: str
    mode: str
    agent_id: str | None
    state: State
    exit_code: int | None
    started_at: str
    ended_at: str | None


class RunLine(NamedTuple):
    """A run, without what its proxies saw.

    Attributes:
        run_id: The run.
        mode: The mode that it began in.
        state: How it ended.
        agent_id: The agent; None if none said its name.
        cassette: The cassette that was named, as it was named.
        command: The agent's command as JSON text; None where the agent started us.
        input: What the agent was given.
        output: What the agent gave.
        exit_code: The agent's, if it ended by itself.
        suite_id: Of a trial, its suite.
        task_id: Of a trial, its task.
        trial_index: Of a trial, its number, from 0.
        eval_run_id: Of a trial, the evaluation's run.
        started_at: ISO 8601.
        ended_at: ISO 8601; None if nobody saw the end.
        sessions: What its proxies were, in the order in which they started.
        calls: How many tool calls were made; one of several rounds is one.
        errors: How many of them failed, or were never answered.
        misses: How many requests no recording answered, where one should have.
    """

    run_id: str
    mode: str
    state: State
    agent_id: str | None
    cassette: str | None
    command: str | None
    input: str | None
    output: str | None
    exit_code: int | None
    suite_id: str | None
    task_id: str | None
    trial_index: int | None
    eval_run_id: str | None
    started_at: str
    ended_at: str | None
    sessions: tuple[SessionLine, ...]
    calls: int
    errors: int
    misses: int

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers' names, each once, in the order in which they were started."""
        return tuple(dict.fromkeys(session.server for session in self.sessions))


def list_runs(journal: Journal, *, limit: int = -1) -> list[RunLine]:
    """List runs, the newest first.

    Args:
        journal: The journal.
        limit: How many at most; negative for all.

    Raises:
        JournalError: If the journal cannot be read.
    """
    query = f"{_RUNS} ORDER BY started_at DESC, rowid DESC LIMIT ?"
    return [_run(journal, row) for row in journal.connection.rows(query, (limit,))]


def one_run(journal: Journal, run_id: str) -> RunLine:
    """Read one run.

    Raises:
        JournalError: If the journal cannot be read.
        UsageError: If it has no such run.
    """
    rows = journal.connection.rows(f"{_RUNS} WHERE run_id = ?", (run_id,))
    if not rows:
        raise UsageError(
            f"the journal has no run {run_id}",
            place=journal.path,
            hint="`mcp-sidecar runs list` shows those it has",
        )
    return _run(journal, rows[0])


def run_ids(journal: Journal) -> list[str]:
    """List the ids of all runs, the oldest first.

    Raises:
        JournalError: If the journal cannot be read.
    """
    rows = journal.connection.rows("SELECT run_id FROM runs ORDER BY started_at, rowid")
    return [str(run_id) for (run_id,) in rows]


def last_recorded(journal: Journal, *, cassette: str | None = None) -> str | None:
    """Find the newest run that recorded; None if there is none.

    Args:
        journal: The journal.
        cassette: Only runs that were to be saved in this file; None for all.

    Raises:
        JournalError: If the journal cannot be read.
    """
    where = "mode IN ('record', 'auto') AND (:cassette IS NULL OR cassette = :cassette)"
    return _newest(journal, where, {"cassette": cassette})


def last_evaluation(journal: Journal) -> str | None:
    """Find the newest evaluation, none of its trials; None if there is none.

    Raises:
        JournalError: If the journal cannot be read.
    """
    return _newest(journal, "mode = :mode", {"mode": EVAL_MODE})


def open_sessions(journal: Journal, run_id: str) -> int:
    """Count the proxies of a run that still run; one that was killed does not.

    Raises:
        JournalError: If the journal cannot be read.
    """
    rows = journal.connection.rows(
        "SELECT pid, pid_start FROM sessions WHERE run_id = ? AND state = 'running'", (run_id,)
    )
    return sum(_is_alive(pid, start) for pid, start in rows)


def events(journal: Journal, run_id: str) -> Iterator[str]:
    """Write a run's event log: a line an event, whole, in order.

    The log of an evaluation holds the events of its trials.

    Arguments and results stand in it as they were spelt.

    Raises:
        JournalError: If the journal cannot be read.
    """
    for row in journal.connection.each(EVENTS_OF_LOG, {"log": run_id}):
        yield _event_line(row, _content(journal, kind=row[3], interaction=row[7]))


def add_event(
    journal: Journal,
    run_id: str,
    kind: str,
    payload: JsonValue,
    causation_id: str | None = None,
) -> str:
    """Add an event that is no call's to a run's log, as the last so far.

    Args:
        journal: The journal.
        run_id: The run.
        kind: The event's type, its v2 name.
        payload: Any JSON value.
        causation_id: The id of the event that caused it.

    Returns:
        The event's id.

    Raises:
        JournalError: If the journal cannot be written.
    """
    with journal.connection.transaction():
        ((row,),) = journal.connection.run(_NEXT_EVENT)
        event_id = f"{ulid_of(run_id)}.{row:06d}e"
        told = (event_id, kind, journal.clock.timestamp(), causation_id, dump(payload))
        journal.connection.run(_ADD_EVENT, (run_id, time.monotonic_ns(), *told))
    return event_id


def save_summary(journal: Journal, run_id: str, summary: EvalSummary) -> None:
    """Keep the summary of an evaluation; an earlier one of the same run is replaced.

    Raises:
        JournalError: If the journal cannot be written.
    """
    text = dump_document(summary)
    values = (run_id, summary.suite_id, summary.suite_version, text, journal.clock.timestamp())
    with journal.connection.transaction():
        journal.connection.run(
            "INSERT OR REPLACE INTO summaries"
            " (run_id, suite_id, suite_version, summary, saved_at) VALUES (?, ?, ?, ?, ?)",
            values,
        )


def summary_of(journal: Journal, run_id: str) -> EvalSummary | None:
    """Read the summary of an evaluation; None if there is none.

    Raises:
        JournalError: If the journal cannot be read.
        SuiteError: If what is kept is no summary.
    """
    rows = journal.connection.rows("SELECT summary FROM summaries WHERE run_id = ?", (run_id,))
    return parse_summary(rows[0][0], name=f"summary of {run_id}") if rows else None


def _newest(journal: Journal, where: str, values: Mapping[str, str | None]) -> str | None:
    rows = journal.connection.rows(f"SELECT run_id FROM runs WHERE {where} {_NEWEST}", values)
    return str(rows[0][0]) if rows else None


def _run(journal: Journal, row: Row) -> RunLine:
    *facts, pid, pid_start = row
    run_id, mode, said, *more, started_at, ended_at = facts
    command = more[2]
    sessions = tuple(_session(line) for line in journal.connection.rows(_SESSIONS, (run_id,)))
    state = _run_state(said, sessions, started_by_us=command is not None)
    if state is None:
        state = "running" if _is_alive(pid, pid_start) else "interrupted"
    ends = [session.ended_at for session in sessions if session.ended_at]
    ended_at = ended_at or (max(ends, default=None) if state != "running" else None)
    counts = journal.connection.rows(_COUNTS, (run_id,))[0]
    values = (run_id, mode, state, *more, started_at, ended_at, sessions, *counts)
    return RunLine._make(values)


def _session(row: Row) -> SessionLine:
    *values, pid, pid_start = row
    line = SessionLine._make(values)
    if line.state == "running" and not _is_alive(pid, pid_start):
        return line._replace(state="interrupted")
    return line


def _run_state(
    said: State, sessions: tuple[SessionLine, ...], *, started_by_us: bool
) -> State | None:
    """How a run ended; None if only the process that began it can tell."""
    if said != "running":
        return said
    states = {session.state for session in sessions}
    if "running" in states:
        return "running"
    if started_by_us or not sessions:
        return None
    # The agent started us: its run is over when its proxies are.
    return next((state for state in _WORST if state in states), "ended")


_WORST: tuple[State, ...] = ("interrupted", "failed")


def _is_alive(pid: int | None, start: str | None) -> bool:
    if pid is None:
        return False
    return process_start(pid) == start if start else _has_pid(pid)


def _has_pid(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return error.errno != ESRCH
    return True


def _content(journal: Journal, *, kind: str, interaction: int | None) -> str | None:
    """The text that an event's contents are in; None if it has none."""
    if interaction is None:
        return None
    rows = journal.connection.rows(CONTENT_OF[kind], (interaction,))
    text: str | None = rows[0][0] if rows else None
    if kind == TOOL_CALLED:
        return members_of(text).get("arguments", "{}")
    return text


def _event_line(row: Row, content: str | None) -> str:
    run_id, sequence, event_id, kind, timestamp, cause, payload, _ = row
    caused = "" if cause is None else f',"causationId":{dump(cause)}'
    if content is not None:
        name = "inputs" if kind == TOOL_CALLED else "outcome"
        payload = f'{payload[:-1]},"{name}":{content}}}'
    return (
        f'{{"eventId":{dump(event_id)},"runId":{dump(run_id)},"sequence":{sequence},'
        f'"type":{dump(kind)},"timestamp":{dump(timestamp)},"schemaVersion":1{caused},'
        f'"payload":{payload}}}'
    )
