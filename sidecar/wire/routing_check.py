"""Whether the HTTP headers of a 2026-07-28 request say the same as its body (N02)."""

from __future__ import annotations

from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Iterable, Mapping

from sidecar.wire.json_text import (
    JsonValue,
    NotJsonError,
    number_key,
    parse_plain,
    string_at_once,
)
from sidecar.wire.jsonrpc import INVALID_PARAMS, Message
from sidecar.wire.mcp import HEADER_MISMATCH, META_CAPABILITIES, META_VERSION, members_of
from sidecar.wire.routing_headers import (
    METHOD,
    NAME,
    PARAMETER,
    PROTOCOL_VERSION,
    Mirrored,
    header_text,
    named_by,
    value_at,
)

_PREFIX, _SUFFIX = "=?base64?", "?="


class RoutingError(Exception):
    """The headers and the body of a request do not agree.

    Attributes:
        code: The JSON-RPC error's code.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def check_routing(message: Message, headers: Iterable[tuple[str, str]]) -> None:
    """Check that the routing headers are there, once each, and say what the body says.

    Args:
        message: A request.
        headers: All of the HTTP request, names in any case.

    Raises:
        RoutingError: If they do not, or the body lacks what its `_meta` must have.
    """
    wanted = {name.lower(): name for name in (PROTOCOL_VERSION, METHOD, NAME)}
    found: dict[str, str] = {}
    for spelt, value in headers:
        name = wanted.get(spelt.lower())
        if name in found:
            raise _mismatch(f"{name} is given more than once")
        if name is not None:
            found[name] = value.strip()
    meta = members_of(members_of(message.params).get("_meta"))
    _require(META_VERSION, meta)
    _compare(PROTOCOL_VERSION, found.get(PROTOCOL_VERSION), meta[META_VERSION])
    if decoded(found.get(METHOD)) != message.method:
        raise _mismatch(f"{METHOD} does not name the body's method")
    name = members_of(message.params).get(named_by(message.method or ""))
    if name is not None and name != "null":
        _compare(NAME, decoded(found.get(NAME)), name)
    _require(META_CAPABILITIES, meta)


def check_arguments(
    mirrored: Mirrored, message: Message, headers: Iterable[tuple[str, str]]
) -> None:
    """Check that the headers of a call say what its arguments say, and no more.

    Args:
        mirrored: Of the tool.
        message: A `tools/call`.
        headers: As above.

    Raises:
        RoutingError: If they do not.
    """
    given: dict[str, list[str]] = {}
    for name, value in headers:
        given.setdefault(name.lower(), []).append(value.strip())
    try:
        arguments = parse_plain(members_of(message.params).get("arguments", "{}"))
    except NotJsonError:
        return
    for path, name in mirrored.items():
        header = f"{PARAMETER}{name}"
        values = given.get(header.lower(), [])
        if len(values) > 1:
            raise _mismatch(f"{header} is given more than once")
        argument = value_at(arguments, path)
        if not _agree(decoded(values[0]) if values else None, argument, bool(values)):
            raise _mismatch(f"{header} does not say what the argument {'.'.join(path)} says")


def _agree(said: str | None, argument: JsonValue, is_given: bool) -> bool:  # noqa: FBT001
    text = header_text(argument)
    if text is None or said is None:  # absent together
        return text is None and not is_given
    is_number = isinstance(argument, int | float) and not isinstance(argument, bool)
    return said == text or (is_number and number_key(said) == number_key(text))


def decoded(value: str | None) -> str | None:
    """Read a header's value, plain or coded; None where it is coded, and broken."""
    if value is None or not (value.startswith(_PREFIX) and value.endswith(_SUFFIX)):
        return value
    payload = value[len(_PREFIX) : -len(_SUFFIX)].encode("utf-8", "surrogateescape")
    try:
        data = a2b_base64(payload, strict_mode=True)
        text = data.decode()
    except (Error, UnicodeDecodeError):
        return None
    return text if b2a_base64(data, newline=False) == payload else None


def _require(name: str, meta: Mapping[str, str]) -> None:
    if name not in meta:
        raise RoutingError(INVALID_PARAMS, f"params._meta must have {name}")


def _compare(header: str, value: str | None, in_body: str) -> None:
    if in_body[:1] != '"' or value != string_at_once(in_body):
        raise _mismatch(f"{header} does not say what the body says")


def _mismatch(text: str) -> RoutingError:
    return RoutingError(HEADER_MISMATCH, f"Header mismatch: {text}")
