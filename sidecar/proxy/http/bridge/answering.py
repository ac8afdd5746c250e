"""Answers one POST: by a body of JSON, or by a stream where something comes before."""

from __future__ import annotations

import asyncio

from aiohttp import web

from sidecar.proxy.http.bridge.bodies import Body, json_response
from sidecar.proxy.http.bridge.in_flight import Exchange
from sidecar.proxy.http.bridge.mailbox import KEEP_ALIVE_SECONDS, Item, event, stream
from sidecar.proxy.http.bridge.session import HttpSession
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
    exchange = Exchange()
    try:
        await session.ask(body.messages, exchange)
        return await _respond(request, exchange, headers, batch=body.batch)
    finally:
        # A handler is cancelled when its client goes: what is left to do must not be.
        await asyncio.shield(session.left(exchange, cancels=cancels))


async def _respond(
    request: web.Request, exchange: Exchange, headers: dict[str, str], *, batch: bool
) -> web.StreamResponse:
    try:
        first = await exchange.next(KEEP_ALIVE_SECONDS)
    except TimeoutError:
        return await stream(request, exchange, headers)
    if first is None:  # taken back: there is no answer, and no error either (J09)
        return await stream(request, exchange, headers)
    if _is_all(first, exchange) and first.status is not None and not batch:
        return json_response(first.line, first.status, headers)
    return await stream(request, exchange, headers, event(first.line))


def _is_all(first: Item, exchange: Exchange) -> bool:
    return first.status is not None and exchange.ended and exchange.empty
