"""The text that stands where a secret was: made, numbered, and made equal for matching.

`[REDACTED:` + 16 hex digits + `]` in the journal, the digits a keyed hash of the value;
`[REDACTED:1]`, `[REDACTED:2]` in a cassette, by first appearance; `[REDACTED]` where
only equality counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.wire.json_text import JsonValue

MARK = "[REDACTED"
"""Every placeholder begins with it: the cheap test for whether a text holds one."""

UNIFIED = "[REDACTED]"

PATTERN = r"\[REDACTED(?::(?:[0-9a-f]{16}|[0-9]{1,9}))?\]"
"""Any of the three forms, as a regular expression for `str` and, encoded, for `bytes`."""

_ANY = PATTERN
_NUMBERED = r"\[REDACTED:([0-9]{1,9})\]"
_HASHED = r"\[REDACTED:[0-9a-f]{16}\]"
_HASH_BYTES = 8
_MAX_KEY_BYTES = 64  # what blake2b takes as a key


def placeholder(salt: bytes, secret: bytes) -> str:
    """Make a journal's placeholder: equal secrets of one salt have equal ones.

    Args:
        salt: Secret of the journal, any length. Without it nobody can try out values.
        secret: The masked value, UTF-8.
    """
    from hashlib import blake2b  # noqa: PLC0415 - most sessions have no secret to hash

    key = salt if len(salt) <= _MAX_KEY_BYTES else blake2b(salt).digest()
    return f"{MARK}:{blake2b(secret, key=key, digest_size=_HASH_BYTES).hexdigest()}]"


class Renumberer:
    """Numbers the placeholders of a cassette's texts, in order of first appearance.

    Numbers that are there already stay; a new one is never one that was seen before.

    Args of the constructor:
        taken: Numbers that texts still to come hold (`numbers_in`), so that none of them
            is given to another secret.
    """

    def __init__(self, taken: Iterable[int] = ()) -> None:
        self._taken = set(taken)
        self._numbers: dict[str, str] = {}
        self._next = 1

    def text(self, text: str) -> str:
        """Number the placeholders of one more text; the same object if it has none."""
        if MARK not in text:
            return text
        self._taken.update(numbers_in(text))
        return compiled(_HASHED).sub(self._numbered, text)

    def _numbered(self, found: re.Match[str]) -> str:
        name = found.group()
        if name not in self._numbers:
            while self._next in self._taken:
                self._next += 1
            self._numbers[name] = f"{MARK}:{self._next}]"
            self._taken.add(self._next)
        return self._numbers[name]


def placeholders_in(text: str) -> list[str]:
    """Return the placeholders of a journal that are in a text."""
    return compiled(_HASHED).findall(text) if MARK in text else []


def numbers_in(text: str) -> set[int]:
    """Return the numbers of the numbered placeholders in a text."""
    if MARK not in text:
        return set()
    return {int(number) for number in compiled(_NUMBERED).findall(text)}


def renumber(texts: Iterable[str]) -> list[str]:
    """Number the placeholders of all texts of a cassette, in order of first appearance.

    Numbers that are there already stay, wherever they are, and no new one equals them.
    """
    kept = list(texts)
    renumberer = Renumberer(number for text in kept for number in numbers_in(text))
    return [renumberer.text(text) for text in kept]


def unify(value: JsonValue) -> JsonValue:
    """Write every placeholder as `[REDACTED]`, so that masked values match each other.

    Args:
        value: A text, or any JSON value; names of members are changed, too. If two of
            an object become equal, the later ones get a number, so that none is lost.

    Returns:
        An equal value without placeholders of other forms; the same object if it is a
        string, or a scalar, that has none.
    """
    if type(value) is str:  # not a Number of wire.json_text
        return compiled(_ANY).sub(UNIFIED, value) if MARK in value else value
    if isinstance(value, list | tuple):
        return [unify(item) for item in value]
    if isinstance(value, dict):
        return _unified_object(value)
    return value


def _unified_object(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    result: dict[str, JsonValue] = {}
    for name, item in value.items():
        unified = plain = unify(name)
        count = 1
        while unified in result:
            count += 1
            unified = f"{plain} {count}"
        result[unified] = unify(item)
    return result
