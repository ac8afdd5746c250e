"""Every text of an interaction that a recording holds: what may have secrets in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sidecar.cassette.interaction import Interaction, Passage, Response

Change = Callable[[str], str]


def texts_of(interaction: Interaction) -> Iterator[str]:
    """Yield the texts, in the order in which they stand in the file."""
    yield interaction.params or ""
    yield interaction.response.text if interaction.response else ""
    for passage in interaction.during + interaction.after:
        yield passage.params or ""
        yield passage.reply.text if passage.reply else ""


def with_texts(interaction: Interaction, change: Change) -> Interaction:
    """Change the texts, in the same order."""
    return interaction._replace(
        params=_changed(interaction.params, change),
        response=_changed_response(interaction.response, change),
        during=_changed_passages(interaction.during, change),
        after=_changed_passages(interaction.after, change),
    )


def _changed(text: str | None, change: Change) -> str | None:
    return None if text is None else change(text)


def _changed_response(response: Response | None, change: Change) -> Response | None:
    return None if response is None else response._replace(text=change(response.text))


def _changed_passages(passages: tuple[Passage, ...], change: Change) -> tuple[Passage, ...]:
    return tuple(
        item._replace(
            params=_changed(item.params, change), reply=_changed_response(item.reply, change)
        )
        for item in passages
    )
