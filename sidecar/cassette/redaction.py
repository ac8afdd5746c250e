"""Takes secrets out of whatever is kept: the one function for recording and for matching.

What is masked (design.md, "Secrets"): values of members whose name says that they are
secrets, tokens of known shapes, known values in every encoding, in JSON and in JSON within
strings, in names of members, in logs, command lines and URLs. What stays: JSON Schemas
(but for tokens and known values within them), what the protocol owns in `_meta`, base64
content (but for known values). Types stay: a number that is a password becomes 0; true,
false and null are no secrets.

Both sides of a comparison go through here, so a secret that changed still matches (X02).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from sidecar.cassette.json_masking import Finder, Kind, Sought, Sweep
from sidecar.cassette.known_values import KnownValues
from sidecar.cassette.masking import mask_pieces
from sidecar.cassette.name_search import (
    NameSearch,
    flag_words,
    fold,
    near_signs,
    unescaped,
    without_content,
)
from sidecar.cassette.placeholders import Renumberer, placeholder, renumber, unify
from sidecar.cassette.secret_assignments import Assignments
from sidecar.cassette.secret_contexts import contexts_in
from sidecar.cassette.secret_names import folded, secret_environment
from sidecar.cassette.secret_patterns import Patterns
from sidecar.cassette.secret_shapes import places_of, tokens_in

__all__ = ["Redactor", "Renumberer", "renumber", "secret_environment", "unify"]

_MAX_ROUNDS = 4  # a mask may lay bare another secret; hardly ever a third


class Redactor:
    """Masks secrets in the texts of one journal.

    Args of the constructor:
        salt: The journal's own; with it, equal secrets have equal placeholders.
        known_values: Values that are secrets wherever they appear; of at least 4 characters.
        key_names: Further names of members, variables and parameters that are secrets.
        patterns: Further regular expressions; the first group of a match is masked, or the
            whole match if there is none. They cost a search of every text.

    Attributes:
        masked: How many values were masked so far.

    Raises:
        UsageError: If a pattern is no regular expression.
    """

    def __init__(
        self,
        salt: bytes,
        *,
        known_values: Iterable[str] = (),
        key_names: Iterable[str] = (),
        patterns: Iterable[str] = (),
    ) -> None:
        names = tuple(key_names)
        self.masked = 0
        self._salt = salt
        self._known = KnownValues(known_values)
        self._names = frozenset(map(folded, names))
        self._search = NameSearch(names)
        self._patterns = Patterns(patterns)

    def json_text(self, text: str) -> str:
        """Mask the secrets of a JSON value.

        Args:
            text: The JSON text.

        Returns:
            The same object if nothing is masked; else the value's JSON text, compact, with
            numbers as they were spelt. (A text of more than half a million characters
            mostly keeps its spelling.) What is no JSON, or is nested too deep to be read,
            is masked as a plain text.
        """
        return self._masked(text, Sweep.json_text)

    def plain(self, text: str) -> str:
        """Mask the secrets of a text that is not JSON as a whole, or may be.

        Args:
            text: A line of a log, an agent's output, a command line, a URL.

        Returns:
            The same object if nothing is masked.
        """
        return self._masked(text, Sweep.text)

    def _masked(self, text: str, mask: Callable[[Sweep, str], str]) -> str:
        for _ in range(_MAX_ROUNDS):
            sweep = self._sweep(text)
            if sweep is None:
                break
            text = mask(sweep, text)
            self.masked += sweep.masked
            if not sweep.touching:
                break
        return text

    def pieces(self, texts: Sequence[str]) -> list[str]:
        """Mask the secrets of a text that came in pieces, as of a stream of progress (X07).

        Returns:
            As many texts: a secret that was cut up is one placeholder, where it begins.
        """
        joined = "".join(texts)
        sweep = self._sweep(joined)
        if sweep is None:
            return list(texts)
        parts = [text.encode("utf-8", "surrogatepass") for text in texts]
        spans = sweep.spans(joined)
        masked = mask_pieces(parts, spans, sweep.place)
        self.masked += len(spans)
        return [part.decode("utf-8", "surrogatepass") for part in masked]

    def leaks(self, text: str) -> int:
        """Count the known values in a text that should have none, such as a finished file.

        A value is found in every encoding, at any depth of JSON within strings.
        """
        return sum(1 for _ in self._known.spans(text.encode("utf-8", "surrogatepass")))

    def _sweep(self, text: str) -> Sweep | None:
        """Look at a text as a whole; None if no secret can be in it.

        What is found here may be no secret once the text is parsed, but what is not found
        here is not there: so the parsing, which costs more, is for few texts only.
        """
        data = unescaped(text.encode("utf-8", "surrogatepass"))
        finders = list(self._known_finders(data))
        data = without_content(data)
        finders += _shape_finders(data)
        if self._patterns:
            finders.append(Finder(Kind.PATTERNS, ("",), self._patterns.spans))
        names = self._name_finder(data)
        if names:
            finders.append(names)
        if not finders:
            return None
        sought = Sought(tuple(finders), self._names if names else None, self._known.numbers)
        return Sweep(sought, self._place)

    def _place(self, secret: bytes) -> bytes:
        return placeholder(self._salt, secret).encode()

    def _known_finders(self, data: bytes) -> Iterator[Finder]:
        needles = self._known.needles_in(data)
        if needles:
            gates = tuple(dict.fromkeys(needle.core.decode() for needle in needles))
            yield Finder(Kind.KNOWN, gates, self._known.spans)

    def _name_finder(self, data: bytes) -> Finder | None:
        found = self._search.words_in(fold(near_signs(data)))
        if b"-" in data and b"--" in data:  # one byte is found at once
            found |= flag_words(data)
        if not found:
            return None
        words = tuple(sorted(found))
        assignments = Assignments(words, self._names)
        if not assignments.any_in(data):
            return None
        gates = tuple(form for word in words for form in (word, word.capitalize(), word.upper()))
        return Finder(Kind.NAMES, gates, assignments.spans, assignments.explains)


def _shape_finders(data: bytes) -> Iterator[Finder]:
    found = {data[token.start : token.end].replace(b"\\/", b"/") for token in tokens_in(data)}
    if found:
        tokens = tuple(sorted(found))
        gates = tuple(token.decode() for token in tokens)
        yield Finder(Kind.SHAPES, gates, lambda text: places_of(tokens, text))
    for context in contexts_in(data):
        gates = tuple(gate.decode() for gate in context.gates)
        yield Finder(Kind.SHAPES, gates, context.find)
