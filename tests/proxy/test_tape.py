"""Facts on their way into the journal: in order, each once, whichever thread brings them."""

import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sidecar.cassette.facts import Fact, Finished, Noted, Opened, Passed
from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.errors import JournalError
from sidecar.proxy.tape import agent_id_of
from tests.proxy.place import until
from tests.proxy.stage import WAIT_SECONDS, Stage

DONE = Response("result", '{"content":[]}')


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with closing(Stage(tmp_path)) as stage:
        yield stage


def called(number: int, tool: str = "t") -> Interaction:
    return Interaction(
        "raw", "tools/call", f'{{"name":"{tool}","arguments":{{"n":{number}}}}}', None
    )


def answered(number: int, *, more_rounds: bool = False) -> Finished:
    return Finished(number, called(number)._replace(response=DONE), more_rounds)


def facts(number: int) -> list[Fact]:
    return [Opened(number, called(number)), answered(number)]


def test_nothing_is_written_before_a_flush(stage: Stage) -> None:
    stage.tape.queue([Opened(0, called(0))])
    assert (stage.tape.waiting, stage.rows()) == (True, [])

    stage.tape.flush()

    assert not stage.tape.waiting
    assert [row.state for row in stage.rows()] == ["open"]


def test_a_request_and_its_answer_are_one_row(stage: Stage) -> None:
    stage.tape.queue(facts(0))
    stage.tape.queue([Opened(1, called(1))])
    stage.tape.flush()
    stage.tape.queue([answered(1)])
    stage.tape.flush()

    assert stage.interactions() == [called(0)._replace(response=DONE), called(1)._replace(
        response=DONE
    )]  # fmt: skip
    assert [row.state for row in stage.rows()] == ["answered"] * 2


def test_interactions_are_in_the_order_of_their_requests(stage: Stage) -> None:
    # The answer to the second comes first, before anything is written.
    stage.tape.queue([Opened(0, called(0))])
    stage.tape.queue([Opened(1, called(1))])
    stage.tape.queue([answered(1)])
    stage.tape.flush()
    stage.tape.queue([answered(0)])
    stage.tape.flush()

    assert [item.params for item in stage.interactions()] == [called(0).params, called(1).params]


def test_what_comes_after_an_answer_is_kept_with_it(stage: Stage) -> None:
    late = Passage("notifications/message", '{"data":"late"}')
    done = called(0)._replace(response=DONE)
    stage.tape.queue(facts(0))
    stage.tape.flush()
    stage.tape.queue([Passed(0, "after", 0, late)])
    stage.tape.flush()
    stage.tape.queue([Passed(0, "after", 1, late)])
    stage.tape.flush()

    assert stage.interactions() == [done._replace(after=(late, late))]


def test_what_comes_after_an_answer_is_written_once_however_much_it_is(stage: Stage) -> None:
    statements: list[str] = []
    stage.tape.queue(facts(0))
    stage.tape.flush()
    stage.journal.connection._sqlite.set_trace_callback(statements.append)
    asked = Passage("ping", asked=True)
    for position in range(20):
        for passage in (asked, asked._replace(reply=DONE)):
            stage.tape.queue([Passed(0, "after", position, passage)])
            stage.tape.flush()

    assert len([text for text in statements if "passages" in text]) == 40
    assert [item.after for item in stage.interactions()] == [(asked._replace(reply=DONE),) * 20]


def test_nothing_more_is_kept_of_what_was_answered_before_the_last(stage: Stage) -> None:
    late = Passage("notifications/message", '{"data":"late"}')
    for number in range(50):
        stage.tape.queue(facts(number))
        stage.tape.flush()
    stage.tape.queue([Passed(48, "after", 0, late)])
    stage.tape.flush()

    assert [item.after for item in stage.interactions()] == [()] * 50
    assert len(stage.tape._live._rows) == 1  # or a session of days would fill the memory


@pytest.mark.parametrize(
    ("count", "transactions"),
    [
        pytest.param(1, 0, id="a call is one statement, which needs none"),
        pytest.param(2, 1, id="two are one transaction"),
        pytest.param(30, 1, id="so are many"),
    ],
)
def test_what_came_at_once_is_written_at_once(stage: Stage, count: int, transactions: int) -> None:
    statements: list[str] = []
    for number in range(count):
        stage.tape.queue(facts(number))
    stage.journal.connection._sqlite.set_trace_callback(statements.append)
    stage.tape.flush()
    stage.journal.connection._sqlite.set_trace_callback(None)

    first_words = [statement.split()[0] for statement in statements]
    assert first_words.count("INSERT") == count
    assert (first_words.count("BEGIN"), first_words.count("COMMIT")) == (transactions,) * 2


