"""An HTTP server of odd behaviour on a thread of its own, and a `Remote` that speaks with it."""

from __future__ import annotations

import asyncio
import json
import os
import select
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeAlias

from aiohttp import web

from sidecar.proxy.http.remote.remote import Remote
from sidecar.proxy.link import Remark
from sidecar.proxy.options import ProxyOptions
from sidecar.wire.sse import Event, encode
from tests.proxy.place import until

WAIT_SECONDS = 30.0
_PATIENT = {"grace_seconds": WAIT_SECONDS, "connect_seconds": WAIT_SECONDS}
SESSION = "session-1"
VERSION = "2025-11-25"
MODERN = "2026-07-28"

Answer: TypeAlias = Callable[[web.Request, Any], Awaitable[web.StreamResponse]]


class Seen(NamedTuple):
    """A request that the server got.

    Attributes:
        method: Of HTTP.
        what: The method of the message in it, `response` for a response, or "".
        headers: Its headers, names in small letters.
        body: What it said.
    """

    method: str
    what: str
    headers: dict[str, str]
    body: bytes


class OddServer:
    """Answers as a server of the handshake era, but for what a test gives it.

    Attributes:
        answers: What it does: by a message's method, HTTP's method, or `METHOD /path`.
        seen: All requests, as they came.
        url: Its endpoint.
    """

    def __init__(self, answers: Mapping[str, Answer] | None = None, *, path: str = "/mcp") -> None:
        """Take what is odd about it.

        Args:
            answers: By a message's method, or the method of HTTP, or `METHOD /path`.
            path: Of its endpoint.
        """
        self.answers: dict[str, Answer] = {
            "initialize": initialized,
            "notification": accepted,
            "response": accepted,
            "GET": not_allowed,
            "DELETE": accepted,
            **(answers or {}),
        }
        self._path = path
        self._ready: Future[str] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.seen: list[Seen] = []
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self.url = self._ready.result(WAIT_SECONDS)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End it, at once: whoever waits for an answer gets none."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join(WAIT_SECONDS)

    def whats(self) -> list[str]:
        """What came in POSTs, in order."""
        return [seen.what for seen in self.seen if seen.method == "POST"]

    def until(self, is_so: Callable[[list[Seen]], object]) -> None:
        """Wait, bounded, until what it has seen is so."""
        until(lambda: is_so(self.seen), seconds=WAIT_SECONDS)

    def last(self, what: str) -> Seen:
        """The last request that was about that."""
        return next(seen for seen in reversed(self.seen) if what in (seen.what, seen.method))

    async def _serve(self) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", self._handle)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.01)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        (address,) = runner.addresses
        self._ready.set_result(f"http://127.0.0.1:{address[1]}{self._path}")
        await self._stopped.wait()
        await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        message = json.loads(body) if body else None
        what = _what(message)
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.seen.append(Seen(request.method, what, headers, body))
        notes = what.startswith("notifications/")
        keys = [f"{request.method} {request.path}", what, "notification" if notes else ""]
        found = next((key for key in [*keys, request.method] if key in self.answers), None)
        return await (self.answers[found] if found else echoed)(request, message)


def _what(message: Any) -> str:
    if isinstance(message, dict):
        return str(message.get("method", "response"))
    return "batch" if isinstance(message, list) else ""


async def initialized(_: web.Request, message: Any) -> web.Response:
    """Begins a session."""
    info = {"name": "odd", "version": "1"}
    result = {"protocolVersion": VERSION, "capabilities": {}, "serverInfo": info}
    return answered(message, result, headers={"Mcp-Session-Id": SESSION})


async def accepted(_request: web.Request, _message: Any) -> web.Response:
    """Takes what needs no answer."""
    return web.Response(status=202)


async def not_allowed(_request: web.Request, _message: Any) -> web.Response:
    """Refuses the method."""
    return web.Response(status=405)


async def echoed(_: web.Request, message: Any) -> web.Response:
    """Answers a request with its own params."""
    return answered(message, {"params": message.get("params")})


def answered(message: Any, result: object, **response: Any) -> web.Response:
    """A response whose body answers."""
    return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result}, **response)


def answering(**response: Any) -> Answer:
    """Answers with this response, always."""

    async def answer(_request: web.Request, _message: Any) -> web.Response:
        return web.Response(**response)

    return answer


