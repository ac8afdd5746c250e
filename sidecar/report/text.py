"""Text of tools, agents and recordings, made safe to show (ARCHITECTURE.md, invariant 10)."""

from __future__ import annotations

import unicodedata

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LAST_BYTE = 0xFF
_LAST_BMP = 0xFFFF


def escaped(text: str, *, newlines: bool = False) -> str:
    r"""Write text so that it can only be read, whatever it holds.

    Characters that steer a terminal, turn the reading direction or cannot be seen stand
    as `\n`, `\xNN`, `\uNNNN` or `\UNNNNNNNN`. Every other character stays, a backslash too.

    Args:
        text: Any text; lone surrogates are escaped as well.
        newlines: Whether line feeds stay.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or (newlines and letter == "\n") else _escape(letter)
        for letter in text
    )


def counted(count: int, noun: str, plural: str = "") -> str:
    """Write a number and its noun: `1 call`, `2 calls`."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def _escape(letter: str) -> str:
    if unicodedata.category(letter) == "Zs":  # the spaces of other scripts
        return letter
    code = ord(letter)
    if letter in _NAMED:
        return _NAMED[letter]
    if code <= _LAST_BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _LAST_BMP else f"\\U{code:08x}"
