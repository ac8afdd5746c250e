"""Sessions of one server: which there are, and how they end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.cassette.redaction.redactor import Redactor
from sidecar.errors import JournalError
from sidecar.proxy.http.endpoint import Limits, ServeOptions
from sidecar.proxy.http.relay.recordings import Recordings
from sidecar.store import recorded
from sidecar.store.journal import Journal
from sidecar.wire.jsonrpc import read_line
from tests.proxy.http.relaying import RUN, request, result, until


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal.open(str(tmp_path / "journal.db")) as journal:
        journal.start_run(RUN, mode="record")
        yield journal


def begun(journal: Journal, agent_id: str | None = None) -> Recordings:
    options = ServeOptions((), "record", journal.path, RUN, agent_id=agent_id)
    return Recordings(options._replace(limits=Limits(sessions=2)), "up", journal, Redactor(b"salt"))


def sessions(journal: Journal) -> list[tuple[str, str | None]]:
    return journal.connection.rows("SELECT state, agent_id FROM sessions ORDER BY id")


def test_nothing_is_in_the_journal_before_something_is_recorded(journal: Journal) -> None:
    recordings = begun(journal)

    assert recordings.of("a") is None
    recordings.close()
    assert sessions(journal) == []


def test_a_session_begins_once_and_is_gone_when_it_has_ended(journal: Journal) -> None:
    recordings = begun(journal)
    first = recordings.begin("a")

    assert recordings.begin("a") is first is recordings.of("a")
    recordings.end("a")
    recordings.end("a")
    assert recordings.of("a") is None
    assert sessions(journal) == [("ended", None)]


def test_the_session_that_was_used_longest_ago_gives_way(journal: Journal) -> None:
    recordings = begun(journal)
    for name in ("a", "b"):
        recordings.begin(name)
    recordings.of("a")
    recordings.begin("c")

    assert (recordings.of("b"), sessions(journal)[1][0]) == (None, "ended")


async def test_what_is_open_at_the_end_was_not_answered(journal: Journal) -> None:
    recordings = begun(journal)
    recording = recordings.begin_unnamed()
    for message in read_line(request(1)) or ():
        recording.take(recording.recorder.from_client(message))
    recording.flush()
    assert [row.state for row in recorded.of_run(journal.connection, RUN)] == ["open"]

    recordings.close()
    assert [row.state for row in recorded.of_run(journal.connection, RUN)] == ["unanswered"]
    for message in read_line(result(1)) or ():
        recording.take(recording.recorder.from_server(message))
    recording.flush()
    assert [row.state for row in recorded.of_run(journal.connection, RUN)] == ["unanswered"]


async def test_what_was_heard_comes_before_its_answer(journal: Journal) -> None:
    recording = begun(journal).begin("a")
    recording.hear(read_line(request(1)) or ())
    for message in read_line(result(1)) or ():
        recording.take(recording.recorder.from_server(message))
    recording.flush()

    assert [row.state for row in recorded.of_run(journal.connection, RUN)] == ["answered"]


async def test_what_was_heard_is_written_by_a_flush(journal: Journal) -> None:
    recording = begun(journal).begin("a")
    recording.hear(read_line(request(1)) or ())
    recording.flush()

    assert [row.state for row in recorded.of_run(journal.connection, RUN)] == ["open"]


async def test_what_was_heard_is_written_though_nothing_follows(journal: Journal) -> None:
    recording = begun(journal).begin("a")
    recording.hear(read_line(request(1)) or ())

    await until(lambda: [row.state for row in recorded.of_run(journal.connection, RUN)] == ["open"])


def test_the_agent_has_the_name_that_it_is_given(journal: Journal) -> None:
    begun(journal, agent_id="core:a").begin("a")

    assert sessions(journal) == [("running", "core:a")]


async def test_a_session_that_could_not_be_written_did_not_end_in_order(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise JournalError("the disk is full")

    recordings = begun(journal)
    recording = recordings.begin("a")
    with monkeypatch.context() as patched:
        patched.setattr("sidecar.store.session.Session.add", full)
        for message in read_line(request(1)) or ():
            recording.take(recording.recorder.from_client(message))
        recording.flush()
    recordings.close()

    assert sessions(journal) == [("failed", None)]
    assert "the disk is full" in capfd.readouterr().err


async def test_sessions_that_the_journal_does_not_take_cost_the_recording_and_are_told_once(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise JournalError("the disk is full")

    recordings = begun(journal)
    with monkeypatch.context() as patched:
        patched.setattr(journal, "start_session", full)
        for recording in (recordings.begin("a"), recordings.shared, recordings.begin_unnamed()):
            recording.hear(read_line(request(1)) or ())
            assert recording.recorder.pending == ("1",)
            recording.take(recording.recorder.from_server((read_line(result(1)) or [])[0]))
            recording.flush()
        recordings.end("a")
    recordings.begin("b")
    recordings.close()

    # The run must not be taken for a complete one.
    assert sessions(journal) == [("ended", None), ("failed", None)]
    assert recorded.of_run(journal.connection, RUN) == []
    assert capfd.readouterr().err.count("the disk is full") == 1


def test_h10_an_event_came_before_only_on_its_own_exchanges_stream(journal: Journal) -> None:
    recording = begun(journal).shared
    one, other = object(), object()

    assert not recording.came_before("1", one)
    assert recording.came_before("1", one)
    assert not recording.came_before("1", other)
    assert recording.exchange_at("1") is other


def test_only_so_many_events_are_remembered(journal: Journal) -> None:
    recording = begun(journal).shared
    one = object()
    for number in range(10_000):
        recording.came_before(str(number), one)

    assert recording.exchange_at("0") is None
    assert recording.exchange_at("9999") is one
