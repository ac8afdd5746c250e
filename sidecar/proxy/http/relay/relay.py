"""HTTP in front, HTTP behind: what passes is passed as it came, and a copy is studied.

Nothing is written anew but the headers of the connection. The server's answer goes on
chunk by chunk; the chunk that completes a message waits until that is in the journal.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from sidecar.proxy.http.answers import RefusedError, not_allowed, refusal
from sidecar.proxy.http.body import plain_body, read_body
from sidecar.proxy.http.endpoint import ENDLESS
from sidecar.proxy.http.headers import (
    LAST_EVENT_HEADER,
    SESSION_HEADER,
    credentials_of,
    sent_headers,
)
from sidecar.proxy.http.relay.exchange import Asked, Exchange, asked
from sidecar.proxy.http.relay.passing import Passing, pass_body, pass_events
from sidecar.proxy.http.relay.recordings import Recordings
from sidecar.proxy.http.relay.sse_streams import SseStream, SseStreams
from sidecar.proxy.http.relay.upstream import Sent, Upstream

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import aiohttp
    from aiohttp import web
    from yarl import URL

    from sidecar.cassette.redaction.redactor import Redactor
    from sidecar.proxy.http.endpoint import ServedServer, ServeOptions
    from sidecar.store.journal import Journal

_ERROR = 400  # from here on
_GONE = 404
_NO_STREAM = (400, 404, 405, 406)  # answers of a server without the older transport


class Relay:
    """The endpoint of one server that is reached by URL, in `record` and `passthrough`."""

    def __init__(
        self, options: ServeOptions, entry: ServedServer, journal: Journal, masks: Redactor
    ) -> None:
        """Prepare; nothing is contacted.

        Raises:
            ConfigError: If the URL cannot be used.
        """
        self._options = options
        self._entry = entry
        self._masks = masks
        self._upstream = Upstream(entry, options.limits)
        self._recordings = Recordings(options, entry.name, journal, masks)
        self._streams = SseStreams(entry.name, self._upstream, self._recordings)

    async def mcp(self, request: web.Request) -> web.StreamResponse:
        """Pass a request to the server's URL, and its answer back."""
        if request.method == "POST":
            return await self._post(request)
        if request.method == "GET" and SESSION_HEADER not in request.headers:
            return await self.sse(request)
        return await self._other(request)

    async def sse(
        self,
        request: web.Request,
        instead: Callable[[], Awaitable[web.StreamResponse]] | None = None,
    ) -> web.StreamResponse:
        """Open a stream of the older transport; other answers pass as they come.

        Args:
            request: The client's.
            instead: What answers where the server has no such stream; None passes its answer.
        """
        if request.method != "GET":
            return not_allowed("GET")
        request[ENDLESS] = True
        try:
            response = await self._begun(self._sent(request))
            if instead is not None and response.status in _NO_STREAM:
                response.close()
                return await instead()
            return await self._streams.passed(self._passing(request, response))
        except RefusedError as error:
            return refusal(error)

    def knows(self, request: web.Request) -> bool:
        """Tell whether a message of the older transport is for a session that is relayed."""
        return self._streams.has(request)

    async def messages(self, request: web.Request) -> web.StreamResponse:
        """Pass a message of the older transport to where the server wants it."""
        if request.method != "POST":
            return not_allowed("POST")
        try:
            session = self._streams.of(request)
            body = await read_body(request, self._options.limits)
            seen = asked(request.headers, self._plain(request, body))
            exchange = Exchange(self._recordings, seen, session.recording)
            response = await self._posted(self._sent(request, body), session, exchange)
            return await pass_body(self._passing(request, response), None)
        except RefusedError as error:
            return refusal(error)

    async def _posted(
        self, sent: Sent, session: SseStream, exchange: Exchange
    ) -> aiohttp.ClientResponse:
        try:
            response = await self._begun(sent, session.url)
        except RefusedError as error:
            exchange.refused(error.status)
            raise
        if response.status >= _ERROR:
            exchange.ended()  # else the answer comes on the stream
        return response

    async def close(self, *, patient: bool) -> int:  # noqa: ARG002  # nothing here runs on
        """End all sessions in order."""
        await self._upstream.close()
        self._recordings.close()
        return 0

    async def _post(self, request: web.Request) -> web.StreamResponse:
        try:
            body = await read_body(request, self._options.limits)
            seen = asked(request.headers, self._plain(request, body))
        except RefusedError as error:
            return refusal(error)
        if seen.listens:
            request[ENDLESS] = True
        exchange = Exchange(self._recordings, seen)
        try:
            return await self._passed(request, self._sent(request, body), exchange, seen)
        except RefusedError as error:
            waiting = exchange.waiting
            exchange.refused(error.status)
            return refusal(error, waiting)
        finally:
            exchange.client_went()

    def _plain(self, request: web.Request, body: bytes) -> bytes:
        encoding = request.headers.get("Content-Encoding", "")
        return plain_body(body, encoding, self._options.limits)

    async def _passed(
        self, request: web.Request, sent: Sent, exchange: Exchange, seen: Asked
    ) -> web.StreamResponse:
        response = await self._begun(sent)
        with closing(response):
            exchange.begun(response.status, response.headers.get(SESSION_HEADER))
            passed = await _answer(self._passing(request, response), exchange)
        if response.status == _GONE and seen.session_id is not None:
            self._recordings.end(seen.session_id)
        return passed

    async def _other(self, request: web.Request) -> web.StreamResponse:
        """Pass on what has no message in its body: streams, and the end of a session."""
        session_id = request.headers.get(SESSION_HEADER)
        try:
            body = await read_body(request, self._options.limits)
            request[ENDLESS] = request.method == "GET"
            response = await self._begun(self._sent(request, body or None))
            with closing(response):
                exchange = self._resumed(request, session_id)
                exchange.begun(response.status)
                passed = await _answer(self._passing(request, response), exchange)
        except RefusedError as error:
            return refusal(error)
        if session_id is not None and _ends_session(request.method, response.status):
            self._recordings.end(session_id)
        return passed

    def _resumed(self, request: web.Request, session_id: str | None) -> Exchange:
        """Find the exchange whose stream a client comes back to; else begin one."""
        recording = None if session_id is None else self._recordings.of(session_id)
        last = request.headers.get(LAST_EVENT_HEADER)
        if recording is not None and last is not None:
            found = recording.exchange_at(last)
            if isinstance(found, Exchange):
                return found
        return Exchange(self._recordings, Asked((), session_id, modern=False))

    def _sent(self, request: web.Request, body: bytes | None = None) -> Sent:
        self._masks.learn(credentials_of(request.headers))  # the server may say them again (X08)
        headers = sent_headers(request.headers, self._entry.headers, self._options.token)
        return Sent(request.method, headers, body)

    async def _begun(self, sent: Sent, url: URL | None = None) -> aiohttp.ClientResponse:
        """Send a request; that the server cannot be reached is said, too, once a reason."""
        try:
            return await self._upstream.send(sent, url)
        except RefusedError as error:
            self._recordings.tell_once(error.text)
            raise

    def _passing(self, request: web.Request, response: aiohttp.ClientResponse) -> Passing:
        return Passing(self._entry.name, self._options.limits, request, response)


async def _answer(passing: Passing, exchange: Exchange) -> web.StreamResponse:
    if passing.is_stream:
        return await pass_events(passing, exchange)
    return await pass_body(passing, exchange)


def _ends_session(method: str, status: int) -> bool:
    return status == _GONE or (method == "DELETE" and status < 300)  # noqa: PLR2004  # it did
