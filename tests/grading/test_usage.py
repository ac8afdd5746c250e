"""Tokens and cost add up, and stay unknown where one is."""

from fractions import Fraction

import pytest

from sidecar.grading.usage import NO_USAGE, Usage
from sidecar.suite.payloads import ProviderUsage
from tests.eval_data import Json


def used(**more: Json) -> ProviderUsage:
    return ProviderUsage(provider="p", model="m", input_tokens=10, output_tokens=5, **more)


def test_r33_costs_add_up_exactly() -> None:
    usage = NO_USAGE
    for _ in range(10):
        usage = usage.plus(used(cost_estimate_usd=0.1))

    assert usage == Usage(10, 100, 50, Fraction(1))


@pytest.mark.parametrize(
    "unknown",
    [
        pytest.param({}, id="R33 no estimate"),
        pytest.param({"cost_estimate_usd": 0.1, "currency": "EUR"}, id="R33 another currency"),
    ],
)
def test_an_unknown_cost_makes_the_sum_unknown(unknown: Json) -> None:
    usage = NO_USAGE.plus(used(**unknown)).plus(used(cost_estimate_usd=0.1))

    assert usage == Usage(2, 20, 10, None)


def test_r33_us_dollars_may_be_named() -> None:
    assert NO_USAGE.plus(used(cost_estimate_usd=0.1, currency="USD")).cost == Fraction(1, 10)
