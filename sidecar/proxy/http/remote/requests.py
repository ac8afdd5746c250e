"""HTTP requests to one server: within its origin, bounded, and failing in plain words."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import NamedTuple

import aiohttp

from sidecar.proxy.http.headers import SESSION_HEADER
from sidecar.proxy.http.outgoing import (
    KEEP_ALIVE_SECONDS,
    MAX_HEADER_BYTES,
    MAX_REDIRECTS,
    RedirectError,
    proxy_for,
    reason,
    redirected,
    shown,
)
from sidecar.proxy.options import ProxyOptions

_GATHERED_BYTES = 1 << 20  # of a response that waits to be read
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

    Certificates are checked against the system's. For the rest see `outgoing`.

    Attributes:
        url: Where the server is.
        options: What the proxy was told.
    """

    def __init__(self, options: ProxyOptions) -> None:
        """Take what is needed; must be called within the event loop."""
        self.url = options.url or ""
        self.options = options
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS),
            headers=[*_OURS, *options.headers],
            timeout=aiohttp.ClientTimeout(total=None, connect=options.connect_seconds),
            proxy=proxy_for(self.url),
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
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
            location, status = response.headers.get("Location", ""), response.status
            try:
                target = redirected(request.method, request.url, status, location)
            except RedirectError as error:
                response.close()
                raise NoAnswerError(f"it {error}", status) from None
            if target is None:
                return response
            response.close()
            request = request._replace(url=target)
        raise NoAnswerError("it redirects again and again")

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
        except (*CUT, ValueError) as error:
            connect = self.options.connect_seconds
            why = reason(error, connect_seconds=connect, answer_seconds=seconds or 0)
            raise NoAnswerError(f"{shown(self.url)} {why}") from None


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
    if status == HTTPStatus.NOT_FOUND and SESSION_HEADER in response.request_info.headers:
        return f"{text}: the server has ended the session; the client has to begin a new one"
    return text
