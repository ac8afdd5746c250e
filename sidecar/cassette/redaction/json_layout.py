"""Reads and writes JSON that is masked: in its own layout, with each number as it was spelt."""

from __future__ import annotations

import json
import re

from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.wire.json_text import JsonValue
from sidecar.wire.typed import NamedTuple

_INDENT = r"\s*[\[{]\r?\n([ \t]+)"
_JSON_ENDS = {"{": "}", "[": "]", '"': '"'}
_SPACE = " \t\r\n"
_MAX_INDENTED_CHARS = 262144  # indented JSON is written by Python code, ten times slower


class Spelling(str):
    """A number that Python would write differently: `1e400`, `1.50`."""

    __slots__ = ()


class Layout(NamedTuple):
    """How a JSON text is written.

    Attributes:
        indent: What each level is indented by; None for a single line.
        separators: Between items, and between name and value.
        ascii_only: Whether other characters are escaped.
    """

    indent: str | None = None
    separators: tuple[str, str] = (",", ":")
    ascii_only: bool = False


COMPACT = Layout()


def layout_of(text: str) -> Layout:
    """Tell how a JSON text is written, so that it is written so again.

    A text of more than 256 KB loses its indentation.
    """
    ascii_only = text.isascii() and "\\u" in text
    indent = compiled(_INDENT).match(text)
    if indent and len(text) <= _MAX_INDENTED_CHARS:
        return Layout(indent[1], (",", ": "), ascii_only)
    spaced = '": ' in text or ", " in text
    return Layout(None, (", ", ": ") if spaced else (",", ":"), ascii_only)


class Read(NamedTuple):
    """A JSON text that was read, to be written again.

    Attributes:
        value: Its value.
        mark: What each `Spelling` begins with; it is nowhere else in the value.
    """

    value: JsonValue
    mark: str


def read(text: str) -> Read:
    """Read a JSON text; numbers that Python would write differently become `Spelling`.

    Raises:
        ValueError: If it is no JSON, or holds an integer too long for Python.
        RecursionError: If it is nested too deep.
    """
    # A text cannot hold its own hash, so nobody can write what passes for a number.
    mark = f"number {hash(text)} "

    def number(spelt: str) -> float | Spelling:
        value = float(spelt)
        return value if repr(value) == spelt else Spelling(mark + spelt)

    return Read(json.loads(text, parse_float=number), mark)


def write(value: JsonValue, mark: str, layout: Layout = COMPACT) -> str:
    """Write a value that was read, or part of it.

    A lone surrogate cannot be encoded as UTF-8; a value that holds one is written with
    escapes throughout.
    """
    text = json.dumps(
        value,
        ensure_ascii=layout.ascii_only,
        indent=layout.indent,
        separators=layout.separators,
    )
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return write(value, mark, layout._replace(ascii_only=True))
    return re.sub(rf'"{mark}([^"]*)"', r"\1", text) if mark in text else text


def may_be_json(text: str) -> bool:
    """Tell whether a text begins and ends as JSON does, but for white space."""
    start = text.lstrip(_SPACE)[:1]
    return start in _JSON_ENDS and text.rstrip(_SPACE)[-1:] == _JSON_ENDS[start]


def in_white_space_of(text: str, masked: str) -> str:
    """Put the white space around a text around what was written in its place."""
    start = len(text) - len(text.lstrip(_SPACE))
    return text[:start] + masked + text[len(text.rstrip(_SPACE)) :]
