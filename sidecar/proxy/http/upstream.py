"""Requests to a server that is reached by URL."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

import aiohttp
from yarl import URL

from sidecar.errors import ConfigError
from sidecar.proxy.http.answers import RefusedError

if TYPE_CHECKING:
    from multidict import CIMultiDict

    from sidecar.proxy.http.endpoint import Limits, ServerEntry

_IDLE_SECONDS = 4.0  # less than the 5 after which the usual servers close what is idle
_REDIRECTS = 5
_WITH_BODY = (307, 308)  # the client's request again, as it was (RFC 9110, section 15.4)
_MOVED = (301, 302, 303, *_WITH_BODY)
_SAFE = ("GET", "HEAD", "OPTIONS")
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

    def __init__(self, entry: ServerEntry, limits: Limits) -> None:
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
        for _ in range(_REDIRECTS):
            response = await self._sent(sent, url)
            if response.status not in _MOVED or "Location" not in response.headers:
                return response
            response.close()
            url = self._redirected(sent, url, response)
        raise RefusedError(502, f"Server {self._name!r} redirects in a circle")

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def is_ours(self, url: URL) -> bool:
        """Tell whether a URL is of the server's own origin."""
        return _origin(url) == _origin(self.url)

    def _redirected(self, sent: Sent, url: URL, response: aiohttp.ClientResponse) -> URL:
        try:
            target = url.join(URL(response.headers["Location"], encoded=True))
            is_ours = self.is_ours(target)
        except ValueError:
            target, is_ours = url, False
        if not is_ours:
            raise RefusedError(502, f"Server {self._name!r} redirects to another origin: refused")
        if response.status not in _WITH_BODY and sent.method not in _SAFE:
            raise RefusedError(
                502,
                f"Server {self._name!r} redirects a {sent.method} with {response.status}, "
                "which would lose its body: refused",
            )
        return target

    async def _sent(self, sent: Sent, url: URL) -> aiohttp.ClientResponse:
        try:
            async with asyncio.timeout(self._limits.answer_seconds or None):
                return await self._connected().request(
                    sent.method, url, headers=sent.headers, data=sent.body, allow_redirects=False
                )
        except aiohttp.ConnectionTimeoutError:
            text = f"could not be reached within {self._limits.connect_seconds:g} seconds"
            raise RefusedError(504, f"Server {self._name!r} {text}") from None
        except TimeoutError:
            text = f"did not begin an answer within {self._limits.answer_seconds:g} seconds"
            raise RefusedError(504, f"Server {self._name!r} {text}") from None
        except (aiohttp.ClientError, OSError) as error:
            raise RefusedError(502, f"Server {self._name!r} {_reason(error)}") from None

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                auto_decompress=False,
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=_WRITTEN_BY_OTHERS,
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=self._limits.connect_seconds or None
                ),
                max_line_size=64 * 1024,
                max_field_size=64 * 1024,
            )
        return self._session


def url_of(entry: ServerEntry) -> URL:
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


def _origin(url: URL) -> tuple[str, str | None, int | None]:
    return url.scheme, url.host, url.port


def _reason(error: Exception) -> str:
    """Say what went wrong, without the URL, which may hold secrets."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "has a name that could not be resolved"
    if isinstance(error, aiohttp.ClientSSLError):
        return "could not be reached safely: its certificate does not fit"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"could not be reached: {error.os_error.strerror or 'no connection'}"
    if isinstance(error, aiohttp.ServerDisconnectedError | OSError):
        return "ended the connection before it answered"
    return "gave an answer that is not HTTP"
