"""Secrets that the words around them tell: sentences, netrc files, Dockerfiles, calls, queries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sidecar.cassette.redaction.gates import Context, Kinds, matches, places
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.names import NameKind, name_kind, words_of
from sidecar.cassette.redaction.values import Evidence, is_secret, is_token_like, scheme_chars

_GAP = rb"(?:\s|\\+[nrt]){1,16}"  # in JSON, white space is escaped
_WORD = rb"[^\s\"'\\]{1,256}"

_NETRC = (
    rb"machine" + _GAP + _WORD + rb"(?P<user>(?:" + _GAP + rb"(?:login|account)" + _GAP + _WORD
    + rb"){0,2})"
    + _GAP + rb"password" + _GAP + rb"(?P<password>" + _WORD + rb")"
)  # fmt: skip


def _netrc_passwords(data: bytes) -> Iterator[Span]:
    for found in matches(_NETRC, data, *NETRC.gates):
        evidence = Evidence.SURE if found["user"] else Evidence.PROSE
        if is_secret(_text(found["password"]), "password", NameKind.ANY, evidence):
            yield Span(*found.span("password"))


NETRC = Context((b"machine ",), _netrc_passwords)

_SENTENCE = (
    rb"(?:ssword|sscode|ssphrase|ey|oken|ecret) is:? (?P<open>[\"'`*\\]{0,4})([^\s\"'`*\\]{4,256})"
)
_BEFORE_BYTES = 32
_TRAILING = b".,:;!?)"
_ADJECTIVES = words_of("weak strong short long same wrong secure known public random simple set")
_ALGORITHMS = ("base64", "sha1", "sha256", "sha512", "md5", "argon2", "pbkdf2", "utf8")


def _sentences(data: bytes) -> Iterator[Span]:
    """Read `the password is S`; a word that is no more than a word is none, if it is not quoted."""
    for found in matches(_SENTENCE, data, *SENTENCE.gates):
        end = found.start(2) + len(found[2].rstrip(_TRAILING))
        value = _text(data[found.start(2) : end])
        named = _text(data[max(0, found.start() - _BEFORE_BYTES) : found.start("open")])
        name = named.rpartition(" is")[0]
        kind = name_kind(name)
        is_algorithm = value.lower().startswith(_ALGORITHMS)
        evidence = Evidence.PROSE
        is_word = _text(found[2]).lower() in _ADJECTIVES
        if kind is NameKind.ANY and _is_quoted(data, found) and not is_word:
            end, value, evidence = found.end(2), _text(found[2]), Evidence.QUOTED
        if kind and not is_algorithm and is_secret(value, name, kind, evidence):
            yield Span(found.start(2), end)


def _is_quoted(data: bytes, found: re.Match[bytes]) -> bool:
    """Tell whether a word stands between quotes, with nothing else in them."""
    opening = found["open"]
    return bool(opening) and data.startswith(opening, found.end(2))


SENTENCE = Context(
    (b"ssword is", b"sscode is", b"ssphrase is", b"ey is", b"oken is", b"ecret is"), _sentences
)

_CODE = rb"(?i:ode is:?)" + rb" ([0-9]{3,8}(?:[ -][0-9]{3,4})?)(?![0-9A-Za-z.]?[0-9A-Za-z])"
_OF_CODE = (
    rb"(?i:verification|security|login|log-in|one-time|sign-in|confirmation|2fa|mfa|otp|pass"
    rb"|single-use|authentication|authorization|unlock|pin)[ -]?c\Z"
)
_YOURS = rb" is your (?:[A-Za-z0-9-]{1,20} ){0,4}(?:code|OTP|PIN|passcode)\b"
_CODE_BEFORE = rb"(?<![0-9A-Za-z])[0-9]{4,8}\Z"


def _one_time_codes(data: bytes) -> Iterator[Span]:
    """Read `your verification code is 123456` and `123456 is your login code`."""
    for found in matches(_CODE, data, b"ode is"):
        if compiled(_OF_CODE).search(data, max(0, found.start() - _BEFORE_BYTES), found.start()):
            yield Span(*found.span(1))
    for at in places(data, b" is your "):
        code = compiled(_CODE_BEFORE).search(data, max(0, at - _BEFORE_BYTES), at)
        if code and compiled(_YOURS).match(data, at):
            yield Span(*code.span())


CODE = Context((b"ode is", b" is your "), _one_time_codes)

_MIXED = rb"(?=[\w-]*[A-Z])(?=[\w-]*[a-z])(?=[\w-]*[0-9])[A-Za-z0-9_-]"
_KEY = (
    rb"[?&](?:key|appid|code)=(?:(" + _MIXED + rb"{20,256}|[0-9a-f]{32,64})|(" + _MIXED
    + rb"{12,19}))(?![\w./-])"
)  # fmt: skip
_CODE_URL = rb"[?&]code=([0-9a-f]{20,64}|4(?:/|%2[fF])0[\w-]{20,256})(?![\w./-])"


def _query_keys(data: bytes) -> Iterator[Span]:
    """Read `?key=S` and `?code=S` in a URL; a key of a record is shorter, or a slug."""
    for found in matches(_KEY, data, *QUERY.gates):
        if found[1] or is_token_like(_text(found[2])):
            yield Span(*found.span(1 if found[1] else 2))
    for found in matches(_CODE_URL, data, b"?code=", b"&code="):
        yield Span(*found.span(1))


QUERY = Context((b"?key=", b"&key=", b"?appid=", b"&appid=", b"?code=", b"&code="), _query_keys)

_BARE = rb"[A-Z]{2,10}[ \t]{1,64}([A-Za-z0-9_+/=.~-]{16,512})(?=[\s\\\"'`|,;)]|\Z)"
_HEXADECIMAL = rb"[0-9a-f]{32,128}\Z"
_BARE_NAME = rb"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_\Z"
_NAME_BYTES = 64


def _bare_variables(data: bytes) -> Iterator[Span]:
    """Read `STRIPE_API_KEY  S`, a variable and its value without a sign between them."""
    for found in matches(_BARE, data, *BARE.gates):
        at = found.start()
        before = compiled(_BARE_NAME).search(data, max(0, at - _NAME_BYTES), at)
        name = _text(data[before.start() : found.start(1)]).rstrip() if before else ""
        is_random = is_token_like(_text(found[1])) or compiled(_HEXADECIMAL).match(found[1])
        if is_random and name_kind(name) >= NameKind.TEXT:
            yield Span(*found.span(1))


BARE = Context((b"KEY ", b"TOKEN ", b"SECRET ", b"PASSWORD "), _bare_variables)

_VARIABLE = (
    rb"ENV[ \t]{1,8}([A-Za-z_][A-Za-z0-9_]{1,64})[ \t]{1,8}\\*[\"']?([^\s\"'\\=][^\s\"'\\]{2,1024})"
)


def _image_variables(data: bytes) -> Iterator[Span]:
    """Read a Dockerfile's `ENV NAME value`."""
    return _named(_VARIABLE, data, ENV.gates)


ENV = Context((b"ENV ",), _image_variables)

_CALL = (
    rb"[A-Za-z]{2,10}\(\s{0,8}\\*[\"']([A-Za-z0-9_.-]{2,64})\\*[\"']\s{0,16},\s{0,16}"
    rb"\\*[\"']([^\"'\\\n]{3,1024})\\*[\"']"
)


def _calls(data: bytes) -> Iterator[Span]:
    """Read calls that set something: `define('DB_PASSWORD', 'S')`, `setenv("API_KEY", "S")`."""
    return _named(_CALL, data, CALL.gates)


CALL = Context((b"define(", b"etenv(", b"eader(", b"efault(", b"set("), _calls)


def _named(pattern: bytes, data: bytes, gates: tuple[bytes, ...]) -> Iterator[Span]:
    """Find what stands behind a name: the pattern's second group behind its first."""
    for found in matches(pattern, data, *gates):
        name, value = _text(found[1]), _text(found[2])
        if is_secret(value, name, name_kind(name), Evidence.SURE) and name_kind(name):
            yield Span(found.start(2) + scheme_chars(value), found.end(2))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


KINDS = Kinds(SENTENCE, CODE, CALL, QUERY, BARE, NETRC, ENV)
"""What is told by the words around it."""
