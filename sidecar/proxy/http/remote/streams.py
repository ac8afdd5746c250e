"""The bodies of a server's HTTP responses: JSON, and streams of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import aiohttp

from sidecar.errors import MessageTooLargeError
from sidecar.proxy.http.headers import JSON, STREAM
from sidecar.proxy.http.remote.requests import CUT, NoAnswerError
from sidecar.wire.sse import Event, EventBuffer

_RETRY_SECONDS = 1.0  # where the server does not say how long to wait
_SHORTEST_RETRY_SECONDS = 0.1
_LONGEST_RETRY_SECONDS = 60.0
_MOST_DOUBLINGS = 10  # from the shortest wait to the longest
_EXCERPT_CHARS = 200
_TRIVIAL_CHARS = 3  # so short a value is no secret, and stands in every other word


class Place:
    """Where in a stream its reader is, so that it can be opened again there (H10).

    Attributes:
        id: The last event's that has one.
        wait_seconds: How long to wait before it is opened again.
        events: How many came yet.
        messages: How many of them had data.
    """

    def __init__(self) -> None:
        """Begin at the beginning."""
        self.id: str | None = None
        self.wait_seconds = _RETRY_SECONDS
        self.events = self.messages = 0

    def passed(self, event: Event) -> None:
        """Take the next event."""
        self.events += 1
        self.messages += bool(event.data)
        if event.id is not None:
            self.id = event.id
        if event.retry is not None:
            seconds = min(event.retry / 1000, _LONGEST_RETRY_SECONDS)
            self.wait_seconds = max(seconds, _SHORTEST_RETRY_SECONDS)

    def pause_seconds(self, quiet: int) -> float:
        """How long to wait where nothing is awaited, and so often in a row nothing came."""
        doublings = min(max(quiet - 1, 0), _MOST_DOUBLINGS)
        return min(self.wait_seconds * 2.0**doublings, _LONGEST_RETRY_SECONDS)


def is_stream(response: aiohttp.ClientResponse) -> bool:
    """Tell whether a response is a stream of events."""
    return response.ok and response.content_type == STREAM


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


def excerpt(data: bytes, response: aiohttp.ClientResponse, given: Iterable[tuple[str, str]]) -> str:
    """Quote the beginning of a refusal's body, where it is a plain text or JSON.

    Args:
        data: The body.
        response: What it is of.
        given: The headers that the user gave for the server; their values are left out.
    """
    if response.content_type not in ("text/plain", JSON):
        return ""
    text = " ".join(data[: 4 * _EXCERPT_CHARS].decode(errors="replace").split())
    credentials = response.request_info.headers.get("Authorization", "")  # maybe the URL's
    for secret in _secrets([credentials, *(value for _, value in given)]):
        text = text.replace(secret, "***")
    return f": {text[:_EXCERPT_CHARS]}" if text else ""


def _secrets(values: Iterable[str]) -> list[str]:
    """Find what is secret in values of headers, longest first: all, and without its scheme."""
    parts = {part.strip() for value in values for part in (value, value.partition(" ")[2])}
    return sorted((part for part in parts if len(part) > _TRIVIAL_CHARS), key=len, reverse=True)
