"""The cassette of a proxy: loaded before it serves, and saved when it has."""

from __future__ import annotations

import os

from sidecar.cassette.redaction.redactor import Redactor
from sidecar.errors import SidecarError
from sidecar.proxy.options import Mode
from sidecar.proxy.streams import say
from sidecar.store import cassettes
from sidecar.store.journal import Journal
from sidecar.wire.typed import Protocol


class Kept(Protocol):
    """What a proxy is told of its cassette; `ProxyOptions` and `ServeOptions` are such."""

    @property
    def mode(self) -> Mode:
        """What is done with the traffic."""

    @property
    def cassette(self) -> str | None:
        """The file's path; None where only the journal is written."""

    @property
    def run(self) -> str:
        """The run's id."""

    @property
    def overwrite(self) -> bool:
        """Whether another run's cassette may be replaced."""


def load(options: Kept) -> cassettes.Loaded | None:
    """Load the cassette that is to be served; None where none is, or none is there yet.

    Raises:
        CassetteError: If it cannot be used.
    """
    if options.mode == "auto" and options.cassette and not os.path.lexists(options.cassette):
        return None
    if options.mode not in ("replay", "auto") or options.cassette is None:
        return None
    loaded = cassettes.load(options.cassette)
    for warning in loaded.warnings:
        say(warning)
    return loaded


def answering(loaded: cassettes.Loaded | None, mode: Mode, server: str) -> cassettes.Loaded | None:
    """Return the cassette if it answers for a server, before anything live does; else None."""
    if loaded is None or mode == "replay":
        return loaded
    known = (item.server == server for item in loaded.cassette.interactions)
    return loaded if any(known) else None


def save(options: Kept, journal: Journal, masks: Redactor) -> None:
    """Save the cassette, if one is recorded, or look over what else is kept of the run.

    Where `mcp-sidecar` runs the agent, it looks over the whole run once that has ended, and says
    what came of both; so nothing is said here then.

    Args:
        options: What the proxy was told.
        journal: What it recorded into.
        masks: The redactor that recorded; it has learnt values that must not be in the file.
    """
    cassette = options.cassette if options.mode in ("record", "auto") else None
    is_watched = False
    problem: str | None = None
    try:
        is_watched = journal.is_watched(options.run)
        if cassette is not None:
            problem = _save(options, cassette, journal, masks)
        elif not is_watched:
            _look_over(options, journal, masks)
    except SidecarError as error:
        problem = f"{error}; {_left(options.run, is_recorded=cassette is not None)}"
    if problem and not is_watched:
        say(problem)


def _save(options: Kept, path: str, journal: Journal, masks: Redactor) -> str | None:
    """Save the cassette; return why it was left as it is, and how to save it all the same."""
    return cassettes.save_run(
        journal,
        options.run,
        path,
        overwrite=options.overwrite,
        extend=options.mode == "auto",
        masks=masks,
    ).refused


def _look_over(options: Kept, journal: Journal, masks: Redactor) -> None:
    """Mask what only the run as a whole tells."""
    from sidecar.store.looked_over_rows import look_over  # noqa: PLC0415  # not at the start

    look_over(journal, options.run, masks)


def _left(run: str, *, is_recorded: bool) -> str:
    """Say what is still to be done for a run."""
    if is_recorded:
        return f"the journal has run {run}: save it with `mcp-sidecar cassette save {run}`"
    return f"run {run} was not searched once more for secrets"
