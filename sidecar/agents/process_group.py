"""Process groups: are they alive, and how they are ended.

Run as a script, it is the guard of a group: it ends the group, and removes a folder, when
the process that started it is gone without doing so (D02). It therefore imports the
standard library alone.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

GRACE_SECONDS = 2.0
"""How long a process may take to end, at each step of ending it."""

_POLL_SECONDS = 0.01
_ENDING = (signal.SIGTERM, signal.SIGKILL)


def is_alive(group: int) -> bool:
    """Tell whether a process of the group still runs.

    Zombies do not count: where process 1 reaps none, they stay for good (D03).
    """
    if not send(group, 0):
        return False
    processes = Path("/proc")
    if not (processes / "self" / "stat").exists():
        return True
    return any(_runs_in(group, stat) for stat in processes.glob("[0-9]*/stat"))


def send(group: int, sign: int) -> bool:
    """Send a signal to all of the group; tell whether there was anyone to get it."""
    try:
        os.killpg(group, sign)
    except (ProcessLookupError, PermissionError):  # macOS says the latter of zombies
        return False
    return True


def wait_until_gone(group: int, seconds: float, *, hurry: Callable[[], bool] = bool) -> bool:
    """Wait for the end of all of the group; tell whether it came in time.

    Args:
        group: The group's id.
        seconds: How long to wait at most.
        hurry: Asked again and again; when it says so, there is no more waiting.
    """
    until = time.monotonic() + seconds
    while is_alive(group):
        if time.monotonic() > until or hurry():
            return False
        time.sleep(_POLL_SECONDS)
    return True


def end(group: int, grace_seconds: float, *, hurry: Callable[[], bool] = bool) -> None:
    """End what is left of a group: TERM, then KILL, each wait bounded."""
    for sign in _ENDING:
        if not send(group, sign) or wait_until_gone(group, grace_seconds, hurry=hurry):
            return


def _runs_in(group: int, stat: Path) -> bool:
    try:
        text = stat.read_text(encoding="utf-8", errors="replace")
    except OSError:  # it ended meanwhile
        return False
    # After the program's name, which may hold anything: state, parent, group.
    state, _, its_group, *_ = text.rpartition(")")[2].split()
    return int(its_group) == group and state not in "ZX"


def guard(words: Sequence[str]) -> None:
    """Wait on standard input: for a word that all is well, or for its end.

    Args:
        words: The group's id, and the folder that holds what was made for it.
    """
    if os.read(0, 1):
        return
    group, folder = words
    end(int(group), GRACE_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    guard(sys.argv[1:])
