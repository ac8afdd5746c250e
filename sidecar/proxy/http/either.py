"""The endpoint of a server that is reached by URL, for clients of both transports.

What client and server speak alike is relayed. Where the client speaks the other transport,
its messages go through lines, as those of a server over stdio do.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from sidecar.proxy.http.headers import SESSION_HEADER

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp import web

    from sidecar.proxy.http.bridge.front import Front
    from sidecar.proxy.http.relay.relay import Relay
    from sidecar.proxy.options import Transport


class Either:
    """The `Endpoint` of such a server in `record` and `passthrough`."""

    def __init__(
        self, relay: Relay, make_front: Callable[[], Front], transport: Transport | None
    ) -> None:
        """Prepare; nothing is contacted.

        Args:
            relay: For clients that speak as the server does.
            make_front: Makes what answers the others, once there is one.
            transport: Which one the server speaks; None where the config does not tell.
        """
        self._relay = relay
        self._make_front = make_front
        self._transport = transport

    @cached_property
    def _front(self) -> Front:
        return self._make_front()

    async def mcp(self, request: web.Request) -> web.StreamResponse:
        """Answer at the Streamable HTTP endpoint; the older transport's stream is there, too."""
        opens_stream = request.method == "GET" and SESSION_HEADER not in request.headers
        if self._transport != "sse" or opens_stream:
            return await self._relay.mcp(request)
        return await self._front.mcp(request)

    async def sse(self, request: web.Request) -> web.StreamResponse:
        """Answer at the endpoint of the older transport."""
        if self._transport == "sse":
            return await self._relay.sse(request)
        return await self._relay.sse(request, lambda: self._front.sse(request))

    async def messages(self, request: web.Request) -> web.StreamResponse:
        """Take a message of the older transport, for whichever has the session."""
        if "_front" not in vars(self) or self._relay.knows(request):
            return await self._relay.messages(request)
        return await self._front.messages(request)

    async def close(self, *, patient: bool) -> int:
        """End all sessions in order."""
        code = await self._relay.close(patient=patient)
        if "_front" in vars(self):
            code = max(code, await self._front.close(patient=patient))
        return code
