r"""Tokens that are spelt with escapes where none is needed: `ghp%5F…`, `\\u0067hp_…`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sidecar.cassette.redaction.gates import Context, places
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.shapes import tokens_in

# A letter, a digit, `-`, `.` or `_`, which nobody has to escape.
_CODE = rb"(?:2[dDeE]|3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF])"
_UNICODE = rb"\\+u00" + _CODE
_PIECE = rb"[A-Za-z0-9_.-]|%(?:25)?" + _CODE + rb"|" + _UNICODE
_RUN = rb"(?:" + _PIECE + rb"){1,8192}"
# What is no part of a token: an escape of another sign, or a percent sign alone.
_FOREIGN = (
    rb"%(?:25)?+(?!" + _CODE + rb")[0-9A-Fa-f]{2}|%(?:25)?+(?![0-9A-Fa-f]{2})"
)  # fmt: skip
_BACKWARDS = rb"[A-Za-z0-9_.%-]{0,512}"
_REACH = 512
_HEX_DIGITS = 2


def _percent_encoded(data: bytes) -> Iterator[Span]:
    return _tokens_at(data, sorted(places(data, *PERCENT.gates)))


# The signs of tokens' marks; a letter that is encoded is met in no token without them.
PERCENT = Context(
    (
        b"%5F", b"%5f", b"%2D", b"%2d", b"%2E", b"%2e",
        b"%255F", b"%255f", b"%252D", b"%252d", b"%252E", b"%252e",
    ),
    _percent_encoded,
)  # fmt: skip


def with_unicode_escapes(data: bytes) -> Iterator[Span]:
    r"""Find the tokens that are spelt with JSON's escapes in what is no JSON: `\u0067hp_…`."""
    return _tokens_at(data, (found.start() for found in compiled(_UNICODE).finditer(data)))


def _tokens_at(data: bytes, escapes: Iterable[int]) -> Iterator[Span]:
    done = 0
    for at in escapes:
        if at < done:
            continue
        run = compiled(_RUN).match(data, _beginning(data, at, done))
        if run and run.end() > at:
            done = run.end()
            yield from _tokens(data, run.start(), done)


def _beginning(data: bytes, at: int, done: int) -> int:
    """Find where what may be a token with an escape in it begins."""
    lead = compiled(_BACKWARDS).match(data[max(done, at - _REACH) : at][::-1])
    begin = at - (lead.end() if lead else 0)
    for other in compiled(_FOREIGN).finditer(data, begin, at):
        begin = other.end()
    return begin


def _tokens(data: bytes, start: int, end: int) -> Iterator[Span]:
    pieces = list(compiled(_PIECE).finditer(data, start, end))
    ends = [start, *(piece.end() for piece in pieces)]
    written = bytes(_meant(piece[0]) for piece in pieces)
    return (Span(ends[token.start], ends[token.end]) for token in tokens_in(written))


def _meant(piece: bytes) -> int:
    return piece[0] if len(piece) == 1 else int(piece[-_HEX_DIGITS:], 16)
