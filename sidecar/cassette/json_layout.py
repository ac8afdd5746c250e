"""Reads and writes JSON that is masked: in its own layout, with each number as it was spelt."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from sidecar.wire.json_text import JsonValue

_MARK = "\x7fnumber "  # DEL: in no sensible text, and never escaped when written
_ESCAPED_MARK = "\\u007f"
_MARKED = re.compile(rf'"{_MARK}([^"]*)"')
_INDENT = re.compile(r"\s*[\[{]\r?\n([ \t]+)")
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
    indent = _INDENT.match(text)
    if indent and len(text) <= _MAX_INDENTED_CHARS:
        return Layout(indent[1], (",", ": "), ascii_only)
    spaced = '": ' in text or ", " in text
    return Layout(None, (", ", ": ") if spaced else (",", ":"), ascii_only)


def load(text: str) -> JsonValue:
    """Read a JSON text; numbers that Python would write differently become `Spelling`.

    Raises:
        ValueError: If it is no JSON, or holds what cannot be written again as it was.
        RecursionError: If it is nested too deep.
    """
    if _MARK in text or _ESCAPED_MARK in text.lower():
        raise ValueError("the text holds the mark that numbers are kept by")
    return json.loads(text, parse_float=_number)


def _number(text: str) -> float | Spelling:
    value = float(text)
    return value if repr(value) == text else Spelling(_MARK + text)


def dump(value: JsonValue, layout: Layout = COMPACT) -> str:
    """Write what `load` read.

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
            return dump(value, layout._replace(ascii_only=True))
    return _MARKED.sub(r"\1", text) if _MARK in text else text
