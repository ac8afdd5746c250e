"""Secrets that are known by what is right around them: URLs, auth schemes, key blocks.

Each kind has gates, pieces of text one of which must be there, so that a text without any
costs a search for each gate and nothing more.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sidecar.cassette.lazy_patterns import compiled
from sidecar.cassette.masking import Span
from sidecar.cassette.secret_values import is_reference, looks_random

# A slash, in JSON perhaps with a backslash before it; white space, in JSON perhaps escaped.
_S = rb"\\*/"
_SPACE = rb"(?:\s|\\+[nrt]|%20|\+){1,4}"
_MARK = b"[REDACTED"


class Context(NamedTuple):
    """One kind of surroundings.

    Attributes:
        gates: One of these is in every text of which `find` finds a secret.
        find: Finds the secrets in a text's UTF-8 bytes, which may be JSON.
    """

    gates: tuple[bytes, ...]
    find: Callable[[bytes], Iterator[Span]]


def _places(data: bytes, *gates: bytes) -> Iterator[int]:
    for gate in gates:
        at = data.find(gate)
        while at >= 0:
            yield at
            at = data.find(gate, at + len(gate))


def _matches(pattern: bytes, data: bytes, *gates: bytes) -> Iterator[re.Match[bytes]]:
    """Match a pattern where it must begin: at a gate. Its first group is the secret."""
    beginning = compiled(pattern)
    for at in _places(data, *gates):
        found = beginning.match(data, at)
        if found:
            yield found


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _stands_for_one(value: bytes) -> bool:
    return value.startswith(_MARK) or is_reference(_text(value))


_URLS = (b"://", b":\\/\\/")
# Within the authority only: `https://host:443/@scope/name` has no password.
_PASSWORD = (
    rb":" + _S + _S + rb"[^\s/:@\"'<>?#\\]{0,256}:"
    rb"([^\s/@\"'<>\\]{1,1024}(?:@[^\s/@\"'<>\\]{1,256}){0,4})@(?=[A-Za-z0-9\[._-])"
)


def _url_passwords(data: bytes) -> Iterator[Span]:
    for found in _matches(_PASSWORD, data, *_URLS):
        if not _stands_for_one(found[1]):
            yield Span(*found.span(1))


_BEARERS = (b"earer", b"EARER")  # the letter before is small or not
_BEARER = rb"(?i:earer)" + _SPACE + rb"([A-Za-z0-9._~+/-]{16,4096}={0,2})"


def _bearer_tokens(data: bytes) -> Iterator[Span]:
    for found in _matches(_BEARER, data, *_BEARERS):
        token = found[1].rstrip(b".")
        if looks_random(_text(token)):
            yield Span(found.start(1), found.start(1) + len(token))


_BASICS = (b"asic", b"ASIC")
_BASIC = rb"(?i:asic)" + _SPACE + rb"((?:[A-Za-z0-9+]|" + _S + rb"){8,2048}={0,2})"


def _basic_credentials(data: bytes) -> Iterator[Span]:
    for found in _matches(_BASIC, data, *_BASICS):
        if _is_user_and_password(found[1].replace(b"\\", b"")):
            yield Span(*found.span(1))


_CONTROLS = bytes(range(0x20)) + b"\x7f"


def _is_user_and_password(encoded: bytes) -> bool:
    body = encoded.rstrip(b"=")
    try:
        decoded = a2b_base64(body + b"=" * (-len(body) % 4))
    except Error:
        return False
    user, colon, password = decoded.partition(b":")
    return bool(colon and (user or password)) and decoded == decoded.translate(None, _CONTROLS)


_KEY_BEGIN = rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_END = rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
# Of a block that is cut off: its lines, and a shorter one at the end.
_KEY_LINE_END = rb"(?:\\+[nr]|\s)*"
_KEY_BODY = (
    rb"(?:" + _KEY_LINE_END + rb"(?:[A-Za-z0-9+/=]{16,}|[A-Z][A-Za-z-]+: [^\n\\]{0,80}))*"
    rb"(?:" + _KEY_LINE_END + rb"[A-Za-z0-9+/=]{1,15}(?=[\s\\\"']|\Z))?"
)


def _private_keys(data: bytes) -> Iterator[Span]:
    done = 0
    nearest = 0  # the next mark of an end; -1 when there is none any more
    for begin in _matches(_KEY_BEGIN, data, b"-----BEGIN "):
        if begin.start() < done:
            continue
        if 0 <= nearest < begin.end():
            nearest = data.find(b"-----END ", begin.end())
        end = compiled(_KEY_END).match(data, nearest) if nearest >= 0 else None
        closing = end or compiled(_KEY_BODY).match(data, begin.end()) or begin
        done = closing.end()
        yield Span(begin.start(), done)


_SLACK = (
    rb"hooks\.slack\.com" + _S + rb"(?:services|workflows|triggers)"
    rb"(?:" + _S + rb"[A-Za-z0-9_-]{1,64}){1,4}?" + _S + rb"([A-Za-z0-9_-]{16,128})"
    rb"(?![A-Za-z0-9_/-])"
)
_WEBHOOK = rb"webhooks" + _S + rb"[0-9]{5,30}" + _S + rb"([A-Za-z0-9_-]{32,128})"
_TEAMS = (
    rb"webhook\.office\.com" + _S + rb"webhookb2" + _S + rb"[^\s\"'<>?]{1,200}?IncomingWebhook"
    + _S + rb"([a-f0-9]{32}(?:" + _S + rb"[a-f0-9-]{36})?)"
)  # fmt: skip


def _slack_webhooks(data: bytes) -> Iterator[Span]:
    return (Span(*found.span(1)) for found in _matches(_SLACK, data, b"hooks.slack.com"))


def _discord_webhooks(data: bytes) -> Iterator[Span]:
    return (Span(*found.span(1)) for found in _matches(_WEBHOOK, data, b"webhooks"))


def _teams_webhooks(data: bytes) -> Iterator[Span]:
    return (Span(*found.span(1)) for found in _matches(_TEAMS, data, b"webhook.office.com"))


_AZURE = rb"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])"
_AZURE_LEAD = 4  # bytes before the gate


def _azure_secrets(data: bytes) -> Iterator[Span]:
    for at in _places(data, b"Q~"):
        found = compiled(_AZURE).match(data, at - _AZURE_LEAD) if at >= _AZURE_LEAD else None
        if found:
            yield Span(*found.span())


_CURL_USER = (
    rb"(?:-u(?!rl)|--(?:proxy-)?user)(?:[ =]|\\*[\"'],\s*)?\\*[\"']?[^\s:\"'\\]{1,128}:(?!//)"
    rb"([^\s\"'\\]{1,512})"
)
_COMMAND_BYTES = 2000


def _curl_users(data: bytes) -> Iterator[Span]:
    done = 0
    for command in _places(data, b"curl"):
        at = data.find(b"-", max(command, done), command + _COMMAND_BYTES)
        while at >= 0:
            found = compiled(_CURL_USER).match(data, at)
            if found and not _stands_for_one(found[1]):
                yield Span(*found.span(1))
            at = data.find(b"-", at + 2, command + _COMMAND_BYTES)
        done = command + _COMMAND_BYTES


URL = Context(_URLS, _url_passwords)
BEARER = Context(_BEARERS, _bearer_tokens)
BASIC = Context(_BASICS, _basic_credentials)
KEY_BLOCK = Context((b"PRIVATE KEY",), _private_keys)
SLACK = Context((b"hooks.slack.com",), _slack_webhooks)
DISCORD = Context((b"webhooks",), _discord_webhooks)
TEAMS = Context((b"webhook.office.com",), _teams_webhooks)
AZURE = Context((b"Q~",), _azure_secrets)
CURL = Context((b"curl",), _curl_users)

# What must be in a text first; as few searches as will do.
_RARE_BYTES = ((b"@", (URL,)), (b"~", (AZURE,)), (b"-", (KEY_BLOCK, CURL)))
_HOOKS = (SLACK, DISCORD, TEAMS)


def contexts_in(data: bytes) -> list[Context]:
    """Return the kinds that a text's UTF-8 bytes, which may be JSON, hold a secret of."""
    small = data.lower()
    likely = [context for byte, some in _RARE_BYTES if byte in data for context in some]
    likely += _HOOKS if b"hook" in small else ()
    found = [context for context in likely if any(gate in data for gate in context.gates)]
    found += (BEARER,) if b"bearer" in small else ()
    found += (BASIC,) if b"basic" in small else ()
    return [context for context in found if next(context.find(data), None)]
