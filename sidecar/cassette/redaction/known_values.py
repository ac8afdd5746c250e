"""Finds secrets whose values are known, in every encoding that they may appear in.

Raw, percent-encoded (also twice), as within JSON strings at any depth, as HTML entities,
and base64 or base64url at any of the three alignments, so also within `Basic` credentials
and encoded documents. Not found: base64 that is cut into lines within the value, other
encodings (hexadecimal, gzip), and a value that is cut up.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Iterator
from functools import lru_cache

from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.wire.typed import NamedTuple

MIN_CHARS = 4
"""Shorter values are not looked for: they would be found everywhere."""

_WHOLE_WORD_CHARS = 8  # a shorter value counts only where it is a word of its own
_MIN_BASE64_BYTES = 6  # fewer are in any large base64 content by chance
_MIN_CORE_BYTES = 3  # a smaller core is everywhere: the pattern itself is searched for
_MAX_SPELLING_BYTES = 24  # of one byte of a value: `\\\\\\\\u00e9`, `%25252F`
_MAX_RUN_BYTES = 1024  # a longer base64 text is a document: only the value in it is masked
_MAX_LEARNT = 100
_LARGE_BYTES = 524288
_STAR = b"*"

# In JSON the letter before may be that of an escape.
_WORD_START = rb"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
_WORD_END = rb"(?![A-Za-z0-9])"
_ALNUM = rb"[A-Za-z0-9]+"
_BASE64 = rb"(?:[A-Za-z0-9+_-]|\\*/|%2[bBfF])*"
_BASE64_BEFORE = _BASE64 + rb"\Z"
_BASE64_AFTER = _BASE64 + rb"(?:=|%3[dD]){0,2}"
_ENTITIES = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_ESCAPES = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_FOR_BASE64 = {ord("+"): rb"(?:\+|-|%2[bB]|\\+u002[bB])", ord("/"): rb"(?:\\*/|_|%2[fF])"}


class Needle(NamedTuple):
    """One form of a value, as it is looked for.

    Attributes:
        core: Letters and digits that are in every spelling of the form.
        form: The form itself.
        reach: Within how many bytes around the core a spelling ends.
        value: The value, UTF-8.
        alignment: Bytes of other content before the value in its first three bytes, where
            the form is base64; else -1.
    """

    core: bytes
    form: bytes
    reach: int
    value: bytes
    alignment: int


class KnownValues:
    """Looks for known values in texts.

    Args of the constructor:
        values: The secrets. Those of fewer than 4 characters are left out; those of fewer
            than 8 are found only as words of their own.

    Attributes:
        learnt: How many values were taken in since.
        numbers: Values that are numbers, as they are spelt.
    """

    def __init__(self, values: Iterable[str]) -> None:
        self._values = dict.fromkeys(value for value in values if len(value) >= MIN_CHARS)
        self._learnt: dict[str, tuple[tuple[bytes, Needle], ...]] = {}
        self._plain: list[tuple[bytes, Needle]] = []  # of the learnt ones, those that are no base64
        self._more: list[tuple[bytes, Needle]] = []  # and all
        self.learnt = 0
        self._needles: list[tuple[bytes, Needle]] | None = None
        self.numbers = frozenset(value for value in self._values if value.isdecimal())

    def __bool__(self) -> bool:
        return bool(self._values or self._more)

    def learn(self, value: str) -> None:
        """Take in one more value; after a hundred, each drives the oldest out.

        The cost of each text grows with the values: four searches each, or one in a text of
        more than half a million bytes. Two threads may learn, and search, at once.
        """
        if value in self._values or value in self._learnt:
            return
        self._learnt[value] = tuple((needle.core, needle) for needle in _forms(value))
        self.learnt += 1
        if len(self._learnt) > _MAX_LEARNT:
            self._learnt.pop(next(iter(tuple(self._learnt))), None)
        forms = tuple(self._learnt.values())
        self._plain = [own[0] for own in forms]
        self._more = [pair for own in forms for pair in own]

    def needles_in(self, data: bytes) -> list[Needle]:
        """Return the needles whose core is in a text's UTF-8 bytes: a quick first look."""
        if not self._values and not self._more:
            return []
        needles = self._needles
        if needles is None:  # made at the first text: a replay may see none
            forms = (needle for value in self._values for needle in _forms(value))
            needles = self._needles = [(needle.core, needle) for needle in forms]
        # In a large text each search takes a millisecond: there only what was given is
        # looked for in base64.
        more = self._more if len(data) < _LARGE_BYTES else self._plain
        found = [needle for core, needle in needles if core in data]
        if more:
            found += [needle for core, needle in more if core in data]
        return found

    def spans(self, data: bytes) -> Iterator[Span]:
        """Find the values in a text's UTF-8 bytes."""
        for needle in self.needles_in(data):
            for found in _found(needle, data):
                yield _span(needle, data, found)


