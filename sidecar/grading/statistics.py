"""Exact numbers: means, pass@k, pass^k, standard error, percentiles, tests of pairs.

Scores are decimals that people wrote, so sums and thresholds are computed in fractions and
become floats only where they are reported: three trials at 0.7 have a mean of 0.7 (R32).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, sqrt


def exact(number: float) -> Fraction:
    """Give the decimal that a number was written as: `0.7` is 7/10, not its float (R32)."""
    # Through the float's shortest form: the text of a hostile exponent would fill memory.
    return Fraction(repr(float(number)))


def mean(values: Sequence[Fraction]) -> Fraction:
    """Give the arithmetic mean.

    Raises:
        ValueError: If there is no value.
    """
    if not values:
        raise ValueError("there is no mean of nothing")
    return sum(values, Fraction(0)) / len(values)


def pass_at_k(trials: int, passes: int, k: int) -> Fraction:
    """Estimate the chance that at least one of `k` trials passes (RFC 0244 §B, R21).

    This is 1 - C(n-c, k) / C(n, k), the unbiased estimate over subsets of the trials.

    Args:
        trials: Trials observed, at least `k`.
        passes: How many of them passed, 0 to `trials`.
        k: At least 1.

    Raises:
        ValueError: If the numbers do not fit; with fewer than `k` trials there is no
            estimate, and certainly not 1.
    """
    _check(trials, passes, k)
    return 1 - Fraction(comb(trials - passes, k), comb(trials, k))


def pass_hat_k(trials: int, passes: int, k: int) -> Fraction:
    """Estimate the chance that all of `k` trials pass (RFC 0244 §B, R21).

    This is C(c, k) / C(n, k), unbiased; (c / n) ** k is too high on average.

    Args:
        trials: Trials observed, at least `k`.
        passes: How many of them passed, 0 to `trials`.
        k: At least 1.

    Raises:
        ValueError: If the numbers do not fit.
    """
    _check(trials, passes, k)
    return Fraction(comb(passes, k), comb(trials, k))


def _check(trials: int, passes: int, k: int) -> None:
    if not 1 <= k <= trials or not 0 <= passes <= trials:
        raise ValueError(f"need 1 <= k <= trials, 0 <= passes <= trials: {k=} {trials=} {passes=}")


def standard_error(task_means: Sequence[Fraction]) -> float | None:
    """Give the standard error of the mean over tasks (RFC 0244 §B, R23).

    The sample standard deviation (n - 1) of the tasks' mean scores over the root of n.

    Returns:
        The error, or None with fewer than two tasks, of which it says nothing.
    """
    count = len(task_means)
    if count < 2:  # noqa: PLR2004  # one task has no spread
        return None
    middle = mean(task_means)
    squares = sum(((value - middle) ** 2 for value in task_means), Fraction(0))
    return sqrt(squares / (count - 1) / count)


def percentile_95(values: Sequence[int]) -> int:
    """Give the 95th percentile by nearest rank: the value at place ceil(0.95 n) (R34).

    Raises:
        ValueError: If there is no value.
    """
    if not values:
        raise ValueError("there is no percentile of nothing")
    return sorted(values)[-(-95 * len(values) // 100) - 1]


def rounded(value: Fraction) -> int:
    """Round a number that is not negative to the nearest integer, halves up."""
    return int(value + Fraction(1, 2))


def sign_test(ups: int, downs: int) -> Fraction:
    """Give the two-sided p-value of the exact sign test (R48).

    The chance, if up and down were equally likely, of a split at least as uneven. Exact
    McNemar is the same test on pairs that disagree.

    Args:
        ups: Pairs that went up.
        downs: Pairs that went down; ties are in neither.
    """
    pairs = ups + downs
    tail = sum(comb(pairs, count) for count in range(min(ups, downs) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**pairs))
