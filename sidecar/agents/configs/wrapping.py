"""A config's text with its servers behind the sidecar, and back: pure, from text to text.

A change is only given if taking it back gives the text that was before, character for
character, and if all else in the text is as it was; so nothing can get lost (W01, W10).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, TypeAlias

from sidecar.agents.configs.document import Document, Entry, again, read
from sidecar.agents.configs.entry_edits import Writer
from sidecar.agents.configs.marks import FRAGMENT, WRAPPED, Target
from sidecar.agents.configs.nodes import Edit, applied
from sidecar.agents.configs.refusals import (
    refuse_clients_own,
    refuse_other_schemes,
    refuse_remote,
    refuse_unwrappable,
    refuse_variables,
)
from sidecar.agents.configs.secret_variables import secret_variables
from sidecar.agents.configs.shapes import (
    Remote,
    Started,
    UnfitError,
    is_wrapped,
    refuse_unmarked,
    shape_of,
)
from sidecar.errors import ConfigError

State: TypeAlias = Literal["wrapped", "changed", "unchanged", "unwrapped", "skipped"]
Key: TypeAlias = tuple[tuple[str, ...], str]

_NO_WAY_BACK = "it is written so that a change could not be taken back exactly"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done with a config's servers.

    Attributes:
        target: What an entry is told, given what it was told before, if it was wrapped.
        program: The words that start the sidecar, the first one absolute.
        serve: The base of the URLs of `serve`, to which entries with a URL are led; None
            puts them behind `proxy --url`.
    """

    target: Callable[[Entry, Target | None], Target]
    program: Sequence[str]
    serve: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an entry.

    Attributes:
        entry: The entry, as it was before.
        state: What was done.
        reason: Why it was skipped, or did not change.
        target: What it is told now, if it is behind `proxy`.
    """

    entry: Entry
    state: State
    reason: str = ""
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A changed text.

    Attributes:
        before: The config as it was.
        text: Its text now.
        outcomes: What became of each entry that was meant, in order.
    """

    before: Document
    text: str
    outcomes: tuple[Outcome, ...]

    @property
    def data(self) -> bytes:
        """The file's bytes now."""
        return replace(self.before, text=self.text).data


def wrap(document: Document, plan: Plan, keys: Collection[Key]) -> Change:
    """Put servers behind the sidecar; those that are there already are told anew.

    Args:
        document: The config.
        plan: What is to be done.
        keys: The servers that are meant, as `Entry.key` has them.

    Raises:
        ConfigError: If the change would lose something.
    """
    meant = [entry for entry in document.entries if entry.key in keys]
    plain = unwrap(document, keys)
    told = {entry.key: _target_of(entry, document) for entry in meant}
    outcomes = {one.entry.key: one for one in plain.outcomes if one.state == "skipped"}
    base = again(document, plain.text)
    edits: dict[Key, list[Edit]] = {}
    for entry in base.entries:
        if entry.key not in keys or entry.key in outcomes:
            continue
        try:
            edits[entry.key] = _wrapping_edits(base, entry, plan, told[entry.key])
        except UnfitError as error:
            outcomes[entry.key] = Outcome(entry, "skipped", str(error))
    try:
        changed = _checked(base, edits.values(), keys)
    except ConfigError:
        safe = {key: one for key, one in edits.items() if _is_safe(base, one, key)}
        for entry in base.entries:
            if entry.key in edits and entry.key not in safe:
                outcomes[entry.key] = Outcome(entry, "skipped", _NO_WAY_BACK)
        changed = _checked(base, safe.values(), keys)
    return Change(
        document,
        changed.text,
        tuple(outcomes.get(one.key) or _outcome(one, document, changed) for one in meant),
    )


def unwrap(document: Document, keys: Collection[Key] | None = None) -> Change:
    """Bring servers back; each from its own entry, whatever else changed in the text.

    Args:
        document: The config.
        keys: The servers that are meant; None for all.

    Raises:
        ConfigError: If the text is broken.
    """
    edits: list[Edit] = []
    outcomes: list[Outcome] = []
    for entry in document.entries:
        if keys is not None and entry.key not in keys:
            continue
        try:
            found = _unwrapping_edits(document, entry)
        except UnfitError as error:
            outcomes.append(Outcome(entry, "skipped", str(error)))
            continue
        edits += found
        reason = "" if found else "is not wrapped"
        outcomes.append(Outcome(entry, "unwrapped" if found else "unchanged", reason))
    text = applied(document.text, edits)
    _same_servers(document, again(document, text))
    return Change(document, text, tuple(outcomes))


