"""Secrets in a column whose head names one: CSV, Markdown, what database clients print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sidecar.cassette.redaction.gates import places
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.names import NameKind, name_kind
from sidecar.cassette.redaction.values import Evidence, is_secret
from sidecar.wire.typed import NamedTuple

WORDS = (b"assword", b"asswd", b"api_key", b"token", b"secret")
"""One of these is in the head of every column that is looked for."""

# A head is followed by a separator, or by the end of the line; in JSON, escaped or a string's.
_HEAD = rb"s?[ \t]{0,64}(?:\\*[\"'])?[ \t]{0,64}(?:[,|;\]\t\n\r]|\\+[tnr])"
_SEPARATORS = (b"|", b",", b"\t", b";")
_FIELD = r"(?!(?:the|an?|your|and|or|its?) )[A-Za-z_][\w.()-]{0,40}(?: [\w.()-]{1,20}){0,2}\Z"
_RULER = rb"[ \t|+:=-]*\r?\Z"
_MAX_LINE_BYTES = 16384
_MAX_HEADS = 200


class _Table(NamedTuple):
    """A table in a text.

    Attributes:
        separator: Between its columns.
        width: How many separators a line has.
        columns: The places of columns with secrets, with their names.
        end: Where the line of heads ends.
    """

    separator: bytes
    width: int
    columns: tuple[tuple[int, str], ...]
    end: int


def may_be_in(data: bytes) -> bool:
    """Tell of a text's UTF-8 bytes, which may be JSON, whether a column may hold secrets."""
    return next(_heads(data), None) is not None


def in_text(data: bytes) -> Iterator[Span]:
    """Find the secrets in columns of a text's UTF-8 bytes."""
    done = 0
    for count, at in enumerate(_heads(data)):
        if at < done or count > _MAX_HEADS:
            continue
        table = _table(data, at)
        if table:
            for span, done in _cells(data, table):  # noqa: B007  # where the last row ends
                if span:
                    yield span


def secret_columns(heads: Sequence[object]) -> list[tuple[int, str]]:
    """Find the columns whose heads name secrets: their places and names."""
    if not all(isinstance(head, str) and len(head) <= _MAX_LINE_BYTES for head in heads):
        return []
    named = ((place, str(head)) for place, head in enumerate(heads))
    return [(place, name) for place, name in named if name_kind(name) >= NameKind.TEXT]


def _heads(data: bytes) -> Iterator[int]:
    head = compiled(_HEAD)
    for word in WORDS:
        for at in places(data, word):
            if head.match(data, at + len(word)):
                yield at


def _table(data: bytes, at: int) -> _Table | None:
    start = data.rfind(b"\n", max(0, at - _MAX_LINE_BYTES), at) + 1
    end = data.find(b"\n", at, at + _MAX_LINE_BYTES)
    if end < 0:
        return None
    line = data[start:end]
    separator = next((mark for mark in _SEPARATORS if mark in line), b"")
    if not separator:
        return None
    heads = [_bare(field).decode("utf-8", "replace") for field in line.split(separator)]
    inner = [head for head in heads if head]
    if len(inner) + len(heads[:1] + heads[-1:]) < len(heads):
        return None  # more than the outer ones are empty
    if not all(compiled(_FIELD).match(head) for head in inner):
        return None
    columns = tuple(secret_columns(heads))
    return _Table(separator, len(heads), columns, end + 1) if columns else None


def _cells(data: bytes, table: _Table) -> Iterator[tuple[Span | None, int]]:
    """Read row by row, until a line is none; with each cell goes where its row ends."""
    at = table.end
    while at < len(data):
        end = data.find(b"\n", at, at + _MAX_LINE_BYTES)
        end = end if end >= 0 else min(len(data), at + _MAX_LINE_BYTES)
        line = data[at:end]
        fields = line.split(table.separator)
        is_ruler = compiled(_RULER).match(line) is not None
        if len(fields) != table.width and not is_ruler:
            return
        for place, name in () if is_ruler else table.columns:
            start = at + sum(len(field) + 1 for field in fields[:place])
            yield _cell(fields[place], start, name), end
        at = end + 1


def _cell(field: bytes, start: int, name: str) -> Span | None:
    bare = _bare(field)
    value = bare.decode("utf-8", "surrogateescape")
    if " " in value or not is_secret(value, name, name_kind(name), Evidence.TIGHT):
        return None
    first = start + field.index(bare)
    return Span(first, first + len(bare))


def _bare(field: bytes) -> bytes:
    return field.strip(b" \t\r\"'`*")
