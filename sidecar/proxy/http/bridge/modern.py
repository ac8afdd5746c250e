"""Requests of 2026-07-28: each stands alone, and names its revision, method and name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from aiohttp import web

from sidecar.proxy.http.bridge.answering import answered
from sidecar.proxy.http.bridge.backstage import Backstage
from sidecar.proxy.http.bridge.bodies import NOT_ONE_MESSAGE, Body, Refusal, accepted
from sidecar.proxy.http.bridge.endings import Endings
from sidecar.proxy.http.bridge.session import HttpSession
from sidecar.proxy.streams import say
from sidecar.wire.jsonrpc import INVALID_REQUEST, Message
from sidecar.wire.mcp import CANCELLED, TOOLS_CALL, read_tool_call
from sidecar.wire.routing_check import RoutingError, check_arguments, check_routing


class Modern:
    """What answers all clients of one server alike."""

    def __init__(self, backstage: Backstage, endings: Endings) -> None:
        """Begin; what stands behind is started at the first request.

        Args:
            backstage: What makes it.
            endings: Takes what stood behind, and ends.
        """
        self._backstage = backstage
        self._endings = endings
        self._session: HttpSession | None = None
        self._starting: asyncio.Task[HttpSession] | None = None

    async def post(self, request: web.Request, body: Body) -> web.StreamResponse:
        """Take a POST."""
        message = body.messages[0]
        if body.batch or message.kind == "response":
            return Refusal(400, INVALID_REQUEST, NOT_ONE_MESSAGE).response()
        if message.kind == "notification":
            return await self._told_of(message)
        try:
            self._check(message, list(request.headers.items()))
        except RoutingError as error:
            return Refusal(400, error.code, str(error), message.id).response()
        return await answered(request, await self._present(), body, {}, cancels=True)

    async def close(self, *, patient: bool) -> None:
        """Begin to end what stands behind."""
        if self._starting is not None:
            await asyncio.wait([self._starting])
        session, self._session = self._session, None
        if session is not None:
            self._endings.begin(session, patient=patient)

    def _check(self, message: Message, headers: Sequence[tuple[str, str]]) -> None:
        check_routing(message, headers)
        if message.method != TOOLS_CALL:
            return
        tool = read_tool_call(message.params).name
        learned = self._session.mirrored if self._session else {}
        mirrored = (learned if tool in learned else self._backstage.mirrored).get(tool)
        if mirrored:
            check_arguments(mirrored, message, headers)

    async def _told_of(self, message: Message) -> web.Response:
        # By an id that it only has to guess, one client could take back another's request:
        # here a client takes back its own by closing the response.
        if message.method != CANCELLED:
            session = await self._present()
            await session.tell([message])
        return accepted()

    async def _present(self) -> HttpSession:
        """What stands behind; started anew where a server has ended, and a client knows (E04)."""
        session = self._session
        if session is not None and not session.has_told:
            return session
        if self._starting is None or self._starting.done():
            self._starting = asyncio.get_running_loop().create_task(self._started())
        # A client that goes meanwhile must not leave a server that nobody knows.
        return await asyncio.shield(self._starting)

    async def _started(self) -> HttpSession:
        old, self._session = self._session, None
        if old is not None:
            say(f"{old.failure}; it is started anew for the next request")
            await self._endings.end(old, patient=False)
        session = HttpSession(self._backstage, shared=True)
        await session.open()
        self._session = session
        return session
