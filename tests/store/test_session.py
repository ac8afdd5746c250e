import json
import os
import threading
from pathlib import Path

import pytest

from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.errors import JournalError
from sidecar.store import recorded
from sidecar.store.journal import Journal
from sidecar.store.session import Kept
from tests.store.samples import (
    NOON_TEXT,
    OTHER_RUN,
    RUN,
    answered,
    call,
    failed,
    finished,
    open_journal,
    opened,
    record,
    request,
    started,
)

NOTICE = Passage("notifications/message", '{"data":1}')
QUESTION = Passage("elicitation/create", '{"message":"?"}', asked=True)
REPLY = QUESTION._replace(reply=Response("result", '{"action":"accept"}'))


def interactions(journal: Journal, run: str = RUN) -> list[Interaction]:
    return [row.interaction for row in recorded.of_run(journal.connection, run)]


def states(journal: Journal) -> list[str]:
    return [row.state for row in recorded.of_run(journal.connection, RUN)]


def test_a_large_result_is_kept_once(journal: Journal) -> None:
    text = json.dumps({"content": [{"type": "text", "text": "x" * 5_000_000}]})
    record(started(journal), answered(call(), text))
    size = sum(os.path.getsize(journal.path + end) for end in ("", "-wal"))  # noqa: PTH202

    assert 5_000_000 < size < 5_500_000


def test_c02_what_was_spelt_is_kept_as_it_was_spelt(journal: Journal) -> None:
    blob = "".join(map(chr, range(0x20, 0x7F))).replace("\\", "").replace('"', "")
    spelt = f'{{"e":1e2, "f":1.0,"long":{"9" * 40},"u":"\\u00e9é\\ud83d\\ude00","b":"{blob}"}}'
    interaction = answered(call(arguments=spelt), spelt)._replace(
        during=(Passage("a", spelt), REPLY), after=(Passage("b", spelt),)
    )
    session = started(journal)
    record(session, interaction)
    finished(session, opened(session, interaction._replace(response=None)), interaction)

    assert interactions(journal) == [interaction, interaction]


def test_a_lone_surrogate_stops_nothing(journal: Journal) -> None:
    odd = answered(request("odd/\ud800"))._replace(during=(Passage("\ud800"),))
    record(started(journal), odd)

    (kept,) = interactions(journal)
    assert (kept.method, kept.during) == ("odd/\\ud800", (Passage("\\ud800"),))


def test_what_came_between_is_kept_with_its_interaction_in_order(journal: Journal) -> None:
    session = started(journal)
    asked = request("tools/list")._replace(during=(NOTICE,))
    row = opened(session, asked)
    done = answered(asked)._replace(during=(NOTICE, QUESTION, NOTICE))
    finished(session, row, done)
    later = done._replace(during=(NOTICE, REPLY, NOTICE), after=(NOTICE,))
    session.note(row, later)
    last = later._replace(after=(NOTICE, QUESTION))
    session.note(row, last)

    assert interactions(journal) == [last]


def test_what_comes_after_an_answer_can_be_written_one_by_one(journal: Journal) -> None:
    session = started(journal)
    done = answered(request("tools/list"))._replace(during=(QUESTION,))
    row = record(session, done)
    session.add_passage(row, "after", 0, NOTICE)
    session.add_passage(row, "after", 1, QUESTION)
    session.add_passage(row, "during", 0, REPLY)

    assert interactions(journal) == [done._replace(during=(REPLY,), after=(NOTICE, QUESTION))]


def test_a_note_for_a_row_that_was_let_go_is_kept_too(journal: Journal) -> None:
    session = started(journal)
    first = answered(request("a"))._replace(during=(NOTICE,))
    row = record(session, first)
    session.let_go(row)
    session.let_go(row)

    session.note(row, first._replace(after=(QUESTION,)))
    session.note(row, first._replace(after=(REPLY, NOTICE)))

    assert interactions(journal) == [first._replace(after=(REPLY, NOTICE))]


