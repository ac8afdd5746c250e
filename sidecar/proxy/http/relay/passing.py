"""Passes a server's answer to the client as it comes, and tells its exchange what it says.

The chunk that completes a message goes on only when that message is in the journal: the
last chunk of a body, and the one that ends an event of a stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import aiohttp
from aiohttp import web

from sidecar.errors import MessageTooLargeError
from sidecar.proxy.http.answers import RefusedError
from sidecar.proxy.http.decoding import Decode, UndecodableError, decoder
from sidecar.proxy.http.headers import STREAM, passed_headers
from sidecar.proxy.streams import say
from sidecar.wire.jsonrpc import CONNECTION_CLOSED, failure, read_line
from sidecar.wire.sse import Event, EventBuffer, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sidecar.proxy.http.endpoint import Limits
    from sidecar.proxy.http.relay.exchange import Exchange
    from sidecar.wire.jsonrpc import Message

_CUT = b"\0\nevent: cut\n\n"
"""Makes of what came of an event one that no client takes for a message, or for an id."""


class BrokenOffError(Exception):
    """An answer that ended before it was whole, in words."""


class Passing(NamedTuple):
    """An answer on its way from a server to the client.

    Attributes:
        server: The server's name.
        limits: Ceilings.
        request: The client's.
        response: The server's answer, of which the body has not been read.
    """

    server: str
    limits: Limits
    request: web.BaseRequest
    response: aiohttp.ClientResponse

    @property
    def is_stream(self) -> bool:
        """Whether it is a stream of events."""
        return self.response.content_type == STREAM

    @property
    def is_plain(self) -> bool:
        """Whether its bytes are not encoded."""
        return self.response.headers.get("Content-Encoding", "identity").lower() == "identity"

    def too_large(self) -> str:
        """Say, on standard error as well, that it is over the ceiling; return the words."""
        limit = self.limits.message_bytes
        words = f"an answer is over the ceiling of {limit} bytes of one message"
        say(f"server {self.server!r}: {words}; --max-message-bytes allows more")
        return words

    def reason(self, error: Exception) -> str:
        """Say why it is not passed on to its end."""
        return self.too_large() if isinstance(error, MessageTooLargeError) else str(error)

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of the body, and nothing of it is left to read."""
        return self.response.content.at_eof()

    async def next_chunk(self) -> bytes:
        """Read what there is of the body, waiting for something; empty at its end.

        Raises:
            BrokenOffError: If the server breaks off.
        """
        try:
            return await self.response.content.readany()
        except (aiohttp.ClientError, OSError):
            raise BrokenOffError("the server broke off in the middle of its answer") from None

    def decoder(self) -> Decode:
        """Make what decodes a copy of the body.

        Raises:
            RefusedError: 502 if that is not possible: it could not be recorded (H11).
        """
        try:
            encoding = self.response.headers.get("Content-Encoding", "")
            return decoder(encoding, self.limits.message_bytes)
        except UndecodableError as error:
            self.response.close()
            raise RefusedError(502, f"Server {self.server!r}: {error}") from None


class PassedResponse(web.StreamResponse):
    """The answer that the client gets."""

    def __init__(self, passing: Passing) -> None:
        response = passing.response
        headers = passed_headers(response.headers)
        if passing.is_stream:
            headers.popall("Content-Length", None)  # what breaks off gets an end of ours
        super().__init__(status=response.status, reason=response.reason, headers=headers)
        self._send_headers_immediately = passing.is_stream  # else with the body: one packet less
        self._unasked = [name for name in ("Server", "Content-Type") if name not in headers]
        self._request = passing.request

    def trim(self) -> None:
        """Take out the headers that were added and that the server did not send."""
        for name in self._unasked:
            self.headers.popall(name, None)

    async def begin(self) -> None:
        """Send the headers, once."""
        if not self.prepared:
            await self.prepare(self._request)

    async def pass_on(self, chunk: bytes) -> None:
        """Send a chunk of the body."""
        await self.begin()
        await self.write(chunk)

    async def end(self, chunk: bytes) -> PassedResponse:
        """Send the last chunk, and the end."""
        await self.begin()
        await self.write_eof(chunk)
        return self

    def break_off(self) -> PassedResponse:
        """End it so that the client sees that it is not whole, as we did."""
        if self._request.transport is not None:
            self._request.transport.abort()
        return self


async def trim(_request: web.Request, response: web.StreamResponse) -> None:
    """Trim an answer, as the application's signal before headers are sent."""
    if isinstance(response, PassedResponse):
        response.trim()
    else:
        response.headers.popall("Server", None)  # whose versions are nobody's business


async def pass_body(passing: Passing, exchange: Exchange | None) -> web.StreamResponse:
    """Pass a body on, its last chunk once the messages in it are in the journal.

    Args:
        passing: The answer.
        exchange: Who is told; None where there is nothing to tell.

    Raises:
        RefusedError: 502 if it cannot be decoded, is too large or is not whole, and nothing
            was passed.
    """
    try:
        is_json = exchange is not None and "json" in passing.response.content_type
        if is_json and (passing.response.content_length or 0) > passing.limits.message_bytes:
            raise RefusedError(502, f"Server {passing.server!r}: {passing.too_large()}")
        copy = _Copy(passing.decoder(), passing.limits.message_bytes) if is_json else None
        return await _passed_body(passing, exchange, copy)
    finally:
        passing.response.close()


