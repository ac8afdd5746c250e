"""A server at a URL, to those who speak with it as with a process: lines there, lines back."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from asyncio.streams import FlowControlMixin
from collections.abc import MutableMapping
from contextlib import ExitStack
from typing import BinaryIO

from sidecar.proxy.http.remote.errands import Errand, Errands, Lines
from sidecar.proxy.http.remote.requests import NoAnswerError, Requests
from sidecar.proxy.http.remote.session import RemoteSession
from sidecar.proxy.http.remote.sse import OlderSse
from sidecar.proxy.http.remote.streamable import OlderServerError, Streamable
from sidecar.proxy.link import START_FAILED, Remark
from sidecar.proxy.options import ProxyOptions
from sidecar.proxy.oversized import is_answer, too_large
from sidecar.proxy.streams import Outlet, pipe, say
from sidecar.wire.framing import LineBuffer, Oversized

_CUT_OFF = 1
_CHUNK_BYTES = 64 * 1024


class _OverError(Exception):
    """Nothing more will be said; ends all that still runs."""


class _Conversation:
    """Speaks with the server in the transport that it turns out to have.

    Attributes:
        over: Set once the server has ended it.
    """

    def __init__(self, options: ProxyOptions, lines: Lines, tasks: asyncio.TaskGroup) -> None:
        self._options = options
        self._lines = lines
        self._session = RemoteSession()
        self._errands = Errands(options.server, lines, self._session.learn)
        self._requests = Requests(options)
        self._tasks = tasks
        self.over = asyncio.Event()
        self._speaker: Streamable | OlderSse | None = None

    @property
    def exit_code(self) -> int:
        """0, or how it went wrong."""
        if self.over.is_set():
            return _CUT_OFF
        never = self._errands.failed and not self._errands.reached
        return START_FAILED if never else 0

    async def take(self, errand: Errand) -> None:
        """Send a line of the client's."""
        self._errands.opened(errand)
        try:
            speaker = self._speaker or await self._begun()
            await speaker.take(errand)
        except OlderServerError as error:
            await self._take_older(errand, error)
        except NoAnswerError as error:
            await self._errands.give_up(errand, str(error), error.status)

    async def refuse(self, line: Oversized) -> None:
        """Answer a message that is over the ceiling, to whoever waits for it."""
        answer = too_large(line, self._options)
        if is_answer(line):
            await self.take(Errand(answer))
        else:
            await self._lines.send(answer, Remark(is_ours=True))

    async def _begun(self) -> Streamable | OlderSse:
        if self._options.transport == "sse":
            return await self._opened_older()
        self._speaker = Streamable(self._requests, self._errands, self._session, self._tasks)
        return self._speaker

    async def _opened_older(self) -> OlderSse:
        older = OlderSse(self._requests, self._errands, self._tasks, self.over)
        await older.open()
        self._speaker = older
        return older

    async def _take_older(self, errand: Errand, refused: NoAnswerError) -> None:
        """Try the older transport, as the protocol says, with what the newer one refused."""
        if self._options.transport is None:
            try:
                older = await self._opened_older()
            except NoAnswerError:
                pass  # it is none of the older ones: what it said first is what counts
            else:
                await older.take(errand)
                return
        await self._errands.give_up(errand, str(refused), refused.status)

    async def finish(self, seconds: float) -> None:
        """End the session, and close all connections."""
        if isinstance(self._speaker, Streamable):
            await self._speaker.finish(seconds)
        await self._requests.close()


async def _ended_at(event: asyncio.Event) -> None:
    """Wait for an event that ends all.

    Raises:
        _OverError: Then.
    """
    await event.wait()
    raise _OverError


