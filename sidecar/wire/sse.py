"""Server-sent events: out of a stream of bytes, however the bytes are cut, and back.

The format is that of the HTML Standard, section 9.2 ("Server-sent events").
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sidecar.errors import MessageTooLargeError
from sidecar.wire.framing import MAX_MESSAGE_BYTES

_BOM = b"\xef\xbb\xbf"
_RETRY = re.compile(rb"[0-9]{1,15}")
"""More digits are thousands of years, and Python refuses to read thousands of them."""
_LINE_END = re.compile(rb"\r\n|\n|\r")
_TEXT_LINE_END = re.compile(r"\r\n|\n|\r")


class Event(NamedTuple):
    r"""One event.

    Attributes:
        data: Its data lines, joined by `\n`; empty where it only tells an id or a wait.
        event: Its type.
        id: The id that it gives the stream's place; None where it gives none.
        retry: How many milliseconds to wait before the stream is opened again; or None.
    """

    data: str
    event: str = "message"
    id: str | None = None
    retry: int | None = None


class EventBuffer:
    """Holds what of an event has come yet; linear in the bytes fed.

    Lines end with LF, CRLF or CR, in any mixture (H07). An event is there as soon as its
    blank line is, even if that is a CR of which nobody knows yet whether an LF follows (H08).
    """

    def __init__(self, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        """Begin a stream.

        Args:
            max_bytes: Ceiling of one event, in bytes without its line ends.
        """
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []  # of the line that has not ended yet
        self._size = 0  # of the event that has not ended yet
        self._is_over = False
        self._after_cr = False
        self._at_start = True
        self._data: list[bytes] = []
        self._type = ""
        self._id: str | None = None
        self._retry: int | None = None

    @property
    def pending(self) -> bool:
        """Whether a part of an event has come whose end has not."""
        return bool(self._size)

    def feed(self, chunk: bytes) -> list[Event]:
        """Take what was read; return the events that it ends.

        An event without data, id and retry is none. What is no UTF-8 is replaced.

        Raises:
            MessageTooLargeError: If an event is over the ceiling, as soon as those before
                it were returned. Nothing more can be fed then.
        """
        if self._after_cr and chunk[:1] == b"\n":  # the second half of a CRLF
            chunk = chunk[1:]
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk[-1:] == b"\r"
        lines = _LINE_END.split(chunk) if b"\r" in chunk else chunk.split(b"\n")
        last = lines.pop()
        events = [event for line in lines if (event := self._ended(line)) is not None]
        self._hold(last)
        if self._is_over and not events:
            raise MessageTooLargeError(
                f"an event of more than {self._max_bytes} bytes is over the ceiling"
            )
        return events

    def _hold(self, piece: bytes) -> None:
        if piece:
            self._pieces.append(piece)
            self._size += len(piece)
            self._is_over = self._is_over or self._size > self._max_bytes

    def _ended(self, piece: bytes) -> Event | None:
        """Take the end of a line; return the event that it ends, if it is a blank one."""
        self._hold(piece)
        line = b"".join(self._pieces)
        self._pieces = []
        if self._at_start:
            line = line.removeprefix(_BOM)
            self._at_start = False
        if line:
            self._field(line)
            return None
        return self._dispatched()

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._type = value.decode(errors="replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode(errors="replace")
        elif name == b"retry" and _RETRY.fullmatch(value):
            self._retry = int(value)

    def _dispatched(self) -> Event | None:
        data = b"\n".join(self._data).decode(errors="replace")
        event = Event(data, self._type or "message", self._id, self._retry)
        tells = bool(self._data) or event.id is not None or event.retry is not None
        self._forget()
        return event if tells and not self._is_over else None

    def _forget(self) -> None:
        self._data, self._type, self._size = [], "", 0
        self._id = self._retry = None


def encode(event: Event) -> bytes:
    """Write an event; one that is read back is equal, save that line ends in data become LF."""
    lines = [f"event: {event.event}"]
    if event.id is not None:
        lines.append(f"id: {event.id}")
    if event.retry is not None:
        lines.append(f"retry: {event.retry}")
    lines += [f"data: {line}" for line in _TEXT_LINE_END.split(event.data)]
    return ("\n".join(lines) + "\n\n").encode(errors="surrogatepass")
