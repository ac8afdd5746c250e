"""Blocking reads and writes: every message whole, whoever writes and however slowly it goes."""

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import chain

import pytest

from sidecar.proxy.streams import Outlet, read_batches, read_chunk, say
from sidecar.wire.framing import Oversized
from tests.paths import PYTHON

MEBIBYTE = 1 << 20
WAIT_SECONDS = 20.0


class Pipe:
    """A pipe, whose ends are closed after the test."""

    def __init__(self) -> None:
        self.read, self.write = os.pipe()

    def drain(self, size: int) -> bytes:
        pieces: list[bytes] = []
        while (rest := size - sum(map(len, pieces))) > 0:
            piece = os.read(self.read, min(rest, 65_536))
            if not piece:
                break
            pieces.append(piece)
        return b"".join(pieces)

    def close(self) -> None:
        for end in (self.read, self.write):
            with suppress(OSError):
                os.close(end)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    with closing(Pipe()) as pipe:
        yield pipe


def in_thread(work: ThreadPoolExecutor, outlet: Outlet, data: bytes) -> Future[bool]:
    return work.submit(outlet.send, data)


# --- reading


def _lines(descriptor: int, max_bytes: int) -> Iterator[bytes | Oversized]:
    return chain.from_iterable(read_batches(descriptor, max_bytes))


def test_lines_come_with_their_ends_and_a_cut_one_is_made_whole(pipe: Pipe) -> None:
    os.write(pipe.write, b"one\n\ntwo\r\nthr")
    os.close(pipe.write)

    # What is written after it, like an error for another request, must not run into it.
    assert list(_lines(pipe.read, 100)) == [b"one\n", b"\n", b"two\r\n", b"thr\n"]


def test_s04_a_line_written_byte_by_byte_is_one_line(pipe: Pipe) -> None:
    line = '{"text":"é🎉"}\n'.encode()
    lines = _lines(pipe.read, 100)

    for index in range(len(line)):
        os.write(pipe.write, line[index : index + 1])

    assert next(lines) == line


def test_a_line_over_the_ceiling_is_told_and_the_next_one_comes(pipe: Pipe) -> None:
    os.write(pipe.write, b"x" * 11 + b"\n" + b"y" * 10 + b"\n" + b"z" * 12)
    os.close(pipe.write)

    long, fits, rest = _lines(pipe.read, 10)

    assert fits == b"y" * 10 + b"\n"
    assert (long, rest) == (
        Oversized(b"x" * 11, b"x" * 11, 11),
        Oversized(b"z" * 12, b"z" * 12, 12),
    )


def test_a_stream_that_breaks_has_ended() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(b"never read")
        theirs.close()

        assert read_chunk(ours.fileno()) == b""


def test_there_is_nothing_to_read_yet_is_no_end(pipe: Pipe) -> None:
    # A descriptor that another program shares, and has set to non-blocking.
    os.set_blocking(pipe.read, False)

    with ThreadPoolExecutor() as work:
        reading = work.submit(read_chunk, pipe.read)
        os.write(pipe.write, b"late")

        assert reading.result(WAIT_SECONDS) == b"late"


# --- writing


def test_s15_messages_of_several_threads_stay_whole(pipe: Pipe) -> None:
    outlet = Outlet(pipe.write)
    lines = [bytes([65 + index]) * MEBIBYTE + b"\n" for index in range(16)]

    with ThreadPoolExecutor(16) as work:
        sent = [in_thread(work, outlet, line) for line in lines]
        got = pipe.drain(sum(map(len, lines)))

        assert [one.result(WAIT_SECONDS) for one in sent] == [True] * 16
    assert sorted(got.splitlines(keepends=True)) == lines


def test_s15_a_pipe_that_must_not_block_loses_nothing(pipe: Pipe) -> None:
    # EAGAIN in the middle of a message: a client may have set the shared descriptor so.
    os.set_blocking(pipe.write, False)
    outlet = Outlet(pipe.write)
    data = bytes(range(256)) * 4096 * 3

    with ThreadPoolExecutor() as work:
        sent = in_thread(work, outlet, data)

        assert pipe.drain(len(data)) == data
        assert sent.result(WAIT_SECONDS)
    assert not outlet.closed


def test_s06_what_is_written_has_the_line_ends_it_was_given(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "linesep", "\r\n")

    Outlet(pipe.write).send(b'{"a":1}\n')

    assert pipe.drain(8) == b'{"a":1}\n'


def test_a_reader_that_is_gone_is_no_error(pipe: Pipe) -> None:
    outlet = Outlet(pipe.write)
    os.close(pipe.read)

    assert outlet.send(b"lost\n") is False
    assert outlet.closed
    assert outlet.send(b"lost too\n") is False


def test_an_outlet_is_closed_once(pipe: Pipe) -> None:
    outlet = Outlet(pipe.write)
    outlet.close()
    with open(os.devnull, "rb") as other:  # noqa: PTH123  # it takes the number that got free
        outlet.close()
        os.fstat(other.fileno())

    assert outlet.send(b"late\n") is False
    assert read_chunk(pipe.read) == b""


def test_closing_does_not_wait_for_a_write_that_hangs(pipe: Pipe) -> None:
    # A server that reads no more: stopping it must get to the signals.
    outlet = Outlet(pipe.write)
    hanging = threading.Thread(target=outlet.send, args=(b"x" * MEBIBYTE,), daemon=True)
    hanging.start()
    pipe.drain(1)  # it has begun

    with ThreadPoolExecutor() as work:
        work.submit(outlet.close).result(WAIT_SECONDS)
        pipe.drain(MEBIBYTE - 1)
        hanging.join(WAIT_SECONDS)
    assert not hanging.is_alive()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(pipe.write)  # the write that hung has closed it


def test_an_outlet_whose_reader_went_is_closed_once_too(pipe: Pipe) -> None:
    outlet = Outlet(pipe.write)
    os.close(pipe.read)
    outlet.send(b"lost\n")
    os.fstat(pipe.write)  # its number is ours until it is closed

    outlet.close()

    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(pipe.write)


# --- telling


def _ran(script: str, stderr: int) -> str:
    done = subprocess.run(
        [PYTHON, "-c", script],
        stdout=subprocess.PIPE,
        stderr=stderr,
        timeout=WAIT_SECONDS,
        check=True,
        text=True,
    )
    return done.stdout


SAY = "from sidecar.proxy.streams import say\n"


def test_what_is_said_has_the_programs_name(capfd: pytest.CaptureFixture[str]) -> None:
    say("caf\u00e9 \udcff")

    assert capfd.readouterr().err == "mcp-sidecar: café \\udcff\n"


def test_nothing_is_said_where_nobody_listens() -> None:
    assert _ran(f"{SAY}import os; os.close(2); say('x'); print('on')", subprocess.DEVNULL) == "on\n"


def test_a_listener_that_does_not_read_holds_nothing_up(pipe: Pipe) -> None:
    # Many clients give a pipe for stderr and never look into it.
    script = f"{SAY}for _ in range(200): say('x' * 1000)\nprint('on')"

    assert _ran(script, pipe.write) == "on\n"


def test_what_is_said_cannot_steer_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    say("a tool of the name \x1b[31mred\u202e")

    assert capfd.readouterr().err == "mcp-sidecar: a tool of the name \\x1b[31mred\\u202e\n"
