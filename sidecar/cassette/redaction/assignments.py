"""Secrets behind their names in running text: `password=hunter2`, `--api-key S`, headers.

Lines of a log, command lines, URLs, settings files, source code, and JSON that is cut off
or mixed into other text. A text that is JSON as a whole is read as such, not here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.names import (
    FOLDERS,
    MAX_NAME_CHARS,
    MIN_TOKEN_NUMBER,
    NUMBER_TOKENS,
    NameKind,
    folded,
    is_query_secret,
    name_kind,
)
from sidecar.cassette.redaction.values import Evidence, is_code, is_secret, scheme_chars
from sidecar.wire.typed import NamedTuple

_NAME_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_MAX_QUOTED_BYTES = 8192
_MAX_LINE_BYTES = 4096
_BACKSLASH = 0x5C
_SEPARATORS = b" /"
_LETTERS_OF_ESCAPES = tuple("nrtbf")
_ESCAPES = tuple(letter.encode() for letter in _LETTERS_OF_ESCAPES)
_MEMBER_ENDS = (b'"', b"\\")
_ASSIGNS = (b"=", b":")
_QUOTES = (b'"', b"\\", b"'")
_MAX_REMEMBERED = 1000
_MAX_LABEL_BYTES = 40
_QUERY_MARKS = b"?&;"

# What may stand between a name's deciding word and its value. `mark` is the sign of an
# assignment; without one, the value is the next word of a command line (`gap`), or the
# `value` beside a `name` (`pair`).
_SIGNS = rb"(?:[^A-Za-z0-9\"'`\\:=>,{}\[\]]|\\u[0-9a-fA-F]{4})"  # as `*` in `"Password *":`
_AFTER = (
    rb"(?P<tail>(?:s|[_ -]?(?:value|string|pem|confirm(?:ation)?|base|code))?[_ -]?[0-9]{0,4})"
    rb"(?:(?:\]?" + _SIGNS + rb"{0,12}(?P<quote>\\*[\"'`]))?\]?[ \t]*"
    rb"(?P<mark>=>|:=|=(?!=)|:(?![:]|//)|>)[ \t]*"
    rb"|(?P<pair>\\*[\"']\s{0,64},?\s{0,64}\\*[\"']?value\\*[\"']?\s{0,64}[:=]\s{0,64})"
    rb"|(?P<gap>[ \t]+|\\*[\"'][ \t]{0,64},[ \t\r\n]{0,64})(?=[^\s-]))"
)
_LABEL = rb"(?:[nN]ame|[kK]ey|field)\\*[\"']?\s{0,8}[:=]\s{0,8}\\*[\"']\Z"
_ELEMENT = rb"element\\*\"\s{0,8}:\s{0,8}\\*\"[^\"]{0,64}\Z"  # a field of a page, by its label
_VALUE_NAMES = (b"alue", b'val"', b"val\\", b"element")  # of these, one is beside a label
_LABEL_END = rb"(?P<tail>s?[_-]?[0-9]{0,2})\\*[\"']"
_OPENING = rb"[bBfFrRuU]{0,2}(\\*)([\"'`])"
_APP = rb"(?:[0-9]{15,16}\|(?=[A-Za-z0-9_-]{20}))?"  # of a Facebook app: its id and its secret
_RUN = _APP + rb"(?:[^\s\"'`<>\\,;&|(){}\[\]]|\\(?![nrtbfu\"'`\\/])){1,1024}"
_VARIABLE_RUN = _APP + rb"(?:[^\s\"'`<>\\,;&|]|\\(?![nrtbfu\"'`\\/])){1,4096}"
_LINE_ENDS = (b"\n", b"\r", b"\\n", b"\\r", b'"', b"'", b"`", b"<", b">")
_XML_RUN = rb"[^<>]{1,4096}(?=</)"
_WITH_DIGIT = rb"[A-Za-z]*[0-9]"
_DIGITS = rb"-?[1-9][0-9]{2,64}(?=\s*[,}\]\s])"
_TRAILING = b".,:!?"
_WHOLE_LINE = ("digest", "aws4", "hmac")  # schemes whose credentials are a list


class _Name(NamedTuple):
    """A secret's name in a text, and how it is joined to what follows.

    Attributes:
        text: The name without leading dashes.
        kind: What it says of its value.
        flag: Whether it is an option of a command line.
        before: The byte before it; 0 at the beginning.
        joint: The match of `_AFTER` behind its deciding word.
    """

    text: str
    kind: NameKind
    flag: bool
    before: int
    joint: re.Match[bytes]


class Assignments:
    """Finds values behind secrets' names in running text.

    Args of the constructor:
        words: The deciding words to look for, small; the values of `ENDINGS`.
        names: Further names that are secrets as a whole, folded.
    """

    def __init__(self, words: tuple[str, ...], names: frozenset[str] = frozenset()) -> None:
        self._words = tuple(word.encode() for word in words)
        self._names = names
        self._harmless: dict[bytes, bool] = {}

    def any_in(self, data: bytes) -> bool:
        """Tell whether a text holds a secret's name with anything that may be its value.

        It is true for every text of which `spans` or a structure's member finds a secret.
        """
        has_value = any(name in data for name in _VALUE_NAMES)
        return any(
            self._named(data, at, end) or (has_value and self._is_label(data, at, end))
            for at, end in self._places(data)
        )

    def spans(self, data: bytes) -> Iterator[Span]:
        """Find the values in a text's UTF-8 bytes."""
        return (span for _, span in self._values(data) if span)

    def explains(self, data: bytes) -> bool:
        """Tell whether behind each secret's name in a JSON text is a value that `spans` finds.

        Else there are objects, lists, or what only a reader of JSON can tell.
        """
        has_value = any(name in data for name in _VALUE_NAMES)
        return not any(
            (name and not (span and _is_within_string(data, name)))
            or (has_value and self._is_label(data, at, end))
            for (at, end, name), span in self._values(data)
        )

    def _values(self, data: bytes) -> Iterator[tuple[tuple[int, int, _Name | None], Span | None]]:
        last = Span(0, 0)
        for at, end in self._places(data):
            if last.start <= at < last.end:
                continue  # within a value: masked, and not to be read over and over
            name = self._named(data, at, end)
            span = _value(data, name) if name else None
            last = span or last
            yield (at, end, name), span

    def _places(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Find the deciding words, but for those of members that were found harmless."""
        small = data.lower()
        for word in self._words:
            at = small.find(word)
            while at >= 0:
                end = at + len(word)
                if _is_plural(word, data, end) or (word == b"key" and self._is_bare(data, at, end)):
                    at = small.find(word, end)
                    continue
                if data[end : end + 1] not in _MEMBER_ENDS or not self._is_harmless(data, at, end):
                    yield at, end
                at = small.find(word, end)

    def _is_bare(self, data: bytes, at: int, end: int) -> bool:
        """Tell whether `key` is the whole name of what is assigned: code is full of it."""
        if self._names or data[end : end + 1] not in _ASSIGNS or not at:
            return False
        before = data[at - 1]
        is_qualified = before in _SEPARATORS and data[at - 2 : at - 1].isalnum()
        return before not in _NAME_BYTES and not is_qualified

    def _is_harmless(self, data: bytes, at: int, end: int) -> bool:
        """Tell whether a quoted name is none of a secret: thousands may be of one name."""
        _, quote, name = data[max(0, at - MAX_NAME_CHARS) : end].rpartition(b'"')
        if not quote:
            return False
        if name not in self._harmless:
            if len(self._harmless) > _MAX_REMEMBERED:
                self._harmless.clear()
            self._harmless[name] = self._kind(name.decode("utf-8", "replace")) is NameKind.NONE
        return self._harmless[name]

    def _named(self, data: bytes, at: int, end: int) -> _Name | None:
        joint = compiled(_AFTER, re.IGNORECASE).match(data, end)
        return self._name(data, at, joint) if joint else None

    def _is_label(self, data: bytes, at: int, end: int) -> bool:
        """Tell whether a secret's name is the value of a `name`: `"name": "API_KEY"`."""
        if compiled(_ELEMENT).search(data, max(0, at - 2 * _MAX_LABEL_BYTES), at):
            return True
        after = compiled(_LABEL_END).match(data, end)
        start = _name_start(data, at)
        before = compiled(_LABEL).search(data, max(0, start - _MAX_LABEL_BYTES), start)
        return bool(
            after
            and before
            and self._kind(data[start : after.end("tail")].decode("utf-8", "replace"))
        )

    def _kind(self, name: str) -> NameKind:
        kind = name_kind(name)
        if kind is NameKind.NONE and folded(name.rpartition(" ")[2]) in self._names:
            return NameKind.ANY
        return kind

    def _name(self, data: bytes, at: int, joint: re.Match[bytes]) -> _Name | None:
        start = _name_start(data, at)
        before = data[start - 1] if start else 0
        written = data[start : joint.end("tail")].decode()
        if before == _BACKSLASH and written[:1] in _LETTERS_OF_ESCAPES:
            written = written[1:]  # of an escaped line end or tab
        name, flag = written.lstrip("-"), written.startswith("--")
        if (joint["gap"] and not flag) or len(written) >= MAX_NAME_CHARS:
            return None
        if before in _SEPARATORS and not flag:
            name = f"{_word_before(data, start)} {name}"
        return self._known(name, _Name(name, NameKind.NONE, flag, before, joint))

    def _known(self, name: str, found: _Name) -> _Name | None:
        kind = self._kind(name)
        if kind is NameKind.NONE and found.before in _QUERY_MARKS and is_query_secret(name):
            return found._replace(kind=NameKind.WEAK)
        return found._replace(kind=kind) if kind is not NameKind.NONE else None


def _is_plural(word: bytes, data: bytes, end: int) -> bool:
    """Tell whether a word is of `tokens`, outside of a member's name: logs count tokens."""
    return (
        word == b"token" and data[end : end + 1] == b"s" and data[end + 1 : end + 2] not in _QUOTES
    )


def _name_start(data: bytes, at: int) -> int:
    lowest = max(0, at - MAX_NAME_CHARS)
    while at > lowest and data[at - 1] in _NAME_BYTES:
        at -= 1
    return at


def _word_before(data: bytes, start: int) -> str:
    """Return the word before a name: `API` of `the API key`."""
    end = start - 1
    begin = _name_start(data, end)
    if begin and data[begin - 1] == _BACKSLASH and data[begin : begin + 1] in _ESCAPES:
        begin += 1  # of an escaped line end or tab
    return data[begin:end].decode("utf-8", "replace")


def _value(data: bytes, name: _Name) -> Span | None:
    at = name.joint.end()
    mark = name.joint["mark"]
    # `a > b`, and a part of an ARN, `…:secret:name`, assign nothing.
    if (mark == b">" and name.before != ord("<")) or (mark == b":" and name.before == ord(":")):
        return None
    opening = compiled(_OPENING).match(data, at) if mark != b">" else None
    closing = _closing(data, opening) if opening else -1
    if opening and closing >= 0:
        return _quoted(data, name, opening.end(), closing)
    if name.joint["pair"]:
        return None
    if folded(name.text).endswith(("authorization", "cookie", "cookies")):
        return _header(data, name, at)
    return _unquoted(data, name, at)


def _is_within_string(data: bytes, name: _Name) -> bool:
    """Tell, of a JSON text, whether a name and its value are in one string, or are a member."""
    if name.joint["pair"] or b"," in (name.joint["gap"] or b""):
        return False  # two members, or two items
    opening = compiled(_OPENING).match(data, name.joint.end())
    is_bare = opening is not None and not opening[1] and opening[2] == b'"'
    return not is_bare or name.joint["quote"] == b'"'


def _closing(data: bytes, opening: re.Match[bytes]) -> int:
    """Find the quote that ends what `opening` began; -1 if there is none near."""
    depth, quote = len(opening[1]), opening[2]
    limit = opening.end() + _MAX_QUOTED_BYTES
    at = data.find(quote, opening.end(), limit)
    while at >= 0:
        slashes = 0
        while data[at - slashes - 1] == _BACKSLASH and at - slashes > opening.end():
            slashes += 1
        if slashes == depth or (not depth and slashes % 2 == 0):
            return at - depth
        at = data.find(quote, at + 1, limit)
    return -1


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "surrogateescape")


