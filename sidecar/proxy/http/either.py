"""The endpoint of a server that is reached by URL, for clients of both transports.

What client and server speak alike is relayed. Where the client speaks the other transport,
its messages go through lines, as those of a server over stdio do.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from sidecar.proxy.http.headers import SESSION_HEADER
from sidecar.proxy.http.relay.relay import Relay

if TYPE_CHECKING:
    from aiohttp import web

    from sidecar.cassette.redaction.redactor import Redactor
    from sidecar.proxy.http.bridge.front import Front
    from sidecar.proxy.http.endpoint import ServeOptions, ServerEntry
    from sidecar.store.journal import Journal


class Either:
    """The `Endpoint` of such a server in `record` and `passthrough`."""

    def __init__(
        self, options: ServeOptions, entry: ServerEntry, journal: Journal, masks: Redactor
    ) -> None:
        """Prepare; nothing is contacted.

        Raises:
            ConfigError: If the URL cannot be used.
        """
        self._options = options
        self._entry = entry
        self._journal = journal
        self._masks = masks
        self._relay = Relay(options, entry, journal, masks)

    @cached_property
    def _bridge(self) -> Front:
        from sidecar.proxy.http.bridge.front import Front  # noqa: PLC0415  # hardly any server needs one

        return Front(self._options, self._entry, self._journal, self._masks, None)

    async def mcp(self, request: web.Request) -> web.StreamResponse:
        """Answer at the Streamable HTTP endpoint; the older transport's stream is there, too."""
        opens_stream = request.method == "GET" and SESSION_HEADER not in request.headers
        if self._entry.transport != "sse" or opens_stream:
            return await self._relay.mcp(request)
        return await self._bridge.mcp(request)

    async def sse(self, request: web.Request) -> web.StreamResponse:
        """Answer at the endpoint of the older transport."""
        if self._entry.transport == "sse":
            return await self._relay.sse(request)
        return await self._relay.sse(request, lambda: self._bridge.sse(request))

    async def messages(self, request: web.Request) -> web.StreamResponse:
        """Take a message of the older transport, for whichever has the session."""
        if "_bridge" not in vars(self) or self._relay.knows(request):
            return await self._relay.messages(request)
        return await self._bridge.messages(request)

    async def close(self, *, patient: bool) -> int:
        """End all sessions in order."""
        code = await self._relay.close(patient=patient)
        if "_bridge" in vars(self):
            code = max(code, await self._bridge.close(patient=patient))
        return code
