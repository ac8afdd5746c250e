"""Secrets that are the item behind their name in a list, as of headers: `["X-Api-Key", "S"]`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sidecar.cassette.redaction.gates import Context, matches
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.names import NameKind, name_kind
from sidecar.cassette.redaction.values import is_masked, is_token_like

# Of two words at least: lists of single ones are mostly of words.
_NAME = r"(?:Proxy-)?Authorization\Z|[A-Za-z][A-Za-z0-9]{0,30}(?:[_-][A-Za-z0-9]{1,30}){1,6}\Z"
_PAIR = (
    rb"(?:(?i:ey|oken|ecret|assword|asswd|assphrase|asscode)|ation)"
    rb"\\*\",(?:\s|\\+[nrt]){0,32}\\*\"([A-Za-z0-9_+/=.~-]{12,4096})\\*\""
)
_BEFORE = rb"\"([A-Za-z0-9_-]{1,128})\Z"
_NAME_BYTES = 129
_ENDS = (
    b"ey", b"EY", b"oken", b"OKEN", b"ecret", b"ECRET", b"ation", b"assword", b"ASSWORD",
    b"asswd", b"ASSWD", b"assphrase", b"ASSPHRASE", b"asscode", b"ASSCODE",
)  # fmt: skip
_GATES = tuple(end + quote for end in _ENDS for quote in (b'",', b'\\",', b'\\\\\\",'))


def in_items(items: Sequence[object]) -> Iterator[int]:
    """Find the items of a list that are secrets by the name before them."""
    for index in range(1, len(items)):
        name, value = items[index - 1], items[index]
        if isinstance(name, str) and isinstance(value, str) and _tells(name, value):
            yield index


def _in_text(data: bytes) -> Iterator[Span]:
    for found in matches(_PAIR, data, *_GATES):
        end = found.start() + found[0].index(b'"')
        before = data[max(0, found.start() - _NAME_BYTES) : end].rstrip(b"\\")
        name = compiled(_BEFORE).search(before)
        if name and _tells(name[1].decode(), found[1].decode()):
            yield Span(*found.span(1))


PAIR = Context(_GATES, _in_text)


def _tells(name: str, value: str) -> bool:
    return (
        compiled(_NAME).match(name) is not None
        and name_kind(name) >= NameKind.TEXT
        and is_token_like(value)
        and not is_masked(value)
    )
