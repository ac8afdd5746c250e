"""Server-sent events: the same events however lines end and bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.errors import MessageTooLargeError
from sidecar.wire.sse import Event, EventBuffer, encode

ENDS = [pytest.param("\n", id="LF"), pytest.param("\r\n", id="CRLF"), pytest.param("\r", id="CR")]
STREAM = (
    ": a comment\n"
    "id: e1\ndata:\n\n"
    'event: message\ndata: {"id": 1,\ndata: "x": "é"}\nid: e2\n\n'
    ":\n\n"
    "retry: 250\n\n"
    "event: endpoint\ndata:/messages\n\n"
    "data\nunknown: x\n\n"
)
EVENTS = [
    Event("", id="e1"),
    Event('{"id": 1,\n"x": "é"}', id="e2"),
    Event("", retry=250),
    Event("/messages", "endpoint"),
    Event(""),
]


def fed(chunks: list[bytes], max_bytes: int = 1000) -> list[Event]:
    buffer = EventBuffer(max_bytes)
    return [event for chunk in chunks for event in buffer.feed(chunk)]


@pytest.mark.parametrize("end", ENDS)
def test_h07_lines_may_end_in_any_way(end: str) -> None:
    assert fed([STREAM.replace("\n", end).encode()]) == EVENTS


def test_h07_lines_may_end_in_several_ways_in_one_stream() -> None:
    assert fed([b"data: 1\r\n\ndata: 2\n\r\ndata: 3\r\rdata: 4\n\n"]) == [
        Event("1"),
        Event("2"),
        Event("3"),
        Event("4"),
    ]


@pytest.mark.parametrize("end", ENDS)
def test_h08_a_stream_cut_at_every_place_gives_the_same_events(end: str) -> None:
    stream = STREAM.replace("\n", end).encode()

    for at in range(len(stream) + 1):
        assert fed([stream[:at], stream[at:]]) == EVENTS, f"cut at {at}"


@pytest.mark.parametrize("end", ENDS)
def test_h08_a_stream_that_comes_byte_by_byte_gives_the_same_events(end: str) -> None:
    stream = STREAM.replace("\n", end).encode()

    assert fed([stream[at : at + 1] for at in range(len(stream))]) == EVENTS


def test_an_event_is_there_with_its_blank_line_even_if_that_is_a_lone_cr() -> None:
    buffer = EventBuffer()

    assert buffer.feed(b"data: 1\r\n\r") == [Event("1")]
    assert buffer.feed(b"\ndata: 2\r\r") == [Event("2")]
    assert buffer.feed(b"\n") == []


def test_a_part_of_an_event_is_pending() -> None:
    buffer = EventBuffer()
    pending = [buffer.pending]
    for piece in (b"data: 1", b"\n", b"\n", b": x", b"\n\n"):
        buffer.feed(piece)
        pending.append(buffer.pending)

    assert pending == [False, True, True, False, True, False]


def test_what_tells_nothing_is_no_event() -> None:
    assert fed([b": ping\n\nevent: message\n\n\n\nnonsense\n\nid: a\0b\n\nretry: soon\n\n"]) == []


def test_only_one_space_after_the_colon_is_taken_away() -> None:
    assert fed([b"data:  two\n\ndata:none\n\n"]) == [Event(" two"), Event("none")]


def test_a_byte_order_mark_at_the_start_is_no_part_of_the_first_line() -> None:
    assert fed([b"\xef\xbb", b"\xbfdata: 1\n\ndata: \xef\xbb\xbf\n\n"]) == [
        Event("1"),
        Event("\ufeff"),
    ]


@pytest.mark.parametrize("wait", ["9" * 16, "9" * 5000, "1.5", "-1", "", "\u0661"])
def test_a_wait_that_is_no_plain_number_is_ignored(wait: str) -> None:
    assert fed([f"retry: {wait}\ndata: x\n\n".encode()], 10_000) == [Event("x")]
    assert fed([b"retry: 999999999999999\n\n"]) == [Event("", retry=10**15 - 1)]


@given(
    st.lists(
        st.sampled_from([
            b"data", b"id", b"retry", b"event", b":", b" ", b"\n", b"\r", b"\0", b"\xff", b"7",
            b"9" * 4301,
        ])
        | st.binary(max_size=20)
    )
)  # fmt: skip
def test_what_is_fed_never_raises_but_where_it_is_too_large(chunks: list[bytes]) -> None:
    buffer = EventBuffer(5000)
    try:
        for chunk in chunks:
            buffer.feed(chunk)
    except MessageTooLargeError:
        assert buffer.pending


def test_what_is_no_utf_8_is_replaced() -> None:
    assert fed([b"data: \xff\n\n"]) == [Event("\ufffd")]


def test_an_event_over_the_ceiling_is_refused_once_those_before_it_are_out() -> None:
    buffer = EventBuffer(max_bytes=10)

    assert buffer.feed(b"data: 1\n\ndata: 234567890") == [Event("1")]
    with pytest.raises(MessageTooLargeError, match="more than 10 bytes"):
        buffer.feed(b"1")


def test_an_event_over_the_ceiling_that_comes_whole_is_refused_too() -> None:
    buffer = EventBuffer(max_bytes=10)

    assert buffer.feed(b"data: 1\n\ndata: 2345678901\n\ndata: 2\n\n") == [Event("1")]
    with pytest.raises(MessageTooLargeError):
        buffer.feed(b"\n")


def test_the_ceiling_is_of_one_event_not_of_the_stream() -> None:
    assert fed([b"data: 1234\n\n"] * 100, max_bytes=10) == [Event("1234")] * 100


def test_an_event_of_many_lines_is_over_the_ceiling_too() -> None:
    buffer = EventBuffer(max_bytes=100)

    for _ in range(10):
        assert buffer.feed(b"data: 1234\n") == []
    with pytest.raises(MessageTooLargeError):
        buffer.feed(b"data: 1234\n")


def test_an_event_is_written_as_servers_write_it() -> None:
    assert encode(Event("a\nb", id="7", retry=5)) == (
        b"event: message\nid: 7\nretry: 5\ndata: a\ndata: b\n\n"
    )


TEXTS = st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"]))
NAMES = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]))


@given(
    st.builds(
        Event,
        TEXTS,
        NAMES.filter(bool),
        st.none() | NAMES,
        st.none() | st.integers(min_value=0, max_value=10**9),
    )
)
def test_an_event_that_is_written_is_read_back(event: Event) -> None:
    assert fed([encode(event)], max_bytes=10**6) == [event]
