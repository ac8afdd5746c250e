"""URLs of servers and headers for them, as users write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from sidecar.cassette.redaction.names import secret_environment
from sidecar.errors import UsageError

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, section 5.6.2
_NOT_IN_VALUES = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_NOT_IN_URLS = re.compile(r"[\x00-\x20\x7f]")
_SECRET = "AUTHORIZATION"  # whatever the header's own name: the user gave it for this server

FROM_ENVIRONMENT = "--header-env"


def checked_url(url: str) -> str:
    """Return a server's URL.

    Raises:
        UsageError: If it is none that a server can be reached at.
    """
    try:
        parts = urlsplit(url)
        is_sound = bool(parts.hostname) and parts.port != 0 and not _NOT_IN_URLS.search(url)
    except ValueError:
        is_sound = False
        parts = urlsplit("")
    if not is_sound or parts.scheme not in ("http", "https"):
        raise UsageError(f"{url!r} is no URL of a server", hint="give one like https://HOST/mcp")
    if "@" in parts.netloc:
        raise UsageError(
            f"the URL of {parts.hostname} has credentials in it",
            hint="give them as --header-env Authorization=VARIABLE",
        )
    return url


def read_headers(
    given: Iterable[tuple[str, str]], environ: Mapping[str, str], *, needed: bool
) -> tuple[tuple[str, str], ...]:
    """Read what `--header` and `--header-env` say.

    Args:
        given: The option and its value, in order.
        environ: Where variables are looked up.
        needed: Whether the headers will be sent; else a variable may be missing.

    Returns:
        Names and values.

    Raises:
        UsageError: If one is no header, or its variable is not set. Values are not told.
    """
    headers: list[tuple[str, str]] = []
    for option, text in given:
        if option == FROM_ENVIRONMENT:
            name, _, variable = text.partition("=")
            value = environ.get(variable) if variable else ""
        else:
            name, _, variable = text.partition(":")
            value = variable
        name = name.strip()
        if not variable or not is_header_name(name):
            shape = "NAME=VARIABLE" if option == FROM_ENVIRONMENT else "'NAME: VALUE'"
            raise UsageError(f"{option} needs a header", hint=f"write {option} {shape}")
        if value is not None:
            headers.append((name, _checked_value(name, value)))
        elif needed:
            raise UsageError(
                f"the variable {variable}, which the header {name} comes from, is not set",
                hint=f"set {variable}, or leave {option} out",
            )
    return tuple(headers)


def is_header_name(name: str) -> bool:
    """Tell whether a text can be a header's name."""
    return _NAME.fullmatch(name) is not None


def _checked_value(name: str, value: str) -> str:
    value = value.strip(" \t\r\n")  # a file's last newline, say
    if _NOT_IN_VALUES.search(value):
        raise UsageError(f"the value of the header {name} has a line end or the like in it")
    return value


def secrets_of(headers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return what of the headers' values is secret: without the scheme of `Bearer TOKEN`."""
    found = [secret_environment({_SECRET: value}) for _, value in headers]
    return tuple(value for values in found for value in values)
