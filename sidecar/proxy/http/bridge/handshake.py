"""Sessions of the revisions up to 2025-11-25: begun by `initialize`, ended by DELETE."""

from __future__ import annotations

import asyncio
import secrets

from aiohttp import web

from sidecar.proxy.http.bridge.answering import answered
from sidecar.proxy.http.bridge.backstage import Backstage
from sidecar.proxy.http.bridge.bodies import Body, Refusal, accepted, takes
from sidecar.proxy.http.bridge.endings import Endings
from sidecar.proxy.http.bridge.session import HttpSession
from sidecar.proxy.http.bridge.streaming import stream
from sidecar.proxy.http.endpoint import ENDLESS, Limits
from sidecar.proxy.http.headers import SESSION_HEADER, STREAM
from sidecar.wire.jsonrpc import CONNECTION_CLOSED, INVALID_REQUEST

_LOOK_SECONDS = 60.0


class Handshake:
    """The sessions of one server, by their unguessable ids."""

    def __init__(self, backstage: Backstage, endings: Endings, limits: Limits) -> None:
        """Begin without any.

        Args:
            backstage: What makes what stands behind them.
            endings: Takes those that end.
            limits: How many may be open, and for how long if nobody uses them.
        """
        self._backstage = backstage
        self._endings = endings
        self._limits = limits
        self._sessions: dict[str, HttpSession] = {}
        self._reaper: asyncio.Task[None] | None = None

    async def post(self, request: web.Request, body: Body) -> web.StreamResponse:
        """Take a POST."""
        ident = request.headers.get(SESSION_HEADER)
        if ident is None and body.opens and body.asks:
            return await self._opened(request, body)
        session = self._found(request, body.ident)
        if isinstance(session, Refusal):
            return session.response()
        if not body.asks:
            await session.tell(body.messages)
            return accepted()
        return await answered(request, session, body, {SESSION_HEADER: ident or ""}, cancels=False)

    async def get(self, request: web.Request) -> web.StreamResponse:
        """Open a stream for what belongs to no request."""
        if not takes(request, STREAM):
            return Refusal(406, INVALID_REQUEST, f"The client must accept {STREAM}").response()
        session = self._found(request, None)
        if isinstance(session, Refusal):
            return session.response()
        request[ENDLESS] = True
        mailbox = session.streams.opened()
        try:
            return await stream(request, mailbox, {SESSION_HEADER: request.headers[SESSION_HEADER]})
        finally:
            session.streams.closed(mailbox)

    async def delete(self, request: web.Request) -> web.StreamResponse:
        """End a session."""
        session = self._found(request, None)
        if isinstance(session, Refusal):
            return session.response()
        await self._end(request.headers[SESSION_HEADER])
        return web.Response(status=200)

    def close(self, *, patient: bool) -> None:
        """Begin to end all sessions."""
        if self._reaper is not None:
            self._reaper.cancel()
        while self._sessions:
            self._endings.begin(self._sessions.popitem()[1], patient=patient)

    async def _opened(self, request: web.Request, body: Body) -> web.StreamResponse:
        if len(self._sessions) >= self._limits.sessions:
            text = "Too many sessions are open"
            return Refusal(503, CONNECTION_CLOSED, text, body.ident).response()
        session = HttpSession(self._backstage, shared=False)
        ident = secrets.token_urlsafe(24)
        self._sessions[ident] = session
        self._watch()
        try:
            await session.open()
            headers = {SESSION_HEADER: ident}
            response = await answered(request, session, body, headers, cancels=False)
        finally:
            if not session.is_established:  # refused, or its client has gone: nobody knows it
                await self._end(ident)
        if not session.is_established and not response.prepared:
            del response.headers[SESSION_HEADER]
        return response

    def _found(self, request: web.Request, asked: str | None) -> HttpSession | Refusal:
        """Find a request's session; one that is unknown or has ended is 404 (H02)."""
        ident = request.headers.get(SESSION_HEADER)
        if ident is None:
            return Refusal(400, INVALID_REQUEST, f"{SESSION_HEADER} is missing", asked)
        session = self._sessions.get(ident)
        if session is not None and session.has_told:  # so that its client begins anew (H01)
            self._endings.begin(self._sessions.pop(ident), patient=False)
            session = None
        if session is None:
            return Refusal(404, INVALID_REQUEST, "Session not found", asked)
        return session

    async def _end(self, ident: str) -> None:
        session = self._sessions.pop(ident, None)
        if session is not None:
            await self._endings.end(session, patient=True)

    def _watch(self) -> None:
        if self._reaper is None and self._limits.idle_seconds:
            self._reaper = asyncio.get_running_loop().create_task(self._reap())

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            now = asyncio.get_running_loop().time()
            for ident, session in [*self._sessions.items()]:
                if session.idle and now - session.used_at > self._limits.idle_seconds:
                    del self._sessions[ident]
                    self._endings.begin(session, patient=True)  # which holds up no other's end
