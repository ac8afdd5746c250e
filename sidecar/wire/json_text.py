r"""JSON read without loss: values with exact numbers, and the raw text of each member.

A recording must give back a result as it was spelt (`1e2`, `1.0`, `\u00e9`, 30-digit
integers), so members are kept as slices of the text, and parsed only to be looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json.decoder import scanstring  # type: ignore[attr-defined]  # C-backed
from typing import Any, TypeAlias

JsonValue: TypeAlias = Any
"""A parsed JSON value: dict, list, str, int, float or Number, bool, None. Never changed."""

_WHITESPACE = " \t\n\r"
_STRICT = True  # control characters within a string are no JSON


Scan: TypeAlias = Callable[[str, int], tuple[JsonValue, int]]
"""Reads the JSON value at a place of a text; returns it and where it ends."""


class Number(str):
    """A JSON number with a fraction or an exponent, as it was spelt.

    A float would lose digits (`9007199254740993.0`) or range (`1e400`).
    """

    __slots__ = ()


class NotJsonError(ValueError):
    """The text is not one JSON value, or is one that cannot be held (too deep, too long)."""


_PLAIN = json.JSONDecoder()
_SCAN: Scan = _PLAIN.scan_once  # type: ignore[attr-defined]  # typeshed leaves it out
_EXACT = json.JSONDecoder(parse_float=Number)


def parse(text: str) -> JsonValue:
    """Read one JSON value; numbers with fraction or exponent become `Number`.

    Raises:
        NotJsonError: If the text is not one JSON value, or nests too deep, or holds an
            integer too long for Python to read.
    """
    return _guarded(_EXACT.decode, text)


def parse_plain(text: str) -> JsonValue:
    """Read one JSON value with floats, for looking at and for printing.

    Raises:
        NotJsonError: As for `parse`.
    """
    return _guarded(_PLAIN.decode, text)


def _guarded(read: Callable[[str], JsonValue], text: str) -> JsonValue:
    try:
        return read(text)
    except (ValueError, RecursionError) as error:
        raise NotJsonError(str(error)) from None


def members(text: str) -> dict[str, str] | None:
    """Slice a JSON object into its members.

    Args:
        text: One JSON value.

    Returns:
        Each member's name and the text of its value, without white space around it; of a
        name given twice, the last. None if the value is no object.

    Raises:
        NotJsonError: If the text is not one JSON value, or cannot be held.
    """
    try:
        return _members(text)
    except (ValueError, IndexError, RecursionError, StopIteration) as error:
        raise NotJsonError(str(error)) from None


def _members(text: str) -> dict[str, str] | None:
    # Every message comes by here, so the usual spelling, without white space, takes the
    # short way: functions are called only where there is some.
    at = _skip(text, 0)
    if text[at] != "{":
        _PLAIN.decode(text)
        return None
    found: dict[str, str] = {}
    at = _skip(text, at + 1)
    mark = "," if text[at] == '"' else text[at]
    while mark == ",":
        name, at = scanstring(text, _past(text, at, '"'), _STRICT)
        at = at + 1 if text[at] == ":" else _past(text, _skip(text, at), ":")
        at = _skip(text, at) if text[at] in _WHITESPACE else at
        _, end = _SCAN(text, at)
        found[name] = text[at:end]
        at = _skip(text, end) if text[end] in _WHITESPACE else end
        mark = text[at]
        at = _skip(text, at + 1) if mark == "," else at
    if mark != "}" or text[at + 1 :].strip(_WHITESPACE):
        raise NotJsonError(f"the object does not end as it should at character {at}")
    return found


def _past(text: str, at: int, mark: str) -> int:
    if text[at] != mark:
        raise NotJsonError(f"{mark} is missing at character {at}")
    return at + 1


def _skip(text: str, at: int) -> int:
    while text[at] in _WHITESPACE:
        at += 1
    return at


def value_at(text: str, at: int) -> tuple[JsonValue, int]:
    """Read the JSON value that begins at a place of a text; return it and its end.

    Raises:
        NotJsonError: If there is none that ends within the text.
    """
    try:
        return _SCAN(text, at)
    except (ValueError, IndexError, RecursionError, StopIteration) as error:
        raise NotJsonError(str(error)) from None


def dump(value: JsonValue) -> str:
    """Write one JSON value: compact, readable (no needless escapes), numbers as spelt.

    A lone surrogate cannot be encoded as UTF-8; a value that holds one is written with
    escapes throughout.
    """
    text = _dump(value, ensure_ascii=False)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _dump(value, ensure_ascii=True)
    return text


def _dump(value: JsonValue, *, ensure_ascii: bool) -> str:
    if not _holds_number(value):
        return json.dumps(value, ensure_ascii=ensure_ascii, separators=(",", ":"))
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(
                json.dumps(name, ensure_ascii=ensure_ascii)
                + ":"
                + _dump(item, ensure_ascii=ensure_ascii)
                for name, item in value.items()
            )
            + "}"
        )
    return "[" + ",".join(_dump(item, ensure_ascii=ensure_ascii) for item in value) + "]"


def _holds_number(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_number, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_holds_number, value))
    return isinstance(value, Number)


def join(found: dict[str, str]) -> str:
    """Write an object from its members' texts; the inverse of `members`."""
    return "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in found.items()) + "}"


def without(text: str, names: tuple[str, ...]) -> str:
    """Take members out of an object's text; the same text if it has none of them.

    Raises:
        NotJsonError: As for `members`.
    """
    found = members(text)
    if not found or not any(name in found for name in names):
        return text
    return join({name: item for name, item in found.items() if name not in names})
