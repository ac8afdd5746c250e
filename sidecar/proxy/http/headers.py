"""Which headers a relay passes on, and what it reads of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from multidict import CIMultiDict, CIMultiDictProxy

from sidecar.cassette.redaction.names import secret_environment
from sidecar.cassette.redaction.values import is_telling
from sidecar.wire.mcp import HANDSHAKE_VERSIONS
from sidecar.wire.routing_headers import PROTOCOL_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TOKEN_HEADER = "X-MCP-Sidecar-Token"
SESSION_HEADER = "Mcp-Session-Id"
VERSION_HEADER = PROTOCOL_VERSION
LAST_EVENT_HEADER = "Last-Event-ID"
JSON = "application/json"
STREAM = "text/event-stream"

_HOP_BY_HOP = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
})  # fmt: skip
# What the client of the relay's own writes anew, and what is meant for us alone.
_NOT_SENT = frozenset({
    "host", "content-length", "accept-encoding", "expect", TOKEN_HEADER.lower(),
})  # fmt: skip


def sent_headers(
    received: CIMultiDictProxy[str], added: Iterable[tuple[str, str]], token: str | None
) -> CIMultiDict[str]:
    """Make the headers of the request to the server.

    All that the client sent but hop-by-hop ones (RFC 9110, section 7.6.1) and ours; the
    server is asked not to compress (H11).

    Args:
        received: The client's.
        added: What the config gives; the client's own win.
        token: The sidecar's own, which goes nowhere.
    """
    dropped = _hop_by_hop(received) | _NOT_SENT
    sent = CIMultiDict(
        (name, value)
        for name, value in received.items()
        if name.lower() not in dropped and not _is_our_bearer(name, value, token)
    )
    given = {name.lower() for name in sent}
    sent.extend([(name, value) for name, value in added if name.lower() not in given])
    sent["Accept-Encoding"] = "identity"
    return sent


def passed_headers(received: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """Make the headers of the answer to the client: all that the server's has but hop-by-hop."""
    dropped = _hop_by_hop(received)
    return CIMultiDict(
        (name, value) for name, value in received.items() if name.lower() not in dropped
    )


def is_modern(headers: Mapping[str, str]) -> bool:
    """Tell whether a request is of the era without sessions, as servers tell it.

    Without the header, or with a revision that begins with a handshake, it is not.
    """
    version = headers.get(VERSION_HEADER)
    return version is not None and version.strip() not in HANDSHAKE_VERSIONS


def bearer_of(authorization: str) -> str | None:
    """Read the token of a Bearer `Authorization`; None if it is another scheme's.

    A scheme is the same in any case (RFC 9110, section 11.1).
    """
    scheme, space, token = authorization.partition(" ")
    return token if space and scheme.lower() == "bearer" else None


def credentials_of(headers: CIMultiDictProxy[str]) -> tuple[str, ...]:
    """Find what of a client's headers is secret, by their names, without schemes.

    Of a cookie those values are, too, that can be told from other words.
    """
    found = dict.fromkeys(secret_environment(headers))
    for cookies in headers.getall("Cookie", ()):
        values = (pair.partition("=")[2].strip(' "') for pair in cookies.split(";"))
        found |= dict.fromkeys(filter(is_telling, values))
    return tuple(found)


def _hop_by_hop(headers: CIMultiDictProxy[str]) -> frozenset[str]:
    named = ",".join(headers.getall("Connection", ())).split(",")
    return _HOP_BY_HOP | {name.strip().lower() for name in named}


def _is_our_bearer(name: str, value: str, token: str | None) -> bool:
    return token is not None and name.lower() == "authorization" and bearer_of(value) == token
