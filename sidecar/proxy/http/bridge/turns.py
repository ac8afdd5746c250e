"""Which recorded session each session of a replay is served first."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence


class Turns:
    """Gives the recorded sessions of one server out, one after the other, from any thread."""

    def __init__(self) -> None:
        self._given: Counter[int] = Counter()
        self._lock = threading.Lock()

    def choose(self, sessions: Sequence[int]) -> int:
        """Choose the first of those that were given out least.

        Args:
            sessions: The recorded sessions that begin with the call with which one begins,
                or have it at least.
        """
        with self._lock:
            chosen = min(sessions, key=lambda session: (self._given[session], session))
            self._given[chosen] += 1
        return chosen
