"""Requests to a server that is reached by URL."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

import aiohttp
from yarl import URL

from sidecar.errors import ConfigError
from sidecar.proxy.http.answers import RefusedError
from sidecar.proxy.http.outgoing import (
    KEEP_ALIVE_SECONDS,
    MAX_HEADER_BYTES,
    MAX_REDIRECTS,
    RedirectError,
    is_same_origin,
    proxy_for,
    reason,
    redirected,
)

if TYPE_CHECKING:
    from multidict import CIMultiDict

    from sidecar.proxy.http.endpoint import Limits, ServedServer

_WRITTEN_BY_OTHERS = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


class Sent(NamedTuple):
    """A request for a server.

    Attributes:
        method: Its HTTP method.
        headers: All of them, but for those of the connection.
        body: As the client sent it; None where there is none.
    """

    method: str
    headers: CIMultiDict[str]
    body: bytes | None = None


class Upstream:
    """One server that is reached by URL."""

    def __init__(self, entry: ServedServer, limits: Limits) -> None:
        """Prepare; nothing is contacted.

        Raises:
            ConfigError: If the URL cannot be used.
        """
        self._name = entry.name
        self._limits = limits
        self.url = url_of(entry)
        self._session: aiohttp.ClientSession | None = None

    async def send(self, sent: Sent, url: URL | None = None) -> aiohttp.ClientResponse:
        """Send a request; return its answer once that has begun.

        A redirect within the server's own origin is followed, as a client would; other
        ones are refused, since our caller's headers are not meant for another origin.

        Args:
            sent: The request.
            url: Where to, if not to the server's own URL.

        Raises:
            RefusedError: 502 if the server cannot be reached, or redirects elsewhere; 504
                if it takes too long.
        """
        url = url or self.url
        for _ in range(MAX_REDIRECTS):
            response = await self._sent(sent, url)
            location = response.headers.get("Location")
            try:
                target = redirected(sent.method, str(url), response.status, location)
            except RedirectError as error:
                response.close()
                raise RefusedError(502, f"Server {self._name!r} {error}") from None
            if target is None:
                return response
            response.close()
            url = URL(target, encoded=True)
        raise RefusedError(502, f"Server {self._name!r} redirects in a circle")

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def is_ours(self, url: URL) -> bool:
        """Tell whether a URL is of the server's own origin."""
        try:
            return is_same_origin(str(self.url), str(url))
        except ValueError:
            return False

    async def _sent(self, sent: Sent, url: URL) -> aiohttp.ClientResponse:
        try:
            async with asyncio.timeout(self._limits.answer_seconds or None):
                return await self._connected().request(
                    sent.method, url, headers=sent.headers, data=sent.body, allow_redirects=False
                )
        except (aiohttp.ClientError, OSError, ValueError) as error:  # timeouts are OSErrors
            status = 504 if isinstance(error, TimeoutError) else 502
            why = reason(
                error,
                connect_seconds=self._limits.connect_seconds,
                answer_seconds=self._limits.answer_seconds,
            )
            raise RefusedError(status, f"Server {self._name!r} {why}") from None

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                auto_decompress=False,
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=_WRITTEN_BY_OTHERS,
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=self._limits.connect_seconds or None
                ),
                proxy=proxy_for(str(self.url)),
                max_line_size=MAX_HEADER_BYTES,
                max_field_size=MAX_HEADER_BYTES,
            )
        return self._session


def url_of(entry: ServedServer) -> URL:
    """Read a server's URL.

    Raises:
        ConfigError: If it is none of HTTP.
    """
    try:
        url = URL(entry.url or "", encoded=True)
        is_http = url.scheme in ("http", "https") and bool(url.host)
    except ValueError:
        url, is_http = URL(), False
    if not is_http:
        raise ConfigError(
            f"the URL of server {entry.name!r} is none of http or https",
            hint='write "url": "https://..."',
        )
    return url
