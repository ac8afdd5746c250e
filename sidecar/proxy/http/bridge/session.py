"""One client's session over HTTP, or that of all clients where the era has no sessions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import NamedTuple, TypeVar

from sidecar.proxy.http.bridge.backstage import Backstage, Running
from sidecar.proxy.http.bridge.in_flight import Asked, InFlight, Post, restored
from sidecar.proxy.http.bridge.mailbox import Item, Streams
from sidecar.wire.http_status import status_of
from sidecar.wire.json_text import dump
from sidecar.wire.jsonrpc import CONNECTION_CLOSED, IdKey, Message, failure, id_key, read_line
from sidecar.wire.mcp import CANCELLED, PROGRESS, TOOLS_LIST, members_of
from sidecar.wire.routing_headers import Mirrored, mirrored_by_tool

_GONE = 502  # of an answer in place of that of a server which could not start, or has ended

_Value = TypeVar("_Value")


class _Taking(NamedTuple):
    """Whose lines are being taken, and on which thread: what comes meanwhile is theirs."""

    thread: int
    post: Post | None


class HttpSession:
    """Turns POSTs into lines for what stands behind, and lines into responses.

    An answer goes to the POST that asked. What is no answer goes to the POST that it names
    by its token, else to the one that is being worked on; where there is none, to a stream
    of the client's own. Where several clients share the session, what names nobody only
    goes to a POST that is open alone: nothing crosses (H17).

    Everything runs on the event loop, but for `send`, and for what blocks.

    Attributes:
        streams: The client's own streams, for what belongs to no request.
        closed: Whether it has ended.
        is_established: Whether a request was answered by a result.
        has_told: Whether a client was told that the live server is gone.
        used_at: When it was last used, on the loop's clock.
        mirrored: Which arguments of the tools that it listed are said in headers.
    """

    def __init__(self, backstage: Backstage, *, shared: bool) -> None:
        """Prepare a session; `open` starts it.

        Args:
            backstage: What makes what stands behind.
            shared: Whether it is that of all clients (2026-07-28).
        """
        self._backstage = backstage
        self._shared = shared
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._lock = asyncio.Lock()  # lines are taken one after the other
        self._running: Running | None = None
        self._in_flight = InFlight()
        self._plain = False  # one stream has all
        self._questions: dict[IdKey, Post] = {}  # of the server's, by id
        self._statuses: dict[IdKey, int] = {}
        self._taking: _Taking | None = None
        self.is_established = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._opening: asyncio.Task[None] | None = None
        self.streams = Streams()
        self.closed = False
        self.mirrored: dict[str, Mirrored] = {}
        self.has_told = False
        self.used_at = self._loop.time()

    @property
    def failure(self) -> str | None:
        """Why the live server is gone, if there is one and it is."""
        return self._running.behind.failure if self._running else None

    @property
    def idle(self) -> bool:
        """Whether no request is open, and nobody listens."""
        return not self.streams.any_open and not self._in_flight.open_posts()

    async def open(self) -> None:
        """Start what stands behind.

        Raises:
            JournalError: If the journal cannot be written.
        """
        self._opening = self._loop.create_task(self._opened())
        await asyncio.shield(self._opening)

    async def _opened(self) -> None:
        start = self._backstage.start
        shared = self._shared
        self._running = await self._blocking(lambda: start(self, self._note_status, shared=shared))

    async def ask(self, messages: Sequence[Message], post: Post) -> None:
        """Take the messages of a POST that asks something; answers come into it."""
        post.open = sum(message.kind == "request" for message in messages)
        for message in messages:
            line = _line(message)
            if message.kind == "request":
                line = self._in_flight.ask(message, line, post)
            await self._take(line, post)
        if self.closed:
            self._end_open(post)

    async def tell(self, messages: Sequence[Message]) -> None:
        """Take the messages of a POST that asks nothing: notifications, and replies."""
        for message in messages:
            if message.kind == "response":
                # The POST in which it was asked goes on.
                await self._take(_line(message), self._questions.pop(id_key(message.id), None))
            elif message.method == CANCELLED:
                await self._cancel(message)
            else:
                await self._take(_line(message), None)

    async def pass_on(self, messages: Sequence[Message]) -> None:
        """Take messages whose answers, too, come on the session's stream."""
        self._plain = True
        for message in messages:
            await self._take(_line(message), None)

    async def left(self, post: Post, *, cancels: bool) -> None:
        """Take it that the client has gone from a POST.

        Args:
            post: The POST.
            cancels: Whether that takes its requests back, as in 2026-07-28; before, they
                go on, and their answers are recorded though nobody gets them (H05).
        """
        post.end()
        self._questions = {key: one for key, one in self._questions.items() if one is not post}
        for asked in self._in_flight.of(post):
            self._in_flight.forsake(asked)
            if cancels and not self.closed:
                await self._take(_cancellation(asked), None)

    async def close(self, *, patient: bool) -> int:
        """End it: what stands behind first, so that nothing waits for ever."""
        if self._opening is not None:  # else what starts meanwhile would be left over
            await asyncio.wait([self._opening])
        if self._tasks:
            # No longer: a server that reads nothing holds a write up until it is ended.
            await asyncio.wait(self._tasks, timeout=self._backstage.options.grace_seconds)
        running = self._running
        if running is None:
            self.closed = True
            return 0
        try:
            return await self._loop.run_in_executor(
                self._backstage.threads.closing,
                lambda: running.finish(patient=patient and not self._backstage.hurried),
            )
        finally:
            self.closed = True
            self._end_open()
            self.streams.end()

    def _end_open(self, post: Post | None = None) -> None:
        """Answer what is still open, of one POST or of all: nothing must wait for ever."""
        for asked in self._in_flight.all():
            if post in (None, asked.post):
                self._arrived(_ended(asked), None)

    def send(self, data: bytes) -> bool:
        """Take lines for the client, from any thread; they are routed on the event loop."""
        if self.closed:
            return False
        taking = self._taking
        if taking is not None and taking.thread != threading.get_ident():
            taking = None
        if threading.get_ident() == self._loop_thread:
            self._arrived(data, taking)
        else:
            self._loop.call_soon_threadsafe(self._arrived, data, taking)
        return True

    def _note_status(self, ident: str | None, status: int) -> None:
        self._statuses[id_key(ident)] = status

    async def _cancel(self, message: Message) -> None:
        asked, respelt = self._in_flight.cancelled(message)
        await self._take(respelt or _line(message), None)
        if asked is not None and not asked.post.ended:
            # It is not answered any more, so its response must not wait for that (J09).
            self._in_flight.forsake(asked)
            asked.post.settle()

    async def _take(self, line: bytes, focus: Post | None) -> None:
        self.used_at = self._loop.time()
        if self._backstage.may_go_live:
            await self._whole(self._taken(line, focus))
        elif not self.closed:
            self._take_now(line, focus)  # a recording keeps nobody waiting

    async def _taken(self, line: bytes, focus: Post | None) -> None:
        async with self._lock:
            if not self.closed:
                await self._blocking(lambda: self._take_now(line, focus))

    def _take_now(self, line: bytes, focus: Post | None) -> None:
        running = self._running
        assert running is not None
        self._taking = _Taking(threading.get_ident(), focus)
        try:
            running.behind.take([line])
            running.tape.flush()
        finally:
            self._taking = None

    async def _whole(self, work: Coroutine[None, None, None]) -> None:
        """Do something to its end: a client that goes meanwhile must not leave half of it."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.shield(task)

    async def _blocking(self, work: Callable[[], _Value]) -> _Value:
        return await self._loop.run_in_executor(self._backstage.threads.working, work)

    def _arrived(self, data: bytes, taking: _Taking | None) -> None:
        for line in data.split(b"\n")[:-1]:
            messages = read_line(line) or ()
            for message in messages:
                alone = len(messages) == 1 and line[:1] != b"["
                self._route(message, line if alone else _line(message), taking)

    def _route(self, message: Message, line: bytes, taking: _Taking | None) -> None:
        if message.kind == "response":
            self._route_answer(message, line)
            return
        if self._withdrew(message, line):
            return
        named = self._in_flight.addressee(message)
        if named is not None:
            named.post.put(Item(restored(message, line, named)))
            return
        post = self._worked_on(taking)
        if message.kind == "request" and post is not None:
            self._questions[id_key(message.id)] = post
        if post is not None and message.method != PROGRESS:
            post.put(Item(line))
        elif not self._shared:
            self.streams.put(Item(line))

    def _route_answer(self, message: Message, line: bytes) -> None:
        asked = self._in_flight.answered(message)
        status = self._statuses.pop(id_key(message.id), None)
        if asked is not None:
            self._answer(asked, message, restored(message, line, asked), status)
        elif self._plain:
            self.streams.put(Item(line))

    def _withdrew(self, message: Message, line: bytes) -> bool:
        """Whether the server takes a question of its own back: told where it was asked."""
        if message.method != CANCELLED:
            return False
        asked_on = self._questions.pop(id_key(members_of(message.params).get("requestId")), None)
        if asked_on is None or asked_on.ended:
            return False
        asked_on.put(Item(line))
        return True

    def _answer(self, asked: Asked, message: Message, line: bytes, status: int | None) -> None:
        is_gone = self.failure is not None and _text_of(message.error) == dump(self.failure)
        if status is None:
            status = _GONE if is_gone else status_of(message, modern=self._shared)
        self.is_established |= message.error is None
        self.has_told |= is_gone
        if asked.method == TOOLS_LIST and self._shared:
            self.mirrored |= mirrored_by_tool(message.result)
        asked.post.put(Item(line, status))
        asked.post.settle()

    def _worked_on(self, taking: _Taking | None) -> Post | None:
        """Find the POST that is being worked on, for what names none."""
        if taking is not None:
            post = taking.post
            return None if post is None or post.ended else post
        waiting = self._in_flight.open_posts()
        if not waiting or (self._shared and len(waiting) > 1):
            return None
        return waiting[0]


def _line(message: Message) -> bytes:
    # White space between tokens is all that a line end can be within a JSON text.
    return message.text.replace("\n", " ").encode() + b"\n"


def _cancellation(asked: Asked) -> bytes:
    params = f'{{"requestId":{asked.sent},"reason":"The client has gone"}}'
    return f'{{"jsonrpc":"2.0","method":"{CANCELLED}","params":{params}}}\n'.encode()


def _text_of(error: str | None) -> str | None:
    return members_of(error).get("message")


def _ended(asked: Asked) -> bytes:
    return failure(asked.sent, CONNECTION_CLOSED, "The session has ended")
