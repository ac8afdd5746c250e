"""Tells what of a message is data, and what is the protocol's own: rules of a user's mask data.

`--key name` and `--pattern tex` are meant for what tools are asked and answer. Names of
tools, kinds of content, schemas, URIs and cursors make a message one that can be read and
found again, whatever they look like.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.wire.json_text import JsonValue

Change: TypeAlias = Callable[[JsonValue], JsonValue]

_IDENTIFIER = r"[A-Za-z_$][A-Za-z_]*[0-9]{0,2}\Z|[A-Za-z]+(?:-[A-Za-z]+)*\Z"
_ERROR = frozenset(("code", "message", "data"))
# Members of params and results that are the protocol's own, their values with them.
_OWN = frozenset((
    "_meta", "name", "uri", "cursor", "nextCursor", "protocolVersion", "capabilities",
    "clientInfo", "serverInfo", "supportedVersions", "isError", "resultType", "requestState",
    "ttlMs", "cacheScope", "ref", "requestedSchema", "mode", "url", "elicitationId", "action",
    "progressToken", "progress", "total", "level", "logger", "requestId", "role", "model",
    "stopReason", "modelPreferences", "maxTokens", "temperature", "stopSequences",
    "includeContext", "toolChoice", "roots", "task", "tasks", "taskId", "status", "createdAt",
    "lastUpdatedAt", "ttl", "pollInterval", "notifications", "subscriptionId",
))  # fmt: skip
_WITH_DESCRIPTIONS = ("tools", "prompts", "resources", "resourceTemplates")


def in_data(message: JsonValue, change: Change) -> JsonValue:
    """Change what is data in a message's params, result or error.

    Data are the values of arguments, texts of content and of resources, structured content,
    errors' messages and data, descriptions, and members that the protocol does not know. What
    is none of the protocol's messages is data as a whole.

    Args:
        message: It is not changed.
        change: Returns the same object for data that stay as they are.

    Returns:
        The same object if nothing is changed.
    """
    if not isinstance(message, dict) or not _is_message(message):
        return change(message)
    if message.keys() <= _ERROR:
        return _with(message, dict.fromkeys(("message", "data"), change))
    ways = {name: _WAYS.get(name, _all) for name in message.keys() - _OWN}
    return _with(message, {name: _bound(way, change) for name, way in ways.items()})


def is_identifier(name: str) -> bool:
    """Tell whether a member's name is one that a program chose: `query`, `line_2`, `due-date`."""
    return compiled(_IDENTIFIER).match(name) is not None


def _is_message(value: dict[str, JsonValue]) -> bool:
    if value.keys() <= _ERROR:
        return type(value.get("message")) is str and "code" in value
    if value.keys() <= _OWN:
        return True
    return any(_is_part(name, value[name]) for name in _TELLING & value.keys()) or (
        isinstance(value.get("arguments"), dict) and type(value.get("name")) is str
    )


_TELLING = frozenset((
    "content", "contents", "structuredContent", "messages", "completion", "ref", "level",
    "requestedSchema", "progressToken", "inputRequests", "inputResponses", "capabilities",
    *_WITH_DESCRIPTIONS,
))  # fmt: skip
_SCALARS = ("level", "progressToken")


def _is_part(name: str, item: JsonValue) -> bool:
    if name in _SCALARS:
        return type(item) in (str, int)
    items = item if isinstance(item, list) else [item]
    return all(isinstance(each, dict) for each in items)


Way: TypeAlias = Callable[[JsonValue, Change], JsonValue]


def _bound(way: Way, change: Change) -> Change:
    return lambda item: way(item, change)


def _with(value: dict[str, JsonValue], ways: dict[str, Change]) -> dict[str, JsonValue]:
    changed = {name: ways[name](item) if name in ways else item for name, item in value.items()}
    return value if all(changed[name] is value[name] for name in value) else changed


def _all(item: JsonValue, change: Change) -> JsonValue:
    return change(item)


def _each(way: Way) -> Way:
    def changed(item: JsonValue, change: Change) -> JsonValue:
        if not isinstance(item, list):
            return way(item, change)
        items = [way(each, change) for each in item]
        same = all(new is old for new, old in zip(items, item, strict=True))
        return item if same else items

    return changed


def _members(*names: str) -> Way:
    def changed(item: JsonValue, change: Change) -> JsonValue:
        return _with(item, dict.fromkeys(names, change)) if isinstance(item, dict) else item

    return changed


def _block(item: JsonValue, change: Change) -> JsonValue:
    if not isinstance(item, dict) or "type" not in item:
        return change(item)  # what a user filled in
    ways: dict[str, Change] = dict.fromkeys(("text", "input", "structuredContent"), change)
    ways["resource"] = _bound(_members("text"), change)
    ways["content"] = _bound(_blocks, change)
    return _with(item, ways)


_blocks = _each(_block)


def _message(item: JsonValue, change: Change) -> JsonValue:
    if not isinstance(item, dict):
        return item
    return _with(item, {"content": _bound(_blocks, change)})


def _nested(item: JsonValue, change: Change) -> JsonValue:
    """Change what is asked, or answered, within a result or a request."""
    if not isinstance(item, dict):
        return item
    return _with(item, {name: _bound(_request, change) for name in item})


def _request(item: JsonValue, change: Change) -> JsonValue:
    if isinstance(item, dict) and isinstance(item.get("method"), str):
        return _with(item, {"params": _bound(in_data, change)})
    return in_data(item, change)


_WAYS: dict[str, Way] = {
    "content": _blocks,
    "contents": _each(_members("text")),
    "messages": _each(_message),
    "argument": _members("value"),
    "completion": _members("values"),
    "inputRequests": _nested,
    "inputResponses": _nested,
    **dict.fromkeys(_WITH_DESCRIPTIONS, _each(_members("description"))),
}
