"""RFC 8785 (JCS) text of a JSON value: how an output that is no text is made one (R13)."""

from __future__ import annotations

import json
import re
from typing import Final

from sidecar.wire.json_text import JsonValue, Number

_MAX_SAFE: Final = 2**53 - 1
_EXPONENT = re.compile(r"e([+-])0*([0-9]+)$")
# ECMAScript writes a number in full from 1e-6 up to, and not with, 1e21.
_SMALLEST_PLAIN, _LARGEST_PLAIN = 1e-6, 1e21


def jcs(value: JsonValue) -> str:
    """Write a value in RFC 8785 form: members sorted by UTF-16 units, ECMAScript numbers.

    Integers beyond 2^53 - 1, which I-JSON excludes, keep their digits.
    """
    if isinstance(value, str) and not isinstance(value, Number):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda item: _utf16(item[0]))
        return "{" + ",".join(f"{jcs(name)}:{jcs(item)}" for name, item in members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(jcs, value)) + "]"
    if isinstance(value, float | Number):
        return _number(value)
    return json.dumps(value)


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _number(value: float | str) -> str:
    number = float(value)
    if number.is_integer() and abs(number) <= _MAX_SAFE:
        return str(int(number))
    size = abs(number)
    if _SMALLEST_PLAIN <= size < _LARGEST_PLAIN:
        return _in_full(number)
    return _EXPONENT.sub(r"e\1\2", repr(number))


def _in_full(number: float) -> str:
    text = repr(number)
    mantissa, _, power = text.partition("e")
    if not power:
        return text.removesuffix(".0")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    sign = "-" if mantissa.startswith("-") else ""
    exponent = int(power)
    digits = whole + fraction
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    return sign + digits.ljust(exponent + 1, "0")
