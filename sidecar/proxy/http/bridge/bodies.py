"""What a POST carries, and JSON-RPC answers that are a body of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from aiohttp import web

from sidecar.proxy.http.headers import JSON, STREAM
from sidecar.wire.jsonrpc import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Message,
    failure,
    is_json_id,
    read_line,
)
from sidecar.wire.mcp import INITIALIZE


class Body(NamedTuple):
    """What a POST carries.

    Attributes:
        messages: Its messages, in order.
        batch: Whether they came in an array.
    """

    messages: tuple[Message, ...]
    batch: bool

    @property
    def asks(self) -> bool:
        """Whether anything in it is to be answered."""
        return any(message.kind == "request" for message in self.messages)

    @property
    def ident(self) -> str | None:
        """The text of the first request's id, for an answer to the whole; or None."""
        asked = (message.id for message in self.messages if message.kind == "request")
        return next(asked, None)

    @property
    def opens(self) -> bool:
        """Whether it is an `initialize`, and nothing else."""
        return len(self.messages) == 1 and self.messages[0].method == INITIALIZE


class Refusal(NamedTuple):
    """Why a request is not taken.

    Attributes:
        status: The HTTP status.
        code: The JSON-RPC error's code.
        text: In words.
        ident: The text of the id that is answered; None writes null.
    """

    status: int
    code: int
    text: str
    ident: str | None = None

    def response(self, headers: Mapping[str, str] | None = None) -> web.Response:
        """Write the answer."""
        line = failure(self.ident, self.code, self.text)
        return json_response(line, self.status, headers)


def json_response(
    line: bytes, status: int, headers: Mapping[str, str] | None = None
) -> web.Response:
    """Write a message as a body of its own."""
    return web.Response(body=line.rstrip(b"\n"), status=status, content_type=JSON, headers=headers)


def accepted() -> web.Response:
    """Write the answer to what is not answered by a message."""
    return web.Response(status=202)


def media_refusal(request: web.Request) -> Refusal | None:
    """Check the media types of a POST: what it sends, and what it takes."""
    if request.content_type != JSON:
        return Refusal(415, INVALID_REQUEST, f"The content type must be {JSON}")
    if not takes(request, JSON) or not takes(request, STREAM):
        return Refusal(406, INVALID_REQUEST, f"The client must accept {JSON} and {STREAM}")
    return None


def takes(request: web.Request, media_type: str) -> bool:
    """Tell whether a client accepts a media type; one that does not say accepts all."""
    given = ",".join(request.headers.getall("Accept", []))
    accepted_types = {part.partition(";")[0].strip().lower() for part in given.split(",")} - {""}
    kind = media_type.partition("/")[0]
    return not accepted_types or not accepted_types.isdisjoint({media_type, f"{kind}/*", "*/*"})


NOT_ONE_MESSAGE = "The body must be a JSON-RPC message"


def messages_of(data: bytes) -> Body | Refusal:
    """Read the messages of a POST; odd ones are refused, and reach nobody (J07)."""
    data = data.strip()
    messages = read_line(data)
    if messages is None or any(not is_json_id(message.id or "null") for message in messages):
        return Refusal(400, PARSE_ERROR, "Parse error: the body is not JSON")
    odd = next((message for message in messages if message.kind == "opaque"), None)
    if odd is not None or not messages:
        return Refusal(400, INVALID_REQUEST, NOT_ONE_MESSAGE, odd.id if odd else None)
    return Body(tuple(messages), batch=data[:1] == b"[")
