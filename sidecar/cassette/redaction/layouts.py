"""Secrets apart from their names: in YAML blocks, Markdown, forms, SQL, shells, encoded text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sidecar.cassette.redaction.gates import Context, Kinds, matches, places
from sidecar.cassette.redaction.kubernetes import MANIFEST
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.names import NameKind, name_kind
from sidecar.cassette.redaction.pairs import PAIR
from sidecar.cassette.redaction.values import Evidence, is_masked, is_reference, is_secret

_LINE = rb"(?:[ \t]{0,40}(?:\\+[nr]|\r?\n)[ \t]{0,40}){1,4}"  # in JSON, line ends are escaped
_Q = rb"[\"'\\`]{0,4}"
_VALUE = rb"([^\s\"'\\`]{3,1024})"
_NAME = rb"[A-Za-z][A-Za-z0-9 _.-]{0,62}\Z"
_NAME_BYTES = 64
_NO_NAME_ENDS = (b"", b")", b'"', b"'", b"]", b"}")
_BACKSLASH = 0x5C
_MIN_CHARS = 3

Find = Callable[[bytes], Iterator[Span]]


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _name_before(data: bytes, at: int) -> str:
    if data[at - 1 : at] in _NO_NAME_ENDS:
        return ""
    found = compiled(_NAME).search(data, max(0, at - _NAME_BYTES), at)
    if not found:
        return ""
    start = found.start()
    escapes = start and data[start - 1] == _BACKSLASH
    return _text(data[start + bool(escapes) : at])


def _spoken(pattern: bytes, evidence: Evidence, *gates: bytes) -> Context:
    """Make a kind whose pattern's first group is a name and whose second its value."""

    def find(data: bytes) -> Iterator[Span]:
        for found in matches(pattern, data, *gates):
            name, kind = _text(found[1]), name_kind(_text(found[1]))
            if kind and is_secret(_text(found[2]), name, kind, evidence):
                yield Span(*found.span(2))

    return Context(gates, find)


def _behind(pattern: bytes, evidence: Evidence, *gates: bytes) -> Context:
    """Make a kind whose name stands before the gate; the pattern's group is its value."""

    def find(data: bytes) -> Iterator[Span]:
        value = compiled(pattern)
        for at in places(data, *gates):
            name = _name_before(data, at)
            kind = name_kind(name)
            found = value.match(data, at) if kind else None
            if found and is_secret(_text(found[1]), name, kind, evidence):
                yield Span(*found.span(1))

    return Context(gates, find)


def _sure(pattern: bytes, *gates: bytes, before: bytes = b"") -> Context:
    """Make a kind that is told by its pattern, and by what is before it, if that is given."""

    def find(data: bytes) -> Iterator[Span]:
        for found in matches(pattern, data, *gates):
            at = found.start()
            if before and not compiled(before).search(data, max(0, at - 256), at):
                continue
            if is_secret(_text(found[1]), "password", NameKind.ANY, Evidence.TIGHT):
                yield Span(*found.span(1))

    return Context(gates, find)


BLOCK = _behind(rb": [|>][+-]?" + _LINE + _VALUE, Evidence.TIGHT, b": |", b": >")
NEXT_LINE = _behind(
    rb":" + _LINE + rb"([^\s\"'\\:]{6,256})(?=[\\\s\"]|\Z)", Evidence.PROSE,
    b":\n", b":\\n", b":\\\\n", b":\r",
)  # fmt: skip
BOLD = _spoken(
    rb"\*\*([A-Za-z][\w .-]{1,40}?)(?:\*\*:|:\*\*)[ \t]{1,4}[`*\"'\\]{0,4}([^\s`*\"'\\]{4,256})",
    Evidence.PROSE, b"**",
)  # fmt: skip
ROW = _spoken(
    rb"\|[ \t]{1,40}[`*]{0,3}([A-Za-z][\w.-]{0,40}(?: [\w.-]{1,40}){0,2})[`*]{0,3}[ \t]{1,40}"
    rb"\|[ \t]{1,40}[`*]{0,3}([^\s|`*\"'\\]{6,256})[`*]{0,3}[ \t]{1,40}\|",
    Evidence.PROSE, b"| ",
)  # fmt: skip
FORM = _sure(
    rb"assword:[ \t]{0,8}([^\s\"'\\]{4,256})",
    b"assword:",
    before=rb"(?i:user(?:[ _-]?name)?|login|e-?mail|account)[ \t]{0,4}[:=][ \t]{0,4}[^\s\\]{1,128}"
    rb"(?:[ \t]|\\+[nrt]|\s){1,16}[Pp]\Z",
)
SQL = _sure(
    rb"(?i:identified by|with password)[ \t]{1,8}\\*[\"']([^\"'\\\s]{3,256})",
    b"IDENTIFIED BY", b"identified by", b"WITH PASSWORD", b"with password",
)  # fmt: skip
SETTER = _spoken(
    rb"(?:configure set|setx)[ \t]{1,8}([A-Za-z_][\w.]{2,64})[ \t]{1,8}" + _Q + _VALUE,
    Evidence.SURE, b"configure set ", b"setx ",
)  # fmt: skip
BODY = _sure(rb"gh secret set [^\n|;\\]{0,200}?(?:--body|-b)[ =]" + _Q + _VALUE, b"gh secret set ")
PREFIXED = _sure(
    rb"(?:(?<=-pass )|(?<=-passin )|(?<=-passout ))pass:" + _VALUE, b"pass:"
)  # of openssl
DIRECTIVE = _sure(
    rb"(?:requirepass|masterauth)[ \t]{1,8}" + _VALUE, b"requirepass ", b"masterauth "
)
BIND = _sure(rb"pw[ \t]{1,8}" + _VALUE, b"pw ", before=rb"bind\Z")
FIELD = _sure(
    rb"type=\\*[\"']password\\*[\"'][^<>]{0,300}?[ \t]value=\\*[\"']([^\"'\\<>]{3,256})",
    b'type="password"', b"type='password'", b'type=\\"password', b'type=\\\\\\"password',
)  # fmt: skip
ENCODED = _behind(
    rb"%3[dD]((?:[A-Za-z0-9_.~!$*+-]|%(?!26|20|0[aA]|22|7[dD]|2[cC]|3[dD])[0-9A-Fa-f]{2}){3,256})",
    Evidence.TIGHT, b"%3D", b"%3d",
)  # fmt: skip
ENTITY = _behind(
    rb"&quot;:[ ]?&quot;([^&\"\\<>]{3,512})&quot;", Evidence.MEMBER,
    b"&quot;:&quot;", b"&quot;: &quot;",
)  # fmt: skip
LIST = _behind(
    rb"\\*\":[ ]?\[[ ]?\\*\"([^\"\\]{3,1024})\\*\"[ ]?\]", Evidence.QUOTED,
    b'":[', b'": [', b'\\":[', b'\\": [',
)  # fmt: skip
_PW_KEY = (
    rb"(?<![A-Za-z0-9])pw(?:\\*\"[ ]?:[ ]?\\*\"([^\"\\\s]{4,256})\\*\"|=([^\s\"'\\&;]{4,256}))"
)


