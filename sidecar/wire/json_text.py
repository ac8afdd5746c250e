r"""JSON read without loss: values with exact numbers, and the raw text of each member.

A recording must give back a result as it was spelt (`1e2`, `1.0`, `\u00e9`, 30-digit
integers), so members are kept as slices of the text, and parsed only to be looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from json.decoder import scanstring  # type: ignore[attr-defined]  # C-backed

from sidecar.wire.typed import Any, TypeAlias

JsonValue: TypeAlias = Any
"""A parsed JSON value: dict, list, str, int, float or Number, bool, None. Never changed."""

_WHITESPACE = " \t\n\r"
_STRICT = True  # control characters within a string are no JSON
_BRACKET = re.compile(r'["\[\]{}]')
_INTEGER_DIGITS = 4000  # Python reads no integer of more than 4300 digits
_PLAIN_DIGITS = 20  # whole numbers up to here are their own key


Scan: TypeAlias = Callable[[str, int], tuple[JsonValue, int]]
"""Reads the JSON value at a place of a text; returns it and where it ends."""


class Number(str):
    """A JSON number as it was spelt: with a fraction or an exponent, or of 4,000 digits.

    A float would lose digits (`9007199254740993.0`) or range (`1e400`).
    """

    __slots__ = ()


class NotJsonError(ValueError):
    """The text is not one JSON value, or is one that cannot be held (too deep, too long)."""


def _integer(text: str) -> int | Number:
    return int(text) if len(text) <= _INTEGER_DIGITS else Number(text)


_PLAIN = json.JSONDecoder()
_EXACT = json.JSONDecoder(parse_float=Number)
_EXACT_LONG = json.JSONDecoder(parse_float=Number, parse_int=_integer)
# Only finds where values end: numbers need not be read for that, and any length will do.
_SCAN: Scan = json.JSONDecoder(parse_float=str, parse_int=str).scan_once  # type: ignore[attr-defined]  # typeshed leaves it out


def parse(text: str) -> JsonValue:
    """Read one JSON value; numbers that a float or an `int` cannot hold become `Number`.

    Raises:
        NotJsonError: If the text is not one JSON value, or nests too deep.
    """
    try:
        return _EXACT.decode(text)
    except json.JSONDecodeError as error:
        raise NotJsonError(str(error)) from None
    except (ValueError, RecursionError):  # an integer longer than Python reads, or too deep
        return _guarded(_EXACT_LONG.decode, text)


def parse_plain(text: str) -> JsonValue:
    """Read one JSON value with floats, for looking at and for printing.

    Raises:
        NotJsonError: As for `parse`, and if it holds an integer too long for Python.
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
    found: dict[str, str] = {}
    try:
        return found if _collect(text, found, _SCAN) else None
    except RecursionError:
        return _deep_members(text)
    except (ValueError, IndexError, StopIteration) as error:
        raise NotJsonError(str(error)) from None


def _deep_members(text: str) -> dict[str, str] | None:
    found: dict[str, str] = {}
    try:
        return found if _collect(text, found, _scan_deep) else None
    except (ValueError, IndexError, StopIteration) as error:
        raise NotJsonError(str(error)) from None


def leading_members(text: str) -> dict[str, str]:
    """Slice the members of an object whose text is cut off; those that are whole."""
    found: dict[str, str] = {}
    with suppress(ValueError, IndexError, StopIteration):
        _collect(text, found, _scan_deep)
    return found


def _collect(text: str, found: dict[str, str], scan: Scan) -> bool:
    """Slice an object into `found`; return whether the text is an object.

    Every message comes by here several times, so the usual spelling takes the short way:
    a function of ours is called only where there is white space.
    """
    at = _skip(text, 0)
    if text[at] != "{":
        _finish(text, scan(text, at)[1])
        return False
    at = _skip(text, at + 1)
    mark = "," if text[at] != "}" else "}"
    while mark == ",":
        name, at = scanstring(text, at + 1 if text[at] == '"' else _past(text, at, '"'), _STRICT)
        at = at + 1 if text[at] == ":" else _past(text, _skip(text, at), ":")
        at = _skip(text, at) if text[at] in _WHITESPACE else at
        _, end = scan(text, at)
        after = _skip(text, end) if text[end] in _WHITESPACE else end
        found[name] = text[at:end]
        mark = text[after]
        at = _skip(text, after + 1) if mark == "," else after
    _finish(text, _past(text, at, "}"))
    return True


