"""Chooses which finders a text needs, by a first look at it."""

from __future__ import annotations

from functools import lru_cache

from sidecar.cassette.redaction import (
    commands,
    contexts,
    kubernetes,
    layouts,
    marks,
    phrases,
    tables,
)
from sidecar.cassette.redaction.gates import Kinds
from sidecar.cassette.redaction.shapes import BROKEN, places_of, tokens_in
from sidecar.cassette.redaction.sought import Finder, Kind
from sidecar.cassette.redaction.spellings import PERCENT, with_unicode_escapes

_MIN_INDEXED_BYTES = 65536  # in a smaller text, to look for each gate is as quick


def _never(_: bytes) -> bool:
    return False


COMMANDS = Finder(
    Kind.SHAPES,
    tuple(gate.decode() for gate in commands.GATES),
    commands.in_text,
    _never,  # its words may be a list
)
"""Finds the secrets of command lines."""
_KUBERNETES = Finder(Kind.SHAPES, ("Secret",), lambda _: (), _never)
_ESCAPED = Finder(Kind.SHAPES, ("\\u00",), with_unicode_escapes)
TABLES = Finder(Kind.SHAPES, ("",), tables.in_text, _never)
"""Finds the secrets of tables' columns."""


_KINDS = Kinds(
    *contexts.KINDS.kinds,
    *phrases.KINDS.kinds,
    *marks.KINDS.kinds,
    *layouts.SHORT.kinds,
    PERCENT,
)


def indexed_if_large(data: bytes) -> bytes:
    """Look for all gates at once in a large text; see `gate_index`."""
    if len(data) < _MIN_INDEXED_BYTES:
        return data
    from sidecar.cassette.redaction.gate_index import indexed  # noqa: PLC0415  # few are so large

    return indexed(data, _gates())


@lru_cache(maxsize=1)
def _gates() -> tuple[bytes, ...]:
    of_kinds = (*_KINDS.gates, *layouts.NAMED.gates)
    return tuple(dict.fromkeys((*of_kinds, *commands.GATES, *tables.WORDS, *BROKEN)))


def house_finders(data: bytes, written: bytes, *, named: bool) -> list[Finder]:
    """Return what finds secrets in a text by their shape and by what is around them.

    Args:
        data: The text's UTF-8 bytes, which may be JSON, without content and needless escapes.
        written: The same as they are.
        named: Whether the text may speak of secrets.
    """
    finders = _shape_finders(data, named=named)
    if commands.may_be_in(data):
        finders.append(COMMANDS)
    if named and tables.may_be_in(data):
        finders.append(TABLES)
    if named and kubernetes.may_be_in(data):
        finders.append(_KUBERNETES)
    if b"\\\\u00" in written and next(with_unicode_escapes(written), None):
        finders.append(_ESCAPED)
    return finders


def _shape_finders(data: bytes, *, named: bool) -> list[Finder]:
    finders: list[Finder] = []
    found = {data[token.start : token.end].replace(b"\\/", b"/") for token in tokens_in(data)}
    if found:
        tokens = tuple(sorted(found))
        gates = tuple(token.decode() for token in tokens)
        finders.append(Finder(Kind.SHAPES, gates, lambda text: places_of(tokens, text)))
    kinds = _KINDS.found_in(data)
    if named:
        kinds += layouts.NAMED.found_in(data)
    for kind in kinds:
        gates = tuple(gate.decode() for gate in kind.gates)
        finders.append(Finder(Kind.SHAPES, gates, kind.find))
    return finders
