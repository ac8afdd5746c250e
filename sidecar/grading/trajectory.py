"""The verdict on a path: match modes, forbidden tools, counts (RFC 0244 §A, R4-R11).

`exact`: these calls and no others, in this order. `in-order`: these in this order, among
any others. `any-order`: each has a call of its own, among any others. `subset`: no call
but these, repeats allowed, none required. A call to a forbidden tool fails any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from sidecar.grading.candidates import CallIndex, Candidates, ObservedCall, compile_call
from sidecar.grading.explanation import Comparison, explain
from sidecar.grading.matching import NONE, maximum_matching
from sidecar.grading.reasons import Reason, named
from sidecar.suite.model import Trajectory, TrajectoryMode
from sidecar.suite.summary import TrajectoryCounts

_MAX_FORBIDDEN_SHOWN = 5


@dataclass(frozen=True, slots=True)
class TrajectoryVerdict:
    """What a path is worth.

    Attributes:
        counts: The content-free block of the summary.
        indeterminate: Whether the log tells too little to say; then it is no match either.
        reasons: Why, for a match as for a failure; never part of a summary.
    """

    counts: TrajectoryCounts
    indeterminate: bool
    reasons: tuple[Reason, ...]

    @property
    def matched(self) -> bool:
        """Whether the trajectory matched, and no forbidden tool was called."""
        return self.counts.matched


class TrajectoryGrader:
    """Grades the trials of one task against its expected trajectory."""

    def __init__(self, expected: Trajectory) -> None:
        self._expected = expected
        self._calls = [compile_call(call) for call in expected.calls]
        self._forbidden = frozenset(expected.forbidden or ())

    def observed(self, calls: Sequence[ObservedCall], agent_id: str) -> tuple[ObservedCall, ...]:
        """Take from a trial's calls those that are graded (R1, R10).

        The target agent's own, or with `includeDelegates` those of all agents. Forbidden
        tools are looked for among the same calls.
        """
        if self._expected.include_delegates:
            return tuple(calls)
        return tuple(call for call in calls if call.agent_id == agent_id)

    def grade(self, observed: Sequence[ObservedCall]) -> TrajectoryVerdict:
        """Grade one trial's observed calls, in the order of the log."""
        index = CallIndex(observed)
        candidates = [index.candidates(call) for call in self._calls]
        forbidden = [place for place, call in enumerate(observed) if call.tool in self._forbidden]
        path = _Path(self._expected.match, candidates, len(observed))
        fits = path.fits(optimistic=False)
        might = not fits and path.fits(optimistic=True)
        counts = TrajectoryCounts(
            mode=self._expected.match,
            matched=fits and not forbidden,
            expected_count=len(self._calls),
            observed_count=len(observed),
            matched_count=path.matched_count,
            forbidden_count=len(forbidden),
        )
        reasons = self._forbidden_reasons(observed, forbidden)
        if fits:
            reasons += self._agreements(counts)
        else:
            reasons += explain(Comparison(self._expected, self._calls, index, path.columns, might))
        return TrajectoryVerdict(counts, might and not forbidden, tuple(reasons))

    def _forbidden_reasons(
        self, observed: Sequence[ObservedCall], forbidden: Sequence[int]
    ) -> list[Reason]:
        return [
            Reason(
                "forbidden",
                f"step {place + 1} called {named(observed[place].tool)}, which is forbidden",
                step=place + 1,
                tool=observed[place].tool,
            )
            for place in forbidden[:_MAX_FORBIDDEN_SHOWN]
        ]

    def _agreements(self, counts: TrajectoryCounts) -> list[Reason]:
        reasons = [Reason("path-matched", _agreement(counts))]
        if self._forbidden and not counts.forbidden_count:
            reasons.append(Reason("none-forbidden", "no forbidden tool was called"))
        return reasons


class _Path:
    """A trial's calls against the expected ones, under one mode."""

    def __init__(
        self, mode: TrajectoryMode, candidates: Sequence[Candidates], observed: int
    ) -> None:
        self._mode = mode
        self._sure = [one.sure for one in candidates]
        self._possible = [one.sure | one.unknown for one in candidates]
        self._observed = observed

    @cached_property
    def columns(self) -> list[int]:
        """A maximum matching: of each expected call an observed one of its own, or `NONE`."""
        return maximum_matching(self._sure, self._observed)

    @cached_property
    def matched_count(self) -> int:
        """Size of a maximum one-to-one matching, whatever the mode and the order (R11)."""
        # Where all fit in order, or there is nothing to match, no search is needed.
        if _embeds(self._sure):
            return len(self._sure)
        return sum(column != NONE for column in self.columns)

    def fits(self, *, optimistic: bool) -> bool:
        """Tell whether the calls fit the mode (R8), forbidden tools aside.

        Args:
            optimistic: Whether arguments that the log withholds are taken to match.
        """
        rows = self._possible if optimistic else self._sure
        match self._mode:
            case "exact":
                return len(rows) == self._observed and all(
                    row >> place & 1 for place, row in enumerate(rows)
                )
            case "in-order":
                return _embeds(rows)
            case "any-order":
                return _embeds(rows) or NONE not in (
                    maximum_matching(rows, self._observed) if optimistic else self.columns
                )
            case "subset":
                return _covers(rows, self._observed)
            case _:
                assert_never(self._mode)


def _embeds(rows: Sequence[int]) -> bool:
    # The earliest call that fits is never a worse choice than a later one.
    place = 0
    for row in rows:
        rest = row >> place
        if not rest:
            return False
        place += (rest & -rest).bit_length()
    return True


def _covers(rows: Sequence[int], observed: int) -> bool:
    covered = 0
    for row in rows:
        covered |= row
    return covered == (1 << observed) - 1


def _agreement(counts: TrajectoryCounts) -> str:
    made, wanted = counts.observed_count, counts.expected_count
    match counts.mode:
        case "exact":
            return f"exactly the expected calls were made, in order: {made} of {wanted}"
        case "in-order":
            return f"all {wanted} expected calls were made, in order, among {made} calls"
        case "any-order":
            return f"all {wanted} expected calls were made, in any order, among {made} calls"
        case "subset":
            return f"none of {made} calls was beyond the {wanted} expected ones"
        case _:
            assert_never(counts.mode)
