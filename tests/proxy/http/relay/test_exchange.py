"""What the recorder is told of one exchange; over sockets it is tested in test_relay.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.cassette.redaction.redactor import Redactor
from sidecar.proxy.http.endpoint import ServeOptions
from sidecar.proxy.http.relay.exchange import Asked, Exchange, asked
from sidecar.proxy.http.relay.recordings import Recordings
from sidecar.store import cassettes, recorded
from sidecar.store.journal import Journal
from sidecar.wire.jsonrpc import Message, read_line
from tests.proxy.http.relaying import RUN, request, result

ERROR = b'{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"none"}}'


class Stage:
    """Recordings, and what they left in the journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        options = ServeOptions((), "record", journal.path, RUN)
        self.recordings = Recordings(options, "up", journal, Redactor(b"salt"))

    def exchange(
        self, body: bytes, session: str | None = None, *, modern: bool = False
    ) -> Exchange:
        return Exchange(self.recordings, Asked(read(body), session, modern))

    def complete(self) -> bool:
        """Whether the run is complete, once it has ended."""
        self.recordings.close()
        return cassettes.of_run(self._journal, RUN).complete

    def states(self) -> list[tuple[str, int | None]]:
        """How each interaction stands, and the HTTP status that it tells."""
        if self.recordings.of("s"):
            self.recordings.begin("s").flush()
        self.recordings.shared.flush()
        rows = recorded.of_run(self._journal.connection, RUN)
        return [(row.state, row.interaction.http_status) for row in rows]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Journal.open(str(tmp_path / "journal.db")) as journal:
        journal.start_run(RUN, mode="record")
        yield Stage(journal)


def read(body: bytes) -> list[Message]:
    return read_line(body) or []


@pytest.mark.parametrize(
    ("headers", "session", "modern"),
    [
        ({}, None, False),
        ({"Mcp-Session-Id": "s"}, "s", False),
        ({"Mcp-Session-Id": "s", "MCP-Protocol-Version": "2025-06-18"}, "s", False),
        ({"Mcp-Session-Id": "s", "MCP-Protocol-Version": "2026-07-28"}, None, True),
    ],
)
def test_n01_only_one_era_has_sessions(
    headers: dict[str, str], session: str | None, *, modern: bool
) -> None:
    seen = asked(headers, request())

    assert (seen.session_id, seen.modern) == (session, modern)


def test_what_cannot_be_read_asks_nothing() -> None:
    assert asked({}, b"{").messages == ()
    assert asked({}, b"").messages == ()


def test_listens_and_beginnings_are_told() -> None:
    assert asked({}, request(1, "subscriptions/listen")).listens
    assert asked({}, request(1, "initialize")).begins_session
    assert not asked({"Mcp-Session-Id": "s"}, request(1, "initialize")).begins_session


async def test_a_first_request_is_noted_when_its_answer_begins(stage: Stage) -> None:
    first = stage.exchange(request(1))
    assert stage.states() == []
    first.begun(200)
    assert stage.states() == [("open", None)]

    stage.exchange(request(2))
    assert stage.states() == [("open", None), ("open", None)]


@pytest.mark.parametrize("status", [401, 403, 404, 405, 407])
async def test_what_was_turned_away_at_the_door_is_not_recorded(stage: Stage, status: int) -> None:
    exchange = stage.exchange(request(1))
    exchange.begun(status)
    exchange.answered(())
    exchange.ended()

    assert stage.states() == []


async def test_a_refusal_that_is_an_answer_is_recorded_with_its_status(stage: Stage) -> None:
    exchange = stage.exchange(request(1))
    exchange.begun(403)
    exchange.answered(read(ERROR % b"1"))

    assert stage.states() == [("answered", 403)]


@pytest.mark.parametrize("ident", [b"null", b'"server-error"', b"99"])
async def test_an_error_that_names_no_request_is_the_only_ones(stage: Stage, ident: bytes) -> None:
    exchange = stage.exchange(request(1))
    exchange.begun(400)
    exchange.answered(read(ERROR % ident))
    exchange.ended()

    assert stage.states() == [("answered", 400)]


async def test_an_error_that_names_no_request_of_several_is_nobodys(stage: Stage) -> None:
    exchange = stage.exchange(b"[" + request(1) + b"," + request(2) + b"]")
    exchange.begun(400)
    exchange.answered(read(ERROR % b"null"))
    exchange.ended()

    assert stage.states() == [("unanswered", 400), ("unanswered", 400)]


@pytest.mark.parametrize(
    ("modern", "status", "told"),
    [(True, 404, None), (True, 200, 200), (False, 200, None), (False, 404, 404)],
)
async def test_a_status_is_kept_only_where_it_is_not_the_prescribed_one(
    stage: Stage, *, modern: bool, status: int, told: int | None
) -> None:
    exchange = stage.exchange(request(1), modern=modern)
    exchange.begun(status)
    exchange.answered(read(ERROR % b"1"))

    assert stage.states() == [("answered", told)]


@pytest.mark.parametrize("status", [200, 429, 500, 503])
async def test_r22_a_run_with_a_request_that_was_not_answered_is_not_complete(
    stage: Stage, status: int
) -> None:
    exchange = stage.exchange(request(1))
    exchange.begun(status)
    exchange.answered(())
    exchange.ended()

    assert stage.states() == [("unanswered", status if status >= 400 else None)]
    assert stage.complete() is False


async def test_r22_a_run_whose_client_went_is_complete(stage: Stage) -> None:
    exchange = stage.exchange(request(1), modern=True)
    exchange.begun(200)
    exchange.client_went()

    assert stage.complete() is True


async def test_what_was_accepted_may_be_answered_on_another_stream(stage: Stage) -> None:
    exchange = stage.exchange(request(1), "s")
    exchange.begun(202)
    exchange.answered(())
    exchange.ended()
    assert stage.states() == [("open", None)]

    stream = stage.exchange(b"", "s")
    stream.begun(200)
    stream.streamed(read(result(1)), None)
    assert stage.states() == [("answered", None)]


async def test_where_no_session_is_a_request_whose_client_went_is_over(stage: Stage) -> None:
    modern, older = stage.exchange(request(1), modern=True), stage.exchange(request(2))
    for exchange in (modern, older):
        exchange.begun(200)
        exchange.client_went()

    assert stage.states() == [("cancelled", None), ("unanswered", None)]
    assert stage.recordings.shared.recorder.pending == ()


async def test_h10_an_answer_is_taken_even_if_its_events_id_was_seen(stage: Stage) -> None:
    exchange = stage.exchange(request(1), "s")
    exchange.begun(200)
    exchange.streamed((), "0")
    assert exchange.resumable
    exchange.streamed(read(result(1)), "0")

    assert stage.states() == [("answered", None)]
