"""Masks the secrets of one text where they stand in it, without reading it as JSON."""

from __future__ import annotations

from sidecar.cassette.redaction.masking import Masked, Place, Span, is_plain, mask
from sidecar.cassette.redaction.sought import Part, Sought

PROTOCOL_PREFIX = "io.modelcontextprotocol/"
"""What the protocol's own members of `_meta` begin with."""

# What is in every text with parts that only a walk tells apart; as few searches as will do.
_WALKED = (
    "mimeType", "progressToken", "tracepar", "tracesta", PROTOCOL_PREFIX,
    "Schema", "roperties", "$defs", "definitions",
)  # fmt: skip


class TextMasks:
    """Puts masks into the texts of one message.

    Args of the constructor:
        sought: What is looked for.
        place: Makes the placeholder of a secret.

    Attributes:
        masked: How many values were masked.
        touching: Whether a mask touches what may be another secret, laid bare by it.
        place: The function given.
    """

    def __init__(self, sought: Sought, place: Place) -> None:
        self.masked = 0
        self.touching = False
        self.place = place
        self._sought = sought
        self._finders = {
            part: tuple(finder for finder in sought.finders if finder.kind <= part) for part in Part
        }

    def spliced(self, text: str) -> str | None:
        """Mask secrets where they stand in a JSON text.

        Returns:
            None where that might not be what a walk does: if a secret is spelt with
            escapes, if objects or lists are under a secret's name, or if parts of the
            text are schemas, content or the protocol's own.
        """
        if any(name in text for name in _WALKED):
            return None
        data = text.encode("utf-8", "surrogatepass")
        spans = [span for finder in self._sought.finders for span in finder.spans(data)]
        if not all(is_plain(data, span) for span in spans):
            return None
        if not all(finder.explains(data) for finder in self._sought.finders):
            return None
        masked = mask(data, spans, self.place)
        self._note(masked)
        return masked.data.decode("utf-8", "surrogatepass") if masked.masks else text

    def spans(self, text: str) -> list[Span]:
        """Find the secrets of a text that is not read as JSON."""
        data = text.encode("utf-8", "surrogatepass")
        return [span for finder in self._sought.finders for span in finder.spans(data)]

    def plain(self, text: str, part: Part) -> str:
        """Mask the secrets of a text that is no JSON; the same object if there are none."""
        data = text.encode("utf-8", "surrogatepass")
        finders = [finder for finder in self._finders[part] if _holds_any(text, finder.gates)]
        spans = (span for finder in finders for span in finder.spans(data))
        masked = mask(data, spans, self.place)
        if not masked.masks:
            return text
        self._note(masked)
        return masked.data.decode("utf-8", "surrogatepass")

    def _note(self, masked: Masked) -> None:
        self.masked += masked.masks
        self.touching = self.touching or masked.touching

    def placed(self, secret: str) -> str:
        """Make the placeholder of a secret, and count it."""
        self.masked += 1
        return self.place(secret.encode("utf-8", "surrogatepass")).decode()


def _holds_any(text: str, gates: tuple[str, ...]) -> bool:
    for gate in gates:  # noqa: SIM110  # `any` takes three times as long
        if gate in text:
            return True
    return False