def string_at_once(text: str) -> str:
    """Read a JSON string's text; one without escapes, as most are, by slicing it.

    Raises:
        NotJsonError: If it is no JSON string.
    """
    if "\\" not in text and text[:1] == '"':
        return text[1:-1]
    value = parse(text)
    if type(value) is not str:
        raise NotJsonError("not a string")
    return value


def elements(text: str) -> list[str] | None:
    """Slice a JSON array into the texts of its items, without white space around them.

    Returns:
        None if the value is no array.

    Raises:
        NotJsonError: If the text is not one JSON value.
    """
    try:
        return _elements(text)
    except (ValueError, IndexError, StopIteration) as error:
        raise NotJsonError(str(error)) from None


def _elements(text: str) -> list[str] | None:
    at = _skip(text, 0)
    if text[at] != "[":
        _finish(text, _end(text, at))
        return None
    found: list[str] = []
    at = _skip(text, at + 1)
    while text[at] != "]":
        end = _end(text, at)
        found.append(text[at:end])
        at = _skip(text, end)
        if text[at] != "]":
            at = _next(text, at, "]")
    _finish(text, at + 1)
    return found


def _end(text: str, at: int) -> int:
    """Find where the value at a place ends."""
    return _scan_deep(text, at)[1]


def _scan_deep(text: str, at: int) -> tuple[JsonValue, int]:
    """Find where a value ends, however deep it nests; the value itself is not told then."""
    try:
        return _SCAN(text, at)
    except RecursionError:
        return None, _end_of_deep(text, at)


def _end_of_deep(text: str, at: int) -> int:
    """Find the end of what nests deeper than Python reads, by its brackets alone."""
    closing: list[str] = []
    while found := _BRACKET.search(text, at):
        mark, at = found.group(), found.end()
        if mark == '"':
            _, at = scanstring(text, at, _STRICT)
        elif mark in "[{":
            closing.append("]" if mark == "[" else "}")
        elif closing.pop() != mark:
            break
        if not closing:
            return at
    raise NotJsonError(f"the brackets do not match at character {at}")


def _next(text: str, at: int, closing: str) -> int:
    """Go past the comma at a place to what must follow it."""
    at = _skip(text, _past(text, at, ","))
    if text[at] == closing:
        raise NotJsonError(f"a value is missing at character {at}")
    return at


def _past(text: str, at: int, mark: str) -> int:
    if text[at] != mark:
        raise NotJsonError(f"{mark} is missing at character {at}")
    return at + 1


def _skip(text: str, at: int) -> int:
    while text[at] in _WHITESPACE:
        at += 1
    return at


def _finish(text: str, at: int) -> None:
    if at != len(text) and text[at:].strip(_WHITESPACE):
        raise NotJsonError(f"more text after the value at character {at}")


def number_key(text: str) -> str:
    """Reduce a JSON number to a text that is equal for equal numbers (R7).

    `1`, `1.0` and `10e-1` have one key, `0` and `-0` too; no digit is lost on the way.

    Args:
        text: A JSON number. Any other text is its own key.
    """
    if len(text) <= _PLAIN_DIGITS and text.isdigit():
        return text
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    mantissa, _, power = digits.lower().partition("e")
    if not mantissa[:1].isdigit() or len(power) > _INTEGER_DIGITS:  # NaN, inf; absurd
        return text
    whole, _, fraction = mantissa.partition(".")
    significant = (whole + fraction).lstrip("0")
    trimmed = significant.rstrip("0")
    if not trimmed:
        return "0"
    exponent = int(power or "0") - len(fraction) + len(significant) - len(trimmed)
    if 0 <= exponent <= _PLAIN_DIGITS - len(trimmed):
        return f"{sign}{trimmed}{'0' * exponent}"
    return f"{sign}{trimmed}e{exponent}"


def dump(value: JsonValue) -> str:
    """Write one JSON value: compact, readable (no needless escapes), numbers as spelt.

    A lone surrogate cannot be encoded as UTF-8; a value that holds one is written with
    escapes throughout.

    Raises:
        NotJsonError: If the value nests too deep.
    """
    try:
        text = _dump(value, ensure_ascii=False)
        return text if _is_encodable(text) else _dump(value, ensure_ascii=True)
    except RecursionError as error:
        raise NotJsonError(str(error)) from None


def _is_encodable(text: str) -> bool:
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


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
