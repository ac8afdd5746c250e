"""How a call ended, as its event tells it."""

from __future__ import annotations

from sidecar.cassette.interaction import Interaction
from sidecar.wire.jsonrpc import INVALID_PARAMS
from sidecar.wire.mcp import (
    DISCOVER,
    HEADER_MISMATCH,
    META_REQUIRED,
    META_VERSION,
    UNSUPPORTED_VERSION,
    is_finished,
    members_of,
)

MCP_ERROR = "mcp_error"
FIXTURE_MISS = "sidecar.fixture_miss"
UNANSWERED = "sidecar.unanswered"

ANSWERED_LIVE = "x-sidecar-miss"
"""The event's member that is true where a miss was answered live."""

_OF_TRANSPORT = (str(HEADER_MISMATCH), str(UNSUPPORTED_VERSION))


def error_code(interaction: Interaction) -> str | None:
    """Tell the error code of a finished interaction's event; None where it succeeded.

    A result of a type that is not known is no success (N05): it has not been finished.
    """
    response = interaction.response
    if response is None:
        return UNANSWERED
    if interaction.is_error:
        return MCP_ERROR
    if interaction.is_tool_call and not is_finished(response.text):
        return UNANSWERED
    return None


def is_of_transport(interaction: Interaction) -> bool:
    """Tell whether an answer was about a request's headers or `_meta`, which never match.

    Whoever asks again in the same way is told the same by rule; another request, which the
    matcher could not tell from it, is not.
    """
    response = interaction.response
    if response is None or response.member == "result":
        return False
    code = members_of(response.text).get("code")
    meta = members_of(members_of(interaction.params).get("_meta"))
    if code == str(INVALID_PARAMS):
        is_modern = interaction.method == DISCOVER or not meta.keys().isdisjoint(META_REQUIRED)
        return is_modern and not meta.keys() >= set(META_REQUIRED)
    return code in _OF_TRANSPORT and META_VERSION in meta
