"""A stage for the relay: a server that answers by script, the sidecar, and clients, in one loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from sidecar.proxy.http.endpoint import Limits, ServedServer, ServeOptions
from sidecar.proxy.http.server import Server, masks_of
from sidecar.store import recorded
from sidecar.store.journal import Journal
from sidecar.store.recorded import Recorded
from tests.proxy.place import empty_journal

RUN = "local/01JDPR0XY00000000000000000"
WAIT_SECONDS = 30.0
QUICK = Limits(drain_seconds=0.05)
JSON = "Content-Type: application/json"
EVENTS = "Content-Type: text/event-stream"


class Heard(NamedTuple):
    """A request as a server got it."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of a header; None if it is missing, and an error if it came twice."""
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(found) < 2
        return found[0] if found else None


class Answer(NamedTuple):
    """An answer as a client got it, in the bytes that came."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    whole: bool = True

    def header(self, name: str) -> str | None:
        """The value of a header; None if it is missing."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


Script = Callable[[Heard, asyncio.StreamWriter], Awaitable[None]]


def head(*lines: str, status: str = "200 OK") -> bytes:
    """The head of an answer."""
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


def whole(body: bytes, *lines: str, status: str = "200 OK") -> bytes:
    """An answer with its length."""
    return head(f"Content-Length: {len(body)}", *lines, status=status) + body


def chunk(data: bytes) -> bytes:
    """A chunk of an answer whose length is not known."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def streamed(*pieces: bytes, headers: tuple[str, ...] = (EVENTS,)) -> bytes:
    """An answer in chunks, with its end."""
    chunks = b"".join(map(chunk, pieces))
    return head("Transfer-Encoding: chunked", *headers) + chunks + b"0\r\n\r\n"


def request(ident: object = 1, method: str = "tools/call", **params: object) -> bytes:
    """A request's text."""
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params}).encode()


def result(ident: object = 1, **members: object) -> bytes:
    """An answer's text."""
    return json.dumps({"jsonrpc": "2.0", "id": ident, "result": members}).encode()


def event(data: bytes, ident: str | None = None) -> bytes:
    """An event's text."""
    return (f"id: {ident}\n".encode() if ident else b"") + b"data: " + data + b"\n\n"


