"""Responses that are streams of events."""

from __future__ import annotations

from aiohttp import web

from sidecar.proxy.http.bridge.mailbox import Mailbox
from sidecar.proxy.http.headers import STREAM
from sidecar.wire.sse import Event, encode

KEEP_ALIVE_SECONDS = 15.0
"""How long a response may be silent before a comment says that it is still there."""

_KEEP_ALIVE = b": still here\n\n"
_HEADERS = {
    "Content-Type": STREAM,
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}


async def stream(
    request: web.Request,
    mailbox: Mailbox,
    headers: dict[str, str],
    first: bytes = b"",
) -> web.StreamResponse:
    """Answer a request with a stream of what comes, until the mailbox or the client ends.

    Args:
        request: What is answered.
        mailbox: What comes.
        headers: Of the response, beside those of a stream.
        first: What is sent before.
    """
    response = web.StreamResponse(headers={**_HEADERS, **headers})
    await response.prepare(request)
    if first:
        await response.write(first)
    while True:
        try:
            item = await mailbox.next(KEEP_ALIVE_SECONDS)
        except TimeoutError:
            await response.write(_KEEP_ALIVE)
            continue
        if item is None:
            break
        await response.write(event(item.line))
    await response.write_eof()
    return response


def event(line: bytes) -> bytes:
    """Write a message as an event."""
    return encode(Event(line.decode("utf-8", "surrogatepass").strip()))
