"""Finds what a verb is told to work on: a run of the journal, a cassette."""

from __future__ import annotations

import os

from sidecar.cli.options import Places, present_journal, say
from sidecar.errors import UsageError
from sidecar.store import cassettes, ids, runs
from sidecar.store.journal import Journal

LAST = "last"
"""Names the newest run."""

_RUNS = "`mcp-sidecar runs list` shows the runs there are"


def find_run(journal: Journal, spec: str) -> str:
    """Find the run that is meant.

    Args:
        journal: Where to look.
        spec: A run's id, its part after the tenant, the beginning of either that no other
            run has, or `last`.

    Raises:
        JournalError: If the journal cannot be read.
        UsageError: If no run is meant, or several are.
    """
    known = runs.run_ids(journal)
    if spec == LAST:
        found = known[-1:]
    else:
        found = [run for run in known if spec in {run, ids.ulid_of(run)}] or _beginning(known, spec)
    if not found:
        raise UsageError(f"there is no run {spec!r}", place=journal.path, hint=_RUNS)
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} runs begin with {spec!r}",
            place=journal.path,
            hint=f"write more of it: {', '.join(found[:3])}",
        )
    return found[0]


def saved_cassette(where: Places, spec: str) -> str:
    """Find a cassette's file; one that was recorded and not saved yet is saved first.

    Args:
        where: The project, and the home of the journal.
        spec: The cassette's name or path.

    Returns:
        The file's path; whether it is a cassette is not looked at.

    Raises:
        SidecarError: If the name cannot be used, or the journal cannot be read.
    """
    path = where.cassette(spec)
    if os.path.lexists(path) or not os.path.lexists(where.journal):
        return path
    with present_journal(where) as journal:
        run = runs.last_recorded(journal, cassette=path)
        if run is not None:
            cassettes.save_run(journal, run, path, overwrite=False, extend=False)
            say(f"cassette {path} was not saved yet: saved from run {run}")
    return path


def _beginning(known: list[str], spec: str) -> list[str]:
    if not spec:
        return []
    upper = spec.upper()  # as base 32 is read
    return [
        run for run in known if run.startswith(spec) or ids.ulid_of(run).upper().startswith(upper)
    ]
