"""The HTTP headers that a request of 2026-07-28 says its own body in (Streamable HTTP)."""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from sidecar.wire.json_text import (
    JsonValue,
    NotJsonError,
    elements,
    parse,
    parse_plain,
    string_at_once,
)
from sidecar.wire.jsonrpc import Message
from sidecar.wire.mcp import members_of

PROTOCOL_VERSION = "MCP-Protocol-Version"
METHOD = "Mcp-Method"
NAME = "Mcp-Name"
PARAMETER = "Mcp-Param-"
ANNOTATION = "x-mcp-header"
"""In the schema of a tool's argument: the header that its value goes into, after `Mcp-Param-`."""

Path: TypeAlias = tuple[str, ...]
"""Names of `properties`, from a schema's root to one of its arguments."""
Mirrored: TypeAlias = Mapping[Path, str]
"""Which arguments of a tool go into which headers."""

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN = re.compile(r"[\x20-\x7e]*")
_CODED = re.compile(r"=\?base64\?.*\?=")
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, section 5.6.2
_TYPES = ("string", "integer", "boolean")
_ONE = (
    "items", "contains", "unevaluatedItems", "additionalProperties", "propertyNames",
    "unevaluatedProperties", "not", "if", "then", "else", "contentSchema",
)  # fmt: skip
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("patternProperties", "dependentSchemas", "$defs", "definitions")


def is_plain(value: str) -> bool:
    """Tell whether a header can carry a value as it is: printable ASCII, no space at its ends."""
    return _PLAIN.fullmatch(value) is not None and value == value.strip()


def coded(value: str) -> str:
    """Write a value as a header can carry it: as it is, or as base64 of its UTF-8."""
    if is_plain(value) and not _CODED.fullmatch(value):
        return value
    data = value.encode("utf-8", "surrogatepass")
    return f"=?base64?{b2a_base64(data, newline=False).decode()}?="


def named_by(method: str) -> str:
    """Give the member of a method's params that its `Mcp-Name` says; empty if none."""
    return _NAMED_BY.get(method, "")


def routing_headers(message: Message) -> dict[str, str]:
    """Give the headers that name a message's method and what it asks for."""
    method = message.method or ""
    headers = {METHOD: coded(method)}
    name = members_of(message.params).get(named_by(method), "")
    if name[:1] == '"':
        headers[NAME] = coded(string_at_once(name))
    return headers


def mirrored_arguments(schema: str) -> Mirrored:
    """Find the arguments of a tool that are said in headers, too.

    Args:
        schema: The JSON text of its input schema.

    Returns:
        None of them if one annotation is not as the protocol wants it: not on a string, an
        integer or a boolean, not reached by `properties` alone, no header's name, or twice.
    """
    found: dict[Path, str] = {}
    names: set[str] = set()
    if f'"{ANNOTATION}"' not in schema:
        return found
    try:
        positions = list(_positions(parse(schema)))
    except NotJsonError:
        return found
    for path, place in positions:
        if ANNOTATION not in place:
            continue
        name = place[ANNOTATION]
        if not path or not _is_sound(name, place) or name.lower() in names:
            return {}
        names.add(name.lower())
        found[path] = name
    return found


def mirrored_by_tool(listed: str | None) -> dict[str, Mirrored]:
    """Find the arguments that are said in headers, by the names of the tools.

    Args:
        listed: The JSON text of a result of `tools/list`.
    """
    found: dict[str, Mirrored] = {}
    for tool in _items(members_of(listed).get("tools")):
        about = members_of(tool)
        name = about.get("name", "")
        if name[:1] == '"':
            found[string_at_once(name)] = mirrored_arguments(about.get("inputSchema", "{}"))
    return found


def _items(text: str | None) -> list[str]:
    try:
        return elements(text or "[]") or []
    except NotJsonError:
        return []


def _is_sound(name: JsonValue, place: dict[str, JsonValue]) -> bool:
    is_name = isinstance(name, str) and _TOKEN.fullmatch(name) is not None
    return is_name and place.get("type") in _TYPES


def _positions(root: JsonValue) -> Iterator[tuple[Path | None, dict[str, JsonValue]]]:
    """Yield each schema within a schema, and its path; None where `properties` alone leads not."""
    waiting: list[tuple[Path | None, JsonValue]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, dict):
            yield path, node
            waiting += _below(path, node)


def _below(
    path: Path | None, node: dict[str, JsonValue]
) -> Iterator[tuple[Path | None, JsonValue]]:
    for key, value in node.items():
        if key == "properties" and isinstance(value, dict):
            for name, schema in value.items():
                yield None if path is None else (*path, name), schema
        elif key in _ONE:
            yield None, value
        elif key in _LISTS and isinstance(value, list):
            yield from ((None, schema) for schema in value)
        elif key in _NAMED and isinstance(value, dict):
            yield from ((None, schema) for schema in value.values())


def argument_headers(mirrored: Mirrored, arguments: str | None) -> dict[str, str]:
    """Give the `Mcp-Param-*` headers of a call.

    Args:
        mirrored: Of the tool.
        arguments: The JSON text of the call's `arguments`; None where absent.
    """
    if not mirrored or not arguments:
        return {}
    try:
        given = parse_plain(arguments)
    except NotJsonError:
        return {}
    headers: dict[str, str] = {}
    for path, name in mirrored.items():
        text = header_text(value_at(given, path))
        if text is not None:
            headers[f"{PARAMETER}{name}"] = coded(text)
    return headers


def value_at(value: JsonValue, path: Path) -> JsonValue:
    """Find the argument at a path; None where it is null, or absent."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def header_text(value: JsonValue) -> str | None:
    """Spell an argument as a header says it; None for what no header says."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None
