"""HTTP with SSE, as in revision 2024-11-05: one stream for a session, POSTs beside it."""

from __future__ import annotations

import secrets

from aiohttp import web

from sidecar.proxy.http.bridge.backstage import Backstage
from sidecar.proxy.http.bridge.bodies import Body, Refusal
from sidecar.proxy.http.bridge.endings import Endings
from sidecar.proxy.http.bridge.session import HttpSession
from sidecar.proxy.http.bridge.streaming import stream
from sidecar.proxy.http.endpoint import ENDLESS, SESSION_QUERY, messages_path
from sidecar.wire.jsonrpc import CONNECTION_CLOSED, INVALID_REQUEST
from sidecar.wire.sse import Event, encode


class SseSessions:
    """The sessions of one server: each is its stream's, and ends with it (H03)."""

    def __init__(self, backstage: Backstage, endings: Endings, most: int) -> None:
        """Begin without any.

        Args:
            backstage: What makes what stands behind them.
            endings: Takes those that end.
            most: How many may be open.
        """
        self._backstage = backstage
        self._endings = endings
        self._most = most
        self._sessions: dict[str, HttpSession] = {}

    async def get(self, request: web.Request) -> web.StreamResponse:
        """Open a session: its stream, which first names where messages are posted."""
        if len(self._sessions) >= self._most:
            return Refusal(503, CONNECTION_CLOSED, "Too many sessions are open").response()
        session = HttpSession(self._backstage, shared=False)
        ident = secrets.token_urlsafe(24)
        self._sessions[ident] = session
        request[ENDLESS] = True
        mailbox = session.streams.opened()
        try:
            await session.open()
            place = messages_path(self._backstage.options.server, ident)
            first = encode(Event(place, "endpoint"))
            return await stream(request, mailbox, {}, first)
        finally:
            session.streams.closed(mailbox)
            if self._sessions.pop(ident, None) is not None:
                await self._endings.end(session, patient=True)

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

    def close(self, *, patient: bool) -> None:
        """Begin to end all sessions."""
        while self._sessions:
            self._endings.begin(self._sessions.popitem()[1], patient=patient)
