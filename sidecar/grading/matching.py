"""Maximum matching of expected calls with observed ones.

Which observed call an expected one takes must not depend on the order in which they are
listed, so `any-order` and `matchedCount` need a maximum bipartite matching (RFC 0244 §A,
R8, R11); first-fit gets it wrong. The observed calls that a row may take are the bits of
an integer, so that a search step handles a thousand of them at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

NONE: Final = -1
"""In place of a column or a row: none."""


def maximum_matching(rows: Sequence[int], columns: int) -> list[int]:
    """Match as many rows as can be, each with a column of its own.

    Args:
        rows: Of each row, the columns that it may take, as bits: column 0 is the lowest.
        columns: How many columns there are.

    Returns:
        Of each row its column, or `NONE`. Which of several maximum matchings it is depends
        on the order of the rows alone; how many rows are matched does not.
    """
    search = _Search(rows, columns)
    for row in range(len(rows)):
        search.place(row)
    return search.column_of


class _Search:
    """Kuhn's augmenting paths, breadth first; what cannot be freed is not looked at again."""

    def __init__(self, rows: Sequence[int], columns: int) -> None:
        self.column_of = [NONE] * len(rows)
        self._row_of = [NONE] * columns
        self._rows = rows
        self._free = (1 << columns) - 1
        # Columns from which no free column can be reached, now or ever: a failed search
        # saw all that it can reach, and later paths never lead through there.
        self._dead = 0

    def place(self, start: int) -> None:
        """Match one more row, if any path of swaps frees a column for it."""
        seen = self._dead
        reached_by: dict[int, int] = {}
        queue = [start]
        for row in queue:  # grows while it is walked
            fresh = self._rows[row] & ~seen
            seen |= fresh
            free = fresh & self._free
            if free:
                column = _lowest(free)
                reached_by[column] = row
                self._swap_along(column, reached_by)
                return
            for column in bits(fresh):
                reached_by[column] = row
                queue.append(self._row_of[column])
        self._dead = seen

    def _swap_along(self, column: int, reached_by: dict[int, int]) -> None:
        self._free &= ~(1 << column)
        while column != NONE:
            row = reached_by[column]
            previous = self.column_of[row]
            self.column_of[row], self._row_of[column] = column, row
            column = previous


def bits(mask: int) -> Iterator[int]:
    """List the places of a mask's bits, lowest first."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1
