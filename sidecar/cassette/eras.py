"""A recording of one era for a client of the other.

Handshake era: revisions up to 2025-11-25. Modern era: 2026-07-28. What differs only in
shape is translated. What one era cannot say to a client of the other is refused by name:
a server that asked its client, and a result that asks for input.
"""

from __future__ import annotations

from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.cassette.subscriptions import subscription_id
from sidecar.wire.json_text import join
from sidecar.wire.mcp import (
    ACKNOWLEDGED,
    DISCOVER,
    HANDSHAKE_VERSIONS,
    INITIALIZE,
    LISTEN,
    META_LOG_LEVEL,
    META_SERVER,
    META_SUBSCRIPTION,
    META_VERSION,
    MODERN_VERSION,
    PING,
    members_of,
    modern_version,
)
from sidecar.wire.typed import Literal, TypeAlias

Crossing: TypeAlias = Literal["to-modern", "to-handshake"]

_CACHED = (
    DISCOVER, "tools/list", "prompts/list", "resources/list", "resources/templates/list",
    "resources/read",
)  # fmt: skip
_OF_LISTENS = (
    "notifications/tools/list_changed", "notifications/prompts/list_changed",
    "notifications/resources/list_changed", "notifications/resources/updated",
)  # fmt: skip
_LOG = "notifications/message"
_HANDSHAKE_ONLY = ("resources/subscribe", "resources/unsubscribe")


def is_modern(params: str | None) -> bool:
    """Tell whether a request's params say that it is of the modern era."""
    return params is not None and META_VERSION in params and modern_version(params) is not None


def crossing(recorded: Interaction, asked: str | None) -> Crossing | None:
    """Tell which way a recording goes that answers a request; None within one era.

    Args:
        recorded: The recording.
        asked: The text of the request's params.
    """
    if recorded.method in (INITIALIZE, DISCOVER):  # each is of one era alone
        return None
    to_modern = is_modern(asked)
    if to_modern == is_modern(recorded.params):
        return None
    return "to-modern" if to_modern else "to-handshake"


def obstacle(recorded: Interaction, way: Crossing) -> str | None:
    """Say what of a recording a client of the other era cannot be told; None if nothing."""
    if way == "to-modern":
        asked = (item for item in recorded.during if item.reply is not None)
        method = next((item.method for item in asked if item.method != PING), None)
        if method is None:
            return None
        return (
            f"it was recorded with a revision up to {HANDSHAKE_VERSIONS[-1]}, and the server "
            f"asked its client for {method} meanwhile; a client that speaks {MODERN_VERSION} "
            "cannot be asked"
        )
    kind = _result_type(recorded)
    if kind in (None, '"complete"'):
        return None
    return (
        f"it was recorded with {MODERN_VERSION}, and its result is {kind}; a client that speaks "
        f"a revision up to {HANDSHAKE_VERSIONS[-1]} does not know such a result"
    )


def _result_type(recorded: Interaction) -> str | None:
    if recorded.response is None or recorded.response.member == "error":
        return None
    return members_of(recorded.response.text).get("resultType")


def translated(recorded: Interaction, way: Crossing, asked: str | None) -> Interaction:
    """Give a recording the shape of the client's era.

    Args:
        recorded: The recording.
        way: As `crossing` told it.
        asked: The text of the request's params.
    """
    fitted = [_fitted(passage, way, asked) for passage in recorded.during]
    later = [_fitted(passage, way, asked) for passage in recorded.after]
    response = recorded.response
    if response is not None and response.member == "result":
        change = _modern_result if way == "to-modern" else _handshake_result
        response = Response("result", change(recorded.method, response.text))
    return recorded._replace(
        response=response,
        during=tuple(item for item in fitted if item is not None),
        after=tuple(item for item in later if item is not None),
        http_status=None,
    )


def _modern_result(method: str, text: str) -> str:
    found = members_of(text)
    if not found and text.strip() != "{}":  # no object
        return text
    given = {"resultType": '"complete"', **found}
    if method in _CACHED:
        given = {"ttlMs": "0", "cacheScope": '"private"', **given}
    return join(given)


def _handshake_result(method: str, text: str) -> str:
    found = members_of(text)
    if "resultType" not in found:
        return text
    gone = {"resultType", *(("ttlMs", "cacheScope") if method in _CACHED else ())}
    kept = {name: value for name, value in found.items() if name not in gone}
    return join(_without_meta(kept, META_SERVER))


def _without_meta(found: dict[str, str], name: str) -> dict[str, str]:
    if "_meta" not in found:
        return found
    meta = members_of(found["_meta"])
    meta.pop(name, None)
    if meta:
        return {**found, "_meta": join(meta)}
    return {key: value for key, value in found.items() if key != "_meta"}


def _fitted(passage: Passage, way: Crossing, asked: str | None) -> Passage | None:
    """Fit what the server sent besides; None for what the other era has no place for."""
    if way == "to-modern":
        unwanted = passage.method == _LOG and META_LOG_LEVEL not in (asked or "")
        return None if passage.asked or passage.method in _OF_LISTENS or unwanted else passage
    if passage.method == ACKNOWLEDGED:
        return None
    if subscription_id(passage.params) is None:
        return passage
    params = _without_meta(members_of(passage.params), META_SUBSCRIPTION)
    return passage._replace(params=join(params) if params else None)


def missing_in(method: str, asked: str | None) -> str | None:
    """Say why no recording of the other era has a method; None where another reason must do.

    Args:
        method: Of a request that no recording answers.
        asked: The text of its params.
    """
    if method == LISTEN and is_modern(asked):
        return f"{MODERN_VERSION} alone has it; the recording is of a handshake revision"
    if method in _HANDSHAKE_ONLY and not is_modern(asked):
        last = HANDSHAKE_VERSIONS[-1]
        return f"revisions up to {last} alone have it; the recording is of {MODERN_VERSION}"
    return None
