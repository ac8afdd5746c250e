"""How many files may be open: many for `serve`, and for its servers no more than it was given.

A server that watches its files with `select` fails where it gets numbers that are too large.
On the start-up path.
"""

from __future__ import annotations

import contextlib


class _Limit:
    """What this process was given, once it has taken more."""

    def __init__(self) -> None:
        self.given: tuple[int, int] | None = None


_limit = _Limit()


def allow_many() -> None:
    """Allow this process as many open files as the system lets it: each client needs two."""
    import resource  # noqa: PLC0415  # only `serve` needs it

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):  # macOS names a limit it does not grant
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            _limit.given = (soft, hard)


def give_back(pid: int) -> None:
    """Give a process that this one has just started the limit that it would have had."""
    if _limit.given is None:
        return
    import resource  # noqa: PLC0415  # as above

    if hasattr(resource, "prlimit"):  # Linux
        with contextlib.suppress(OSError):  # it has ended, or is another user's by now
            resource.prlimit(pid, resource.RLIMIT_NOFILE, _limit.given)
