"""Secrets of Kubernetes: what is in the `data` and the `stringData` of an object of kind Secret.

Every value there is one, whatever its name; of a ConfigMap none is by its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sidecar.cassette.redaction.gates import Context, places
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.values import is_masked, is_reference

MEMBERS = frozenset(("data", "stringData"))
"""Members of a Secret whose values are secrets."""

_KIND_MEMBER = rb"kind\\*\"(?:\s|\\+[nrt]){0,16}:(?:\s|\\+[nrt]){0,16}\\*\"Secret\\*\""
_KIND = rb"kind:[ \t]{1,8}\\*[\"']?Secret(?![\w./-])"
_KIND_BYTES = 5  # of `kind:`
_END = rb"(?:(?<!\\)\\++[nr]|\r?\n)"  # in JSON, line ends are escaped
# Where an object of a list, or of a file with several, begins.
_PART = _END + rb"(?:---|(?P<indent>[ \t]{0,8})- (?=apiVersion:|kind:|data:|stringData:|metadata:))"
_LEAD = rb"(?:" + _END + rb"|(?:\A|\")(?=- ))([ \t]{0,16}(?:- )?)\Z"
_LEAD_BYTES = 64
_BLOCK = (
    rb"(?:\A|\"|" + _END + rb")(?P<lead>[ \t]{0,16}(?:- )?)(?P<name>data|stringData):[ \t]{0,8}"
    rb"(?=(?P<escapes>\\+)[nr]|\r|\n)"
)  # fmt: skip
_LINE = rb"(?:\r?\n|\r)(?P<indent>[ \t]*)(?P<text>[^\r\n]*)"
_ESCAPED_LINE = rb"(?:(?:\\+r)?\\+n|\\+r)(?P<indent>[ \t]*)(?P<text>(?:[^\\\r\n]++|\\++(?![nr]))*+)"
_QUOTE = rb"(?<!\\)\\*+\""
_NAME = (
    rb"(?:[^\s:\"'\\][^\s:]{0,252}|\\*[\"'][^\"'\\]{1,252}\\*[\"']):[ \t]{1,8}(?=[^ \t])"
)  # fmt: skip
_QUOTED = (
    rb"(?s:(?P<quote>\\*[\"'])(?P<value>.*?)(?:(?P=quote)(?:[ \t]+#|[ \t]*\Z)|\Z))"
)  # fmt: skip
_BLOCK_SIGN = rb"[|>][+-]?[0-9]?[+-]?[ \t]*(?:#|\Z)"
_COMMENT = rb"[ \t]#"
_REACH = 32768  # bytes of an object, before its kind and behind it


def is_secret_object(value: Mapping[str, object]) -> bool:
    """Tell whether an object is one of kind Secret."""
    return value.get("kind") == "Secret" and not MEMBERS.isdisjoint(value)


def may_be_in(data: bytes) -> bool:
    """Tell of a text's UTF-8 bytes whether an object of kind Secret, as JSON, may be in it."""
    return b"Secret" in data and compiled(_KIND_MEMBER).search(data) is not None


def _manifests(data: bytes) -> Iterator[Span]:
    done = 0
    for at in sorted(places(data, *MANIFEST.gates)):
        if at >= done and compiled(_KIND).match(data, at):
            column = _column(data, at)
            start, done = _object_around(data, at, done, column)
            yield from _values(data, start, done, column)


MANIFEST = Context(
    (b"kind: Secret", b'kind: "Secret', b"kind: 'Secret", b'kind: \\"Secret'), _manifests
)


def _column(data: bytes, at: int) -> int | None:
    """Tell where in its line a member begins; None where the line's beginning may be cut off."""
    lead = compiled(_LEAD).search(data, max(0, at - _LEAD_BYTES), at)
    return len(lead[1]) if lead else None


def _object_around(data: bytes, at: int, done: int, column: int | None) -> tuple[int, int]:
    low, high = max(done, at - _REACH), min(len(data), at + _REACH)
    for part in compiled(_PART).finditer(data, low, at + _KIND_BYTES):
        if _begins_another(part, column):
            low = part.start()
    after = (part for part in compiled(_PART).finditer(data, at, high))
    return low, next((part.start() for part in after if _begins_another(part, column)), high)


def _begins_another(part: re.Match[bytes], column: int | None) -> bool:
    """Tell an item of the list that the object is in from one of a list within the object."""
    return part["indent"] is None or len(part["indent"]) < (column or 0)


def _values(data: bytes, start: int, end: int, column: int | None) -> Iterator[Span]:
    for block in compiled(_BLOCK).finditer(data, start, end):
        own = _column(data, block.start("name"))
        if column is None or own is None or own == column:
            for span in _of_block(data, block, end):
                if not _stands_for_one(data[span.start : span.end]):
                    yield span


def _of_block(data: bytes, block: re.Match[bytes], end: int) -> Iterator[Span]:
    at, depth = block.end(), len(block["escapes"] or b"")
    pattern = compiled(_ESCAPED_LINE if depth else _LINE)
    while line := pattern.match(data, at, end):
        at = line.end()
        stop = _string_end(data, line.start("text"), at, depth)
        if len(line["indent"]) > len(block["lead"]):
            span = _of_line(data, line.start("text"), stop)
            if span:
                yield span
        elif line["text"].strip() and not line["text"].startswith(b"#"):
            break
        if stop < at:
            break


def _string_end(data: bytes, start: int, end: int, depth: int) -> int:
    """Find where the JSON string ends that a line is in: its quote has fewer escapes than `n`."""
    if depth:
        for quote in compiled(_QUOTE).finditer(data, start, end):
            if quote.end() - quote.start() <= depth:
                return quote.start()
    return end


def _of_line(data: bytes, start: int, end: int) -> Span | None:
    """Find the value of `name: value`; of a line of a block of text, all of it."""
    named = compiled(_NAME).match(data, start, end)
    if not named:
        text = data[start:end].rstrip(b" \t")
        return None if text.endswith(b":") or not text else Span(start, start + len(text))
    at = named.end()
    quoted = compiled(_QUOTED).match(data, at, end)
    if quoted:
        return Span(*quoted.span("value")) if quoted["value"] else None
    if compiled(_BLOCK_SIGN).match(data, at, end):
        return None
    comment = compiled(_COMMENT).search(data, at - 1, end)
    value = data[at : comment.start() if comment else end].rstrip(b" \t")
    return Span(at, at + len(value)) if value else None


def _stands_for_one(value: bytes) -> bool:
    text = value.decode("utf-8", "replace")
    return is_reference(text) or is_masked(text)
