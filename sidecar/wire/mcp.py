"""What the sidecar reads of MCP, in both eras; everything else passes unread.

Handshake era: revisions up to 2025-11-25, which begin with `initialize`. Modern era:
2026-07-28, no handshake, every request carries `_meta` with the protocol's version.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sidecar.wire.json_text import (
    JsonValue,
    NotJsonError,
    dump,
    join,
    members,
    parse,
    string_at_once,
    without,
)
from sidecar.wire.typed import NamedTuple

TOOLS_CALL = "tools/call"
TOOLS_LIST = "tools/list"
INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"
DISCOVER = "server/discover"
LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
PING = "ping"
SET_LEVEL = "logging/setLevel"
CANCELLED = "notifications/cancelled"
PROGRESS = "notifications/progress"

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"

HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

_ERROR = re.compile(r'"isError"[ \t\r\n]*:[ \t\r\n]*true')

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CLIENT = "io.modelcontextprotocol/clientInfo"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_REQUIRED = (META_VERSION, META_CAPABILITIES)
"""What the `_meta` of every request of 2026-07-28 has; without it, a server refuses."""

META_SERVER = "io.modelcontextprotocol/serverInfo"
META_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
META_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
VOLATILE_META = ("progressToken", "traceparent", "tracestate", "baggage")
"""Members of a request's `_meta` that name one request or one trace: never kept."""


class ToolCall(NamedTuple):
    """What a `tools/call` asks for.

    Attributes:
        name: The tool's name; empty where it is missing or no string.
        arguments: The text of `arguments`; `{}` where absent (J19).
        progress_token: The token's JSON text, or None.
    """

    name: str
    arguments: str
    progress_token: str | None


@lru_cache(maxsize=4)  # one call is looked at from several sides while it passes
def read_tool_call(params: str | None) -> ToolCall:
    """Read the params of a `tools/call`; never raises."""
    found = members_of(params)
    name = found.get("name", "")
    return ToolCall(
        string_at_once(name) if name[:1] == '"' else "",
        found.get("arguments", "{}"),
        members_of(found.get("_meta")).get("progressToken"),
    )


def is_finished(result: str) -> bool:
    """Tell whether a result's text is one that ends its request.

    Results of the handshake era have no `resultType`; of the later ones only `complete`
    is an end, and a type that is not known is none (N05).
    """
    # Counting spares a parse of a large result: of no member is another type said.
    if result.count('"resultType"') == result.count('"resultType":"complete"'):
        return True
    return members_of(result).get("resultType", '"complete"') == '"complete"'


class Rounds(NamedTuple):
    """How a message stands in a call of several rounds (2026-07-28).

    Attributes:
        asks_input: Of a result: it is no answer yet, but asks for input.
        state: The text of `requestState`, which links a round to the next; or None. A
            string is spelt in one way, however the one who sent it escaped it.
        responses: Of a request: the text of `inputResponses`; or None.
    """

    asks_input: bool
    state: str | None
    responses: str | None


_ONE_ROUND = Rounds(asks_input=False, state=None, responses=None)


def rounds(text: str | None) -> Rounds:
    """Read the members of a `tools/call`'s params or result that link its rounds."""
    if not text or ('"requestState"' not in text and '"input' not in text):
        return _ONE_ROUND
    found = members_of(text)
    asks = found.get("resultType") == '"input_required"'
    state = found.get("requestState")
    if state and state[0] == '"':
        state = dump(parse(state))
    return Rounds(asks, state, found.get("inputResponses"))


def progress_token(params: str | None) -> str | None:
    """Find the text of `_meta.progressToken` of a request's params, or None."""
    if not params or '"progressToken"' not in params:
        return None
    return members_of(members_of(params).get("_meta")).get("progressToken")


def is_tool_error(result: str) -> bool:
    """Tell whether a `tools/call` result's text says `isError: true`."""
    # The search spares a second parse of a large result that cannot be one.
    return bool(_ERROR.search(result)) and members_of(result).get("isError") == "true"


def client_name(method: str, params: str | None) -> str | None:
    """Find the client's own name in an `initialize` or in any modern request's `_meta`."""
    if method != INITIALIZE and '"_meta"' not in (params or ""):
        return None
    found = members_of(params)
    info = found.get("clientInfo") if method == INITIALIZE else None
    info = info or members_of(found.get("_meta")).get(META_CLIENT)
    return _string(members_of(info).get("name"))


def modern_version(params: str | None) -> str | None:
    """Find the protocol version that a modern request carries in its `_meta`, or None."""
    return _string(members_of(members_of(params).get("_meta")).get(META_VERSION))


def without_meta(params: str, names: tuple[str, ...]) -> str:
    """Take members out of `_meta`, and `_meta` itself where nothing is left in it.

    Args:
        params: The JSON text of a message's params.
        names: Members of `_meta` that are not kept.

    Returns:
        The same text if it has none of them.
    """
    if '"_meta"' not in params:
        return params
    try:
        found = members(params) or {}
        meta = found.get("_meta")
        kept = meta and without(meta, names)
    except NotJsonError:
        return params
    if kept is None or kept == meta:
        return params
    if kept == "{}":
        return without(params, ("_meta",))
    return join({**found, "_meta": kept})


def members_of(text: str | None) -> dict[str, str]:
    """Slice an object into its members; empty for what is absent or no object."""
    if not text:
        return {}
    try:
        return members(text) or {}
    except NotJsonError:
        return {}


def _string(text: str | None) -> str | None:
    value: JsonValue = parse(text) if text and text[0] == '"' else None
    return value if isinstance(value, str) else None
