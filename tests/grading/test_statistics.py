"""Exact numbers, against the tables of the RFCs and of other implementations."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.grading.statistics import (
    exact,
    mean,
    pass_at_k,
    pass_hat_k,
    percentile_95,
    rounded,
    sign_test,
    standard_error,
)

TRIALS = st.integers(1, 40).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))
)


@pytest.mark.parametrize(
    ("n", "c", "k", "at", "hat"),
    [
        pytest.param(5, 4, 3, 1, Fraction(2, 5), id="R21 the RFC's own example"),
        pytest.param(5, 5, 3, 1, 1, id="R21 5,5,3"),
        pytest.param(5, 0, 3, 0, 0, id="R21 5,0,3"),
        pytest.param(5, 2, 3, Fraction(9, 10), 0, id="R21 5,2,3"),
        pytest.param(5, 3, 3, 1, Fraction(1, 10), id="R21 5,3,3"),
        pytest.param(5, 1, 1, Fraction(1, 5), Fraction(1, 5), id="R21 5,1,1"),
        pytest.param(3, 2, 2, 1, Fraction(1, 3), id="R21 the conformance fixture's shape"),
        pytest.param(3, 1, 2, Fraction(2, 3), 0, id="R21 3,1,2"),
        pytest.param(1, 1, 1, 1, 1, id="R21 1,1,1"),
        pytest.param(1, 0, 1, 0, 0, id="R21 1,0,1"),
        pytest.param(4, 3, 3, 1, Fraction(1, 4), id="R21 4,3,3"),
        pytest.param(10, 7, 3, Fraction(119, 120), Fraction(7, 24), id="R21 10,7,3"),
        pytest.param(20, 15, 3, Fraction(113, 114), Fraction(91, 228), id="R21 20,15,3"),
        pytest.param(4, 1, 4, 1, 0, id="T04 without replacement"),
    ],
)
def test_pass_at_k_and_pass_hat_k_are_the_rfcs_fractions(
    n: int, c: int, k: int, at: Fraction, hat: Fraction
) -> None:
    assert (pass_at_k(n, c, k), pass_hat_k(n, c, k)) == (at, hat)


@pytest.mark.parametrize(
    ("n", "c", "k", "at", "hat"),
    [
        (1, 0, 1, 0.0, 0.0),
        (1, 1, 1, 1.0, 1.0),
        (3, 2, 2, 1.0, 0.3333333333333333),
        (5, 4, 3, 1.0, 0.4),
        (5, 3, 3, 1.0, 0.1),
        (5, 2, 3, 0.9, 0.0),
        (5, 0, 3, 0.0, 0.0),
        (5, 5, 5, 1.0, 1.0),
        (8, 6, 3, 1.0, 0.35714285714285715),
        (10, 7, 3, 0.9916666666666667, 0.2916666666666667),
        (10, 3, 5, 0.9166666666666666, 0.0),
        (10, 1, 10, 1.0, 0.0),
        (20, 15, 8, 1.0, 0.05108359133126935),
        (100, 42, 10, 0.9969856412742761, 8.500385141598813e-05),
        (200, 150, 50, 1.0, 4.435009220681606e-08),
    ],
)
def test_r21_agrees_with_inspect_ai_and_holdline(
    n: int, c: int, k: int, at: float, hat: float
) -> None:
    assert float(pass_at_k(n, c, k)) == pytest.approx(at, rel=1e-9)
    assert float(pass_hat_k(n, c, k)) == pytest.approx(hat, rel=1e-9)


def test_the_rfcs_aside_holds_at_75_percent_a_trial() -> None:
    assert Fraction(3, 4) ** 3 == exact(0.421875)


@pytest.mark.parametrize(
    ("n", "c", "k"),
    [
        pytest.param(2, 0, 5, id="T01 fewer trials than k"),
        pytest.param(99, 0, 100, id="T01 99 of 100"),
        pytest.param(0, 0, 1, id="T01 no trial"),
        pytest.param(3, 4, 1, id="more passes than trials"),
        pytest.param(3, -1, 1, id="fewer than none"),
        pytest.param(3, 1, 0, id="k of 0"),
    ],
)
def test_numbers_that_do_not_fit_give_no_estimate(n: int, c: int, k: int) -> None:
    for estimate in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="need 1 <= k"):
            estimate(n, c, k)


@given(TRIALS)
def test_both_estimates_are_shares_of_subsets(trial: tuple[int, int, int]) -> None:
    n, c, k = trial

    at, hat = pass_at_k(n, c, k), pass_hat_k(n, c, k)

    assert 0 <= hat <= Fraction(c, n) <= at <= 1
    assert hat == 1 - pass_at_k(n, n - c, k)
    if k > 1:
        assert at >= pass_at_k(n, c, k - 1)
        assert hat <= pass_hat_k(n, c, k - 1)


@pytest.mark.parametrize(
    ("means", "error"),
    [
        pytest.param([0.8, 0.4], 0.2, id="R23 two tasks"),
        pytest.param([1, 0.5, 0], 0.288675134594813, id="R23 three"),
        pytest.param([1, 1], 0.0, id="R23 no spread"),
        pytest.param([0.8, 0.6, 1.0, 0.4], 0.129099444873581, id="R23 four"),
        pytest.param([0.8, 1.0], 0.1, id="inspect-ai two"),
        pytest.param([0.8, 1.0, 0.0, 0.5], 0.21746647251166482, id="inspect-ai four"),
        pytest.param([0.1, 0.2, 0.3, 0.4, 0.5], 0.07071067811865475, id="inspect-ai five"),
        pytest.param([1, 1, 1], 0.0, id="inspect-ai no spread"),
    ],
)
def test_the_standard_error_is_clustered_by_task(means: list[float], error: float) -> None:
    assert standard_error([exact(one) for one in means]) == pytest.approx(error, abs=1e-9)


@pytest.mark.parametrize("means", [[], [0.5]])
def test_r23_fewer_than_two_tasks_have_no_standard_error(means: list[float]) -> None:
    assert standard_error([exact(one) for one in means]) is None


@pytest.mark.parametrize(
    ("score", "count"),
    [
        pytest.param(0.7, 3, id="R32 three at 0.7"),
        pytest.param(0.8, 6, id="R32 six at 0.8"),
        pytest.param(0.2, 7, id="R32 seven at 0.2"),
        pytest.param(0.6, 10, id="R32 ten at 0.6"),
        pytest.param(0.1, 3, id="R32 three at 0.1"),
    ],
)
def test_equal_scores_have_that_mean_exactly(score: float, count: int) -> None:
    assert mean([exact(score)] * count) == exact(score)


def test_r32_no_epsilon_lifts_a_score_over_the_bar() -> None:
    assert mean([exact(0.6999999999)]) < exact(0.7)
    assert exact(0.8999999999) < exact(0.9)


@pytest.mark.parametrize(
    ("number", "fraction"),
    [(0.7, Fraction(7, 10)), (1, Fraction(1)), (1e-7, Fraction(1, 10**7)), (0.0, Fraction(0))],
)
def test_a_number_is_the_decimal_it_was_written_as(number: float, fraction: Fraction) -> None:
    assert exact(number) == fraction


def test_there_is_no_mean_of_nothing() -> None:
    with pytest.raises(ValueError, match=r"^there is no mean of nothing$"):
        mean([])


@pytest.mark.parametrize(
    ("values", "value"),
    [
        pytest.param([7], 7, id="R34 one"),
        pytest.param([2, 1], 2, id="R34 two"),
        pytest.param(list(range(1, 21)), 19, id="R34 20: the 19th"),
        pytest.param(list(range(1, 22)), 20, id="R34 21: the 20th"),
        pytest.param(list(range(100, 0, -1)), 95, id="R34 100: the 95th"),
        pytest.param(list(range(1, 1001)), 950, id="R34 1,000: the 950th"),
    ],
)
def test_the_95th_percentile_is_the_nearest_rank(values: list[int], value: int) -> None:
    assert percentile_95(values) == value


def test_there_is_no_percentile_of_nothing() -> None:
    with pytest.raises(ValueError, match=r"^there is no percentile of nothing$"):
        percentile_95([])


@pytest.mark.parametrize(
    ("value", "whole"), [("5/2", 3), ("7/3", 2), ("8/3", 3), ("0", 0), ("4", 4)]
)
def test_halves_are_rounded_up(value: str, whole: int) -> None:
    assert rounded(Fraction(value)) == whole


@pytest.mark.parametrize(
    ("ups", "downs", "p"),
    [
        pytest.param(0, 8, 0.0078125, id="R48 0,8"),
        pytest.param(0, 6, 0.03125, id="R48 0,6"),
        pytest.param(0, 5, 0.0625, id="R48 0,5"),
        pytest.param(7, 0, 0.015625, id="R48 7,0"),
        pytest.param(8, 1, 0.0390625, id="R48 8,1"),
        pytest.param(3, 3, 1.0, id="R48 3,3"),
        pytest.param(0, 0, 1.0, id="holdline 0,0"),
        pytest.param(4, 0, 0.125, id="holdline 4,0"),
        pytest.param(5, 0, 0.0625, id="holdline 5,0"),
        pytest.param(6, 1, 0.125, id="holdline 6,1"),
        pytest.param(10, 3, 0.09228515625, id="holdline 10,3"),
        pytest.param(1, 9, 0.021484375, id="holdline 1,9"),
    ],
)
def test_the_sign_test_is_exact(ups: int, downs: int, p: float) -> None:
    assert sign_test(ups, downs) == exact(p)
