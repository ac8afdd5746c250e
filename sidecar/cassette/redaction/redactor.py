"""Takes secrets out of whatever is kept: the one function for recording and for matching.

What is masked: values of members whose name says that they are
secrets, tokens of known shapes, known values in every encoding, in JSON and in JSON within
strings, in names of members, in logs, command lines and URLs. What stays: JSON Schemas
(but for tokens and known values within them), what the protocol owns in `_meta`, base64
content (but for known values). Types stay: a number that is a password becomes 0; true,
false and null are no secrets.

Both sides of a comparison go through here, so a secret that changed still matches (X02).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from sidecar.cassette.redaction.assignments import Assignments
from sidecar.cassette.redaction.finders import (
    COMMANDS,
    TABLES,
    house_finders,
    indexed_if_large,
)
from sidecar.cassette.redaction.known_values import KnownValues
from sidecar.cassette.redaction.layouts import may_speak_of_secrets
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import mask_pieces
from sidecar.cassette.redaction.name_search import (
    NameSearch,
    flag_words,
    fold,
    near_signs,
    unescaped,
    without_content,
)
from sidecar.cassette.redaction.names import folded
from sidecar.cassette.redaction.pairs import PAIR
from sidecar.cassette.redaction.patterns import Patterns
from sidecar.cassette.redaction.placeholders import (
    UNIFIED,
    Renumberer,
    placeholder,
    renumber,
    unify,
)
from sidecar.cassette.redaction.sought import Finder, Kind, Sought
from sidecar.cassette.redaction.value_parts import opaque_segments, password_of
from sidecar.cassette.redaction.values import is_telling
from sidecar.wire.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from sidecar.cassette.echoes import Echoes
    from sidecar.cassette.redaction.json_masking import Sweep

__all__ = ["Redactor", "Renumberer", "renumber", "unify"]

# What a token alone has not, but a text that holds one has.
_NO_TOKEN = r"[:{@?&;\s]|=(?!=*\Z)"
_MAX_ROUNDS = 4  # a mask may lay bare another secret; hardly ever a third


class Redactor:
    """Masks secrets in the texts of one journal.

    Args of the constructor:
        salt: The journal's own; with it, equal secrets have equal placeholders.
        known_values: Values that are secrets wherever they appear; of at least 4 characters.
        key_names: Further names of members, variables and parameters that are secrets.
        patterns: Further regular expressions; the first group of a match is masked, or the
            whole match if there is none. They cost a search of every text.

    A value that was masked once is remembered, if it can be told from other words, and is
    masked wherever it appears from then on, whatever is around it; the last hundred are.

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
        self._known = KnownValues(())
        self._names = frozenset(map(folded, names))
        self._search = NameSearch(names) if names else _house_names()
        self._own_search = _house_names()
        self._patterns = Patterns(patterns)
        values = tuple(known_values)
        inner = (part for value in values for part in self._parts_of(value))
        self._known = KnownValues((*values, *inner))

    def _parts_of(self, value: str) -> Iterator[str]:
        """Find the secrets in a known value: of a connection string, of JSON, of a URL."""
        if compiled(_NO_TOKEN).search(value):
            yield from self.secrets_in(value)
            yield from opaque_segments(value)
            yield password_of(value)

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
        text = self._masked(text, _json_text, self._house_sweep)
        if not self._patterns and not self._names:
            return text
        masked = self._masked(text, _json_data, self._users_sweep)
        if masked is text:
            return text
        return self._masked(masked, _json_text, self._house_sweep)

    def plain(self, text: str) -> str:
        """Mask the secrets of a text that is not JSON as a whole, or may be.

        Args:
            text: A line of a log, an agent's output, a command line, a URL.

        Returns:
            The same object if nothing is masked.
        """
        return self._masked(text, _text, self._sweep)

    def _masked(
        self,
        text: str,
        mask: Callable[[Sweep, str], str],
        look: Callable[[str], Sweep | None],
    ) -> str:
        for _ in range(_MAX_ROUNDS):
            sweep = look(text)
            if sweep is None:
                break
            before = self._known.learnt
            text = mask(sweep, text)
            self.masked += sweep.masked
            is_new = self._known.learnt != before
            if not sweep.touching and not (is_new and self._known_in(text)):
                break
        return text

    def _known_in(self, text: str) -> bool:
        return bool(self._known.needles_in(text.encode("utf-8", "surrogatepass")))

    def learn(self, values: Iterable[str]) -> None:
        """Mask further values from now on; a bounded number, as of those masked before."""
        for value in values:
            self._known.learn(value)

    def second_look(self, texts: Iterable[str]) -> Callable[[str], str] | None:
        """Return what masks the values that were masked in some of a run's texts, and known ones.

        Rules of the user's apply as well: they may be newer than the recording (X14).

        Args:
            texts: All texts of the run, masked, their placeholders not numbered.

        Returns:
            A function of a JSON text, or None if there is nothing to look for.
        """
        from sidecar.cassette.echoes import Echoes  # noqa: PLC0415  # a replay saves none

        echoes = Echoes(self._salt, texts)
        if self._patterns or self._names:
            return lambda text: self._echoed(self.json_text(text), echoes)
        return (lambda text: self._echoed(text, echoes)) if echoes or self._known else None

    def _echoed(self, text: str, echoes: Echoes) -> str:
        data = text.encode("utf-8", "surrogatepass")
        finders = self._known_finders(data)
        if echoes:
            finders.append(Finder(Kind.PATTERNS, ("",), echoes.spans))
        if not finders:
            return text
        sweep = _sweep_for(Sought(tuple(finders), None, self._known.numbers), self._place)
        masked = sweep.json_text(text)
        self.masked += sweep.masked
        return masked

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

    def secrets_in(self, text: str) -> tuple[str, ...]:
        """Return the secrets of a text as they stand in it, without their escapes of JSON.

        Args:
            text: As for `plain`.
        """
        found: dict[str, None] = {}

        def note(secret: bytes) -> bytes:
            found[secret.decode("utf-8", "replace")] = None
            return UNIFIED.encode()

        sweep = self._sweep(text)
        if sweep is not None:
            sweep.place = note
            sweep.text(text)
        return tuple(found)

    def _sweep(self, text: str) -> Sweep | None:
        """Look at a text as a whole; None if no secret can be in it.

        What is found here may be no secret once the text is parsed, but what is not found
        here is not there: so the parsing, which costs more, is for few texts only.
        """
        return self._looked(text, self._search, self._names, self._patterns)

    def _house_sweep(self, text: str) -> Sweep | None:
        """Look at a text without the rules of the user's."""
        return self._looked(text, self._own_search, frozenset(), None)

    def _users_sweep(self, text: str) -> Sweep | None:
        """Look at a text for what the user's own rules tell only."""
        data = unescaped(text.encode("utf-8", "surrogatepass"))
        finders = [self._pattern_finder] if self._patterns else []
        names = self._name_finder(data, self._search, self._names) if self._names else None
        finders += [names] if names else []
        sought = Sought(tuple(finders), self._names if names else None, keeps=True)
        return _sweep_for(sought, self._place) if finders else None

    @property
    def _pattern_finder(self) -> Finder:
        return Finder(Kind.PATTERNS, ("",), self._patterns.spans)

    def _looked(
        self, text: str, search: NameSearch, own: frozenset[str], patterns: Patterns | None
    ) -> Sweep | None:
        written = text.encode("utf-8", "surrogatepass")
        data = unescaped(written)
        finders = self._known_finders(data)
        data = without_content(data)
        named = may_speak_of_secrets(data)
        if named:
            data = indexed_if_large(data)
        finders += house_finders(data, written, named=named)
        if patterns:
            finders.append(self._pattern_finder)
        names = self._name_finder(data, search, own)
        if names:
            finders.append(names)
        if not finders:
            return None
        searches = {finder.spans for finder in finders}
        sought = Sought(
            tuple(finders),
            own if names else None,
            self._known.numbers,
            commands=COMMANDS.spans in searches,
            tables=TABLES.spans in searches,
            pairs=PAIR.find in searches,
        )
        return _sweep_for(sought, self._place)

    def _place(self, secret: bytes) -> bytes:
        text = secret.decode("utf-8", "replace")
        if is_telling(text):
            self._known.learn(text)
        return placeholder(self._salt, secret).encode()

    def _known_finders(self, data: bytes) -> list[Finder]:
        needles = self._known.needles_in(data)
        if not needles:
            return []
        gates = tuple(dict.fromkeys(needle.core.decode() for needle in needles))
        return [Finder(Kind.KNOWN, gates, self._known.spans)]

    def _name_finder(self, data: bytes, search: NameSearch, own: frozenset[str]) -> Finder | None:
        found = search.words_in(fold(near_signs(data)))
        if b"-" in data and b"--" in data:  # one byte is found at once
            found |= flag_words(data)
        if not found:
            return None
        words = tuple(sorted(found))
        assignments = Assignments(words, own)
        if not assignments.any_in(data):
            return None
        gates = tuple(form for word in words for form in (word, word.capitalize(), word.upper()))
        return Finder(Kind.NAMES, gates, assignments.spans, assignments.explains)


@lru_cache(maxsize=1)
def _house_names() -> NameSearch:
    return NameSearch()  # takes longer than all else of a redactor; it never changes


def _sweep_for(sought: Sought, place: Callable[[bytes], bytes]) -> Sweep:
    from sidecar.cassette.redaction.json_masking import Sweep  # noqa: PLC0415  # few texts have one

    return Sweep(sought, place)


def _json_text(sweep: Sweep, text: str) -> str:
    return sweep.json_text(text)


def _json_data(sweep: Sweep, text: str) -> str:
    return sweep.json_data(text)


def _text(sweep: Sweep, text: str) -> str:
    return sweep.text(text)
