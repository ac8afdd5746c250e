"""A front on a port of its own, in the test's event loop, and raw exchanges with it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
from aiohttp import web

from sidecar.cassette.interaction import Cassette, Interaction, Server
from sidecar.proxy.http.bridge.backstage import Backstage
from sidecar.proxy.http.bridge.front import Front
from sidecar.proxy.http.endpoint import Limits, ServedServer, ServeOptions
from sidecar.proxy.options import Mode, OnMiss
from sidecar.store.cassettes import Loaded
from sidecar.store.journal import Journal
from sidecar.wire.sse import EventBuffer
from tests.proxy.place import RUN
from tests.proxy.stage import Unmasked

MODERN = "2026-07-28"
ACCEPT = {"Accept": "application/json, text/event-stream"}


class Served(NamedTuple):
    """A front that serves.

    Attributes:
        url: Of the folder of its three endpoints.
        front: Itself.
        http: A client of it.
        codes: What it said when it ended.
    """

    url: str
    front: Front
    http: aiohttp.ClientSession
    codes: list[int]

    @property
    def mcp(self) -> str:
        """The Streamable HTTP endpoint."""
        return f"{self.url}/mcp"


class Place(NamedTuple):
    """What a front is made of."""

    folder: Path
    interactions: Sequence[Interaction] | None = None
    command: tuple[str, ...] = ()
    mode: Mode = "replay"
    on_miss: OnMiss = "fail"
    name: str = "srv"
    limits: Limits = Limits(grace_seconds=0.5)
    env: tuple[tuple[str, str], ...] = ()
    url: str | None = None


@asynccontextmanager
async def fronted(place: Place) -> AsyncIterator[Served]:
    """Serve one server's recordings, or its command."""
    journal_path = place.folder / ".sidecar" / "journal.db"
    journal_path.parent.mkdir(exist_ok=True)
    with closing(Journal.open(str(journal_path))) as journal:
        journal.start_run(RUN, mode=place.mode)
        options = ServeOptions(
            servers=(),
            mode=place.mode,
            journal=str(journal_path),
            run=RUN,
            on_miss=place.on_miss,
            limits=place.limits,
        )
        entry = ServedServer(place.name, command=place.command, env=place.env, url=place.url)
        backstage = Backstage(options, entry, journal, Unmasked(), _loaded(place))
        front = Front(backstage, place.limits)
        async with _listening(front, place.name) as served:
            yield served


@asynccontextmanager
async def _listening(front: Front, name: str) -> AsyncIterator[Served]:
    app = web.Application()
    for path, handler in (("mcp", front.mcp), ("sse", front.sse), ("messages", front.messages)):
        app.router.add_route("*", f"/{name}/{path}", handler)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    codes: list[int] = []
    try:
        async with aiohttp.ClientSession() as http:
            yield Served(f"http://127.0.0.1:{port}/{name}", front, http, codes)
    finally:
        await runner.cleanup()
        codes.append(await front.close(patient=False))


def _loaded(place: Place) -> Loaded | None:
    if place.interactions is None:
        return None
    cassette = Cassette(tuple(place.interactions), {place.name: Server()})
    return Loaded(cassette, ())


class Answer(NamedTuple):
    """What came back on one POST, GET or DELETE.

    Attributes:
        status: The HTTP status.
        headers: Of the response.
        messages: Those of the body, or of the stream.
        streamed: Whether it was a stream.
    """

    status: int
    headers: Any
    messages: list[Any]
    streamed: bool


class Raw:
    """A client that writes its own requests, in one era and one session.

    Attributes:
        session: The session's id, once it has one.
    """

    def __init__(self, served: Served, *, modern: bool = False) -> None:
        self.served = served
        self.modern = modern
        self.session: str | None = None

    async def open(self, ident: object = 0) -> Answer:
        """Begin a session of the handshake era."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c"}}
        answer = await self.ask(ident, "initialize", params)
        self.session = answer.headers.get("Mcp-Session-Id")
        await self.post({"method": "notifications/initialized"})
        return answer

    async def ask(self, ident: object, method: str, params: Any = None, **more: Any) -> Answer:
        """Make a request."""
        return await self.post({"id": ident, "method": method, **self.params(params)}, **more)

    async def call(self, ident: object, tool: str, **arguments: Any) -> Answer:
        """Call a tool."""
        return await self.ask(ident, "tools/call", {"name": tool, "arguments": arguments})

    async def post(self, message: Any, headers: dict[str, str] | None = None) -> Answer:
        """Post a message, or the bytes of a body."""
        async with self.posting(message, headers) as response:
            return await answer_of(response)

    def posting(self, message: Any, headers: dict[str, str] | None = None) -> Any:
        """Post a message; gives the response while it is open."""
        if isinstance(message, dict):
            message = {"jsonrpc": "2.0", **message}
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        given = {**self.headers(message), "Content-Type": "application/json", **(headers or {})}
        return self.served.http.post(self.served.mcp, data=data, headers=given)

    def params(self, params: Any) -> dict[str, Any]:
        """Give a request's params their `_meta`, where the era has one."""
        if not self.modern:
            return {} if params is None else {"params": params}
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        given = params or {}
        return {"params": {**given, "_meta": {**meta, **given.get("_meta", {})}}}

    def headers(self, message: Any) -> dict[str, str]:
        """The headers of the era, for a message."""
        found = dict(ACCEPT)
        if self.session is not None:
            found["Mcp-Session-Id"] = self.session
        if self.modern:
            found["MCP-Protocol-Version"] = MODERN
        if self.modern and isinstance(message, dict):
            found["Mcp-Method"] = message["method"]
            name = message.get("params", {}).get("name") or message.get("params", {}).get("uri")
            found |= {"Mcp-Name": name} if name else {}
        return found


async def answer_of(response: aiohttp.ClientResponse) -> Answer:
    """Read a response to its end."""
    data = await response.read()
    streamed = response.content_type == "text/event-stream"
    if streamed:
        messages = [json.loads(event.data) for event in EventBuffer().feed(data)]
    else:
        messages = [json.loads(data)] if response.content_type == "application/json" else []
    return Answer(response.status, response.headers, messages, streamed)


async def events(response: aiohttp.ClientResponse, count: int) -> list[Any]:
    """Read so many messages of a stream that stays open."""
    buffer, found = EventBuffer(), list[Any]()
    while len(found) < count:
        chunk = await response.content.readany()
        assert chunk, f"the stream ended after {len(found)} messages"
        found += [json.loads(event.data) for event in buffer.feed(chunk)]
    return found
