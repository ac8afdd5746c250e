"""A task over its trials: pass rule, statistics, gating score (R21-R28, R35, R46)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from sidecar.grading.reasons import Reason
from sidecar.grading.statistics import mean, pass_at_k, pass_hat_k, rounded
from sidecar.grading.trial import TrialGrade
from sidecar.suite.model import PassRule, Task
from sidecar.suite.summary import Efficiency, EvalTaskResult, TrialCounts


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """How the tasks of a suite are tried.

    Attributes:
        count: Trials of each task.
        k: The k of pass@k and pass^k.
        pass_rule: When a task passes.
        pass_score: The suite's bar, 0 to 1.
        fixtures_serve: Whether fixtures are in use; not in mode `live-shadow` (R40).
    """

    count: int
    k: int
    pass_rule: PassRule
    pass_score: Fraction
    fixtures_serve: bool = True


@dataclass(frozen=True, slots=True)
class TaskNumbers:
    """A task's numbers over its trials, exact.

    Attributes:
        passed_count: Trials that passed.
        score: Mean of the trials' scores.
        gating_score: Mean of the trials' gating scores.
        pass_at_k: R21; None where a trial was not measured: fewer trials are another n.
        pass_hat_k: R21; None where a trial was not measured.
    """

    passed_count: int
    score: Fraction
    gating_score: Fraction
    pass_at_k: Fraction | None
    pass_hat_k: Fraction | None


@dataclass(frozen=True, slots=True)
class TaskGrade:
    """What a task is worth.

    Attributes:
        task_id: The task.
        passed: By the pass rule; never with a trial that was not measured.
        trials: Its trials, by index.
        unmeasured: Indices of the trials that have no score.
        numbers: Over the trials that have one; None where none has.
        result: The task's entry in the summary; None where no trial has a score.
        reasons: What is to be said of the task as a whole.
    """

    task_id: str
    passed: bool
    trials: tuple[TrialGrade, ...]
    unmeasured: tuple[int, ...]
    numbers: TaskNumbers | None
    result: EvalTaskResult | None
    reasons: tuple[Reason, ...]


def grade_task(task: Task, grades: Sequence[TrialGrade], plan: TrialPlan) -> TaskGrade:
    """Grade a task by its trials.

    Args:
        task: The task.
        grades: The trials that the log holds, in any order, no index twice.
        plan: How many there should be, and what makes the task pass.
    """
    trials = tuple(sorted(grades, key=lambda grade: grade.trial_index))
    measured = {grade.trial_index for grade in trials if grade.score is not None}
    unmeasured = tuple(index for index in range(plan.count) if index not in measured)
    numbers = _numbers(trials, plan, whole=not unmeasured) if measured else None
    passed = numbers is not None and not unmeasured and _passes(plan, numbers)
    return TaskGrade(
        task_id=task.task_id,
        passed=passed,
        trials=trials,
        unmeasured=unmeasured,
        numbers=numbers,
        result=_result(task, trials, plan, numbers, passed=passed) if numbers else None,
        reasons=tuple(_reasons(trials, plan, numbers, unmeasured)),
    )


def _numbers(trials: Sequence[TrialGrade], plan: TrialPlan, *, whole: bool) -> TaskNumbers:
    passes = sum(grade.passed for grade in trials)
    return TaskNumbers(
        passed_count=passes,
        score=mean([one.score for one in trials if one.score is not None]),
        gating_score=mean([one.gating_score for one in trials if one.gating_score is not None]),
        pass_at_k=pass_at_k(plan.count, passes, plan.k) if whole else None,
        pass_hat_k=pass_hat_k(plan.count, passes, plan.k) if whole else None,
    )


def _passes(plan: TrialPlan, numbers: TaskNumbers) -> bool:
    """Apply the pass rule (R22); `mean` reads the gating score (RFC 0246 §B)."""
    match plan.pass_rule:
        case "all":
            return numbers.passed_count == plan.count
        case "any":
            return numbers.passed_count >= 1
        case "mean":
            return numbers.gating_score >= plan.pass_score
        case _:
            assert_never(plan.pass_rule)


def _result(
    task: Task,
    trials: Sequence[TrialGrade],
    plan: TrialPlan,
    numbers: TaskNumbers,
    *,
    passed: bool,
) -> EvalTaskResult:
    whole = len(trials) == plan.count
    verdict = trials[-1].trajectory  # R24: of the last trial, that with the highest index
    gated = task.expected.trajectory is not None or numbers.gating_score != numbers.score
    return EvalTaskResult(
        task_id=task.task_id,
        score=float(numbers.score),
        passed=passed,
        cost_usd=_cost(trials) if whole else None,
        latency_ms=_latency(trials) if whole else None,
        schema_valid=_schema_valid(trials) if whole else None,
        trajectory=verdict.counts if verdict else None,
        trials=_trial_counts(plan, numbers),
        efficiency=_efficiency(trials) if whole else None,
        fixture_miss_count=_misses(task, trials, plan),
        gated_score=float(numbers.gating_score) if gated else None,
    )


def _cost(trials: Sequence[TrialGrade]) -> float | None:
    """Add up the trials' costs (R25); unknown where one is."""
    known = [grade.cost for grade in trials if grade.cost is not None]
    return float(sum(known, Fraction(0))) if len(known) == len(trials) else None


