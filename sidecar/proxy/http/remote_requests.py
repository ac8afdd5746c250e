"""HTTP requests to one server: within its origin, bounded, and failing in plain words."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from sidecar.proxy.options import ProxyOptions

MAX_REDIRECTS = 5
_PORTS = {"http": 80, "https": 443}
_KEEP_ALIVE_SECONDS = 3.0  # servers close an idle connection after 5: ours must be sooner
_GATHERED_BYTES = 1 << 20  # of a response that waits to be read
_KEEPING_METHOD = (HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT)
_REDIRECTS = (
    *_KEEPING_METHOD,
    HTTPStatus.MOVED_PERMANENTLY,
    HTTPStatus.FOUND,
    HTTPStatus.SEE_OTHER,
)
_OURS = (("User-Agent", "mcp-sidecar"), ("Accept-Encoding", "identity"))

CUT = (aiohttp.ClientError, ConnectionError, TimeoutError)
"""What reading a response raises once its connection is gone."""


class NoAnswerError(Exception):
    """A request got no answer that could be used; its text says why.

    Attributes:
        status: Of the response, if there was one.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class Sent(NamedTuple):
    """A request.

    Attributes:
        method: `POST`, `GET` or `DELETE`.
        url: Where it goes.
        headers: Beside those that every request has.
        body: None where it has none.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


class Requests:
    """Sends requests to a server, with the headers that the user gave for it.

    They go to the server's own origin only, also where it redirects: the headers are
    secrets, and so may the body be. Certificates are checked against the system's; a proxy
    of the environment (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`) is used.

    Attributes:
        url: Where the server is.
        options: What the proxy was told.
    """

    def __init__(self, options: ProxyOptions) -> None:
        """Take what is needed; must be called within the event loop."""
        self.url = options.url or ""
        self.options = options
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_SECONDS),
            headers=[*_OURS, *options.headers],
            timeout=aiohttp.ClientTimeout(total=None, connect=options.connect_seconds),
            proxy=_proxy_for(self.url),
            read_bufsize=_GATHERED_BYTES,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    @asynccontextmanager
    async def response(
        self, request: Sent, seconds: float | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request, and give its response once its head is there.

        Args:
            request: What to send.
            seconds: How long that may take; None for what the options say, where 0 is for ever.

        Raises:
            NoAnswerError: If there was no response, or it leads to another origin.
        """
        seconds = seconds or self.options.answer_seconds or None
        response = await self._redirected(request, seconds)
        try:
            yield response
        finally:
            response.close()

    async def _redirected(self, request: Sent, seconds: float | None) -> aiohttp.ClientResponse:
        for _ in range(MAX_REDIRECTS):
            response = await self._responded(request, seconds)
            if response.status not in _REDIRECTS:
                return response
            response.close()
            request = request._replace(url=self._next(response, request))
        raise NoAnswerError("it redirects again and again")

    def _next(self, response: aiohttp.ClientResponse, request: Sent) -> str:
        """Tell where a redirect leads.

        Raises:
            NoAnswerError: If that is elsewhere, or the message would be lost on the way.
        """
        keeps = request.method == "GET" or response.status in _KEEPING_METHOD
        try:
            target = urljoin(request.url, response.headers.get("Location", ""))
            if keeps and is_same_origin(request.url, target):
                return target
            text = f"it redirects to {shown(target)}, which is not followed; is that its URL?"
        except ValueError:
            text = "it redirects to what is no URL"
        raise NoAnswerError(text, response.status)

    async def _responded(self, request: Sent, seconds: float | None) -> aiohttp.ClientResponse:
        try:
            async with asyncio.timeout(seconds):
                return await self._session.request(
                    request.method,
                    request.url,
                    headers=request.headers,
                    data=None if request.body is None else io.BytesIO(request.body),
                    allow_redirects=False,
                )
        except CUT as error:
            raise NoAnswerError(self._why(error, seconds)) from None

    def _why(self, error: Exception, seconds: float | None) -> str:
        where = shown(self.url)
        match error:
            case aiohttp.ConnectionTimeoutError():
                wait = f"{self.options.connect_seconds:g} seconds"
                return f"{where} cannot be reached: no connection within {wait}"
            case TimeoutError():
                return f"{where} did not begin to answer within {seconds or 0:g} seconds"
            case aiohttp.ClientConnectorCertificateError():
                return f"{where} has a certificate that is not trusted: {error}"
            case aiohttp.ClientConnectorError():
                reason = error.os_error.strerror or error.os_error
                return f"{where} cannot be reached: {reason}"
        return f"{where} ended the connection before it answered ({type(error).__name__})"


def refusal(response: aiohttp.ClientResponse) -> str:
    """Say in words what a status means that came without an answer."""
    status = response.status
    phrase = next((known.phrase for known in HTTPStatus if known == status), "")
    text = f"HTTP {status} {phrase}".rstrip()
    if status == HTTPStatus.UNAUTHORIZED:
        # Where its metadata leads is never looked at: it may lead anywhere (H21).
        return (
            f"{text}: it wants credentials. Give them as --header-env Authorization=VARIABLE, "
            "or in `headers` of its config entry; the sidecar does not sign in by itself"
        )
    if status == HTTPStatus.NOT_FOUND and "Mcp-Session-Id" in response.request_info.headers:
        return f"{text}: the server has ended the session; the client has to begin a new one"
    return text


def is_same_origin(one: str, other: str) -> bool:
    """Tell whether two URLs are of one origin, and the second brings no credentials.

    Raises:
        ValueError: If one of them is no URL.
    """
    return _origin(one) == _origin(other) and "@" not in urlsplit(other).netloc


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return (parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme))


def shown(url: str) -> str:
    """Write a URL for people: what may be secret in it is left out."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _proxy_for(url: str) -> str | None:
    # aiohttp's own `trust_env` would also take credentials out of .netrc.
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme)
    return proxy if proxy and not proxy_bypass(parts.netloc) else None
