"""Looks a recording over as a whole, before it is saved: what one message alone does not tell.

While a session is recorded, each message is masked by itself, with what is known so far. Once
all is there, more can be told: a value that a later message, or another process, showed to be
a secret, and a secret that came in the pieces of a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from sidecar.cassette.interaction import Interaction, Passage
from sidecar.cassette.texts import Change, texts_of, with_texts
from sidecar.wire.json_text import NotJsonError, dump, join, members, parse
from sidecar.wire.mcp import PROGRESS
from sidecar.wire.typed import NamedTuple, Protocol


class Looks(Protocol):
    """What masks; a `Redactor`."""

    def second_look(self, texts: Iterable[str]) -> Change | None:
        """Return what masks the values that were masked in some of a run's texts."""

    def pieces(self, texts: Sequence[str]) -> list[str]:
        """Mask the secrets of a text that came in pieces."""


# What comes in pieces: of notifications, the member that is shown as it comes.
_STREAMED = {PROGRESS: "message", "notifications/message": "data"}


class LookedOver(NamedTuple):
    """A recording that was looked over as a whole.

    Attributes:
        interactions: It, with what was told masked.
        look: Masks the same in any other text of the run, JSON or not.
    """

    interactions: tuple[Interaction, ...]
    look: Change


def looked_over(
    interactions: Sequence[Interaction], masks: Looks, *, beside: Iterable[str] = ()
) -> LookedOver:
    """Mask what is told by the recording as a whole.

    Args:
        interactions: All of a run, masked by themselves, placeholders not numbered.
        masks: The redactor of the journal that they are from.
        beside: What else is kept of the run, masked likewise: it tells, too.
    """
    texts = (text for item in interactions for text in texts_of(item))
    look = masks.second_look(chain(texts, beside))
    looked = (with_texts(item, look) if look else item for item in interactions)
    found = tuple(_with_streams(item, masks) if item.during else item for item in looked)
    return LookedOver(found, look or _as_it_is)


def _as_it_is(text: str) -> str:
    return text


def _with_streams(interaction: Interaction, masks: Looks) -> Interaction:
    passages = list(interaction.during + interaction.after)
    changed = False
    for method, member in _STREAMED.items():
        found = list(_pieces(passages, method, member))
        texts = [text for _, text in found]
        masked = masks.pieces(texts) if len(texts) > 1 else texts
        for (place, _), text, new in zip(found, texts, masked, strict=True):
            if new != text:
                passages[place] = _with_piece(passages[place], member, new)
                changed = True
    if not changed:
        return interaction
    count = len(interaction.during)
    return interaction._replace(during=tuple(passages[:count]), after=tuple(passages[count:]))


def _pieces(passages: Sequence[Passage], method: str, member: str) -> Iterator[tuple[int, str]]:
    for place, passage in enumerate(passages):
        if passage.method == method and passage.params:
            text = _members(passage.params).get(member)
            value = parse(text) if text and text.startswith('"') else None
            if isinstance(value, str):
                yield place, value


def _with_piece(passage: Passage, member: str, text: str) -> Passage:
    found = {**_members(passage.params or "{}"), member: dump(text)}
    return passage._replace(params=join(found))


def _members(params: str) -> dict[str, str]:
    try:
        return members(params) or {}
    except NotJsonError:
        return {}