def event(message: object, ident: str | None = None, retry: int | None = None) -> bytes:
    """An event that carries a message; None is none."""
    data = "" if message is None else json.dumps(message)
    return encode(Event(data, id=ident, retry=retry))


def result_of(message: Any, result: object) -> dict[str, object]:
    """A message that answers."""
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


async def stream(request: web.Request, *chunks: bytes) -> web.StreamResponse:
    """Begin a stream of events, and write these."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for chunk in chunks:
        await response.write(chunk)
    return response


def cut(request: web.Request) -> None:
    """Cut the connection."""
    assert request.transport is not None
    request.transport.abort()


class Talk:
    """A `Remote` in the test's process, and both of its pipes.

    Attributes:
        remote: Itself.
        remarks: What it remarked on its lines.
    """

    def __init__(self, url: str, **options: Any) -> None:
        given: dict[str, Any] = {**_PATIENT, **options}
        told = ProxyOptions("odd", "record", (), None, "", "", url=url, **given)
        self.remarks: dict[bytes, Remark] = {}
        self.remote = Remote(told, self.remarks)
        self._data = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remote.stop(WAIT_SECONDS, patient=False)
        os.close(self.remote.stdout)

    def send(self, *lines: bytes) -> None:
        """Say lines."""
        assert self.remote.stdin.send(b"".join(lines))

    def line(self) -> bytes:
        """The next line, whole; empty at the end."""
        deadline = time.monotonic() + WAIT_SECONDS
        while b"\n" not in self._data:
            poller = select.poll()
            poller.register(self.remote.stdout, select.POLLIN)
            assert poller.poll(max(0.0, deadline - time.monotonic()) * 1000), "nothing came in time"
            chunk = os.read(self.remote.stdout, 1 << 20)
            if not chunk:
                return b""
            self._data += chunk
        line, _, self._data = self._data.partition(b"\n")
        return line + b"\n"

    def message(self) -> Any:
        """The next line, as JSON."""
        return json.loads(self.line())

    def failure(self) -> str:
        """The text of the next line, which is an error in place of an answer."""
        line = self.line()
        assert self.remarks[line].is_ours, line
        error = json.loads(line)["error"]
        assert error["code"] == -32000
        text = error["message"]
        assert isinstance(text, str)
        return text

    def rest(self) -> list[bytes]:
        """End the client's input; all lines that still come."""
        self.remote.stdin.close()
        lines = []
        while line := self.line():
            lines.append(line)
        return lines

    def later(self, seconds: float) -> None:
        """Make it later by so much for the remote: what waits less has waited enough.

        What has come by now is read before, and what that ends is ended after.
        """
        loop = self.remote._loop
        assert loop is not None

        async def jump() -> None:
            await _turns()
            now = loop.time
            loop.time = lambda: now() + seconds  # type: ignore[method-assign]
            await _turns()

        asyncio.run_coroutine_threadsafe(jump(), loop).result(WAIT_SECONDS)

    def begun(self) -> Self:
        """Begin a session of the handshake era, up to the server's stream."""
        self.send(INITIALIZE)
        assert "result" in self.message()
        self.send(INITIALIZED)
        return self


async def _turns() -> None:
    """Let the loop read what has come, run all timers that are due, and what they set going."""
    ran = asyncio.Event()
    asyncio.get_running_loop().call_later(0, ran.set)
    await ran.wait()
    for _ in range(10):
        await asyncio.sleep(0)


def request(ident: object, method: str, params: object = None) -> bytes:
    """A request's line, of the handshake era."""
    found = {"jsonrpc": "2.0", "id": ident, "method": method}
    if params is not None:
        found["params"] = params
    return json.dumps(found).encode() + b"\n"


def modern(ident: object, method: str, **params: object) -> bytes:
    """A request's line, of 2026-07-28."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return request(ident, method, {**params, "_meta": meta})


def call(ident: object, tool: str = "t", **arguments: object) -> bytes:
    """A line that calls a tool, of the handshake era."""
    return request(ident, "tools/call", {"name": tool, "arguments": arguments})


def notice(method: str, **params: object) -> bytes:
    """A notification's line."""
    found = {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}
    return json.dumps(found).encode() + b"\n"


INITIALIZE = request(
    "init",
    "initialize",
    {
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": {"name": "talk", "version": "1"},
    },
)
INITIALIZED = notice("initialized")