def _quoted(data: bytes, name: _Name, start: int, end: int) -> Span | None:
    value = _text(data, start, end)
    if "\n" in value.strip() and name.kind is not NameKind.TEXT:
        return None  # the quote was no beginning
    if not is_secret(value, name.text, name.kind, _quoted_evidence(name, value)):
        return None
    return Span(start + scheme_chars(value), end)


def _quoted_evidence(name: _Name, value: str) -> Evidence:
    if (name.joint["quote"] or name.joint["pair"]) and folded(name.text) not in FOLDERS:
        return Evidence.MEMBER
    is_cookies = name.kind is NameKind.DEEP and "=" in value
    if is_cookies or name.flag or name.joint["quote"] or _is_variable(name):
        return Evidence.SURE
    return Evidence.QUOTED


def _header(data: bytes, name: _Name, at: int) -> Span | None:
    """Read the rest of a line: `Cookie: a=b; c=d`, `Authorization: Digest u="v", w="x"`."""
    end = _line_end(data, at)
    value = _text(data, at, end)
    scheme = scheme_chars(value)
    is_list = name.kind is NameKind.DEEP and "=" in value and name.joint["mark"] != b"="
    if not scheme and not is_list:
        return _unquoted(data, name, at)
    start = at + scheme
    if not is_list and not value.lower().startswith(_WHOLE_LINE):
        run = compiled(_VARIABLE_RUN).match(data, start)
        end = run.end() if run else start
    is_one = is_secret(_text(data, start, end), name.text, name.kind, Evidence.SURE)
    return Span(start, end) if is_one else None


