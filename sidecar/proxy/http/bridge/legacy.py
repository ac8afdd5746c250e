"""HTTP with SSE, as in revision 2024-11-05: one stream for a session, POSTs beside it."""

from __future__ import annotations

import asyncio
import secrets
from concurrent.futures import Executor
from urllib.parse import quote

from aiohttp import web

from sidecar.proxy.http.bridge.backstage import Backstage
from sidecar.proxy.http.bridge.bodies import Body, Refusal
from sidecar.proxy.http.bridge.mailbox import stream
from sidecar.proxy.http.bridge.session import HttpSession
from sidecar.proxy.http.endpoint import ENDLESS
from sidecar.wire.jsonrpc import CONNECTION_CLOSED, INVALID_REQUEST
from sidecar.wire.sse import Event, encode

SESSION_QUERY = "session_id"


class Legacy:
    """The sessions of one server: each is its stream's, and ends with it (H03)."""

    def __init__(self, backstage: Backstage, threads: Executor, most: int) -> None:
        """Begin without any.

        Args:
            backstage: What makes what stands behind them.
            threads: For what blocks.
            most: How many may be open.
        """
        self._backstage = backstage
        self._threads = threads
        self._most = most
        self._sessions: dict[str, HttpSession] = {}
        self._codes: list[int] = []

    async def get(self, request: web.Request) -> web.StreamResponse:
        """Open a session: its stream, which first names where messages are posted."""
        if len(self._sessions) >= self._most:
            return Refusal(503, CONNECTION_CLOSED, "Too many sessions are open").response()
        session = HttpSession(self._backstage, self._threads, shared=False)
        ident = secrets.token_urlsafe(24)
        self._sessions[ident] = session
        request[ENDLESS] = True
        mailbox = session.streams.opened()
        try:
            await session.open()
            first = encode(Event(_endpoint(request, ident), "endpoint"))
            return await stream(request, mailbox, {}, first)
        finally:
            session.streams.closed(mailbox)
            await asyncio.shield(asyncio.ensure_future(self._end(ident, patient=True)))

    async def post(self, request: web.Request, body: Body) -> web.StreamResponse:
        """Take messages; what they ask for comes on the stream."""
        ident = request.query.get(SESSION_QUERY)
        if ident is None:
            return Refusal(400, INVALID_REQUEST, f"{SESSION_QUERY} is missing").response()
        session = self._sessions.get(ident)
        if session is None:
            return Refusal(404, INVALID_REQUEST, "Session not found", body.ident).response()
        await session.pass_on(body.messages)
        return web.Response(status=202, text="Accepted")

    async def close(self, *, patient: bool) -> list[int]:
        """End all sessions; return what each says of its replay."""
        await asyncio.gather(*(self._end(ident, patient=patient) for ident in [*self._sessions]))
        return self._codes

    async def _end(self, ident: str, *, patient: bool) -> None:
        session = self._sessions.pop(ident, None)
        if session is not None:
            self._codes.append(await session.close(patient=patient))


def _endpoint(request: web.Request, ident: str) -> str:
    """Where messages are posted: beside the stream, under whatever name we were called by."""
    place = request.path.rpartition("/")[0]
    return f"{quote(place)}/messages?{SESSION_QUERY}={ident}"
