"""A request's body: read whole, within bounds; and what is in it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from aiohttp.web_protocol import RequestPayloadError

from sidecar.errors import MessageTooLargeError
from sidecar.proxy.http.answers import RefusedError
from sidecar.proxy.http.decoding import UndecodableError, decoder

if TYPE_CHECKING:
    from aiohttp import web

    from sidecar.proxy.http.endpoint import Limits


async def read_body(request: web.BaseRequest, limits: Limits) -> bytes:
    """Read a request's body, as it came.

    Raises:
        RefusedError: 413 over the ceiling, 408 if it takes too long (H15), 400 if it
            breaks off.
    """
    if (request.content_length or 0) > limits.body_bytes:
        raise _too_large(limits)
    is_whole = request.content.is_eof()  # it came with its head: nothing is waited for
    try:
        async with asyncio.timeout(None if is_whole else limits.upload_seconds or None):
            return await _read(request, limits)
    except TimeoutError:
        raise RefusedError(
            408, f"The request's body took longer than {limits.upload_seconds:g} seconds"
        ) from None
    except RequestPayloadError:
        raise RefusedError(400, "The request's body is broken") from None


async def _read(request: web.BaseRequest, limits: Limits) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := await request.content.readany():
        pieces.append(piece)
        size += len(piece)
        if size > limits.body_bytes:
            raise _too_large(limits)
    return b"".join(pieces)


def plain_body(body: bytes, encoding: str, limits: Limits) -> bytes:
    """Decode a copy of a request's body.

    Args:
        body: As it came.
        encoding: Its `Content-Encoding`; empty where there is none.
        limits: How large it may get.

    Raises:
        RefusedError: 415 if it cannot be decoded, 413 over the ceiling.
    """
    try:
        decode = decoder(encoding, limits.body_bytes)
        plain = decode(body)
        if body and not decode.is_whole:
            raise UndecodableError("the compressed body is not whole")  # noqa: TRY301  # as the other
    except UndecodableError as error:
        raise RefusedError(415, f"The request's body cannot be read: {error}") from None
    except MessageTooLargeError:
        raise _too_large(limits) from None
    return plain


def _too_large(limits: Limits) -> RefusedError:
    return RefusedError(413, f"The request's body is over the ceiling of {limits.body_bytes} bytes")