def _latency(trials: Sequence[TrialGrade]) -> int | None:
    known = [Fraction(grade.latency_ms) for grade in trials if grade.latency_ms is not None]
    return rounded(mean(known)) if len(known) == len(trials) else None


def _schema_valid(trials: Sequence[TrialGrade]) -> bool | None:
    known = [grade.schema_valid for grade in trials if grade.schema_valid is not None]
    return all(known) if len(known) == len(trials) else None


def _trial_counts(plan: TrialPlan, numbers: TaskNumbers) -> TrialCounts | None:
    if plan.count == 1 or numbers.pass_at_k is None or numbers.pass_hat_k is None:
        return None
    return TrialCounts(
        n=plan.count,
        passed_count=numbers.passed_count,
        mean_score=float(numbers.score),
        pass_at_k=float(numbers.pass_at_k),
        pass_hat_k=float(numbers.pass_hat_k),
    )


def _efficiency(trials: Sequence[TrialGrade]) -> Efficiency | None:
    """Give means over the trials (R35); absent where the log does not tell.

    Model calls are known where the agent reports its usage: in every trial.
    """
    if any(grade.defective for grade in trials):
        return None
    reported = all(grade.usage.calls for grade in trials)

    def over(read: Callable[[TrialGrade], int], *, known: bool) -> float | None:
        return float(mean([Fraction(read(grade)) for grade in trials])) if known else None

    return Efficiency(
        tool_call_count=over(lambda grade: grade.tool_call_count, known=True),
        model_call_count=over(lambda grade: grade.usage.calls, known=reported),
        input_tokens=over(lambda grade: grade.usage.input_tokens, known=reported),
        output_tokens=over(lambda grade: grade.usage.output_tokens, known=reported),
    )


def _misses(task: Task, trials: Sequence[TrialGrade], plan: TrialPlan) -> int | None:
    """Add up the misses (R46): also 0 for a task with fixtures, absent for one without."""
    misses = sum(grade.miss_count for grade in trials)
    if plan.fixtures_serve and (task.fixtures is not None or misses):
        return misses
    return None


def _reasons(
    trials: Sequence[TrialGrade],
    plan: TrialPlan,
    numbers: TaskNumbers | None,
    unmeasured: Sequence[int],
) -> Iterator[Reason]:
    if numbers is None or unmeasured:
        which = ", ".join(str(index + 1) for index in unmeasured)
        noun = "trial" if len(unmeasured) == 1 else "trials"
        yield Reason("not-measured", f"{noun} {which} of {plan.count}: no score in the log")
    else:
        yield _rule_reason(plan, numbers)
    prints = {grade.fingerprint for grade in trials}
    if len(trials) > 1 and len(prints) == 1 and "" not in prints:
        yield Reason(
            "identical-trials",
            f"all {len(trials)} trials made the same calls: they tell no more than one",
        )


def _rule_reason(plan: TrialPlan, numbers: TaskNumbers) -> Reason:
    code = "rule-met" if _passes(plan, numbers) else "rule-not-met"
    match plan.pass_rule:
        case "all" | "any":
            must = "all must" if plan.pass_rule == "all" else "one must"
            text = f"{numbers.passed_count} of {plan.count} trials passed; {must}"
        case "mean":
            text = (
                f"the mean gating score is {float(numbers.gating_score):g}, the bar"
                f" {float(plan.pass_score):g}"
            )
        case _:
            assert_never(plan.pass_rule)
    return Reason(code, text)
