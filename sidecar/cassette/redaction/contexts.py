"""Secrets that are known by what is right around them: URLs, auth schemes, key blocks."""

from __future__ import annotations

from collections.abc import Iterator

from sidecar.cassette.redaction.gates import Context, Kinds, matches, places
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.names import NameKind
from sidecar.cassette.redaction.placeholders import MARK
from sidecar.cassette.redaction.values import is_reference, is_user_and_password, looks_random

# A slash, in JSON perhaps with a backslash before it; white space, in JSON perhaps escaped.
_S = rb"\\*/"
_SPACE = rb"(?:\s|\\+[nrt]|%20|\+){1,4}"
_MARK = MARK.encode()


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


# Of databases and brokers, whose passwords are often not encoded; none of a port and a path.
_WITH_SLASH = (
    rb"(?<!http)(?<!https):" + _S + _S + rb"[^\s/:@\"'<>?#\\]{0,256}:"
    rb"(?![0-9]{1,5}\\*/|[A-Z_]{1,40}\\*/|[${<%])"
    rb"([^\s/@\"'<>\\?#]{1,128}(?:\\*/[^\s/@\"'<>\\?#]{1,128}){1,4})@(?=[A-Za-z0-9\[._-])"
)
_USER_TOKEN = (
    rb":" + _S + _S + rb"([A-Za-z0-9_-]{16,512})(?::|:x-oauth-basic)?@(?=[A-Za-z0-9\[._-])"
)


def _url_passwords(data: bytes) -> Iterator[Span]:
    for pattern in (_PASSWORD, _WITH_SLASH):
        for found in matches(pattern, data, *_URLS):
            if not _stands_for_one(found[1]):
                yield Span(*found.span(1))
    for found in matches(_USER_TOKEN, data, *_URLS):
        if looks_random(_text(found[1]), NameKind.ANY):
            yield Span(*found.span(1))


_BEARERS = (b"earer", b"EARER")  # the letter before is small or not
_BEARER = rb"(?i:earer)" + _SPACE + rb"([A-Za-z0-9._~+/-]{12,4096}={0,2})"


def _bearer_tokens(data: bytes) -> Iterator[Span]:
    for found in matches(_BEARER, data, *_BEARERS):
        token = found[1].rstrip(b".")
        if looks_random(_text(token)):
            yield Span(found.start(1), found.start(1) + len(token))


_BASICS = (b"asic", b"ASIC")
_BASIC = rb"(?i:asic)" + _SPACE + rb"((?:[A-Za-z0-9+]|" + _S + rb"){8,2048}={0,2})"


def _basic_credentials(data: bytes) -> Iterator[Span]:
    for found in matches(_BASIC, data, *_BASICS):
        if is_user_and_password(found[1].replace(b"\\", b"")):
            yield Span(*found.span(1))


_KEY_BEGIN = rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_END = rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
# Of a block that is cut off: its lines, and a shorter one at the end.
_KEY_LINE_END = rb"(?:\\+[nr]|\s)*"
_KEY_BODY = (
    rb"(?:" + _KEY_LINE_END + rb"(?:[A-Za-z0-9+/=]{16,}|[A-Z][A-Za-z-]+: [^\n\\]{0,80}))*"
    rb"(?:" + _KEY_LINE_END + rb"[A-Za-z0-9+/=]{1,15}(?=[\s\\\"']|\Z))?"
)

# The end of a block whose beginning is cut off, read from behind.
_LINES_BACKWARDS = rb"(?:(?:[nr]\\{1,8}|\s){1,4}[A-Za-z0-9+/=]{1,128}){1,200}"
_MAX_KEY = 16384
_MIN_TAIL = 24


def _private_keys(data: bytes) -> Iterator[Span]:
    done = 0
    nearest = 0  # the next mark of an end; -1 when there is none any more
    for begin in matches(_KEY_BEGIN, data, b"-----BEGIN "):
        if begin.start() < done:
            continue
        if 0 <= nearest < begin.end():
            nearest = data.find(b"-----END ", begin.end())
        end = compiled(_KEY_END).match(data, nearest) if nearest >= 0 else None
        closing = end or compiled(_KEY_BODY).match(data, begin.end()) or begin
        done = closing.end()
        yield Span(begin.start(), done)
    end = compiled(_KEY_END).search(data)
    if end and b"-----BEGIN " not in data[: end.start()]:
        lines = compiled(_LINES_BACKWARDS).match(
            data[max(0, end.start() - _MAX_KEY) : end.start()][::-1]
        )
        if lines and lines.end() >= _MIN_TAIL:
            yield Span(end.start() - lines.end(), end.end())


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


_ZAPIER = (
    rb"hooks\.zapier\.com"
    + _S
    + rb"hooks"
    + _S
    + rb"catch"
    + _S
    + rb"[0-9]{3,12}"
    + _S
    + rb"([A-Za-z0-9]{5,32})"
)
_MAKE = rb"hook\.(?:[a-z0-9]{2,4}\.)?(?:make|integromat)\.com" + _S + rb"([A-Za-z0-9]{20,64})"
_MATTERMOST = rb"/hooks" + _S + rb"([a-z0-9]{26})(?![A-Za-z0-9_/-])"


def _slack_webhooks(data: bytes) -> Iterator[Span]:
    return (Span(*found.span(1)) for found in matches(_SLACK, data, b"hooks.slack.com"))


def _discord_webhooks(data: bytes) -> Iterator[Span]:
    return (Span(*found.span(1)) for found in matches(_WEBHOOK, data, b"webhooks"))


def _teams_webhooks(data: bytes) -> Iterator[Span]:
    return (Span(*found.span(1)) for found in matches(_TEAMS, data, b"webhook.office.com"))


def _zapier_webhooks(data: bytes) -> Iterator[Span]:
    return (Span(*found.span(1)) for found in matches(_ZAPIER, data, b"hooks.zapier.com"))


def _make_webhooks(data: bytes) -> Iterator[Span]:
    return (Span(*found.span(1)) for found in matches(_MAKE, data, b"hook."))


def _mattermost_webhooks(data: bytes) -> Iterator[Span]:
    return (Span(*found.span(1)) for found in matches(_MATTERMOST, data, b"/hooks"))


_AZURE = rb"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])"
_AZURE_LEAD = 4  # bytes before the gate


def _azure_secrets(data: bytes) -> Iterator[Span]:
    for at in places(data, b"Q~"):
        found = compiled(_AZURE).match(data, at - _AZURE_LEAD) if at >= _AZURE_LEAD else None
        if found:
            yield Span(*found.span())


URL = Context(_URLS, _url_passwords, needs=b"@")
BEARER = Context(_BEARERS, _bearer_tokens)
BASIC = Context(_BASICS, _basic_credentials)
KEY_BLOCK = Context((b"PRIVATE KEY",), _private_keys)
SLACK = Context((b"hooks.slack.com",), _slack_webhooks)
DISCORD = Context((b"webhooks",), _discord_webhooks)
TEAMS = Context((b"webhook.office.com",), _teams_webhooks)
AZURE = Context((b"Q~",), _azure_secrets)

ZAPIER = Context((b"hooks.zapier.com",), _zapier_webhooks)
MAKE = Context((b"hook.",), _make_webhooks)
MATTERMOST = Context((b"/hooks",), _mattermost_webhooks)

KINDS = Kinds(ZAPIER, MAKE, MATTERMOST, URL, AZURE, KEY_BLOCK, SLACK, DISCORD, TEAMS, BEARER, BASIC)
"""What is told by what is right around it."""
