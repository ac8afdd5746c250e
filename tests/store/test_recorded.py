from sidecar.cassette.interaction import Passage, Response
from sidecar.store import recorded
from sidecar.store.journal import Journal
from sidecar.store.recorded import Recorded
from sidecar.store.session import Kept
from tests.store.samples import (
    NOON_TEXT,
    OTHER_RUN,
    RUN,
    answered,
    call,
    failed,
    finished,
    opened,
    request,
    started,
)


def test_a_row_is_read_back_with_all_that_is_known_of_it(journal: Journal) -> None:
    session = started(journal)
    asked = call()
    done = failed(asked)._replace(
        during=(Passage("a"), Passage("b", "{}", asked=True, reply=Response("error", "{}"))),
        after=(Passage("c", "[]", asked=True, reply=Response("result", "1")),),
    )
    known = Kept(done, 1_000_000, 6_400_000, missed="why", entry=4, replayed=True, call=7)
    row = session.add(known)

    assert recorded.of_run(journal.connection, RUN) == [
        Recorded(
            row=row,
            state="answered",
            missed="why",
            entry=4,
            replayed=True,
            call=7,
            started_at=NOON_TEXT,
            duration_ms=5,
            interaction=done,
        )
    ]


def test_a_run_is_read_in_the_order_of_its_requests_whatever_order_they_were_answered_in(
    journal: Journal,
) -> None:
    git, time = started(journal), started(journal, server="time")
    rows = [
        opened(git, request("a")),
        opened(time, request("b", server="time")),
        opened(git, request("c")),
    ]
    finished(git, rows[2], answered(request("c")))
    finished(time, rows[1], answered(request("b", server="time")))

    found = recorded.of_run(journal.connection, RUN)
    assert [(item.interaction.method, item.state) for item in found] == [
        ("a", "open"),
        ("b", "answered"),
        ("c", "answered"),
    ]


def test_one_run_is_read_without_the_others(journal: Journal) -> None:
    session = started(journal)
    opened(session, call())
    opened(started(journal, run=OTHER_RUN), call("other")._replace(during=(Passage("a"),)))

    (mine,) = recorded.of_run(journal.connection, RUN)
    assert mine.interaction == call()
    assert recorded.of_run(journal.connection, "local/0000000000000000") == []