def test_what_was_let_go_is_forgotten_or_ten_thousand_calls_would_fill_the_memory(
    journal: Journal,
) -> None:
    session = started(journal)
    with session.transaction():
        for _ in range(300):
            session.let_go(record(session, answered(call())._replace(after=(NOTICE,))))

    assert len(session._passages) == 0


def test_a_request_that_was_taken_back_is_known_before_it_ends(journal: Journal) -> None:
    session = started(journal)
    session.note(opened(session, call()), call()._replace(cancelled=True))

    (row,) = recorded.of_run(journal.connection, RUN)
    assert (row.state, row.interaction) == ("open", call()._replace(cancelled=True))


@pytest.mark.parametrize("at_once", [True, False], ids=["written at once", "written in two"])
@pytest.mark.parametrize(
    ("interaction", "state"),
    [
        pytest.param(answered(call()), "answered", id="answered"),
        pytest.param(failed(call()), "answered", id="an error"),
        pytest.param(call(), "unanswered", id="S11 unanswered"),
        pytest.param(call()._replace(cancelled=True), "cancelled", id="cancelled"),
    ],
)
def test_a_row_says_how_its_request_ended(
    journal: Journal, interaction: Interaction, state: str, *, at_once: bool
) -> None:
    session = started(journal)
    if at_once:
        record(session, interaction)
    else:
        row = opened(session, interaction._replace(response=None, cancelled=False))
        assert states(journal) == ["open"]
        finished(session, row, interaction)

    (found,) = recorded.of_run(journal.connection, RUN)
    assert (found.state, found.interaction) == (state, interaction)


def test_the_agent_is_named_when_it_is_known_and_the_run_keeps_the_first_name(
    journal: Journal,
) -> None:
    started(journal).set_agent_id("claude")
    other = journal.start_session(RUN, server="time", mode="record", agent_id="given")
    other.set_agent_id("second")

    query = journal.connection.rows
    assert query("SELECT agent_id FROM runs") == [("claude",)]
    assert query("SELECT agent_id FROM sessions ORDER BY id") == [("claude",), ("second",)]


def test_claims_are_seen_by_the_others_of_the_run_once(journal: Journal, tmp_path: Path) -> None:
    mine = started(journal)
    second = open_journal(tmp_path)
    others = started(second)
    stranger = started(second, run=OTHER_RUN)

    opened(mine, call(), entry=3)
    opened(others, call(), entry=5)
    record(others, answered(call()))
    record(others, answered(call()), entry=4)
    opened(stranger, call(), entry=9)

    assert mine.served_by_others() == [5, 4]
    assert mine.served_by_others() == []
    assert others.served_by_others() == [3]
    late = second.start_session(RUN, server="git", mode="replay")
    assert late.served_by_others() == [3, 5, 4]
    second.close()


def test_sessions_of_one_process_see_each_others_claims(journal: Journal) -> None:
    mine, others = started(journal), started(journal)
    assert (mine.served_by_others(), others.served_by_others()) == ([], [])

    opened(mine, call(), entry=3)
    opened(others, call(), entry=5)
    assert (mine.served_by_others(), others.served_by_others()) == ([5], [3])

    opened(mine, call(), entry=4)
    assert (mine.served_by_others(), others.served_by_others()) == ([], [4])


def test_a_claim_inside_a_block_is_seen_when_the_block_is_written(
    journal: Journal, tmp_path: Path
) -> None:
    mine = started(journal)
    second = open_journal(tmp_path)
    others = started(second)

    with mine.transaction():
        opened(mine, call(), entry=1)
        assert others.served_by_others() == []

    assert others.served_by_others() == [1]
    second.close()


def test_a_claim_that_is_taken_back_hides_no_claim_of_another(
    journal: Journal, tmp_path: Path
) -> None:
    mine = started(journal)
    second = open_journal(tmp_path)
    others = started(second)

    def block() -> None:
        with mine.transaction():
            opened(mine, call(), entry=1)
            assert mine.served_by_others() == []
            raise LookupError

    with pytest.raises(LookupError):
        block()
    opened(others, call(), entry=2)  # under the very id that the first claim had

    assert mine.served_by_others() == [2]
    second.close()