def _line_end(data: bytes, at: int) -> int:
    end = at + _MAX_LINE_BYTES
    for stop in _LINE_ENDS:
        found = data.find(stop, at, end)
        end = found if found >= 0 else end
    return at + len(data[at:end].rstrip(b" \t\\"))


def _unquoted(data: bytes, name: _Name, at: int) -> Span | None:
    if name.joint["quote"] and name.joint["mark"] == b":":
        return _number(data, name, at)
    evidence = _evidence(data, name, at)
    if name.flag and compiled(_WITH_DIGIT).match(data, at):
        evidence = Evidence.SURE  # `--password to` goes on in words, `--password S3` does not
    pattern = _VARIABLE_RUN if evidence is Evidence.SURE and _own(name).isupper() else _RUN
    run = compiled(_XML_RUN if name.joint["mark"] == b">" else pattern).match(data, at)
    if run is None or (pattern is _RUN and data[run.end() : run.end() + 1] == b"("):
        return None
    is_sentence = evidence is Evidence.PROSE
    end = at + len(run[0].rstrip(_TRAILING)) if is_sentence else run.end()
    is_one = is_secret(_text(data, at, end), name.text, name.kind, evidence)
    return Span(at, end) if is_one else None


def _evidence(data: bytes, name: _Name, at: int) -> Evidence:
    mark = name.joint["mark"]
    is_one = mark == b">" or _is_variable(name) or (name.flag and mark)
    if is_one or name.before in _QUERY_MARKS:
        return Evidence.SURE
    is_apart = mark is None or (mark == b":" and data[at - 1] in b" \t")
    return Evidence.PROSE if is_apart and not _is_yaml(data, name, at) else Evidence.TIGHT


