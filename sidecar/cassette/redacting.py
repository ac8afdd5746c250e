"""Masks secrets in a cassette that exists: with rules, or values, that came later (X13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sidecar.cassette.interaction import Cassette, Interaction
from sidecar.cassette.matcher import Hit, Matcher
from sidecar.cassette.redaction.placeholders import Renumberer, numbers_in
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cassette.second_look import looked_over
from sidecar.cassette.texts import texts_of, with_texts

_LOOKS = 2  # what the first finds late is masked early by the second


class Redacted(NamedTuple):
    """A cassette, and what was masked in it.

    Attributes:
        cassette: It; placeholders that were there kept their numbers, and new ones go on.
        masked: How many values each rule masked, by the rule's name.
        in_requests: Of them, those that are in a tool call's arguments: a replay is asked for
            them in clear, if it does not mask by the same rule.
    """

    cassette: Cassette
    masked: dict[str, int]
    in_requests: dict[str, int]


def redacted(cassette: Cassette, rules: Mapping[str, Redactor]) -> Redacted:
    """Mask what each rule finds, one rule after the other.

    A value that was masked before cannot be told to be equal to one that is masked now: each
    has a placeholder of its own.

    Args:
        cassette: It is not changed.
        rules: By name; all with one salt, so that equal values get equal placeholders.
    """
    interactions, unknown = cassette.interactions, cassette.unknown
    masked, in_requests = {}, {}
    for name, masks in rules.items():
        in_requests[name] = 0
        for _ in range(_LOOKS):
            in_requests[name] += sum(_would_mask(item, masks) for item in interactions)
            interactions = tuple(with_texts(item, masks.json_text) for item in interactions)
            unknown = tuple((place, masks.json_text(text)) for place, text in unknown)
        interactions = looked_over(interactions, masks).interactions
        masked[name] = masks.masked - in_requests[name]
    renumber = Renumberer(_numbers(cassette)).text
    return Redacted(
        cassette._replace(
            interactions=tuple(with_texts(item, renumber) for item in interactions),
            unknown=tuple((place, renumber(text)) for place, text in unknown),
        ),
        masked,
        in_requests,
    )


def unfound(before: Cassette, after: Cassette, masks: Redactor) -> tuple[int, ...]:
    """List the calls that a replay of the masked cassette would no longer take for themselves.

    A number that is masked becomes 0, and is like no other number; a text with a mask in it is
    like any that has the same around it.

    Args:
        before: The cassette as it was.
        after: It, masked.
        masks: What a replay masks its requests with.

    Returns:
        Their places among the interactions.
    """
    pairs = enumerate(zip(before.interactions, after.interactions, strict=True))
    return tuple(
        place
        for place, (old, new) in pairs
        if old.is_tool_call and old.params != new.params and not _is_found(old, new, masks)
    )


def _is_found(old: Interaction, new: Interaction, masks: Redactor) -> bool:
    matcher = Matcher([Interaction(new.server, new.method, new.params, None)], masks)
    return isinstance(matcher.take(old.server, old.method, matcher.kept(old.params)), Hit)


def _would_mask(interaction: Interaction, masks: Redactor) -> int:
    before = masks.masked
    if interaction.is_tool_call and interaction.params is not None:
        masks.json_text(interaction.params)
    return masks.masked - before


def _numbers(cassette: Cassette) -> Iterable[int]:
    yield from (number for item in cassette.interactions for number in _numbers_of(item))
    yield from (number for _, text in cassette.unknown for number in numbers_in(text))


def _numbers_of(interaction: Interaction) -> Iterable[int]:
    return (number for text in texts_of(interaction) for number in numbers_in(text))
