"""Puts placeholders into a text where secrets were found in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.placeholders import MARK, PATTERN
from sidecar.wire.typed import NamedTuple


class Span(NamedTuple):
    """A place in a text's UTF-8 bytes where a secret stands.

    Attributes:
        start: First byte.
        end: The byte after the last.
        secret: What its placeholder stands for; empty for the bytes themselves. Encoded
            forms of one value share a placeholder by it.
        instead: What is written there; empty for a placeholder.
    """

    start: int
    end: int
    secret: bytes = b""
    instead: bytes = b""


Place = Callable[[bytes], bytes]
"""Makes the placeholder of a secret."""

_PLACEHOLDER = PATTERN.encode()
_MARK = MARK.encode()
_CLOSING = rb'\\+"'
_TOUCHES = rb"[A-Za-z0-9_+/.-]"


class Masked(NamedTuple):
    """A text with its secrets masked.

    Attributes:
        data: The text, UTF-8.
        masks: How many secrets were masked in it.
        touching: Whether a mask touches what might now be the beginning of another secret.
    """

    data: bytes
    masks: int
    touching: bool


def mask(data: bytes, spans: Iterable[Span], place: Place) -> Masked:
    """Mask spans; overlapping ones become one mask.

    A placeholder that is there already is never masked: a span within it is left alone,
    one that reaches over it takes it in as a whole.
    """
    groups = _groups(spans, _placeholders(data))
    pieces: list[bytes] = []
    done, touching = 0, False
    for span in groups:
        pieces.append(data[done : span.start])
        pieces.append(span.instead or place(span.secret or data[span.start : span.end]))
        touching = touching or _touches(data, span)
        done = span.end
    if not groups:
        return Masked(data, 0, touching=False)
    pieces.append(data[done:])
    return Masked(b"".join(pieces), len(groups), touching)


def mask_pieces(pieces: Sequence[bytes], spans: Iterable[Span], place: Place) -> list[bytes]:
    """Mask spans of the text that pieces make together.

    A secret that was cut up becomes one placeholder in the piece where it begins; its rest
    is taken out of the pieces after.

    Args:
        pieces: A text in order, as it came.
        spans: Where in the joined text secrets are.
        place: As for `mask`.
    """
    data = b"".join(pieces)
    groups = _groups(spans, _placeholders(data))
    result: list[bytes] = []
    start = 0
    for piece in pieces:
        end = start + len(piece)
        parts, done = [], start
        for span in groups:
            if span.end <= start or span.start >= end:
                continue
            parts.append(data[done : max(done, span.start)])
            if span.start >= start:
                parts.append(span.instead or place(span.secret or data[span.start : span.end]))
            done = min(span.end, end)
        parts.append(data[done:end])
        result.append(b"".join(parts))
        start = end
    return result


def _order(span: Span) -> tuple[int, int, bytes, bytes]:
    return (span.start, -span.end, span.secret, span.instead)


def _touches(data: bytes, span: Span) -> bool:
    before = data[span.start - 1 : span.start] if span.start else b""
    return bool(compiled(_TOUCHES).match(before) or compiled(_TOUCHES).match(data, span.end))


def _placeholders(data: bytes) -> list[Span]:
    if _MARK not in data:
        return []
    return [Span(*found.span(), secret=_MARK) for found in compiled(_PLACEHOLDER).finditer(data)]


def _groups(spans: Iterable[Span], placeholders: list[Span]) -> list[Span]:
    """Merge overlapping spans; leave out those that are only a placeholder."""
    groups: list[Span] = []
    for span in sorted({*spans, *placeholders}, key=_order):
        if groups and span.start < groups[-1].end:
            last = groups[-1]
            if span.end > last.end:  # what each stands for is only part of the whole
                groups[-1] = Span(last.start, span.end)
        else:
            groups.append(span)
    kept = {(span.start, span.end) for span in placeholders}
    return [span for span in groups if (span.start, span.end) not in kept]


def is_plain(data: bytes, span: Span) -> bool:
    """Tell whether a span of a JSON text holds no escape, and cuts none."""
    inside = data[span.start - 1 : span.end]
    after = data[span.end : span.end + 1]
    closes = compiled(_CLOSING).match(data, span.end)
    return b"\\" not in inside and b'"' not in inside[1:] and (after != b"\\" or bool(closes))