def test_a_call_taken_back_is_noted(stage: Stage) -> None:
    stage.tape.queue([Opened(0, called(0)), Noted(0, called(0)._replace(cancelled=True))])
    stage.tape.queue([Finished(0, called(0)._replace(cancelled=True))])
    stage.tape.flush()

    assert [row.state for row in stage.rows()] == ["cancelled"]


def test_a_call_of_several_rounds_is_one_call(stage: Stage) -> None:
    stage.tape.queue([Opened(0, called(0)), answered(0, more_rounds=True)])
    stage.tape.queue([Opened(1, called(1), call=0), answered(1)])
    stage.tape.flush()

    first, second = stage.rows()
    assert (first.call, second.call) == (None, first.row)


def test_why_a_request_went_live_is_kept(stage: Stage) -> None:
    stage.tape.queue(facts(0), "unknown-tool: there is none")
    stage.tape.queue(facts(1))
    stage.tape.flush()

    assert [row.missed for row in stage.rows()] == ["unknown-tool: there is none", None]


def test_what_a_recording_answered_is_marked(stage: Stage) -> None:
    # A cassette that is extended must not hold it a second time.
    stage.tape.write([Opened(0, called(0), entry=4), answered(0)], 1)
    stage.tape.write([Opened(1, called(1)), answered(1)], 2)
    stage.tape.queue([Opened(0, called(2)), Finished(0, called(2)._replace(response=DONE))])
    stage.tape.flush()

    assert [(row.replayed, row.entry) for row in stage.rows()] == [
        (True, 4),
        (True, None),
        (False, None),
    ]


def test_facts_of_several_threads_are_all_written_once(stage: Stage) -> None:
    count = 3000
    done = threading.Event()

    def write() -> None:
        while not done.is_set():
            stage.tape.flush()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        writers = [threading.Thread(target=write) for _ in range(2)]
        for writer in writers:
            writer.start()
        for number in range(count):
            stage.tape.queue([Opened(number, called(number))])
            stage.tape.queue([answered(number)])
        done.set()
        for writer in writers:
            writer.join(WAIT_SECONDS)
    finally:
        sys.setswitchinterval(before)
    stage.tape.flush()

    assert not stage.tape.broken
    assert stage.interactions() == [
        called(number)._replace(response=DONE) for number in range(count)
    ]


def test_a_replays_transaction_and_a_live_servers_flush_do_not_lock_each_other(
    stage: Stage,
) -> None:
    stage.tape.queue(facts(0))
    flush = threading.Thread(target=stage.tape.flush, daemon=True)

    def replay() -> None:
        with stage.tape.session.transaction():
            flush.start()
            until(stage.tape._lock.locked)
            stage.tape.write(facts(1), 1)

    playing = threading.Thread(target=replay, daemon=True)
    playing.start()
    playing.join(WAIT_SECONDS)
    flush.join(WAIT_SECONDS)

    assert (playing.is_alive(), flush.is_alive()) == (False, False)
    assert len(stage.rows()) == 2


# --- a journal that breaks


def full(*_: object) -> None:
    raise JournalError("the disk is full", place="journal.db", hint="make room")


def test_a_write_that_fails_is_told_once_and_ends_the_recording(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(stage.tape.session, "add", full)
        for number in range(3):
            stage.tape.queue(facts(number))
            stage.tape.flush()
    stage.tape.queue(facts(3))
    stage.tape.flush()
    stage.tape.write(facts(4), 1)

    assert stage.tape.broken
    assert stage.rows() == []
    assert capfd.readouterr().err == (
        "mcp-sidecar: journal.db: the disk is full; make room; what follows is not recorded, "
        "and the run stays incomplete\n"
    )


def test_a_replay_is_told_that_its_write_failed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage.tape.session, "add", full)

    with pytest.raises(JournalError):
        stage.tape.write(facts(0), 1)


# --- who the agent is


@pytest.mark.parametrize(
    ("name", "fitted"),
    [
        ("claude-code", "claude-code"),
        ("a.b_c~d:e-1", "a.b_c~d:e-1"),
        ("My Agent / 日本", "My-Agent-----"),
        ("x" * 129, "x" * 128),
        ("\n", "-"),
        ("", "agent"),
    ],
)
def test_a_clients_name_is_made_to_fit(name: str, fitted: str) -> None:
    assert agent_id_of(name) == fitted


def test_the_first_client_that_says_its_name_names_the_agent(stage: Stage) -> None:
    for number, name in enumerate(["", "first", "second"]):
        params = f'{{"clientInfo":{{"name":"{name}"}}}}'
        stage.tape.queue([Opened(number, Interaction("raw", "initialize", params, None))])
        stage.tape.flush()

    rows = stage.journal.connection.rows("SELECT agent_id FROM sessions")
    assert rows == [("first",)]
