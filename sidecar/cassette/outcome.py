"""How a call ended, as its event tells it (design.md, section 4)."""

from __future__ import annotations

from sidecar.cassette.interaction import Interaction
from sidecar.wire.mcp import is_finished

MCP_ERROR = "mcp_error"
FIXTURE_MISS = "sidecar.fixture_miss"
UNANSWERED = "sidecar.unanswered"


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
