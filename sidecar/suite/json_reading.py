"""JSON text to values, strictly: no name twice in an object, no NaN, and errors with a line.

Numbers keep their spelling (`Number`), so that what was recorded is served as it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple, NoReturn, Self

from sidecar.errors import SuiteError
from sidecar.wire.json_pointer import parts_of
from sidecar.wire.json_text import JsonValue, Number

_SPACE = " \t\n\r"
_NEXT_STEP = "mend the JSON; an editor that knows JSON shows the place"


class DuplicateNameError(ValueError):
    """An object holds a name twice; what it would mean is anybody's guess."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the name {name!r} is twice in one object")
        self.name = name


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise DuplicateNameError(name)
            seen.add(name)
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


class SpeltFloat(float):
    """A float that remembers how it was spelt, so that none of its digits is lost.

    What `Number` is to text that is written again, this is to values that are only
    compared: `canonical` reads its `repr`.
    """

    __slots__ = ("_text",)

    _text: str

    def __new__(cls, text: str) -> Self:
        """Read a float, and keep its text."""
        value = super().__new__(cls, text)
        value._text = text
        return value

    def __repr__(self) -> str:
        return self._text


_DOCUMENT = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=Number, parse_constant=_no_constant
)
_EVENT = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=SpeltFloat, parse_constant=_no_constant
)
_scan_event = _EVENT.scan_once  # type: ignore[attr-defined]  # undocumented, C-backed
_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]  # undocumented, C-backed


def decode(text: str) -> JsonValue:
    """Read one JSON value of a document; numbers keep their spelling (`Number`).

    Raises:
        ValueError: If it is none, or breaks one of this module's rules; a
            `json.JSONDecodeError` where the line is known.
    """
    return _guarded(_DOCUMENT, text)


def decode_event(text: str) -> JsonValue:
    """Read one JSON value of an event log; numbers are floats that keep their digits.

    Raises:
        ValueError: As for `decode`.
    """
    return _guarded(_EVENT, text)


def _guarded(decoder: json.JSONDecoder, text: str) -> JsonValue:
    try:
        return decoder.decode(text)
    except RecursionError:
        raise ValueError("it nests deeper than can be read") from None


def decode_line(line: str) -> JsonValue:
    """Read one event's line, without white space around it, as `decode_event` does.

    Raises:
        ValueError: As for `decode`.
    """
    # `JSONDecoder.decode` looks for white space with regular expressions, twice a line.
    try:
        value, end = _scan_event(line, 0)
    except (StopIteration, RecursionError):
        return decode_event(line)  # for its error
    return value if end == len(line) else decode_event(line)


def parse_json(
    text: str | bytes, *, name: str, read: Callable[[str], JsonValue] = decode
) -> JsonValue:
    """Read one JSON document.

    Args:
        text: The document; bytes are UTF-8, with or without a byte order mark.
        name: What to call it in an error, such as its file's name.
        read: What reads the text, `decode` or `decode_event`.

    Raises:
        SuiteError: With the name, and the line where it is known.
    """
    whole = as_text(text, name=name)
    try:
        return read(whole)
    except json.JSONDecodeError as error:
        place, hint = f"{name}:{error.lineno}", _NEXT_STEP
        if error.msg == "Extra data" and error.lineno > 1:
            hint = (
                "one JSON document is needed; a cassette or an event log, a value a line, is none"
            )
        raise SuiteError(f"no JSON: {error.msg}", place=place, hint=hint) from None
    except DuplicateNameError as error:
        place = f"{name}:{_line_of_duplicate(whole, error.name)}"
        raise SuiteError(str(error), place=place, hint="keep one of the two") from None
    except ValueError as error:
        raise SuiteError(f"no JSON: {error}", place=name, hint=_NEXT_STEP) from None


def as_text(text: str | bytes, *, name: str) -> str:
    """Decode UTF-8.

    Raises:
        SuiteError: If the bytes are no UTF-8.
    """
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise SuiteError(
            "the text is not UTF-8", place=f"{name}:{line}", hint="save it as UTF-8"
        ) from None


def line_of(text: str, pointer: str) -> int:
    """Tell the line, from 1, on which the value at a JSON pointer begins.

    Of a pointer that leads to nothing, its nearest ancestor's line. The text is valid JSON.
    """
    at = _skip(text, 0)
    for wanted in parts_of(pointer):
        member = next((one for one in _members(text, at) if one.name == wanted), None)
        if member is None:
            break
        at = member.value_at
    return text.count("\n", 0, at) + 1


class _Member(NamedTuple):
    name: str
    name_at: int
    value_at: int


def _members(text: str, at: int) -> Iterator[_Member]:
    """List the members or items of the container at `at`; nothing for a scalar."""
    opener = text[at]
    if opener not in "{[":
        return
    at = _skip(text, at + 1)
    index = 0
    while text[at] not in "}]":
        name, name_at = str(index), at
        if opener == "{":
            name, at = _scan(text, at)
            at = _skip(text, _skip(text, at) + 1)
        yield _Member(name, name_at, at)
        _, at = _scan(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
        index += 1


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def _line_of_duplicate(text: str, name: str) -> int:
    found = _duplicate_at(text, _skip(text, 0), name)
    return text.count("\n", 0, found or 0) + 1


def _duplicate_at(text: str, at: int, name: str) -> int | None:
    seen = False
    for member in _members(text, at):
        # Deeper objects are read, and so refused, before the one that holds them.
        found = _duplicate_at(text, member.value_at, name)
        if found is not None:
            return found
        if member.name == name and text[at] == "{":
            if seen:
                return member.name_at
            seen = True
    return None
