"""Lines out of a stream of bytes, however the bytes are cut."""

from __future__ import annotations

from sidecar.wire.typed import NamedTuple

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
"""Ceiling of one message, in bytes without its line end; a choice, and a setting."""

_KEPT_BYTES = 4096  # enough of each end of a message over the ceiling to find its id


class Oversized(NamedTuple):
    """A line over the ceiling: its two ends, the middle was let go.

    Attributes:
        head: The first bytes, at most 4 KiB.
        tail: The last bytes, at most 4 KiB, without the line end.
        size: Bytes in the whole line, without its line end.
    """

    head: bytes
    tail: bytes
    size: int


class LineBuffer:
    """Holds the pieces of the line that has not ended yet; linear in the bytes fed."""

    def __init__(self, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self._head = b""

    def feed(self, chunk: bytes) -> list[bytes | Oversized]:
        """Take what was read; return the lines that it ends, with their newline.

        A line over the ceiling comes as `Oversized`; the lines after it are not affected.
        """
        if b"\n" not in chunk:
            self._hold(chunk)
            return []
        first, *others = chunk.split(b"\n")
        last = others.pop()
        lines = [self._ended(first)]
        lines += [self._ended(piece) for piece in others]
        self._hold(last)
        return lines

    def rest(self) -> bytes | Oversized | None:
        """Return what came after the last newline, at the end of the stream; else None."""
        if not self._size:
            return None
        line = self._ended(b"")
        return line if isinstance(line, Oversized) else line[:-1]

    def _ended(self, piece: bytes) -> bytes | Oversized:
        if not self._size and len(piece) <= self._max_bytes:
            return piece + b"\n"
        self._hold(piece)
        line: bytes | Oversized
        if self._size > self._max_bytes:
            line = Oversized(self._head, b"".join(self._pieces)[-_KEPT_BYTES:], self._size)
        else:
            self._pieces.append(b"\n")
            line = b"".join(self._pieces)
        self._pieces, self._size, self._head = [], 0, b""
        return line

    def _hold(self, piece: bytes) -> None:
        if not piece:
            return
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > self._max_bytes:
            held = b"".join(self._pieces)
            if len(self._head) < _KEPT_BYTES:
                self._head = (self._head + piece if self._head else held)[:_KEPT_BYTES]
            self._pieces = [held[-_KEPT_BYTES:]]
