"""The values that sections give, and the arithmetic on them. Pure."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import NamedTuple

MICRO, MILLI, MEGA = 1e-3, 1e-6, 1e-6
"""Nanoseconds to microseconds and to ms; bytes to MB."""


class Line(NamedTuple):
    """One measure of all contestants; less is better.

    Attributes:
        section: The table's heading above it.
        name: What was measured.
        unit: Its unit.
        values: One for each contestant that can be measured so.
        judged: Whether we have to be at or below mcp-rec; else the line is for context.
        flat: A value up to which there is nothing to win, as for a growth of 1: at or below
            it counts as at or below mcp-rec.
        limit: What our own value must not exceed, where there is no peer to compare with.
        elsewhere: What peers took in another run, with another client: not judged.
        detail: What the values stand for, word by word; not in the table.
    """

    section: str
    name: str
    unit: str
    values: Mapping[str, float]
    judged: bool = True
    flat: float | None = None
    limit: float | None = None
    elsewhere: Mapping[str, float] | None = None
    detail: Mapping[str, Sequence[str]] | None = None


def rotated(names: Sequence[str], turn: int) -> list[str]:
    """Put the names in the order of one round: each is first, second, ... equally often."""
    first = turn % len(names)
    return [*names[first:], *names[:first]]


def percentile(values: Sequence[float], percent: float) -> float:
    """The least value that at least so many percent of the values do not exceed.

    Raises:
        ValueError: If there are no values.
    """
    if not values:
        raise ValueError("no values")
    rank = math.ceil(len(values) * percent / 100)
    return sorted(values)[max(rank, 1) - 1]


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the middle two."""
    return statistics.median(values)


def added(values: Mapping[str, float], over: str) -> dict[str, float]:
    """What each contestant costs over one of them, which is left out."""
    return {name: value - values[over] for name, value in values.items() if name != over}