def _short_names(data: bytes) -> Iterator[Span]:
    """Read `"pw": "S"` and `pw=S`, a name too short to be looked for everywhere."""
    for found in matches(_PW_KEY, data, *PW.gates):
        group = 1 if found[1] else 2
        if is_password(_text(found[group])):
            yield Span(*found.span(group))


def is_password(value: str) -> bool:
    """Tell whether what is called `pw` is a password: `hunter2`, none of a width."""
    return not value.isdigit() and is_secret(value, "password", NameKind.ANY, Evidence.PROSE)


PW = Context((b'pw"', b'pw\\"', b"pw="), _short_names)

_ENV_NAME = rb"name:[ \t]{0,8}" + _Q + rb"([\w.-]{2,64})" + _Q + _LINE + rb"\Z"
_ENV_VALUE = rb"value:[ \t]{0,8}" + _Q + _VALUE
_ENV_BYTES = 256


def _yaml_variables(data: bytes) -> Iterator[Span]:
    """Read Kubernetes' `- name: DB_PASSWORD` with `value: S` below."""
    for found in matches(_ENV_VALUE, data, *VARIABLE.gates):
        at = found.start()
        named = compiled(_ENV_NAME).search(data, max(0, at - _ENV_BYTES), at)
        name = _text(named[1]) if named else ""
        kind = name_kind(name)
        if kind and is_secret(_text(found[1]), name, kind, Evidence.SURE):
            yield Span(*found.span(1))


VARIABLE = Context((b"value:",), _yaml_variables)

_ECHO = (
    rb"(?:echo|printf)[ \t]{1,4}(?:-n[ \t]{1,4})?" + _Q + rb"([^\s\"'\\|$]{3,512})" + _Q
    + rb"[ \t]{0,4}\|[^|\n]{0,200}\Z"
)  # fmt: skip
_ECHO_BYTES = 768


def _echoed(data: bytes) -> Iterator[Span]:
    """Read `echo S | docker login --password-stdin`."""
    for found in matches(b"--password-stdin", data, *ECHO.gates):
        at = found.start()
        word = compiled(_ECHO).search(data, max(0, at - _ECHO_BYTES), at)
        if word and not is_reference(_text(word[1])) and not is_masked(_text(word[1])):
            yield Span(*word.span(1))


ECHO = Context((b"--password-stdin",), _echoed)

# A text without any of these in it, small, has none of the names that are looked for.
_WORDS = (b"pass", b"token", b"secret", b"key", b"identified by", b"authorization")
NAMED = Kinds(
    NEXT_LINE, BOLD, ROW, BLOCK, FORM, ENCODED, ENTITY, VARIABLE, SETTER, LIST, SQL, FIELD, ECHO,
    PREFIXED, DIRECTIVE, BODY, MANIFEST, PAIR,
)  # fmt: skip
"""What is apart from its name; only in a text that `may_speak_of_secrets`."""

SHORT = Kinds(PW, BIND)
"""What has a name of two letters."""


def may_speak_of_secrets(data: bytes) -> bool:
    """Tell whether a word of most secrets' names is in a text's UTF-8 bytes.

    Without one there is nothing of `NAMED` to find, nor for `tables`.
    """
    small = data.lower()
    for word in _WORDS:  # noqa: SIM110  # `any` takes twice as long
        if word in small:
            return True
    return False
