"""Which HTTP status carries a JSON-RPC answer (revision 2026-07-28, Streamable HTTP)."""

from __future__ import annotations

import re

from sidecar.wire.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Message,
)
from sidecar.wire.mcp import (
    HEADER_MISMATCH,
    MISSING_CAPABILITY,
    UNSUPPORTED_VERSION,
    members_of,
)

OK = 200
BAD_REQUEST = 400
NOT_FOUND = 404

_INTEGER = re.compile(r"-?[0-9]{1,18}")
_OF_ERROR = {
    METHOD_NOT_FOUND: NOT_FOUND,
    PARSE_ERROR: BAD_REQUEST,
    INVALID_REQUEST: BAD_REQUEST,
    INVALID_PARAMS: BAD_REQUEST,
    HEADER_MISMATCH: BAD_REQUEST,
    MISSING_CAPABILITY: BAD_REQUEST,
    UNSUPPORTED_VERSION: BAD_REQUEST,
}


def prescribed_status(error_code: int | None, *, modern: bool) -> int:
    """Give the status of an answer that is a body of its own, not part of a stream.

    Args:
        error_code: The JSON-RPC error's code; None for a result.
        modern: Whether the request was one of 2026-07-28 or later. Before, the status
            tells of the transport alone.
    """
    return _OF_ERROR.get(error_code, OK) if modern and error_code is not None else OK


def telling_status(status: int, answer: Message, *, modern: bool) -> int | None:
    """Give the status of an answer that has it as a body of its own, if it says something.

    Args:
        status: The HTTP status that came.
        answer: The response in that body.
        modern: As above.

    Returns:
        None where the status is the one that is prescribed for such an answer.
    """
    return None if status == status_of(answer, modern=modern) else status


def status_of(answer: Message, *, modern: bool) -> int:
    """Give the status that is prescribed for a response that is a body of its own."""
    code = members_of(answer.error).get("code", "")
    known = int(code) if _INTEGER.fullmatch(code) else None
    return prescribed_status(known, modern=modern)