async def _passed_body(
    passing: Passing, exchange: Exchange | None, copy: _Copy | None
) -> web.StreamResponse:
    client = PassedResponse(passing)
    held = b""
    try:
        while chunk := await passing.next_chunk():
            if copy is not None:
                copy.add(chunk)
            if held:
                await client.pass_on(held)
            held = chunk
        messages = () if copy is None else copy.messages()
    except (BrokenOffError, UndecodableError, MessageTooLargeError) as error:
        reason = passing.reason(error)
        if not client.prepared:
            raise RefusedError(502, f"Server {passing.server!r}: {reason}") from None
        if exchange is not None:
            exchange.ended()
        return client.break_off()
    if exchange is not None:
        exchange.answered(messages)
        exchange.ended()
    return await client.end(held)


class _Copy:
    """What a body says, decoded."""

    def __init__(self, decode: Decode, max_bytes: int) -> None:
        self._decode = decode
        self._pieces: list[bytes] = []
        self._room = max_bytes

    def add(self, chunk: bytes) -> None:
        """Take a chunk of the body.

        Raises:
            MessageTooLargeError: If it is over the ceiling now.
            UndecodableError: If it is broken.
        """
        self._pieces.append(self._decode(chunk))
        self._room -= len(self._pieces[-1])
        if self._room < 0:
            raise MessageTooLargeError("the answer is over the ceiling of one message")

    def messages(self) -> Sequence[Message]:
        """Read it, at its end.

        Raises:
            BrokenOffError: If it is not whole.
        """
        if self._pieces and not self._decode.is_whole:
            raise BrokenOffError("the compressed answer is not whole")
        return read_line(b"".join(self._pieces)) or ()


async def pass_events(passing: Passing, exchange: Exchange) -> web.StreamResponse:
    """Pass a stream of events on, each once the message in it is in the journal.

    Where the server breaks off in the middle, and the client cannot come back to it, each
    request that waits is answered with an error (H06).

    Raises:
        RefusedError: 502 if the stream cannot be decoded; nothing was passed.
    """
    try:
        reading = Reading.of(passing, exchange)
        client = PassedResponse(passing)
        await client.begin()
        return await pass_rest(reading, client)
    finally:
        passing.response.close()


class Told(Protocol):
    """Who is told what the events of a stream say."""

    @property
    def waiting(self) -> tuple[str, ...]:
        """The ids, as spelt, of the requests that are not answered yet."""

    @property
    def resumable(self) -> bool:
        """Whether a client can come back to the stream."""

    def streamed(self, messages: Sequence[Message], event_id: str | None) -> None:
        """Take the messages of an event."""

    def ended(self) -> None:
        """Take the end: what is open will not be answered."""


class Reading(NamedTuple):
    """A stream of events that is being read.

    Attributes:
        passing: The answer that it is the body of.
        exchange: Who is told what the events say.
        decode: What decodes its bytes.
        events: What finds the events in them.
    """

    passing: Passing
    exchange: Told
    decode: Decode
    events: EventBuffer

    @classmethod
    def of(cls, passing: Passing, exchange: Told) -> Reading:
        """Begin to read.

        Raises:
            RefusedError: 502 if the stream cannot be decoded.
        """
        return cls(passing, exchange, passing.decoder(), EventBuffer(passing.limits.message_bytes))

    def note(self, chunk: bytes) -> None:
        """Tell the exchange of the events that a chunk ends."""
        for event in self.events.feed(self.decode(chunk)):
            messages = read_line(event.data.encode()) if event.data else None
            self.exchange.streamed(messages or (), event.id)

    @property
    def is_mendable(self) -> bool:
        """Whether somebody waits who cannot come back, and can be told."""
        exchange = self.exchange
        return bool(exchange.waiting) and not exchange.resumable and self.passing.is_plain

    def errors(self, reason: str) -> bytes:
        """Write the events that answer whoever waits."""
        cut = _CUT if self.events.pending else b""
        text = f"Server {self.passing.server!r}: {reason}"
        return cut + b"".join(
            encode(Event(failure(ident, CONNECTION_CLOSED, text).decode().strip()))
            for ident in self.exchange.waiting
        )


async def pass_rest(
    reading: Reading, client: PassedResponse, first: bytes = b""
) -> web.StreamResponse:
    """Pass on what comes of a stream, up to its end.

    Args:
        reading: The stream.
        client: Where it goes.
        first: What was read of it already.
    """
    last, broken = b"", None
    try:
        while chunk := first or await reading.passing.next_chunk():
            first = b""
            reading.note(chunk)
            if reading.passing.is_over:
                last = chunk  # goes with the end: one packet less
                break
            await client.pass_on(chunk)
    except (BrokenOffError, UndecodableError, MessageTooLargeError) as error:
        broken = reading.passing.reason(error)
    if reading.is_mendable:
        errors = reading.errors(broken or "the stream ended without an answer")
        reading.exchange.ended()
        return await client.end(last + errors)
    return await client.end(last) if broken is None else client.break_off()
