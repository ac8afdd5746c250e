"""JSON-RPC 2.0 envelopes, read without loss.

A message is looked at through a copy; what is forwarded are the bytes. Oddities are
values here, never errors: what cannot be read is a `Message` of kind `opaque`.
"""

from __future__ import annotations

import json

from sidecar.wire.framing import Oversized
from sidecar.wire.json_text import (
    JsonValue,
    NotJsonError,
    dump,
    elements,
    leading_members,
    members,
    number_key,
    parse,
    string_at_once,
)
from sidecar.wire.typed import Literal, NamedTuple, TypeAlias

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
CONNECTION_CLOSED = -32000
MESSAGE_TOO_LARGE = -32011
"""Ours, from the range that the protocol leaves to implementations."""
NO_RECORDING = -32010
"""Ours: a request, not a tool call, that no recording answers."""

_WHITESPACE = " \t\r\n"
_NO_NUMBERS = ("N", "I", "")  # `NaN`, `Infinity`

Kind: TypeAlias = Literal["request", "notification", "response", "opaque"]
IdKey: TypeAlias = tuple[str, str] | None
"""An id as a dictionary key: equal for ids that are the same one, type and all."""


class Message(NamedTuple):
    """One JSON-RPC message, seen through its text.

    Attributes:
        kind: What it is; `opaque` where it is no JSON-RPC message that we can read.
        text: The message's whole JSON text.
        id: The id's JSON text, as it was spelt; None where there is none or it is null.
        method: Of a request or a notification.
        params: The text of `params`; None where absent.
        result: Of a response: the text of `result`; None where absent.
        error: Of a response: the text of `error`; None where absent.
    """

    kind: Kind
    text: str
    id: str | None = None
    method: str | None = None
    params: str | None = None
    result: str | None = None
    error: str | None = None


def read_line(line: bytes) -> list[Message] | None:
    """Read one line: a message, or the messages of a batch.

    Args:
        line: With or without its line end.

    Returns:
        The messages in order, for a batch of none an empty list. None if the line is no
        JSON at all: blank, noise, or not UTF-8.
    """
    try:
        text = line.decode().strip(_WHITESPACE)
        if text[:1] == "[":
            return [_message(item) for item in elements(text) or ()]
        return [_message(text)]
    except (UnicodeDecodeError, NotJsonError):
        return None


def _message(text: str) -> Message:
    found = members(text)
    if found is None:
        return Message("opaque", text)
    method_text = found.get("method", "")
    ident = found.get("id")
    if ident == "null":
        ident = None
    if method_text[:1] == '"':
        method = string_at_once(method_text)
        kind: Kind = "notification" if ident is None else "request"
        return Message(kind, text, ident, method, found.get("params"))
    result, error = found.get("result"), found.get("error")
    if result is None and error is None:
        return Message("opaque", text, ident)
    if result is not None and error == "null":  # as JSON-RPC 1.0 has it: no error
        error = None
    return Message("response", text, ident, result=result, error=error)


def id_key(ident: str | None) -> IdKey:
    """Make an id comparable: numbers by value (`1` and `1.0`), strings by content (J01, J04).

    Args:
        ident: The id's JSON text.
    """
    if ident is None:
        return None
    if ident[:1] == '"':
        return ("string", string_at_once(ident))
    return ("number", number_key(ident))


def is_json_id(ident: str) -> bool:
    """Tell whether an id is JSON: `NaN` and the like are none, which some read as numbers."""
    return ident.lstrip("-")[:1] not in _NO_NUMBERS


def answer(ident: str | None, *, result: str | None = None, error: str | None = None) -> bytes:
    """Write a response line.

    Args:
        ident: The id's JSON text; None writes null, and so does what is none.
        result: The result's JSON text.
        error: The error's JSON text, where there is no result.
    """
    member = f'"result":{result}' if error is None else f'"error":{error}'
    if ident is None or not is_json_id(ident):
        ident = "null"
    return _line(f'{{"jsonrpc":"2.0","id":{ident},{member}}}')


def failure(ident: str | None, code: int, message: str, data: JsonValue = None) -> bytes:
    """Write an error response line; `data` is left out where None."""
    error: dict[str, JsonValue] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return answer(ident, error=dump(error))


def ask(ident: str, method: str, params: str | None) -> bytes:
    """Write a request line; `ident` and `params` are JSON texts."""
    return _line(_call(f'"id":{ident},"method":{json.dumps(method)}', params))


def notify(method: str, params: str | None) -> bytes:
    """Write a notification line; `params` is JSON text."""
    return _line(_call(f'"method":{json.dumps(method)}', params))


def _call(head: str, params: str | None) -> str:
    rest = "" if params is None else f',"params":{params}'
    return f'{{"jsonrpc":"2.0",{head}{rest}}}'


def _line(text: str) -> bytes:
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return dump(parse(text)).encode() + b"\n"


def id_of_oversized(line: Oversized) -> str | None:
    """Find the id of a message over the ceiling, where its ends tell it.

    Writers put the id among the first or the last members, so it stands within the ends;
    a nested `"id"` is not taken for it.

    Returns:
        The id's JSON text, or None.
    """
    ident = leading_members(line.head.decode(errors="replace")).get("id")
    return _simple_id(ident) or _id_in_tail(line.tail.decode(errors="replace"))


def _id_in_tail(tail: str) -> str | None:
    _, mark, after = tail.rpartition('"id"')
    try:
        # Whole only if the message's own bracket, and no other, closes after it.
        return _simple_id((members("{" + mark + after) or {}).get("id"))
    except NotJsonError:
        return None


def _simple_id(ident: str | None) -> str | None:
    return ident if ident and ident[0] in '"-0123456789' else None
