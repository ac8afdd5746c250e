"""Secrets that the user's own regular expressions tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sidecar.cassette.redaction.masking import Span
from sidecar.errors import UsageError


class Patterns:
    """Looks for what regular expressions match.

    Args of the constructor:
        patterns: Of Python's `re`. The first group of a match is the secret, or the whole
            match where there is no group. Their cost is the user's own.

    Raises:
        UsageError: If one is no regular expression.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(map(_compiled, patterns))

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def spans(self, data: bytes) -> Iterator[Span]:
        """Find the matches in a text's UTF-8 bytes."""
        text = data.decode("utf-8", "surrogatepass")
        for pattern in self._patterns:
            group = 1 if pattern.groups else 0
            for found in pattern.finditer(text):
                start, end = found.span(group)
                if start < end:
                    yield Span(_bytes_before(text, start), _bytes_before(text, end))


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"the redaction pattern {pattern!r} is no regular expression: {error}",
            hint="correct it in the settings or on the command line",
        ) from None


def _bytes_before(text: str, at: int) -> int:
    return at if text.isascii() else len(text[:at].encode("utf-8", "surrogatepass"))