def _is_variable(name: _Name) -> bool:
    """Tell whether a name is that of a variable that is set: `API_KEY=S`."""
    return name.joint["mark"] == b"=" and _own(name).isupper()


def _own(name: _Name) -> str:
    """Return a name without the word before it: `TOKEN` of `export TOKEN`."""
    return name.text.rpartition(" ")[2]


def _is_yaml(data: bytes, name: _Name, at: int) -> bool:
    """Tell whether a name and one word behind it are a line of their own, in small letters."""
    start = max(0, name.joint.start() - MAX_NAME_CHARS)
    # In JSON, line ends are escaped.
    before = data[start : name.joint.start()].replace(b"\\n", b"\n").rpartition(b"\n")[2]
    rest = data[at : at + _MAX_LINE_BYTES].replace(b"\\n", b"\n").partition(b"\n")[0]
    own = before.lstrip(b" \t-")
    return own[:1].islower() and b" " not in own and b" " not in rest.strip()


def _number(data: bytes, name: _Name, at: int) -> Span | None:
    """Read the bare number of a member, which stays a number."""
    digits = compiled(_DIGITS).match(data, at)
    if not digits:
        return None
    if folded(name.text) in NUMBER_TOKENS:
        is_one = abs(int(digits[0])) >= MIN_TOKEN_NUMBER
    elif name.kind is NameKind.CODE:
        is_one = is_code(digits[0].decode(), name.text)
    else:
        is_one = name.kind is NameKind.ANY
    return Span(at, digits.end(), instead=b"0") if is_one else None
