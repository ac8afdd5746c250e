"""The bodies of a server's HTTP responses: JSON, and streams of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp

from sidecar.errors import MessageTooLargeError
from sidecar.proxy.http.remote_requests import CUT, NoAnswerError
from sidecar.wire.sse import Event, EventBuffer

_RETRY_SECONDS = 1.0  # where the server does not say how long to wait
_LONGEST_RETRY_SECONDS = 60.0
_EXCERPT_CHARS = 200


class Place:
    """Where in a stream its reader is, so that it can be opened again there (H10).

    Attributes:
        id: The last event's that has one.
        wait_seconds: How long to wait before it is opened again.
        events: How many came yet.
    """

    def __init__(self) -> None:
        """Begin at the beginning."""
        self.id: str | None = None
        self.wait_seconds = _RETRY_SECONDS
        self.events = 0

    def passed(self, event: Event) -> None:
        """Take the next event."""
        self.events += 1
        if event.id is not None:
            self.id = event.id
        if event.retry is not None:
            self.wait_seconds = min(event.retry / 1000, _LONGEST_RETRY_SECONDS)


def is_stream(response: aiohttp.ClientResponse) -> bool:
    """Tell whether a response is a stream of events."""
    return response.ok and response.content_type == "text/event-stream"


async def events(response: aiohttp.ClientResponse, max_bytes: int) -> AsyncIterator[Event]:
    """Yield a stream's events until it ends, in order or not; it may be silent for ever.

    Raises:
        NoAnswerError: If an event is over the ceiling.
    """
    buffer = EventBuffer(max_bytes)
    try:
        async for chunk in response.content.iter_any():
            for event in buffer.feed(chunk):
                yield event
    except MessageTooLargeError as error:
        raise NoAnswerError(f"{error}; raise it with --max-message-bytes") from None
    except CUT:
        return


async def body(response: aiohttp.ClientResponse, max_bytes: int, seconds: float | None) -> bytes:
    """Read a response's body.

    Args:
        response: Of which nothing was read yet.
        max_bytes: Its ceiling.
        seconds: How long it may be silent; None for ever.

    Raises:
        NoAnswerError: If it is cut, too large, or silent for longer.
    """
    pieces: list[bytes] = []
    size = 0
    try:
        while not response.content.at_eof():
            async with asyncio.timeout(seconds):
                piece = await response.content.readany()
            pieces.append(piece)
            size += len(piece)
            if size > max_bytes:
                text = f"an answer of more than {max_bytes} bytes is over the ceiling"
                raise NoAnswerError(f"{text}; raise it with --max-message-bytes", response.status)
    except CUT as error:
        why = type(error).__name__
        raise NoAnswerError(f"its answer was cut off ({why})", response.status) from None
    return b"".join(pieces)


def excerpt(data: bytes, response: aiohttp.ClientResponse) -> str:
    """Quote the beginning of a refusal's body, where it is a plain text or JSON.

    What the request's own headers say is left out: it may be a secret.
    """
    if response.content_type not in ("text/plain", "application/json"):
        return ""
    text = " ".join(data[: 4 * _EXCERPT_CHARS].decode(errors="replace").split())
    for value in response.request_info.headers.values():
        text = text.replace(value.partition(" ")[2] or value, "***")
    return f": {text[:_EXCERPT_CHARS]}" if text else ""
