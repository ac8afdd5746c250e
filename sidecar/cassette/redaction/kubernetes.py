"""Secrets of Kubernetes: what is in the `data` and the `stringData` of an object of kind Secret.

Every value there is one, whatever its name; of a ConfigMap none is by its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sidecar.cassette.redaction.gates import Context, places
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.values import is_masked, is_reference

MEMBERS = frozenset(("data", "stringData"))
"""Members of a Secret whose values are secrets."""

_KIND_MEMBER = rb"kind\\*\"(?:\s|\\+[nrt]){0,16}:(?:\s|\\+[nrt]){0,16}\\*\"Secret\\*\""
_KIND = rb"kind:[ \t]{1,8}\\*[\"']?Secret(?![\w./-])"
_END = rb"(?:\\+[nr]|\r?\n)"  # in JSON, line ends are escaped
# Where an object of a list, or of a file with several, begins.
_PART = _END + rb"(?:---|[ \t]{0,8}- (?=apiVersion:|kind:|data:|stringData:|metadata:))"
_BLOCK = (
    rb"(?:\A|\"|" + _END + rb")(?P<indent>[ \t]{0,16})(?:- )?(?:data|stringData):[ \t]{0,8}"
    rb"(?=\\+[nr]|\r|\n)"
)  # fmt: skip
_LINE = _END + rb"(?P<indent>[ \t]*)(?P<text>(?:[^\\\r\n]|\\(?![nr]))*)"
_Q = rb"\\*[\"']?"
_NAME = rb"(?:[^\s:\"'\\][^\s:]{0,252}|\\*[\"'][^\"'\\]{1,252}\\*[\"'])"
_VALUE = _NAME + rb":[ \t]{1,8}" + _Q + rb"([^\s\"'\\]{1,65536})"
_BLOCK_SIGNS = (b"|", b">")
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
            start, done = _object_around(data, at, done)
            yield from _values(data, start, done)


MANIFEST = Context(
    (b"kind: Secret", b'kind: "Secret', b"kind: 'Secret", b'kind: \\"Secret'), _manifests
)


def _object_around(data: bytes, at: int, done: int) -> tuple[int, int]:
    low, high = max(done, at - _REACH), min(len(data), at + _REACH)
    for part in compiled(_PART).finditer(data, low, at):
        low = part.start()
    after = compiled(_PART).search(data, at, high)
    return low, after.start() if after else high


def _values(data: bytes, start: int, end: int) -> Iterator[Span]:
    for block in compiled(_BLOCK).finditer(data, start, end):
        at = block.end()
        while line := compiled(_LINE).match(data, at, end):
            if len(line["indent"]) <= len(block["indent"]):
                break
            at = line.end()
            span = _of_line(data, line.start("text"), at)
            if span and not _stands_for_one(data[span.start : span.end]):
                yield span


def _of_line(data: bytes, start: int, end: int) -> Span | None:
    """Find the value of `name: value`; of a line of a block of text, all of it."""
    named = compiled(_VALUE).match(data, start, end)
    if named:
        return None if named[1].startswith(_BLOCK_SIGNS) else Span(*named.span(1))
    text = data[start:end].rstrip(b" \t")
    return None if text.endswith(b":") or not text else Span(start, start + len(text))


def _stands_for_one(value: bytes) -> bool:
    text = value.decode("utf-8", "replace")
    return is_reference(text) or is_masked(text)
