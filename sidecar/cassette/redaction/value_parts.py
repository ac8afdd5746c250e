"""Parts of a known secret value that are secrets themselves, wherever they appear.

The password of `user:password`, and the opaque segment of a URL's path.
"""

from __future__ import annotations

from collections.abc import Iterator

from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.values import is_token_like

_LOGIN = r"[^\s:/@{\"]{1,128}:([^\s/@][^\s@]{5,511})\Z"
_SEGMENT = r"(?<=[a-zA-Z0-9])/([A-Za-z0-9_~=-]{16,512})(?=[/?#]|\Z)"
_URL = r"(?i:https?|wss?)://"
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z"


def password_of(value: str) -> str:
    """Return the password of `user:password`; empty for what is none."""
    found = compiled(_LOGIN).match(value)
    return found[1] if found else ""


def opaque_segments(value: str) -> Iterator[str]:
    """Yield what is opaque in a URL's path: the token of `https://mcp.test/s/<token>/sse`."""
    if not compiled(_URL).match(value):
        return
    for found in compiled(_SEGMENT).finditer(value):
        if is_token_like(found[1]) and not compiled(_UUID).match(found[1]):
            yield found[1]
