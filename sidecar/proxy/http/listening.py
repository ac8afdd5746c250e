"""The socket that clients connect to: how many, and for how long they may say nothing."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from sidecar.errors import UsageError

if TYPE_CHECKING:
    from aiohttp import web

    from sidecar.proxy.http.endpoint import Limits

_BACKLOG = 1024


class Listener:
    """Accepts connections for a server of aiohttp, within limits."""

    def __init__(self, server: web.Server, limits: Limits) -> None:
        self._server = server
        self._limits = limits
        self._accepting: asyncio.Server | None = None
        self._silent: set[asyncio.Protocol] = set()
        self.port = 0

    async def start(self, host: str, port: int) -> None:
        """Listen.

        Raises:
            UsageError: If that is not possible at this address.
        """
        try:
            self._accepting = await self._listening(host, port)
        except (OSError, OverflowError, UnicodeError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise UsageError(
                f"it is not possible to listen there: {reason}",
                place=f"{host}:{port}",
                hint="choose another --port or --host; --port 0 takes a free port",
            ) from None
        self.port = self._accepting.sockets[0].getsockname()[1]

    async def _listening(self, host: str, port: int) -> asyncio.Server:
        """Listen at one port of all addresses that a name has."""
        loop = asyncio.get_running_loop()
        listen = partial(loop.create_server, self._protocol, host, backlog=_BACKLOG)
        server = await listen(port=port)
        first, *others = dict.fromkeys(taken.getsockname()[1] for taken in server.sockets)
        if not others:  # else the system gave each address a free port of its own
            return server
        server.close()
        for free in others:
            with suppress(OSError):
                return await listen(port=free)
        return await listen(port=first)

    def close(self) -> None:
        """Accept no more; open connections stay."""
        if self._accepting is not None:
            self._accepting.close()

    def heard(self, protocol: asyncio.Protocol) -> None:
        """Take that a request came whole over a connection."""
        self._silent.discard(protocol)

    def _protocol(self) -> asyncio.Protocol:
        if len(self._server.connections) >= self._limits.connections:
            return _Refusing()
        protocol = self._server()
        if self._limits.header_seconds:
            self._silent.add(protocol)
            loop = asyncio.get_running_loop()
            loop.call_later(self._limits.header_seconds, self._end_if_silent, protocol)
        return protocol

    def _end_if_silent(self, protocol: web.RequestHandler) -> None:
        if protocol in self._silent:
            self._silent.discard(protocol)
            if protocol.transport is not None:
                protocol.transport.abort()


class _Refusing(asyncio.Protocol):
    """A connection over the limit: closed at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(
            b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        transport.close()
