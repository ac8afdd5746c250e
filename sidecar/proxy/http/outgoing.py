"""The rules of requests to a server at a URL, whoever sends them.

They go to the server's own origin only, also where it redirects: their headers are secrets,
and so may their body be.
"""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

MAX_REDIRECTS = 5
MAX_HEADER_BYTES = 64 * 1024
"""Ceiling of one header of an answer, and of its first line; aiohttp's own is 8 KiB."""
KEEP_ALIVE_SECONDS = 3.0
"""How long an idle connection is kept: the usual servers close theirs after 5."""

_PORTS = {"http": 80, "https": 443}
_SAFE = ("GET", "HEAD", "OPTIONS")
_KEEPING_METHOD = (HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT)
_REDIRECTS = (
    *_KEEPING_METHOD,
    HTTPStatus.MOVED_PERMANENTLY,
    HTTPStatus.FOUND,
    HTTPStatus.SEE_OTHER,
)


class RedirectError(Exception):
    """A redirect that is not followed; its text says why, after a name of the server."""


def redirected(method: str, url: str, status: int, location: str | None) -> str | None:
    """Tell where an answer sends the request, as it was (RFC 9110, section 15.4).

    Args:
        method: Of the request.
        url: Where it went.
        status: Of the answer.
        location: Its header `Location`; None where an answer without one is taken as it is.

    Returns:
        A URL of the same origin; None where it is no redirect.

    Raises:
        RedirectError: If that is elsewhere, or the message would be lost on the way.
    """
    if status not in _REDIRECTS or location is None:
        return None
    if not location:
        raise RedirectError("redirects, and does not say where to")
    try:
        target = urljoin(url, location)
        is_ours, place = is_same_origin(url, target), shown(target)
    except ValueError:
        raise RedirectError("redirects to what is no URL") from None
    if not is_ours:
        raise RedirectError(f"redirects to {place}, which is not followed; is that its URL?")
    if method not in _SAFE and status not in _KEEPING_METHOD:
        raise RedirectError(
            f"redirects a {method} with {status} to {place}, which would lose its body; "
            "is that its URL?"
        )
    return target


def is_same_origin(one: str, other: str) -> bool:
    """Tell whether two URLs are of one origin, and the second brings no credentials.

    Raises:
        ValueError: If one of them is no URL.
    """
    return _origin(one) == _origin(other) and "@" not in urlsplit(other).netloc


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return (parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme))


def shown(url: str) -> str:
    """Write a URL for people: what may be secret in it is left out."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def proxy_for(url: str) -> str | None:
    """Find the environment's proxy for a URL (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`)."""
    # aiohttp's own `trust_env` would also take credentials out of .netrc.
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme)
    return proxy if proxy and not proxy_bypass(parts.netloc) else None


def reason(error: Exception, *, connect_seconds: float, answer_seconds: float) -> str:
    """Say why a request got no answer, after a name of the server; no URL, nor a header.

    Args:
        error: What aiohttp, a socket, or a timeout raised.
        connect_seconds: How long a connection might take.
        answer_seconds: How long the beginning of an answer might take.
    """
    match error:
        case aiohttp.ConnectionTimeoutError():
            text = f"cannot be reached: no connection within {connect_seconds:g} seconds"
        case TimeoutError():
            text = f"did not begin to answer within {answer_seconds:g} seconds"
        case aiohttp.ClientConnectorCertificateError():
            text = f"has a certificate that is not trusted: {error}"
        case aiohttp.ClientSSLError():
            text = f"cannot be reached over TLS: {error}; is its URL one of http://, not https://?"
        case aiohttp.ClientConnectorError():
            text = f"cannot be reached: {error.os_error.strerror or error.os_error}"
        case aiohttp.ServerDisconnectedError() | OSError():
            text = f"ended the connection before it answered ({type(error).__name__})"
        case ValueError():
            text = "cannot be asked: its URL or a header holds what HTTP cannot carry"
        case _:
            text = f"gave an answer that is not HTTP ({type(error).__name__})"
    return text
