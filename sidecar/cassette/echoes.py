"""Finds values that were masked elsewhere in a run, by the placeholders that stand for them.

The journal holds no masked value, only a keyed hash of each. Whoever has the key can hash
every word of a text and see whether it is one of them: so a value that was told by its name
in one message is found in those before it, and in those of other processes, too.

Found are words that look like a secret (`is_telling`), as they are or between the signs of a
URL or an assignment; not found are encoded forms, and values with white space in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.placeholders import placeholder, placeholders_in
from sidecar.cassette.redaction.values import MIN_TELLING_CHARS, is_telling

_RUN = rb"[^\s\"'`<>\\,;(){}\[\]|]{8,4096}"
_PARTS = rb"[=:/@&?#%]+"
_AROUND = b".,:!?*_"


class Echoes:
    """Looks for values in texts, of which only the hashes are known.

    Args of the constructor:
        salt: The journal's key.
        texts: Texts of one run, with the placeholders of that key.
    """

    def __init__(self, salt: bytes, texts: Iterable[str]) -> None:
        self._salt = salt
        self._wanted = {name for text in texts for name in placeholders_in(text)}

    def __bool__(self) -> bool:
        return bool(self._wanted)

    def spans(self, data: bytes) -> Iterator[Span]:
        """Find the values in a text's UTF-8 bytes."""
        for run in compiled(_RUN).finditer(data):
            yield from self._in_run(run[0], run.start())

    def _in_run(self, run: bytes, start: int) -> Iterator[Span]:
        bare = run.strip(_AROUND)
        for word in (run, bare) if bare != run else (run,):
            if self._is_one(word):
                at = start + run.index(word)
                yield Span(at, at + len(word))
                return
        at = 0
        for part in compiled(_PARTS).split(run):
            at = run.index(part, at)
            if len(part) < len(run) and self._is_one(part):
                yield Span(start + at, start + at + len(part))
            at += len(part)

    def _is_one(self, value: bytes) -> bool:
        # Most words are letters, or digits, only; to hash them all would take long.
        if len(value) < MIN_TELLING_CHARS or value.isalpha() or value.isdigit():
            return False
        text = value.decode("utf-8", "replace")
        return is_telling(text) and placeholder(self._salt, value) in self._wanted
