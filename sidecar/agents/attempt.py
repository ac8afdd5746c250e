"""What every run of an agent has, whatever it is run for: an id, a folder, proxies that end."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sidecar.agents.command import Stop
from sidecar.store import ids, runs
from sidecar.store.clock import SYSTEM_CLOCK, Clock
from sidecar.store.journal import Journal

SETTLE_SECONDS = 10.0
"""How long proxies may take to end once their agent has."""

_POLL_SECONDS = 0.02


def new_run(clock: Clock = SYSTEM_CLOCK) -> str:
    """Make the id of a run that begins now."""
    return ids.new_run_id(clock.now(), os.urandom(ids.RANDOMNESS_BYTES))


@contextmanager
def private_folder(what: str = "") -> Iterator[Path]:
    """Make a folder for this user alone, outside of any project, and remove it in the end.

    Args:
        what: What it is for, a part of its name: it may be seen in an agent's errors.
    """
    # An agent may have left anything there, also what cannot be removed.
    with tempfile.TemporaryDirectory(
        prefix=f"mcp-sidecar-{what and what + '-'}", ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


def proxies_left(journal: Journal, run_id: str, stop: Stop, *, clock: Clock = SYSTEM_CLOCK) -> int:
    """Wait, within a bound, until a run's proxies have ended; count those that have not.

    Most end with their agent; clients may start some outside of its process group.
    """
    until = clock.monotonic() + SETTLE_SECONDS
    while running := runs.open_sessions(journal, run_id):
        if stop.is_urgent or clock.monotonic() > until:
            break
        time.sleep(_POLL_SECONDS)
    return running