def always(answer: bytes) -> Script:
    """A script that gives one answer to all."""

    async def script(_heard: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return script


class Scripted:
    """A server of HTTP whose answers are a script's bytes; each ends its connection."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.heard: list[Heard] = []
        self.left = asyncio.Event()  # a client went before its answer ended
        self.url = ""
        self._tasks: set[asyncio.Task[None]] = set()

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        """End what hangs."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        watch = None
        try:
            async for heard in requests(reader):
                self.heard.append(heard)
                watch = asyncio.ensure_future(self._watch(reader))
                await self.script(heard, writer)
                await writer.drain()
                break
        except ConnectionError:
            pass
        finally:
            if watch is not None:
                watch.cancel()
            await closed(writer)

    async def _watch(self, reader: asyncio.StreamReader) -> None:
        if not await reader.read(1):
            self.left.set()


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop run until something is so."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not condition():  # noqa: ASYNC110  # there is no event for it
            await asyncio.sleep(0)


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Make it later by so much for the loop: what waits less has waited enough."""
    loop = asyncio.get_running_loop()
    now = loop.time
    monkeypatch.setattr(loop, "time", lambda: now() + seconds)


async def until_timers_ran() -> None:
    """Let the loop run all timers that are due, and what they set going."""
    ran = asyncio.Event()
    asyncio.get_running_loop().call_later(0, ran.set)
    await ran.wait()
    for _ in range(10):
        await asyncio.sleep(0)


async def closed(writer: asyncio.StreamWriter) -> None:
    """Close a connection, and wait until it is."""
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


async def requests(reader: asyncio.StreamReader) -> AsyncIterator[Heard]:
    """Read the requests of a connection."""
    with suppress(asyncio.IncompleteReadError):
        while True:
            start, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
            headers = [
                (name, value.strip()) for name, _, value in (x.partition(":") for x in lines)
            ]
            size = next((int(v) for name, v in headers if name.lower() == "content-length"), 0)
            method, path, _ = start.split(" ")
            yield Heard(method, path, headers, await reader.readexactly(size))


@asynccontextmanager
async def scripted(script: Script) -> AsyncIterator[Scripted]:
    """Serve by a script, for as long as the block lasts."""
    upstream = Scripted(script)
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
    upstream.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/up"
    try:
        yield upstream
    finally:
        server.close()
        await upstream.end()


class Client(NamedTuple):
    """A connection to the sidecar, in bytes."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def head(self) -> Answer:
        """Read the head of an answer."""
        async with asyncio.timeout(WAIT_SECONDS):
            lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        pairs = [(name, value.strip()) for name, _, value in (x.partition(":") for x in lines[1:])]
        return Answer(int(lines[0].split(" ")[1]), pairs, b"")

    async def chunk(self) -> bytes:
        """Read one chunk of a body; empty at its end."""
        async with asyncio.timeout(WAIT_SECONDS):
            size = int((await self.reader.readuntil(b"\r\n")).decode(), 16)
            return (await self.reader.readexactly(size + 2))[:-2]

    async def until(self, mark: bytes) -> bytes:
        """Read chunks until a mark came."""
        data = b""
        while mark not in data:
            data += await self.chunk()
        return data

    async def answer(self) -> Answer:
        """Read a whole answer, or what comes of it."""
        got = await self.head()
        body, is_whole = b"", True
        try:
            if got.header("Transfer-Encoding") == "chunked":
                while data := await self.chunk():
                    body += data
            else:
                size = int(got.header("Content-Length") or 0)
                async with asyncio.timeout(WAIT_SECONDS):
                    body = await self.reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            is_whole = False
        return got._replace(body=body, whole=is_whole)

    def leave(self) -> None:
        """Go away without a word."""
        self.writer.transport.abort()


class Sidecar:
    """The sidecar before one server, called `up`."""

    def __init__(self, server: Server, journal: Journal) -> None:
        self.server = server
        self.journal = journal
        self._clients: list[Client] = []

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.port}"

    def rows(self) -> list[Recorded]:
        """What the journal has."""
        return recorded.of_run(self.journal.connection, RUN)

    def texts(self) -> list[str]:
        """The texts that answered what the journal has, or how it ended."""
        return [
            row.interaction.response.text if row.interaction.response else row.state
            for row in self.rows()
        ]

    def sessions(self) -> list[str]:
        """The states of the sessions."""
        rows = self.journal.connection.rows("SELECT state FROM sessions ORDER BY id")
        return [state for (state,) in rows]

    async def connect(self) -> Client:
        client = Client(*await asyncio.open_connection("127.0.0.1", self.server.port, limit=2**24))
        self._clients.append(client)
        return client

    async def send(
        self, body: bytes | None, *headers: str, method: str = "POST", path: str = "/up/mcp"
    ) -> Client:
        """Send a request over a connection of its own."""
        client = await self.connect()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}", "Connection: close"]
        if body is not None:
            lines += [f"Content-Length: {len(body)}", JSON]
        client.writer.write("\r\n".join([*lines, *headers, "", ""]).encode() + (body or b""))
        return client

    async def ask(
        self, body: bytes | None, *headers: str, method: str = "POST", path: str = "/up/mcp"
    ) -> Answer:
        """Send a request, and read its answer."""
        return await (await self.send(body, *headers, method=method, path=path)).answer()

    async def hang_up(self) -> None:
        for client in self._clients:
            await closed(client.writer)


@asynccontextmanager
async def sidecar(
    tmp_path: Path, url: str, limits: Limits = QUICK, **more: object
) -> AsyncIterator[Sidecar]:
    """Run the sidecar before a server, for as long as the block lasts; `stop` is idempotent."""
    headers = more.pop("headers", ())
    transport = more.pop("transport", None)
    entry = ServedServer("up", url=url, headers=headers, transport=transport)  # type: ignore[arg-type]
    options = ServeOptions(
        (entry,), "record", str(tmp_path / "journal.db"), RUN, port=0, limits=limits
    )._replace(**more)  # type: ignore[arg-type]
    if not Path(options.journal).exists():  # noqa: ASYNC240  # in a test's folder
        Path(options.journal).write_bytes(empty_journal())  # noqa: ASYNC240  # as above
    with Journal.open(options.journal) as journal:
        journal.start_run(RUN, mode=options.mode)
        server = Server(options, journal, masks_of(options), None)
        await server.start()
        stage = Sidecar(server, journal)
        try:
            yield stage
        finally:
            await stage.hang_up()
            await server.stop()


@asynccontextmanager
async def relayed(
    tmp_path: Path, script: Script, limits: Limits = QUICK, **more: object
) -> AsyncIterator[tuple[Scripted, Sidecar]]:
    """Run a scripted server, and the sidecar before it."""
    async with scripted(script) as upstream, sidecar(tmp_path, upstream.url, limits, **more) as one:
        yield upstream, one
