"""How the raw server writes: every odd way in which servers treat their stdout."""

import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

# What a careless server prints where only messages belong: a banner, half a JSON text, blank
# lines of three kinds, and bytes that are no UTF-8.
NOISE = (
    b"Server v1.2 ready\n",
    b"debug {not json\n",
    b"\n",
    b"   \n",
    b"\r\n",
    b"\xff\xfe\n",
)


class Oddities(NamedTuple):
    """What is odd about a server's output.

    Attributes:
        noise: Print the lines of `NOISE` before each message.
        stderr_flood_bytes: Print so many bytes to stderr before each message.
        byte_by_byte: Write every byte by itself.
        crlf: End messages with CR LF.
        sent_log: File to which each message is added as it is sent, with its line end.
    """

    noise: bool = False
    stderr_flood_bytes: int = 0
    byte_by_byte: bool = False
    crlf: bool = False
    sent_log: Path | None = None


class Output:
    """Standard output, one whole message at a time, whichever thread it comes from."""

    def __init__(self, oddities: Oddities) -> None:
        self._oddities = oddities
        self._lock = threading.Lock()
        self._floods = 0

    def write(self, *lines: bytes) -> None:
        """Send messages (no line ends in them), one after the other without a gap."""
        with self._lock:
            for line in lines:
                self._write_one(line)

    def write_raw(self, data: bytes) -> None:
        """Send bytes that are no message."""
        with self._lock:
            _write_all(1, data)

    def _write_one(self, line: bytes) -> None:
        odd = self._oddities
        self._flood(odd.stderr_flood_bytes)
        framed = line + (b"\r\n" if odd.crlf else b"\n")
        if odd.noise:
            _write_all(1, b"".join(NOISE))
        if odd.sent_log is not None:
            append(odd.sent_log, framed)
        for piece in _bytes_of(framed) if odd.byte_by_byte else (framed,):
            _write_all(1, piece)

    def _flood(self, size_bytes: int) -> None:
        if not size_bytes:
            return
        # In turn a log with lines, and a progress bar that never ends its one line.
        end = b"\n" if self._floods % 2 == 0 else b"\r"
        self._floods += 1
        _write_all(2, (b"x" * 79 + end) * (size_bytes // 80 + 1))


def append(path: Path, data: bytes) -> None:
    """Add bytes to a file in one write, so that several processes may share it."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        _write_all(file, data)
    finally:
        os.close(file)


def _bytes_of(data: bytes) -> Sequence[bytes]:
    return [data[index : index + 1] for index in range(len(data))]


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(file, rest) :]
    except BrokenPipeError:
        # Nobody reads any more: a server has no reason left to run.
        sys.stderr = None
        os._exit(0)
