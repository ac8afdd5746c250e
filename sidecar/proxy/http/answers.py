"""Answers of the sidecar's own: JSON-RPC errors under an HTTP status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

from sidecar.proxy.http.headers import JSON
from sidecar.wire.jsonrpc import CONNECTION_CLOSED, INVALID_REQUEST, failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class RefusedError(Exception):
    """A request that is answered by the sidecar itself, with an error.

    Attributes:
        status: The HTTP status.
        text: What is wrong, in one sentence without a full stop.
        headers: Further headers of the answer.
    """

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = headers


def refusal(error: RefusedError, idents: Sequence[str | None] = ()) -> web.Response:
    """Write the answer to a request that is refused.

    Args:
        error: Why.
        idents: The JSON texts of the ids that wait for an answer; several for a batch.
    """
    code = INVALID_REQUEST if error.status < 500 else CONNECTION_CLOSED  # noqa: PLR2004
    return error_response(error.status, code, error.text, idents or (None,), error.headers)


def not_allowed(methods: str) -> web.Response:
    """Answer a request whose method is none of those that are taken there."""
    return web.Response(status=405, headers={"Allow": methods})


def error_response(
    status: int,
    code: int,
    text: str,
    idents: Sequence[str | None],
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """Write a JSON-RPC error, or a batch of them, under an HTTP status."""
    errors = [failure(ident, code, text).strip() for ident in idents]
    body = errors[0] if len(errors) == 1 else b"[" + b",".join(errors) + b"]"
    return web.Response(status=status, body=body, content_type=JSON, headers=headers)
