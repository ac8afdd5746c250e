"""Blocking reads and writes of lines on file descriptors."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Iterator
from contextlib import ExitStack

from sidecar.wire.framing import LineBuffer, Oversized

_CHUNK_BYTES = 64 * 1024  # os.read takes the whole of it first: more would be mapped anew each time
_CLOSING_SECONDS = 0.5  # for a write that is under way
_SAYING_BYTES = 4096  # what a pipe with room takes without a wait
_SAYING_MS = 200  # for a reader of standard error that is only slow


def read_batches(descriptor: int, max_bytes: int) -> Iterator[list[bytes | Oversized]]:
    """Yield the lines of a stream as they end, those that came together as one list.

    Each line has its newline; a last one that the stream cut short gets it, or what is
    written after it would run into it.
    """
    buffer = LineBuffer(max_bytes)
    while chunk := read_chunk(descriptor):
        lines = buffer.feed(chunk)
        if lines:
            yield lines
    rest = buffer.rest()
    if rest is not None:
        yield [rest if isinstance(rest, Oversized) else rest + b"\n"]


def read_chunk(descriptor: int) -> bytes:
    """Read what there is, waiting for something; empty at the end of the stream."""
    while True:
        try:
            return os.read(descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            _wait(descriptor, select.POLLIN)
        except OSError:  # a reset socket, a closed terminal: nothing more will come
            return b""


def pipe(reading: ExitStack, writing: ExitStack) -> tuple[int, int]:
    """Make a pipe.

    Args:
        reading: Whose end closes the end that is read.
        writing: Whose end closes the other one.

    Returns:
        The descriptors, of the end that is read first.

    Raises:
        OSError: If there are too many already.
    """
    read, write = os.pipe()
    reading.callback(os.close, read)
    writing.callback(os.close, write)
    return read, write


class Outlet:
    """A stream that several threads write whole messages to (S15).

    A reader that is gone is no error: what is written then is dropped, and `closed` says so.

    Attributes:
        closed: Whether nothing can be written any more; the descriptor is freed by `close`.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor  # None once it is freed
        self._lock = threading.Lock()
        self._is_left = False  # to whoever writes, to free it
        self.closed = False

    def send(self, data: bytes) -> bool:
        """Write all of it; tell whether it went out."""
        with self._lock:
            is_sent = self._sent(data)
        if self._is_left:
            self.close()
        return is_sent

    def _sent(self, data: bytes) -> bool:
        if self.closed or self._descriptor is None:
            return False
        try:
            written = _write(self._descriptor, data)
            if written < len(data):
                _write_rest(self._descriptor, memoryview(data)[written:])
        except OSError:
            self.closed = True
            return False
        return True

    def begin(self, data: bytes) -> int:
        """Write what goes out at once of a message; return how much, for `send` of the rest.

        Never waits, where the descriptor is set not to block. Only for a stream to which
        no other thread writes meanwhile.
        """
        with self._lock:
            if self.closed or self._descriptor is None:
                return len(data)
            try:
                return os.write(self._descriptor, data)
            except BlockingIOError:
                return 0
            except OSError:
                self.closed = True
                return len(data)

    def close(self) -> None:
        """Close the descriptor, once; where a write hangs, that does it when it ends."""
        if not self._lock.acquire(timeout=_CLOSING_SECONDS):
            self.closed = self._is_left = True
            if not self._lock.acquire(blocking=False):
                return  # whoever has it looks at `_is_left` afterwards
        try:
            self.closed = True
            self._free()
        finally:
            self._lock.release()

    def _free(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def _write_rest(descriptor: int, data: memoryview) -> None:
    while data:
        data = data[_write(descriptor, data) :]


def _write(descriptor: int, data: bytes | memoryview) -> int:
    try:
        return os.write(descriptor, data)
    except BlockingIOError:
        _wait(descriptor, select.POLLOUT)
        return 0


def _wait(descriptor: int, what: int, milliseconds: int | None = None) -> bool:
    """Wait for a descriptor, which another program that shares it may have set not to block."""
    poller = select.poll()
    poller.register(descriptor, what)
    return bool(poller.poll(milliseconds))


class _Listener:
    """Whoever reads our standard error; one that does not must not hold traffic up."""

    def __init__(self) -> None:
        self._patience_ms = _SAYING_MS

    def tell(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest and self._listens():
            rest = rest[os.write(2, rest[:_SAYING_BYTES]) :]

    def _listens(self) -> bool:
        listens = _wait(2, select.POLLOUT, self._patience_ms)
        self._patience_ms = _SAYING_MS if listens else 0  # it is waited for once
        return listens


_listener = _Listener()


def say(text: str) -> None:
    """Tell the user something, on standard error; never fails.

    Names of tools and arguments stand in such texts: control characters are escaped.
    """
    tell(f"mcp-sidecar: {_printable(text)}\n".encode(errors="backslashreplace"))


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def tell(data: bytes) -> None:
    """Write to standard error; never fails. Where nobody reads, it is dropped."""
    with contextlib.suppress(OSError):
        _listener.tell(data)
