"""Where time comes from, so that a test can say what time it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache

from sidecar.wire.typed import NamedTuple


class Clock(NamedTuple):
    """Where time comes from.

    Attributes:
        now: Unix time in seconds.
        monotonic: Seconds from some fixed point; never set back.
    """

    now: Callable[[], float]
    monotonic: Callable[[], float]

    def timestamp(self) -> str:
        """The time as ISO 8601 in UTC, with milliseconds."""
        now = int(self.now() * 1000)
        return f"{_second(now // 1000)}.{now % 1000:03d}Z"


@lru_cache(maxsize=1)
def _second(now: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))


SYSTEM_CLOCK = Clock(time.time, time.monotonic)  # noqa: TID251  # the clock that is passed in
