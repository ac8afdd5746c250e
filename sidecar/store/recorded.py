"""Reads a run's interactions back from the journal, as they were written.

On the hot path: a proxy saves its cassette when it ends.
"""

from __future__ import annotations

from typing import NamedTuple

from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.store.connection import Connection, Row

_INTERACTIONS = (
    "SELECT id, state, missed, entry, replayed, call_id, started_at,"
    " (finished_ns - arrived_ns + 500000) / 1000000,"
    " server, method, params, result, error, cancelled, http_status"
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
        duration_ms: Whole milliseconds until the answer; None while it is open.
        interaction: What was seen.
    """

    row: int
    state: str
    missed: str | None
    entry: int | None
    replayed: bool
    call: int | None
    started_at: str
    duration_ms: int | None
    interaction: Interaction


def of_run(connection: Connection, run_id: str) -> list[Recorded]:
    """Read what a run's proxies saw, in the order in which requests reached them.

    Raises:
        JournalError: If the journal cannot be read.
    """
    passages = _passages(connection, run_id)
    return [
        _recorded(row, passages.get(row[0], {})) for row in connection.each(_INTERACTIONS, [run_id])
    ]


def _recorded(row: Row, passages: dict[str, list[Passage]]) -> Recorded:
    number, state, missed, entry, replayed, call, started, duration = row[:8]
    server, method, params, result, error, cancelled, http_status = row[8:]
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
    return Recorded(
        number, state, missed, entry, bool(replayed), call, started, duration, interaction
    )


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
