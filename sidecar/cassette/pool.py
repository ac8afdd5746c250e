"""The entries of a recording that one kind of request may be answered with."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


class Pool:
    """The entries of one key, by their places in the recording, in the order of matching.

    Attributes:
        all: All of them.
        inexact: Those that are not compared by their text.
        exact: The others, by their canonical text.
        loose: Entries that ask for a part of the arguments only, with their leaves.
        leaves: The same by their rarest leaf, the first one last; empty until it is needed.
        plain: Entries that fit anything: `ignore`, and `{}` as a part.
    """

    __slots__ = ("all", "exact", "inexact", "leaves", "loose", "plain")

    def __init__(self) -> None:
        """Begin without an entry."""
        self.all: list[int] = []
        self.inexact: list[int] = []
        self.exact: dict[str, deque[int]] = {}
        self.loose: list[tuple[int, list[str]]] = []
        self.leaves: dict[str, list[int]] = {}
        self.plain: deque[int] = deque()

    def copy(self) -> Pool:
        """Give one more, as long as nothing was taken of this one."""
        other = Pool()
        other.all, other.inexact, other.loose = self.all, self.inexact, self.loose
        other.exact = {text: deque(queue) for text, queue in self.exact.items()}
        other.plain = deque(self.plain)
        return other

    def sort(self, place: Callable[[int], tuple[bool, int, int]]) -> None:
        """Put the entries in another order, as long as nothing was taken of them."""
        self.exact = {text: deque(sorted(queue, key=place)) for text, queue in self.exact.items()}
        self.plain = deque(sorted(self.plain, key=place))
        self.loose = sorted(self.loose, key=lambda item: place(item[0]))
        self.leaves = {}
