"""The older HTTP with SSE transport (2024-11-05), where a stream says where to post.

The `endpoint` event is the one thing that is written anew: the client posts to us, and we
to where the server said, if that is of the server's own origin (H13).
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, NamedTuple

from yarl import URL

from sidecar.errors import MessageTooLargeError
from sidecar.proxy.http.answers import RefusedError
from sidecar.proxy.http.endpoint import SESSION_QUERY, messages_path
from sidecar.proxy.http.relay.exchange import Asked, Exchange
from sidecar.proxy.http.relay.passing import (
    BrokenOffError,
    PassedResponse,
    Passing,
    Reading,
    pass_body,
    pass_rest,
)
from sidecar.proxy.streams import say
from sidecar.wire.sse import Event, EventBuffer, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiohttp import web

    from sidecar.proxy.http.relay.recordings import Recording, Recordings
    from sidecar.proxy.http.relay.upstream import Upstream
    from sidecar.wire.jsonrpc import Message

_ENDPOINT = "endpoint"
_HEAD_BYTES = 64 * 1024  # up to the end of the first event


class SseStream(NamedTuple):
    """One stream, and where its client's messages go.

    Attributes:
        url: Where the server wants them.
        recording: What is kept of it.
    """

    url: URL
    recording: Recording

    @property
    def waiting(self) -> tuple[str, ...]:
        """The ids, as spelt, of the requests that are not answered yet."""
        return self.recording.recorder.pending

    @property
    def resumable(self) -> bool:
        """Whether a client can come back to the stream: never."""
        return False

    def streamed(self, messages: Sequence[Message], event_id: str | None) -> None:  # noqa: ARG002  # nobody comes back
        """Take the messages of an event."""
        for message in messages:
            self.recording.take(self.recording.recorder.from_server(message))
        if messages:
            self.recording.flush()

    def ended(self) -> None:
        """Take the end of the stream: what is open will not be answered (R22)."""
        self.recording.failed = True
        self.recording.take(self.recording.recorder.ended())
        self.recording.flush()


class SseStreams:
    """The sessions of one server over the older transport."""

    def __init__(self, server: str, upstream: Upstream, recordings: Recordings) -> None:
        self._server = server
        self._upstream = upstream
        self._recordings = recordings
        self._open: dict[str, SseStream] = {}

    def has(self, request: web.BaseRequest) -> bool:
        """Tell whether a message is for one of them."""
        return request.query.get(SESSION_QUERY, "") in self._open

    def of(self, request: web.BaseRequest) -> SseStream:
        """Find the session that a message is for.

        Raises:
            RefusedError: 404 if there is none.
        """
        found = self._open.get(request.query.get(SESSION_QUERY, ""))
        if found is None:
            raise RefusedError(404, "There is no such session; its stream may have ended")
        return found

    async def passed(self, passing: Passing) -> web.StreamResponse:
        """Pass on what answers a GET that names no session.

        Raises:
            RefusedError: 502 if its first event could not be read, were it one that says
                where to post.
        """
        try:
            if not passing.is_stream:
                return await pass_body(passing, None)
            if not passing.is_plain:
                raise RefusedError(502, f"Server {self._server!r} compresses its stream: refused")
            client = PassedResponse(passing)
            await client.begin()
            return await self._passed_stream(passing, client)
        finally:
            passing.response.close()

    async def _passed_stream(self, passing: Passing, client: PassedResponse) -> web.StreamResponse:
        event, size, head = await _read_head(passing, client)
        if event is None or event.event != _ENDPOINT:
            exchange = Exchange(self._recordings, Asked((), None, modern=False))
            return await pass_rest(Reading.of(passing, exchange), client, head)
        url = self._target(passing, event)
        if url is None:
            say(f"server {self._server!r} wants messages sent to another origin: refused")
            return client.break_off()
        key = secrets.token_hex(16)
        session = SseStream(url, self._recordings.begin_unnamed())
        self._open[key] = session
        try:
            ours = messages_path(self._server, key)
            await client.pass_on(encode(event._replace(data=ours)))
            return await pass_rest(Reading.of(passing, session), client, head[size:])
        finally:
            del self._open[key]
            self._recordings.end_unnamed(session.recording)

    def _target(self, passing: Passing, event: Event) -> URL | None:
        try:
            url = passing.response.url.join(URL(event.data, encoded=True))
            return url if self._upstream.is_ours(url) else None
        except ValueError:
            return None


async def _read_head(passing: Passing, client: PassedResponse) -> tuple[Event | None, int, bytes]:
    """Read a stream's first event; comments before it pass as they come.

    Returns:
        The event, None if the stream ends before; where it ends; and all that was read
        and not passed on.
    """
    buffer = EventBuffer(_HEAD_BYTES)
    head = b""
    try:
        while chunk := await passing.next_chunk():
            for at in range(len(chunk)):  # to find where it ends
                events = buffer.feed(chunk[at : at + 1])
                if events:
                    return events[0], len(head) + at + 1, head + chunk
            head += chunk
            if not buffer.pending:
                await client.pass_on(head)
                head = b""
    except (BrokenOffError, MessageTooLargeError):
        pass
    return None, len(head), head
