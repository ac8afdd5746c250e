"""Model calls, tokens and cost of a trial, each unknown where the log does not tell (R33, R35)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sidecar.grading.statistics import exact
from sidecar.suite.payloads import ProviderUsage

_US_DOLLARS: Final = "USD"


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls used, added up.

    Attributes:
        calls: Model calls that were logged; 0 means that none was, not that none was made.
        input_tokens: Tokens in.
        output_tokens: Tokens out.
        cost: US dollars, or None where the cost of any call is unknown.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Fraction | None = Fraction(0)

    def plus(self, call: ProviderUsage) -> Usage:
        """Add one model call. A cost that is absent, or in another currency, is unknown."""
        cost = self.cost
        if call.cost_estimate_usd is None or call.currency not in {None, _US_DOLLARS}:
            cost = None
        elif cost is not None:
            cost += exact(call.cost_estimate_usd)
        return Usage(
            self.calls + 1,
            self.input_tokens + call.input_tokens,
            self.output_tokens + call.output_tokens,
            cost,
        )


NO_USAGE: Final = Usage()
"""No model call was logged."""
