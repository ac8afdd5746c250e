"""Finds the runs that their cassettes do not hold, since another run was there first."""

from __future__ import annotations

from collections.abc import Iterable

from sidecar.cassette.file_format import read
from sidecar.errors import CassetteError
from sidecar.store.journal import Journal
from sidecar.store.runs import RunLine

_HAS_ADDED = "SELECT 1 FROM runs WHERE run_id = ? AND kept_interactions IS NOT NULL"


def unsaved(journal: Journal, lines: Iterable[RunLine]) -> dict[str, list[str]]:
    """Find the runs in mode `record` whose cassettes still hold an earlier one.

    Args:
        journal: The journal.
        lines: The runs, the newest first.

    Returns:
        The ids of such runs, the newest first, by the path of their cassette. Runs that
        called nothing are left out: clients make one whenever they start. A cassette
        that is not there, or cannot be read, is left out, and so is one to which the run
        that it names was added: what it held before, nothing tells.

    Raises:
        JournalError: If the journal cannot be read.
    """
    found: dict[str, list[str]] = {}
    called = set()
    for line in lines:
        if line.mode == "record" and line.cassette is not None and line.state != "running":
            found.setdefault(line.cassette, []).append(line.run_id)
            if line.calls:
                called.add(line.run_id)
    missing = {path: _not_in(journal, path, runs) for path, runs in found.items()}
    missing = {path: [one for one in runs if one in called] for path, runs in missing.items()}
    return {path: runs for path, runs in missing.items() if runs}


def _not_in(journal: Journal, path: str, runs: list[str]) -> list[str]:
    try:
        with open(path, "rb") as file:  # the first line alone: the file may be long
            holder = read(file.readline(), path).cassette.run
    except (OSError, CassetteError):
        return []
    if holder is not None and journal.connection.rows(_HAS_ADDED, (holder,)):
        return []
    # What is older than the run that is there was replaced by it, as someone wished.
    return runs[: runs.index(holder)] if holder in runs else runs
