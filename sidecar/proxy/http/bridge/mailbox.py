"""Lines on their way to HTTP responses, put by a session and taken by handlers."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple

_QUEUED_BYTES = 64 * 1024 * 1024  # a client that is this far behind reads no more


class Item(NamedTuple):
    """One message on its way.

    Attributes:
        line: Its line.
        status: The HTTP status for it where it answers, and nothing comes before it.
    """

    line: bytes
    status: int | None = None


class Mailbox:
    """Used on the event loop only, by one taker.

    Attributes:
        ended: Whether nothing more comes.
    """

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._bytes = 0
        self._changed = asyncio.Event()
        self.ended = False

    @property
    def empty(self) -> bool:
        """Whether nothing lies ready to be taken."""
        return not self._items

    def put(self, item: Item) -> None:
        """Add a message; what comes after the end is dropped.

        A client that does not read what it asked for is left behind: its mailbox ends, and
        what others wait for goes on.
        """
        if self.ended:
            return
        if self._items and self._bytes + len(item.line) > _QUEUED_BYTES:
            self.end()
            return
        self._items.append(item)
        self._bytes += len(item.line)
        self._changed.set()

    def end(self) -> None:
        """Let nothing more come."""
        self.ended = True
        self._changed.set()

    async def next(self, seconds: float | None = None) -> Item | None:
        """Take the next message; None once the mailbox has ended and is empty.

        Raises:
            TimeoutError: If nothing came for so long.
        """
        while not self._items:
            if self.ended:
                return None
            self._changed.clear()
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        item = self._items.popleft()
        self._bytes -= len(item.line)
        return item

    def take_back(self) -> list[Item]:
        """Take all that nobody has read."""
        items = list(self._items)
        self._items.clear()
        self._bytes = 0
        return items


_WAITING_BYTES = 16 * 1024 * 1024  # for a stream to open: many sessions may never have one
_WAITING_LINES = 10_000


class Streams:
    """The streams of a session that belong to no request; the newest one gets what comes.

    What comes while none is open waits for the next; of too much, the oldest is dropped.
    """

    def __init__(self) -> None:
        self._open: list[Mailbox] = []
        self._waiting: deque[Item] = deque()
        self._waiting_bytes = 0

    @property
    def any_open(self) -> bool:
        """Whether a client listens."""
        return bool(self._open)

    def put(self, item: Item) -> None:
        """Send a message on the newest stream, now or once there is one."""
        if self._open:
            self._open[-1].put(item)
        else:
            self._keep(item)

    def opened(self) -> Mailbox:
        """Open one more."""
        mailbox = Mailbox()
        while self._waiting:
            mailbox.put(self._oldest())
        self._open.append(mailbox)
        return mailbox

    def closed(self, mailbox: Mailbox) -> None:
        """Take the end of one; what it did not send goes on the one that is newest then."""
        if mailbox in self._open:
            self._open.remove(mailbox)
        for item in mailbox.take_back():
            self.put(item)

    def end(self) -> None:
        """End all."""
        for mailbox in self._open:
            mailbox.end()

    def _keep(self, item: Item) -> None:
        self._waiting.append(item)
        self._waiting_bytes += len(item.line)
        while len(self._waiting) > 1 and self._is_too_much():
            self._oldest()

    def _is_too_much(self) -> bool:
        return len(self._waiting) > _WAITING_LINES or self._waiting_bytes > _WAITING_BYTES

    def _oldest(self) -> Item:
        item = self._waiting.popleft()
        self._waiting_bytes -= len(item.line)
        return item
