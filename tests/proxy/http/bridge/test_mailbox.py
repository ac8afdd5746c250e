"""Lines on their way to one response, and to streams that come and go."""

from __future__ import annotations

import asyncio

import pytest

from sidecar.proxy.http.bridge import mailbox
from sidecar.proxy.http.bridge.mailbox import Item, Mailbox, Streams

pytestmark = pytest.mark.anyio

ONE, TWO, THREE = Item(b"1\n"), Item(b"2\n"), Item(b"3\n", 200)


async def test_what_is_put_is_taken_in_order_and_then_comes_the_end() -> None:
    box = Mailbox()
    box.put(ONE)
    box.put(THREE)
    box.end()
    box.put(TWO)  # too late

    assert [await box.next() for _ in range(3)] == [ONE, THREE, None]


async def test_who_takes_waits_for_what_comes() -> None:
    box = Mailbox()
    async with asyncio.TaskGroup() as tasks:
        taking = tasks.create_task(box.next(10))
        await asyncio.sleep(0)
        box.put(ONE)

    assert taking.result() == ONE


async def test_nobody_waits_for_longer_than_wanted() -> None:
    with pytest.raises(TimeoutError):
        await Mailbox().next(0)


async def test_a_client_that_does_not_read_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailbox, "_QUEUED_BYTES", 4)
    box = Mailbox()
    big = Item(b"more than that\n")
    box.put(big)  # one message may be of any size
    box.put(ONE)

    assert [await box.next() for _ in range(2)] == [big, None]


async def test_what_comes_while_no_stream_is_open_waits_for_one() -> None:
    streams = Streams()
    streams.put(ONE)
    stream = streams.opened()
    streams.put(TWO)

    assert [await stream.next() for _ in range(2)] == [ONE, TWO]


@pytest.mark.parametrize("bound", ["_WAITING_LINES", "_WAITING_BYTES"])
async def test_of_too_much_the_oldest_is_dropped(
    monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(mailbox, bound, 2 if bound == "_WAITING_LINES" else 2 * len(ONE.line))
    streams = Streams()
    for item in (ONE, TWO, THREE):
        streams.put(item)

    assert streams.opened().take_back() == [TWO, THREE]


async def test_what_waits_is_never_more_than_a_stream_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mailbox, "_WAITING_BYTES", 4)
    streams = Streams()
    big = Item(b"more than that\n")
    for item in (ONE, big):
        streams.put(item)
    assert streams.opened().take_back() == [big]  # one message may be of any size

    empty = Streams()
    for item in (big, ONE, TWO):
        empty.put(item)
    assert empty.opened().take_back() == [ONE, TWO]


async def test_h03_what_a_closed_stream_did_not_send_goes_on_the_one_before_it() -> None:
    streams = Streams()
    first, second = streams.opened(), streams.opened()
    streams.put(ONE)

    streams.closed(second)

    assert streams.any_open
    assert await first.next() == ONE
    streams.closed(first)
    assert not streams.any_open
