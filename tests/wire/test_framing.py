"""Lines out of bytes, however the bytes are cut."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sidecar.wire.framing import MAX_MESSAGE_BYTES, LineBuffer, Oversized

STREAMS = st.lists(st.sampled_from([b"\n", b"\r", b"a", b"{}", b"\xff", "é".encode(), b"x" * 9]))


def fed(stream: bytes, sizes: list[int], ceiling: int) -> list[bytes | Oversized | None]:
    """Feed the stream in chunks of these sizes, the rest at once."""
    buffer = LineBuffer(ceiling)
    lines: list[bytes | Oversized | None] = []
    start = 0
    for size in sizes:
        lines += buffer.feed(stream[start : start + size])
        start += size
    lines += buffer.feed(stream[start:])
    return [*lines, buffer.rest()]


@given(pieces=STREAMS, sizes=st.lists(st.integers(0, 6), max_size=30), ceiling=st.integers(1, 12))
@example(pieces=[b"abcdefgh"], sizes=[1] * 8, ceiling=3)
def test_s04_where_the_bytes_are_cut_makes_no_difference(
    pieces: list[bytes], sizes: list[int], ceiling: int
) -> None:
    stream = b"".join(pieces)

    assert fed(stream, sizes, ceiling) == fed(stream, [], ceiling)


@given(pieces=STREAMS)
def test_no_byte_is_lost_or_added(pieces: list[bytes]) -> None:
    stream = b"".join(pieces)
    found = [part for part in fed(stream, [], MAX_MESSAGE_BYTES) if isinstance(part, bytes)]

    assert b"".join(found) == stream
    assert [part.count(b"\n") for part in found[: stream.count(b"\n")]] == [1] * stream.count(b"\n")


def test_s04_a_character_may_come_byte_by_byte() -> None:
    buffer = LineBuffer()
    line = '{"a":"é🎉"}\n'.encode()

    found = [ended for byte in line for ended in buffer.feed(bytes([byte]))]

    assert found == [line]


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 200_000, 20_000_000])
def test_s03_a_long_line_comes_whole(size: int) -> None:
    line = b"x" * (size - 1) + b"\n"
    buffer = LineBuffer()

    found = [
        ended for at in range(0, size, 65_536) for ended in buffer.feed(line[at : at + 65_536])
    ]

    assert found == [line]


@pytest.mark.parametrize("chunk", [1, 3, 1000], ids=lambda chunk: f"{chunk} bytes a read")
def test_s03_the_ceiling_is_the_last_size_that_passes(chunk: int) -> None:
    stream = b"x" * 10 + b"\n" + b"y" * 11 + b"\n" + b"z" * 12 + b"\nafter\n"
    buffer = LineBuffer(10)

    found = [
        line for at in range(0, len(stream), chunk) for line in buffer.feed(stream[at : at + chunk])
    ]

    assert found == [
        b"x" * 10 + b"\n",
        Oversized(b"y" * 11, b"y" * 11, 11),
        Oversized(b"z" * 12, b"z" * 12, 12),
        b"after\n",
    ]


@pytest.mark.parametrize("chunk", [1000, 4096, 100_000], ids=lambda chunk: f"{chunk} bytes a read")
def test_of_a_line_over_the_ceiling_both_ends_are_kept(chunk: int) -> None:
    line = b"".join(b"%08d" % number for number in range(5000))
    buffer = LineBuffer(20_000)

    found = [
        ended
        for at in range(0, len(line) + 1, chunk)
        for ended in buffer.feed((line + b"\n")[at : at + chunk])
    ]

    assert found == [Oversized(line[:4096], line[-4096:], 40_000)]


def test_of_a_line_over_the_ceiling_the_middle_is_let_go() -> None:
    buffer = LineBuffer(10_000)

    for _ in range(100):
        buffer.feed(b"x" * 10_000)

    assert sum(map(len, buffer._pieces)) <= 4096


def test_what_comes_after_the_last_newline_is_the_rest() -> None:
    buffer = LineBuffer(5)

    assert buffer.rest() is None
    assert buffer.feed(b"one\ntw") == [b"one\n"]
    assert buffer.feed(b"o") == []
    assert buffer.rest() == b"two"
    assert buffer.rest() is None
    assert buffer.feed(b"too long") == []
    assert buffer.rest() == Oversized(b"too long", b"too long", 8)


@pytest.mark.parametrize(
    ("ceiling", "pieces"),
    [pytest.param(10**9, 1000, id="within the ceiling"), pytest.param(1000, 1, id="over it")],
)
def test_the_work_grows_with_the_bytes_and_not_with_their_square(ceiling: int, pieces: int) -> None:
    class Counting(bytes):
        """Bytes that count how often they are gone through."""

        searched = 0

        def __contains__(self, item: object) -> bool:
            Counting.searched += len(self)
            return super().__contains__(item)  # type: ignore[operator]

    buffer = LineBuffer(ceiling)
    for _ in range(1000):
        buffer.feed(Counting(b"x" * 100))

    assert Counting.searched == 100_000  # each byte once, none again with what came before
    assert len(buffer._pieces) == pieces  # and none copied onto a string that grows
