"""Answers one POST: by a body of JSON, or by a stream where something comes before."""

from __future__ import annotations

import asyncio

from aiohttp import web

from sidecar.proxy.http.bridge.bodies import Body, json_response
from sidecar.proxy.http.bridge.in_flight import Post
from sidecar.proxy.http.bridge.mailbox import Item
from sidecar.proxy.http.bridge.session import HttpSession
from sidecar.proxy.http.bridge.streaming import KEEP_ALIVE_SECONDS, event, stream
from sidecar.proxy.http.endpoint import ENDLESS
from sidecar.wire.mcp import LISTEN


async def answered(
    request: web.Request,
    session: HttpSession,
    body: Body,
    headers: dict[str, str],
    *,
    cancels: bool,
) -> web.StreamResponse:
    """Have a session answer a POST.

    Args:
        request: The POST.
        session: Whose it is.
        body: What it carries; a request at least.
        headers: Of the response.
        cancels: Whether a client that goes takes its requests back.
    """
    request[ENDLESS] = all(message.method == LISTEN for message in body.messages)
    post = Post()
    try:
        await session.ask(body.messages, post)
        return await _respond(request, post, headers, batch=body.batch)
    finally:
        # A handler is cancelled when its client goes: what is left to do must not be.
        await asyncio.shield(session.left(post, cancels=cancels))


async def _respond(
    request: web.Request, post: Post, headers: dict[str, str], *, batch: bool
) -> web.StreamResponse:
    try:
        first = await post.next(KEEP_ALIVE_SECONDS)
    except TimeoutError:
        return await stream(request, post, headers)
    if first is None:  # taken back: there is no answer, and no error either (J09)
        return await stream(request, post, headers)
    if _is_all(first, post) and first.status is not None and not batch:
        return json_response(first.line, first.status, headers)
    return await stream(request, post, headers, event(first.line))


def _is_all(first: Item, post: Post) -> bool:
    return first.status is not None and post.ended and post.empty
