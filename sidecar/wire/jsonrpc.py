"""JSON-RPC 2.0 envelopes, read without loss.

A message is looked at through a copy; what is forwarded are the bytes. Oddities are
values here, never errors: what cannot be read is a `Message` of kind `opaque`.
"""

from __future__ import annotations

import json
from typing import Literal, NamedTuple, TypeAlias

from sidecar.wire.framing import Oversized
from sidecar.wire.json_text import JsonValue, NotJsonError, dump, members, parse, value_at

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
CONNECTION_CLOSED = -32000
MESSAGE_TOO_LARGE = -32011
"""Ours, from the range that the protocol leaves to implementations."""
FIXTURE_MISS = -32010
"""Ours: a request, not a tool call, that no recording answers."""

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
        text = line.decode().strip(" \t\r\n")
    except UnicodeDecodeError:
        return None
    if text[:1] == "[":
        return _read_batch(text)
    if text[:1] != "{":
        return [Message("opaque", text)] if _is_json(text) else None
    try:
        found = members(text)
    except NotJsonError as error:
        return [Message("opaque", text)] if _is_too_much(error) else None
    return [_message(text, found or {})]


def _read_batch(text: str) -> list[Message] | None:
    try:
        items = parse(text)
    except NotJsonError as error:
        return [Message("opaque", text)] if _is_too_much(error) else None
    return [_batched(dump(item)) for item in items]


def _batched(text: str) -> Message:
    if text[:1] != "{":
        return Message("opaque", text)
    return _message(text, members(text) or {})


def _is_json(text: str) -> bool:
    try:
        parse(text)
    except NotJsonError as error:
        return _is_too_much(error)
    return True


def _is_too_much(error: NotJsonError) -> bool:
    # JSON, as far as one can tell, that Python declines to read: too deep, or too long a
    # number. It is passed on; what cannot be told is not called noise.
    return "recursion" in str(error) or "integer string conversion" in str(error)


def _message(text: str, found: dict[str, str]) -> Message:
    method_text = found.get("method", "")
    ident = found.get("id")
    if ident == "null":
        ident = None
    if method_text[:1] == '"':
        method = json.loads(method_text)
        kind: Kind = "notification" if ident is None else "request"
        return Message(kind, text, ident, method, found.get("params"))
    if "result" in found or "error" in found:
        return Message(
            "response", text, ident, result=found.get("result"), error=found.get("error")
        )
    return Message("opaque", text, ident)


def id_key(ident: str | None) -> IdKey:
    """Make an id comparable: numbers by value (`1` and `1.0`), strings by content (J01, J04).

    Args:
        ident: The id's JSON text.
    """
    if ident is None:
        return None
    if ident[:1] == '"':
        return ("string", json.loads(ident))
    if ident.isdigit():
        return ("number", ident)
    return ("number", _number_key(ident))


def _number_key(ident: str) -> str:
    try:
        value = float(ident)
    except ValueError:  # an id that is an object or an array: legal nowhere, seen anyway
        return ident
    exact = value.is_integer() and ("." in ident or "e" in ident.lower())
    return str(int(value)) if exact else ident


def answer(ident: str | None, *, result: str | None = None, error: str | None = None) -> bytes:
    """Write a response line.

    Args:
        ident: The id's JSON text; None writes null.
        result: The result's JSON text.
        error: The error's JSON text, where there is no result.
    """
    member = f'"result":{result}' if error is None else f'"error":{error}'
    return _line(f'{{"jsonrpc":"2.0","id":{ident or "null"},{member}}}')


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

    Writers put the id first or last among the members, so it stands within the ends; a
    nested `"id"` cannot be told apart from the middle of a message, and is not taken.

    Returns:
        The id's JSON text, or None.
    """
    return _id_in_head(line.head) or _id_in_tail(line.tail)


def _id_in_head(head: bytes) -> str | None:
    text = head.decode(errors="replace").lstrip()
    at = 1 if text[:1] == "{" else len(text)
    while at < len(text):
        try:
            name, end = value_at(text, at)
            value, end_of_value = value_at(text, end + 1)
        except NotJsonError:
            return None
        if name == "id":
            return _simple_id(value)
        at = end_of_value + 1
    return None


def _id_in_tail(tail: bytes) -> str | None:
    text = tail.decode(errors="replace").rstrip()
    if not text.endswith("}"):
        return None
    _, mark, value = text.rpartition('"id":')
    try:
        return _simple_id(json.loads(value[:-1])) if mark else None
    except ValueError:
        return None


def _simple_id(value: JsonValue) -> str | None:
    fits = isinstance(value, str | int | float) and not isinstance(value, bool)
    return json.dumps(value) if fits else None
