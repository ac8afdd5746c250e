"""Comparison of a run with a baseline run of the same suite, paired by task (RFC 0244 §F, R48).

All arithmetic is exact. The bootstrap draws from a hash stream with a fixed seed, so that
the same two summaries always give the same verdict.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import shake_128
from math import lcm
from typing import Final, Literal, NamedTuple, TypeAlias, assert_never, get_args

from sidecar.errors import SuiteError
from sidecar.grading.reasons import Reason
from sidecar.grading.statistics import exact, sign_test
from sidecar.suite.summary import EvalSummary, EvalTaskResult, Regression, Verdict

MethodName: TypeAlias = Literal["sign-test", "paired-bootstrap", "mcnemar"]

METHODS: Final[tuple[MethodName, ...]] = get_args(MethodName)
RESAMPLES: Final = 2000
"""Resamples of the bootstrap: the 2.5 % tail then rests on 50 of them."""

_SEED: Final = b"mcp-sidecar paired bootstrap 1"
_GATED: Final = "-gated"


@dataclass(frozen=True, slots=True)
class RegressionOptions:
    """How runs are compared.

    Attributes:
        method: The statistical method.
        alpha: Significance level, over 0 and under 1.
        diff_ref: Where the difference of the two runs can be read, or None.
    """

    method: MethodName = "sign-test"
    alpha: float = 0.05
    diff_ref: str | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """A run that another one is compared with.

    Attributes:
        summary: Its summary.
        run_id: Its id.
        options: How the two are compared.
    """

    summary: EvalSummary
    run_id: str
    options: RegressionOptions = RegressionOptions()  # frozen


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison found.

    Attributes:
        regression: The summary's block.
        reasons: The verdict in words; never part of a summary.
    """

    regression: Regression
    reasons: tuple[Reason, ...]


class _Pair(NamedTuple):
    before: EvalTaskResult
    now: EvalTaskResult


def compare_runs(
    summary: EvalSummary,
    baseline: EvalSummary,
    *,
    baseline_run_id: str,
    options: RegressionOptions = RegressionOptions(),  # frozen
) -> Comparison:
    """Compare a run with a baseline.

    Args:
        summary: This run's.
        baseline: The baseline's; tasks are paired by `taskId`, others are left out.
        baseline_run_id: Id of the baseline run.
        options: Method and level.

    Raises:
        SuiteError: If the two are not of the same suite and version: only like is compared
            with like.
    """
    check_same_suite((summary.suite_id, summary.suite_version), baseline)
    before = {task.task_id: task for task in baseline.tasks}
    pairs = [_Pair(before[task.task_id], task) for task in summary.tasks if task.task_id in before]
    verdict, said = _verdict(pairs, options)
    delta = exact(summary.aggregate_score) - exact(baseline.aggregate_score)
    regression = Regression(
        baseline_run_id=baseline_run_id,
        score_delta=float(delta),
        diff_ref=options.diff_ref,
        verdict=verdict,
        method=_method(pairs, options.method),
        alpha=options.alpha,
        paired_task_count=len(pairs),
    )
    return Comparison(regression, (Reason(verdict, f"{verdict}: {said}"),))


def check_same_suite(suite: tuple[str, str], baseline: EvalSummary) -> None:
    """Refuse a baseline of another suite or version.

    Args:
        suite: The id and the version of the suite that is run.
        baseline: The baseline's summary.

    Raises:
        SuiteError: If the two differ.
    """
    before = (baseline.suite_id, baseline.suite_version)
    if suite != before:
        raise SuiteError(
            f"the baseline is of suite {before[0]} {before[1]}, this run of {suite[0]} {suite[1]}",
            hint="run the baseline again with this version of the suite",
        )


def basis(task: EvalTaskResult) -> Fraction:
    """Give the number of a task that runs are compared by (R48; the RFC is silent).

    The gated score where there is one: else a run whose every path begins to fail would
    count as unchanged.
    """
    return exact(task.score if task.gated_score is None else task.gated_score)


def _method(pairs: Sequence[_Pair], method: MethodName) -> str:
    gated = any(task.gated_score is not None for pair in pairs for task in pair)
    return method + _GATED if gated and method != "mcnemar" else method


def _verdict(pairs: Sequence[_Pair], options: RegressionOptions) -> tuple[Verdict, str]:
    if not pairs:
        return "inconclusive", "the two runs have no task in common"
    differences = _differences(pairs, options.method)
    ups = sum(one > 0 for one in differences)
    downs = sum(one < 0 for one in differences)
    said = f"of {len(pairs)} paired tasks {ups} went up and {downs} down"
    if not ups and not downs:
        return "unchanged", said
    alpha = exact(options.alpha)
    match options.method:
        case "sign-test" | "mcnemar":
            p = sign_test(ups, downs)
            tells, upwards = p <= alpha, ups > downs
            said += f" (exact test, p = {float(p):.4g}, alpha {options.alpha:g})"
        case "paired-bootstrap":
            low, high = _interval(differences, alpha)
            # Fewer pairs than the exact test needs at best tell nothing, whatever is drawn.
            enough = sign_test(ups + downs, 0) <= alpha
            tells, upwards = enough and (low > 0 or high < 0), low > 0
            said += f" (bootstrap of the mean, {float(low):.4g} to {float(high):.4g})"
        case _:
            assert_never(options.method)
    if not tells:
        return "inconclusive", said
    return ("improved" if upwards else "regressed"), said


def _differences(pairs: Sequence[_Pair], method: MethodName) -> list[Fraction]:
    if method == "mcnemar":
        return [Fraction(pair.now.passed - pair.before.passed) for pair in pairs]
    return [basis(pair.now) - basis(pair.before) for pair in pairs]


def _interval(differences: Sequence[Fraction], alpha: Fraction) -> tuple[Fraction, Fraction]:
    """Give the bootstrap interval of the mean difference, percentile method."""
    scale = lcm(*(one.denominator for one in differences))
    whole = [int(one * scale) for one in differences]
    sums = sorted(sum(whole[index] for index in draw) for draw in _draws(len(whole)))
    tail = int(alpha * RESAMPLES / 2)
    unit = scale * len(whole)
    return Fraction(sums[tail], unit), Fraction(sums[-1 - tail], unit)


def _draws(count: int) -> Iterator[list[int]]:
    """Give each resample as places among `count` tasks, drawn with replacement."""
    words = struct.Struct(f"<{count}I")
    for resample in range(RESAMPLES):
        stream = shake_128(_SEED + resample.to_bytes(4, "little")).digest(words.size)
        yield [word * count >> 32 for word in words.unpack(stream)]