def test_r25_a_row_says_whether_a_recording_answered_it(journal: Journal) -> None:
    session = started(journal, mode="auto")
    opened(session, call(), entry=0, replayed=True)
    opened(session, request("tools/list"), replayed=True)
    opened(session, call())

    rows = recorded.of_run(journal.connection, RUN)
    assert [(row.entry, row.replayed) for row in rows] == [(0, True), (None, True), (None, False)]


def test_a_block_of_several_writes_is_written_whole_or_not_at_all(journal: Journal) -> None:
    session = started(journal)
    row = opened(session, call())
    done = answered(call())._replace(during=(NOTICE,))

    def block() -> None:
        with session.transaction():
            finished(session, row, done)
            record(session, answered(call("second")))
            raise LookupError

    with pytest.raises(LookupError):
        block()
    assert states(journal) == ["open"]

    finished(session, row, done)
    assert interactions(journal) == [done]


def test_a_write_that_failed_can_be_tried_again(journal: Journal) -> None:
    session = started(journal)
    row = opened(session, call())
    done = answered(call())._replace(during=(NOTICE,), after=(NOTICE,))
    journal.connection.rows("PRAGMA query_only=ON")
    with pytest.raises(JournalError):
        finished(session, row, done)
    with pytest.raises(JournalError):
        record(session, done)
    with pytest.raises(JournalError):
        session.note(row, done)
    with pytest.raises(JournalError):
        session.set_agent_id("me")
    with pytest.raises(JournalError):
        session.close(exit_code=0)
    journal.connection.rows("PRAGMA query_only=OFF")

    finished(session, row, done)
    session.close(exit_code=0)

    assert interactions(journal) == [done]
    assert journal.connection.rows("SELECT agent_id, state FROM sessions") == [(None, "ended")]


def test_the_http_status_of_an_answer_is_read_back(journal: Journal) -> None:
    session = started(journal)
    at_once = answered(call())._replace(http_status=500)
    late = answered(call())._replace(http_status=502)
    record(session, at_once)
    row = opened(session, call())
    finished(session, row, late)

    found = recorded.of_run(journal.connection, RUN)
    assert [item.interaction.http_status for item in found] == [500, 502]


def test_a_session_says_how_it_ended(journal: Journal) -> None:
    started(journal).close(exit_code=0)
    started(journal).close(exit_code=None, state="failed")

    rows = journal.connection.rows("SELECT state, exit_code, ended_at FROM sessions ORDER BY id")
    assert rows == [("ended", 0, NOON_TEXT), ("failed", None, NOON_TEXT)]


def test_two_threads_share_a_session(journal: Journal) -> None:
    session = started(journal)
    rows: list[int] = []

    def work() -> None:
        rows.extend(record(session, answered(call())) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert len(set(rows)) == 100
    assert states(journal) == ["answered"] * 100


def test_c13_what_is_read_back_is_no_object_of_the_live_call(journal: Journal) -> None:
    interaction = answered(call())
    record(started(journal), interaction)

    first, second = interactions(journal), interactions(journal)

    assert first == second == [interaction]
    assert first[0] is not second[0]
    with pytest.raises(AttributeError):
        first[0].params = "{}"  # type: ignore[misc]  # that it is not allowed is the point


@pytest.mark.parametrize(
    ("kept", "state"),
    [
        pytest.param(Kept(call(), 1), "open", id="open"),
        pytest.param(Kept(answered(call()), 1), "open", id="open until it is said to be finished"),
        pytest.param(Kept(answered(call()), 1, 2), "answered", id="answered"),
        pytest.param(Kept(call(), 1, 2), "unanswered", id="unanswered"),
    ],
)
def test_what_is_kept_knows_its_state(kept: Kept, state: str) -> None:
    assert kept.state == state
