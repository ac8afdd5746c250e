"""Secrets told by a mark within or behind them: `….atlasv1.…`, `…-us12`, `$6$…`, private JWKs."""

from __future__ import annotations

from collections.abc import Iterator

from sidecar.cassette.redaction.gates import Context, Kinds, matches, places
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span


def _whole(pattern: bytes, *gates: bytes) -> Context:
    def find(data: bytes) -> Iterator[Span]:
        return (Span(*found.span()) for found in matches(pattern, data, *gates))

    return Context(gates, find)


def _first(pattern: bytes, *gates: bytes) -> Context:
    def find(data: bytes) -> Iterator[Span]:
        return (Span(*found.span(1)) for found in matches(pattern, data, *gates))

    return Context(gates, find)


def _around(before: bytes, after: bytes, reach: int, *gates: bytes) -> Context:
    """Make a kind whose gate is within the token, or behind it."""

    def find(data: bytes) -> Iterator[Span]:
        for at in places(data, *gates):
            end = compiled(after).match(data, at)
            start = compiled(before).search(data, max(0, at - reach), at) if end else None
            if start and end:
                yield Span(start.start(), end.end())

    return Context(gates, find)


HASHICORP = _around(rb"[A-Za-z0-9]{14}\Z", rb"\.atlasv1\.[A-Za-z0-9_-]{40,128}", 14, b".atlasv1.")
MAILCHIMP = _around(rb"(?<![0-9a-f])[0-9a-f]{32}\Z", rb"-us[0-9]{1,2}(?![A-Za-z0-9_-])", 33, b"-us")
MAXMIND = _around(
    rb"(?<![A-Za-z0-9_])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}\Z", rb"_mmk(?![A-Za-z0-9_])", 37, b"_mmk"
)
OPENSHIFT = _whole(rb"sha256~[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])", b"sha256~")
ASANA = _whole(
    rb"2\\*/[0-9]{13,19}\\*/[0-9]{13,19}:[0-9a-f]{32}(?![0-9a-f])", b"2/1"
)  # fmt: skip
GOOGLE = _whole(rb"(?<![0-9/:.])1//0[A-Za-z0-9_-]{40,512}", b"1//0")
HASHES = _whole(
    rb"\$(?:apr1|[156y]|2[aby])\$[./A-Za-z0-9$]{20,200}|\$argon2i?d?\$v=[^\s\"'\\]{30,300}",
    b"$apr1$", b"$1$", b"$5$", b"$6$", b"$y$", b"$2a$", b"$2b$", b"$2y$", b"$argon2",
)  # fmt: skip
_PGPASS = rb":[\w*.-]{1,64}:[\w*.@-]{1,64}:([^\s:\"'\\\[]{4,256})(?=[\s\\\"]|\Z)"
PGPASS = _first(rb"432" + _PGPASS, b"432:")
ANY_DATABASE = _first(rb":\*" + _PGPASS, b":*:")
PUTTY = _first(
    rb"Private-Lines: [0-9]{1,4}(?:\\+[nr]|\s){1,4}"
    rb"([A-Za-z0-9+/=]{8,128}(?:(?:\\+[nr]|\s){1,4}[A-Za-z0-9+/=]{8,128}(?![A-Za-z0-9:-])){0,100})",
    b"Private-Lines:",
)  # fmt: skip

SAML = _first(rb"SAMLResponse=([A-Za-z0-9+/%=_-]{12,65536})", b"SAMLResponse=")

_JWK = rb"\\*\"(?:d|p|q|dp|dq|qi|k)\\*\"\s{0,4}:\s{0,4}\\*\"([A-Za-z0-9_-]{16,2048})(?=\\*\")"
_KEY_BYTES = 16384  # from its type to the last member of the largest key
JWK_MEMBERS = frozenset(("d", "p", "q", "dp", "dq", "qi", "k"))
"""Members of a JSON Web Key that are private (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1)."""


def _private_members(data: bytes) -> Iterator[Span]:
    done = 0
    for at in sorted(places(data, *JWK.gates)):
        start, done = max(done, at - _KEY_BYTES), at + _KEY_BYTES
        for found in compiled(_JWK).finditer(data, start, done):
            yield Span(*found.span(1))


JWK = Context((b'"kty"', b'kty\\"'), _private_members)


KINDS = Kinds(
    HASHES, SAML, MAILCHIMP, PUTTY, GOOGLE, ASANA, HASHICORP, MAXMIND, OPENSHIFT, ANY_DATABASE,
    PGPASS, JWK,
)  # fmt: skip
"""What is told by a mark within it, or behind it."""