def as_before(path: str, data: bytes) -> bytes:
    """Bring back all servers of a config's bytes that are wrapped, as `unwrap` would.

    So whoever reads a config to put its servers behind the sidecar never nests one proxy in
    another, nor leads `serve` to itself. What is no config of a known client stays as it is.
    """
    if not any(mark.encode() in data for mark in (WRAPPED, FRAGMENT)):
        return data
    try:
        return unwrap(read(path, data)).data
    except ConfigError:
        return data


def _is_safe(base: Document, edits: list[Edit], key: Key) -> bool:
    """Whether the edits of one entry alone could be taken back."""
    try:
        _checked(base, [edits], {key})
    except ConfigError:
        return False
    return True


def _wrapping_edits(
    document: Document, entry: Entry, plan: Plan, told: Target | None
) -> list[Edit]:
    shape = shape_of(entry, document.client)
    refuse_unwrappable(entry, shape)
    writer = Writer(document.text, document.format, document.client)
    if isinstance(shape, Remote) and plan.serve is not None:
        refuse_other_schemes(shape)
        refuse_clients_own(document.client, shape)
        return writer.lead_to_serve(entry.name, shape, plan.serve)
    if isinstance(shape, Remote):
        refuse_remote(document, entry, shape)
    target = plan.target(entry, told)
    refuse_variables(document.client, [entry.name, *plan.program, *_paths(target)])
    if isinstance(shape, Started):
        masked = secret_variables(shape.holder, document.client)
        return writer.wrap_started(entry.name, shape, target, plan.program, masked)
    return writer.wrap_remote(entry.name, entry.node, shape, target, plan.program)


def _unwrapping_edits(document: Document, entry: Entry) -> list[Edit]:
    try:
        shape = shape_of(entry, document.client)
    except UnfitError:
        return []  # we never wrote such a one
    writer = Writer(document.text, document.format, document.client)
    if isinstance(shape, Started):
        refuse_unmarked(shape)
        return writer.unwrap_started(shape, shape.mark, entry.node) if shape.mark else []
    return writer.lead_back(shape) if shape.original is not None else []


def _outcome(entry: Entry, before: Document, after: Document) -> Outcome:
    now = next(one for one in after.entries if one.key == entry.key)
    target = _target_of(now, after)
    if _told(entry, before) == _told(now, after):
        return Outcome(entry, "unchanged", target=target)
    was = is_wrapped(shape_of(entry, before.client))
    return Outcome(entry, "changed" if was else "wrapped", target=target)


def _target_of(entry: Entry, document: Document) -> Target | None:
    """What an entry is told, if it is behind `proxy`."""
    try:
        shape = shape_of(entry, document.client)
    except UnfitError:
        return None
    return shape.mark.target if isinstance(shape, Started) and shape.mark else None


def _told(entry: Entry, document: Document) -> object:
    shape = shape_of(entry, document.client)
    if isinstance(shape, Started):
        return shape.command.value.text, shape.words
    return shape.url.value.text


def _checked(base: Document, edits: Iterable[list[Edit]], keys: Collection[Key]) -> Document:
    """Apply edits, and check that the text can be taken back to what it was.

    Raises:
        ConfigError: If it cannot.
    """
    changed = again(base, applied(base.text, chain.from_iterable(edits)))
    _same_servers(base, changed)
    if unwrap(changed, keys).text != base.text:
        raise ConfigError(
            "the servers cannot be wrapped without a loss; nothing was changed",
            place=base.path,
            hint="leave out the entry that is written in an unusual way, with --except",
        )
    return changed


def _same_servers(before: Document, after: Document) -> None:
    if [one.key for one in before.entries] != [one.key for one in after.entries]:
        raise ConfigError(
            "the servers would not be the same as before; nothing was changed",
            place=before.path,
            hint="leave out the entry that is written in an unusual way, with --except",
        )


def _paths(target: Target) -> list[str]:
    return [path for path in (target.home, target.project, target.cassette) if path]
