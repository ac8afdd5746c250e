import pytest

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
    record,
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
            span=(1_000_000, 6_400_000),
            interaction=done,
        )
    ]


@pytest.mark.parametrize(
    ("finished_ns", "duration_ms"), [(None, None), (1_499_999, 0), (1_500_000, 1), (6_400_000, 5)]
)
def test_a_duration_is_rounded_to_milliseconds(
    journal: Journal, finished_ns: int | None, duration_ms: int | None
) -> None:
    started(journal).add(Kept(answered(call()), 1_000_000, finished_ns))

    (found,) = recorded.of_run(journal.connection, RUN)
    assert found.duration_ms == duration_ms


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


def test_h17_the_sessions_of_each_server_are_numbered_by_their_first_requests(
    journal: Journal,
) -> None:
    late, early = started(journal), started(journal)
    other = started(journal, server="time")
    for session in (early, late, other, early):
        server = "time" if session is other else "git"
        opened(session, request("a", server=server))

    found = [row.interaction for row in recorded.of_run(journal.connection, RUN)]
    assert [(one.server, one.session) for one in found] == [
        ("git", 0),
        ("git", 1),
        ("time", 0),
        ("git", 0),
    ]


def test_h17_what_follows_a_cassette_is_of_its_sessions_or_of_new_ones(journal: Journal) -> None:
    base = [call("a"), call("b")._replace(session=1), request("x", server="time")]
    fresh, going_on, only_listing = started(journal), started(journal), started(journal)
    other, unknown = started(journal, server="time"), started(journal, server="new")
    opened(only_listing, request("tools/list"), entry=0, replayed=True)
    opened(going_on, call("b"), entry=1, replayed=True)
    record(fresh, answered(call("x")))
    opened(going_on, call("a"), entry=0, replayed=True)
    record(going_on, answered(call("y")))
    record(only_listing, answered(call("z")), entry=7)
    record(other, answered(call("v", server="time")))
    record(unknown, answered(call("w", server="new")))

    found = recorded.following(recorded.of_run(journal.connection, RUN), base)
    assert [(one.interaction.tool, one.interaction.session) for one in found] == [
        ("x", 2),
        ("y", 1),
        ("z", 3),
        ("v", 1),
        ("w", 0),
    ]