class Remote:
    """A server at a URL; a `Link`.

    An event loop on a thread of its own reads the client's lines from one pipe, and writes
    the server's to another. Where the server gives no answer, it is given an error in its
    place, and a remark on that line says so.

    Attributes:
        stdin: Where lines for the server go.
        stdout: The descriptor that its lines come from; whoever reads it closes it.
    """

    def __init__(self, options: ProxyOptions, remarks: MutableMapping[bytes, Remark]) -> None:
        """Get ready; the server is contacted with the client's first line.

        Args:
            options: With the URL, and how to speak with it.
            remarks: Where remarks on lines are left, for whoever reads them to take.

        Raises:
            OSError: If there are too many open files.
        """
        self._options = options
        self._remarks = remarks
        self._code = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = asyncio.Event()
        with ExitStack() as failing:
            in_read, in_write = pipe(failing, failing)
            self.stdout, out_write = pipe(failing, failing)
            os.set_blocking(in_write, False)
            self.stdin = Outlet(in_write)
            self._thread = threading.Thread(
                target=self._run, args=(in_read, out_write), daemon=True
            )
            self._thread.start()
            failing.pop_all()

    def relay_stderr(self) -> None:
        """Wait for its end: a server at a URL says nothing besides."""
        self._thread.join()

    def last_words(self) -> str:
        """Nothing: what failed was said in the errors."""
        return ""

    def wait(self, seconds: float) -> int | None:
        """Wait for its end, at most so long; None, since it has no exit code to speak of."""
        self._thread.join(seconds)
        return None

    def stop(self, grace_seconds: float, *, patient: bool = True) -> int:
        """End the session, and all connections.

        Args:
            grace_seconds: Waited at each step.
            patient: Whether to wait for what is being sent.

        Returns:
            0; 127 if the server never answered anything, 1 if it ended by itself or we failed.
        """
        self.stdin.close()
        if patient:
            self._thread.join(grace_seconds)
        with contextlib.suppress(RuntimeError):  # it has ended by now
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(2 * grace_seconds)
        return self._code

    def _run(self, in_read: int, out_write: int) -> None:
        with os.fdopen(in_read, "rb", 0) as source, os.fdopen(out_write, "wb", 0) as target:
            try:
                asyncio.run(self._serve(source, target))
            except Exception as error:  # noqa: BLE001  # of ours; who waits must learn of it
                self._code = _CUT_OFF
                say(f"server {self._options.server!r}: the sidecar failed: {_causes(error)}")

    async def _serve(self, source_end: BinaryIO, target_end: BinaryIO) -> None:
        self._loop = asyncio.get_running_loop()
        reader, source = await _reader(source_end)
        writer = await _writer(target_end)
        tasks = asyncio.TaskGroup()
        conversation = _Conversation(self._options, Lines(writer, self._remarks), tasks)
        try:
            async with tasks:
                tasks.create_task(_ended_at(conversation.over))
                tasks.create_task(_ended_at(self._stopped))
                await self._feed(reader, conversation)
        except* _OverError:
            self._code = conversation.exit_code
        finally:
            await conversation.finish(self._options.grace_seconds)
            source.close()
            writer.transport.abort()  # all that was sent is in the pipe
            await asyncio.sleep(0)  # for the pipes to be closed

    async def _feed(self, reader: asyncio.StreamReader, conversation: _Conversation) -> None:
        """Take the client's lines.

        Raises:
            _OverError: At their end.
        """
        buffer = LineBuffer(self._options.max_message_bytes)
        while chunk := await reader.read(_CHUNK_BYTES):
            for line in buffer.feed(chunk):
                if isinstance(line, Oversized):
                    await conversation.refuse(line)
                elif line.strip():
                    await conversation.take(Errand(line))
        raise _OverError


async def _reader(end: BinaryIO) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), end
    )
    return reader, transport


async def _writer(end: BinaryIO) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(FlowControlMixin, end)
    transport.set_write_buffer_limits(high=0)  # what was sent is in the pipe
    return asyncio.StreamWriter(transport, protocol, None, loop)


def _causes(error: BaseException) -> str:
    """Name what a group of errors holds; their texts may quote a header, so a secret."""
    if isinstance(error, BaseExceptionGroup):
        return ", ".join(_causes(one) for one in error.exceptions)
    return type(error).__name__
