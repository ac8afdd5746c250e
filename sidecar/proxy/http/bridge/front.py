"""HTTP in front, lines behind: replays, and servers over stdio, for clients over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from aiohttp import web

from sidecar.errors import JournalError
from sidecar.proxy.http.answers import RefusedError, not_allowed, refusal
from sidecar.proxy.http.body import plain_body, read_body
from sidecar.proxy.http.bridge.bodies import Body, Refusal, media_refusal, messages_of
from sidecar.proxy.http.bridge.endings import Endings
from sidecar.proxy.http.bridge.handshake import Handshake
from sidecar.proxy.http.bridge.modern import Modern
from sidecar.proxy.http.bridge.sse_sessions import SseSessions
from sidecar.proxy.http.headers import VERSION_HEADER, is_modern
from sidecar.proxy.streams import say
from sidecar.wire.jsonrpc import CONNECTION_CLOSED
from sidecar.wire.mcp import INITIALIZE, modern_version

if TYPE_CHECKING:
    from sidecar.proxy.http.bridge.backstage import Backstage
    from sidecar.proxy.http.endpoint import Limits


class Front:
    """The `Endpoint` of a server that is replayed, or that speaks in lines."""

    def __init__(self, backstage: Backstage, limits: Limits) -> None:
        """Begin; nothing is started before a client asks.

        Args:
            backstage: What makes what stands behind its sessions.
            limits: How much, and for how long.
        """
        self._limits = limits
        self._backstage = backstage
        self._endings = endings = Endings()
        self._handshake = Handshake(backstage, endings, limits)
        self._modern = Modern(backstage, endings)
        self._sse = SseSessions(backstage, endings, limits.sessions)

    async def mcp(self, request: web.Request) -> web.StreamResponse:
        """Answer at the Streamable HTTP endpoint."""
        if request.method == "POST":
            return await self._post(request)
        if is_modern(request.headers) or request.method not in ("GET", "DELETE"):
            allowed = "POST" if is_modern(request.headers) else "GET, POST, DELETE"
            return not_allowed(allowed)
        if request.method == "GET":
            return await self._handshake.get(request)
        return await self._handshake.delete(request)

    async def sse(self, request: web.Request) -> web.StreamResponse:
        """Answer at the endpoint of the older transport."""
        if request.method != "GET":  # a client that tries Streamable HTTP first
            return not_allowed("GET")
        try:
            return await self._sse.get(request)
        except JournalError as error:
            return _not_begun(error, None)

    async def messages(self, request: web.Request) -> web.StreamResponse:
        """Take messages of the older transport."""
        if request.method != "POST":
            return not_allowed("POST")
        body = await self._body(request)
        return body if isinstance(body, web.Response) else await self._sse.post(request, body)

    async def close(self, *, patient: bool) -> int:
        """End all sessions; 1 if a request missed in a replay, 2 if it was not journalled."""
        hurry = asyncio.get_running_loop().call_later(
            self._limits.patient_seconds, self._backstage.hurry
        )
        self._sse.close(patient=patient)
        self._handshake.close(patient=patient)
        await self._modern.close(patient=patient)
        codes = await self._endings.all()
        hurry.cancel()
        self._backstage.dismiss()
        return max(codes, default=0)

    async def _post(self, request: web.Request) -> web.StreamResponse:
        refused = media_refusal(request)
        if refused is not None:
            return refused.response()
        body = await self._body(request)
        if isinstance(body, web.Response):
            return body
        try:
            if _is_modern(request.headers, body):
                return await self._modern.post(request, body)
            return await self._handshake.post(request, body)
        except JournalError as error:
            return _not_begun(error, body.ident)

    async def _body(self, request: web.Request) -> Body | web.Response:
        try:
            data = await read_body(request, self._limits)
            data = plain_body(data, request.headers.get("Content-Encoding", ""), self._limits)
        except RefusedError as error:
            return refusal(error)
        body = messages_of(data)
        return body.response() if isinstance(body, Refusal) else body


def _not_begun(error: JournalError, ident: str | None) -> web.Response:
    """Answer where no session can begin, since it could not be journalled."""
    text = f"The session cannot begin: {error}"
    say(text)
    return Refusal(503, CONNECTION_CLOSED, text, ident).response()


def _is_modern(headers: Mapping[str, str], body: Body) -> bool:
    """Tell a request's era, by its header; without one, by what it says itself (N01)."""
    if VERSION_HEADER in headers:
        return is_modern(headers)
    first = body.messages[0]
    return first.method != INITIALIZE and modern_version(first.params) is not None
