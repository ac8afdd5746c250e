"""Who may ask: the checks that come before anything else looks at a request.

A page in a browser can reach a listener on this machine under a name of its own (DNS
rebinding), so the name that it was called by must be ours (H18). Whoever listens at more
than the loopback address asks for a token (H20).
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from typing import TYPE_CHECKING

from sidecar.errors import UsageError
from sidecar.proxy.http.answers import RefusedError
from sidecar.proxy.http.headers import TOKEN_HEADER, bearer_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiohttp import web

    from sidecar.proxy.http.endpoint import ServeOptions

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_ANY_ADDRESS = ("0.0.0.0", "::", "")  # compared with, not bound
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")
_ORIGIN = re.compile(r"https?://(.+)")
_ANY_ORIGIN = re.compile(r"null|[a-z][a-z0-9+.-]*://[^\s/?#@]+")  # RFC 6454, section 7.1


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches an address or a name."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def own_name(host: str) -> str:
    """The name, as it stands in a URL, that this machine reaches an address by."""
    if host in _ANY_ADDRESS:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def check_allowed(hosts: Iterable[str], origins: Iterable[str]) -> None:
    """Refuse names and origins that no header can ever be equal to.

    Raises:
        UsageError: With how it is written.
    """
    for host in hosts:
        if _name_of(host) != host.lower():
            raise UsageError(
                "that is no name of a host, and no request could have it",
                place=f"--allow-host {host}",
                hint="write the name alone, like app.test or [fd00::1], without scheme and port",
            )
    for origin in origins:
        if not _ANY_ORIGIN.fullmatch(origin.lower()):
            raise UsageError(
                "that is no origin, and no page could have it",
                place=f"--allow-origin {origin}",
                hint="write scheme, host and port alone, like https://app.test:8443",
            )


class Guard:
    """Checks Host, Origin and token of each request."""

    def __init__(self, options: ServeOptions) -> None:
        names = [*_LOOPBACK, own_name(options.host), *options.allowed_hosts]
        self._hosts = frozenset(name.lower() for name in names)
        self._origins = frozenset(origin.lower() for origin in options.allowed_origins)
        self._token = None if options.token is None else options.token.encode()

    def check(self, request: web.BaseRequest, *, needs_token: bool = True) -> None:
        """Let a request pass.

        Raises:
            RefusedError: 400 or 403 for a Host or an Origin that is not ours, 401 without
                the token. Nothing of the request must go anywhere then.
        """
        self._check_host(request.headers.getall("Host", ()))
        self._check_origin(request.headers.getall("Origin", ()))
        if needs_token and self._token is not None and not self._knows_token(request):
            raise RefusedError(
                401,
                f"The sidecar's token is missing or wrong: send it as `{TOKEN_HEADER}`, "
                "or as `Authorization: Bearer`",
                {"WWW-Authenticate": 'Bearer realm="mcp-sidecar"'},
            )

    def _check_host(self, hosts: list[str] | tuple[()]) -> None:
        if len(hosts) > 1:
            raise RefusedError(400, "A request has one Host header, not several")
        if hosts and _name_of(hosts[0]) not in self._hosts:
            raise RefusedError(
                403, "The Host header names another host; --allow-host allows a name"
            )

    def _check_origin(self, origins: list[str] | tuple[()]) -> None:
        for origin in origins:
            found = _ORIGIN.fullmatch(origin.lower())
            is_ours = found is not None and _name_of(found[1]) in _LOOPBACK
            if not is_ours and origin.lower() not in self._origins:
                raise RefusedError(403, "A page of another origin asks; --allow-origin allows one")

    def _knows_token(self, request: web.BaseRequest) -> bool:
        assert self._token is not None
        given = [
            *request.headers.getall(TOKEN_HEADER, ()),
            *(bearer_of(value) or "" for value in request.headers.getall("Authorization", ())),
        ]
        matches = [
            hmac.compare_digest(value.encode(errors="surrogateescape"), self._token)
            for value in given
        ]
        return any(matches)


def _name_of(authority: str) -> str | None:
    found = _AUTHORITY.fullmatch(authority.lower())
    return None if found is None else found[1]
