"""Reads a run's interactions back from the journal, as they were written.

On the hot path: a proxy saves its cassette when it ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.store.connection import Connection, Row
from sidecar.wire.typed import NamedTuple

_INTERACTIONS = (
    "SELECT id, state, missed, entry, replayed, call_id, started_at,"
    " arrived_ns, finished_ns,"
    " server, method, params, result, error, cancelled, http_status, session_id"
    " FROM interactions WHERE run_id = ? ORDER BY arrived_ns, id"
)
_PASSAGES = (
    "SELECT interaction_id, phase, kind, method, params, result, error FROM passages"
    " WHERE interaction_id IN (SELECT id FROM interactions WHERE run_id = ?)"
    " ORDER BY interaction_id, phase, position"
)


class Recorded(NamedTuple):
    """One row of a run.

    Attributes:
        row: Its number in the journal; a call's id is `call-` and the number of its first.
        state: `open`, `answered`, `cancelled` or `unanswered`.
        missed: Why no recording answered it, in words; None if one did, or none was asked.
        entry: The index of the cassette's entry that it used up; None if none.
        replayed: Whether a recording answered it, or refused.
        call: The row of the call's first round, if it is a later one.
        started_at: ISO 8601.
        span: When it arrived and was finished, on the machine's monotonic clock, in
            nanoseconds; None while it is open.
        interaction: What was seen.
    """

    row: int
    state: str
    missed: str | None
    entry: int | None
    replayed: bool
    call: int | None
    started_at: str
    span: tuple[int, int] | None
    interaction: Interaction

    @property
    def duration_ms(self) -> int | None:
        """Whole milliseconds until the answer; None while it is open."""
        return self.span and (self.span[1] - self.span[0] + 500_000) // 1_000_000


def of_run(connection: Connection, run_id: str) -> list[Recorded]:
    """Read what a run's proxies saw, in the order in which requests reached them.

    The sessions of each server are numbered in that order, too.

    Raises:
        JournalError: If the journal cannot be read.
    """
    passages = _passages(connection, run_id)
    numbers: dict[str, dict[int, int]] = {}
    found = []
    for row in connection.each(_INTERACTIONS, [run_id]):
        one = _recorded(row, passages.get(row[0], {}))
        of_server = numbers.setdefault(one.interaction.server, {})
        session = of_server.setdefault(row[-1], len(of_server))
        found.append(one._replace(interaction=one.interaction._replace(session=session)))
    return found


def following(rows: Sequence[Recorded], base: Sequence[Interaction]) -> list[Recorded]:
    """Take what no recording answered, and number its sessions after a cassette's.

    A session that was served calls of the cassette goes on with the first call's session.
    One in which nothing else was answered has nothing to add: its server could not start,
    and a cassette would say ever after that it never answers.

    Args:
        rows: Of a run.
        base: What the cassette held before.
    """
    numbers: dict[tuple[str, int], int] = {}
    for row in rows:
        if row.entry is not None and row.entry < len(base) and row.interaction.is_tool_call:
            numbers.setdefault(_session_of(row), base[row.entry].session)
    following: dict[str, int] = {}
    for item in base:
        following[item.server] = max(following.get(item.server, 0), item.session + 1)
    live = [row for row in rows if not row.replayed]
    answering = {_session_of(row) for row in live if row.interaction.response is not None}
    found = []
    for row in live:
        key = _session_of(row)
        if key not in answering:
            continue
        if key not in numbers:
            numbers[key] = following.get(key[0], 0)
            following[key[0]] = numbers[key] + 1
        found.append(row._replace(interaction=row.interaction._replace(session=numbers[key])))
    return found


def _session_of(row: Recorded) -> tuple[str, int]:
    return row.interaction.server, row.interaction.session


def _recorded(row: Row, passages: dict[str, list[Passage]]) -> Recorded:
    number, state, missed, entry, replayed, call, started, arrived_ns, finished_ns = row[:9]
    server, method, params, result, error, cancelled, http_status = row[9:-1]
    interaction = Interaction(
        server,
        method,
        params,
        _response(result, error),
        during=tuple(passages.get("during", ())),
        after=tuple(passages.get("after", ())),
        cancelled=bool(cancelled) and result is None and error is None,
        http_status=http_status,
    )
    span = None if finished_ns is None else (arrived_ns, finished_ns)
    return Recorded(number, state, missed, entry, bool(replayed), call, started, span, interaction)


def _passages(connection: Connection, run_id: str) -> dict[int, dict[str, list[Passage]]]:
    found: dict[int, dict[str, list[Passage]]] = {}
    for row in connection.each(_PASSAGES, [run_id]):
        interaction, phase, kind, method, params, result, error = row
        passage = Passage(method, params, kind == "request", _response(result, error))
        found.setdefault(interaction, {}).setdefault(phase, []).append(passage)
    return found


def _response(result: str | None, error: str | None) -> Response | None:
    if result is not None:
        return Response("result", result)
    return None if error is None else Response("error", error)