def _found(needle: Needle, data: bytes) -> Iterator[re.Match[bytes]]:
    pattern = _pattern(needle)
    if len(needle.core) < _MIN_CORE_BYTES:
        yield from pattern.finditer(data)
        return
    done = 0
    at = data.find(needle.core)
    while at >= 0:
        start, end = max(done, at - needle.reach), at + needle.reach
        found = pattern.search(data, start, end)
        if found:
            done = found.end()
            yield found
        at = data.find(needle.core, max(at + 1, done))


def _span(needle: Needle, data: bytes, found: re.Match[bytes]) -> Span:
    if needle.alignment < 0:
        return Span(*found.span(), secret=needle.value)
    before = compiled(_BASE64_BEFORE).search(
        data, max(0, found.start() - _MAX_RUN_BYTES), found.start()
    )
    after = compiled(_BASE64_AFTER).match(data, found.end(), found.end() + _MAX_RUN_BYTES)
    start = before.start() if before else found.start()
    end = after.end() if after else found.end()
    if end - start <= _MAX_RUN_BYTES:
        return Span(start, end)
    return _within_document(needle, data, found)


def _within_document(needle: Needle, data: bytes, found: re.Match[bytes]) -> Span:
    """Overwrite a value within long base64 content by stars, so that it can be decoded still."""
    start = found.start() - _FIRST_CHAR[needle.alignment]
    quads = -(-(needle.alignment + len(needle.value)) // 3)
    written = data[start : start + 4 * quads]
    standard = written.translate(_TO_STANDARD)
    try:
        content = bytearray(a2b_base64(standard, strict_mode=True))
    except ValueError:
        return Span(*found.span())
    content[needle.alignment : needle.alignment + len(needle.value)] = _STAR * len(needle.value)
    stars = b2a_base64(content, newline=False)
    return Span(start, start + len(written), instead=stars)


_FIRST_CHAR = (0, 2, 3)
"""By alignment, the first base64 character that only the value decides."""

_TO_STANDARD = bytes.maketrans(b"-_", b"+/")


def _forms(value: str) -> Iterator[Needle]:
    raw = value.encode("utf-8", "surrogatepass")
    yield _needle(raw, raw, -1)
    if len(raw) >= _MIN_BASE64_BYTES:
        for alignment, first in enumerate(_FIRST_CHAR):
            encoded = b2a_base64(bytes(alignment) + raw, newline=False)
            yield _needle(encoded[first : 8 * (alignment + len(raw)) // 6], raw, alignment)


def _needle(form: bytes, value: bytes, alignment: int) -> Needle:
    core = max(compiled(_ALNUM).findall(form), key=len, default=b"")
    core = core if len(core) >= _MIN_CORE_BYTES else core[:1]
    reach = _MAX_SPELLING_BYTES * len(form) if form != core else len(form) + 1
    return Needle(core, form, reach, value, alignment)


@lru_cache(maxsize=256)
def _pattern(needle: Needle) -> re.Pattern[bytes]:
    """Make a pattern of all spellings of a form: a tenth of a millisecond and more each."""
    if needle.alignment >= 0:
        return re.compile(b"".join(_FOR_BASE64.get(byte, bytes((byte,))) for byte in needle.form))
    value = needle.value.decode("utf-8", "surrogatepass")
    spelt = b"".join(map(_spellings, value))
    if len(value) < _WHOLE_WORD_CHARS:
        before = _WORD_START if needle.value[:1].isalnum() else b""
        spelt = before + spelt + (_WORD_END if needle.value[-1:].isalnum() else b"")
    return re.compile(spelt)


def _spellings(char: str) -> bytes:
    """Write a pattern of all ways in which a character may be spelt."""
    raw = char.encode("utf-8", "surrogatepass")
    if raw.isalnum():  # of ASCII only: bytes know no other letters
        return raw
    percent = b"".join(b"%%(?:25){0,3}(?i:%02x)" % byte for byte in raw)
    ways = [rb"\\{0,16}" + re.escape(raw), percent, _escaped(char)]
    if len(raw) > 1:
        ways.append(b"".join(rb"\\{1,8}x(?i:%02x)" % byte for byte in raw))
    if char in _ENTITIES:
        ways.append(b"&(?:amp;)?%s;" % _ENTITIES[char].encode())
    if len(raw) == 1:
        ways.append(b"&#(?:0*%d|(?i:x0*%x));" % (raw[0], raw[0]))
    if char in _ESCAPES:
        ways.append(rb"\\{1,16}" + _ESCAPES[char].encode())
    if char == " ":
        ways.append(rb"\+")
    return b"(?:" + b"|".join(ways) + b")"


def _escaped(char: str) -> bytes:
    units = char.encode("utf-16-be", "surrogatepass")
    pairs = (units[at : at + 2].hex().encode() for at in range(0, len(units), 2))
    return b"".join(rb"\\{1,16}u(?i:%s)" % pair for pair in pairs)
