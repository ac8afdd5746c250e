"""Finding secrets that are left in what is about to be kept or passed on (V11)."""

from __future__ import annotations

from collections.abc import Iterator

from sidecar.cassette.interaction import Cassette, Interaction
from sidecar.cassette.recorder import Masks
from sidecar.suite.lints import Unmasked
from sidecar.wire.json_pointer import inside
from sidecar.wire.json_text import JsonValue, dump, parse


def unmasked_by(masks: Masks) -> Unmasked:
    """Make a finder of what a redactor would still mask.

    Args:
        masks: The redactor; what it masked already is no secret any more.
    """

    def find(value: JsonValue) -> Iterator[tuple[str, str]]:
        text = dump(value)
        masked = masks.json_text(text)
        if masked != text:
            yield from _differing(parse(text), parse(masked), "")

    return find


def first_leak(cassette: Cassette, masks: Masks) -> Interaction | None:
    """Find the first interaction in which a redactor would still mask something."""
    for interaction in cassette.interactions:
        texts = [interaction.params, interaction.response and interaction.response.text]
        if any(text is not None and masks.json_text(text) != text for text in texts):
            return interaction
    return None


def _differing(value: JsonValue, masked: JsonValue, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and isinstance(masked, dict) and len(value) == len(masked):
        for (name, item), (other, hidden) in zip(value.items(), masked.items(), strict=True):
            inner = inside(at, other)
            if name != other:
                yield inner, "a name would be masked in a recording"
            yield from _differing(item, hidden, inner)
    elif isinstance(value, list) and isinstance(masked, list) and len(value) == len(masked):
        for index, (item, hidden) in enumerate(zip(value, masked, strict=True)):
            yield from _differing(item, hidden, f"{at}/{index}")
    elif type(value) is not type(masked) or value != masked:
        yield at, "it would be masked in a recording"
