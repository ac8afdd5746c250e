"""What is answered in place of a message that is over the ceiling."""

from __future__ import annotations

from sidecar.proxy.options import ProxyOptions
from sidecar.proxy.streams import say
from sidecar.wire.framing import Oversized
from sidecar.wire.json_text import leading_members
from sidecar.wire.jsonrpc import MESSAGE_TOO_LARGE, failure, id_of_oversized


def is_call(line: Oversized) -> bool:
    """Whether a message over the ceiling is a request or a notification, not an answer."""
    return "method" in leading_members(line.head.decode(errors="replace"))


def is_answer(line: Oversized) -> bool:
    """Whether it is an answer, as far as can be seen."""
    return not is_call(line) and (b'"result"' in line.head or b'"error"' in line.head)


def too_large(line: Oversized, options: ProxyOptions) -> bytes:
    """Make the error in place of its answer, or of itself; and say it on standard error."""
    text = (
        f"A message of {line.size} bytes is over the ceiling of {options.max_message_bytes}; "
        "raise it with --max-message-bytes"
    )
    say(f"server {options.server!r}: {text}")
    return failure(id_of_oversized(line), MESSAGE_TOO_LARGE, text)
