"""The suite's decision and its scorecard (R23, R28-R34)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sidecar.grading.reasons import Reason
from sidecar.grading.statistics import exact, mean, percentile_95, standard_error
from sidecar.grading.task import TaskGrade, TaskNumbers, TrialPlan
from sidecar.grading.trial import TrialGrade
from sidecar.grading.usage import Usage
from sidecar.suite.model import AgentEvalSuite, Task, Thresholds
from sidecar.suite.summary import EvalSummary, TrialStats

NO_CALLS: Final = "no-calls"
"""Code of the reason that no trial made any tool call, though tasks expect some."""

AGENTS_FAILED: Final = "agents-failed"
"""Code of the reason that the agent failed in every trial, and never called a tool."""


@dataclass(frozen=True, slots=True)
class SuiteFacts:
    """What the summary is made from.

    Attributes:
        suite: The suite.
        plan: How its tasks are tried.
        tasks: The grade of each task, in suite order.
        judge_usage: Model calls of judges.
        judged: How many outputs a model judged.
    """

    suite: AgentEvalSuite
    plan: TrialPlan
    tasks: Sequence[TaskGrade]
    judge_usage: Usage
    judged: int = 0

    @property
    def trials(self) -> list[TrialGrade]:
        """All trials of all tasks."""
        return [trial for task in self.tasks for trial in task.trials]

    @property
    def whole(self) -> bool:
        """Whether every trial of every task has a score."""
        return not any(task.unmeasured for task in self.tasks)

    @property
    def seen_all(self) -> bool:
        """Whether the log holds every trial of every task."""
        return len(self.trials) == len(self.tasks) * self.plan.count

    @property
    def silent(self) -> bool:
        """Whether no trial made any tool call, though tasks expect some."""
        return not self.called and any(map(expects_calls, self.suite.tasks))

    @property
    def called(self) -> bool:
        """Whether any trial made a tool call."""
        return any(trial.tool_call_count for trial in self.trials)

    @property
    def agents_failed(self) -> bool:
        """Whether every trial is there, and the agent failed in each."""
        return self.whole and all(trial.agent_failed for trial in self.trials)


def summarise(facts: SuiteFacts) -> tuple[EvalSummary | None, tuple[Reason, ...]]:
    """Make the scorecard, and say why the suite passed or did not.

    Returns:
        The summary, or None where no trial was measured; and the reasons, which are not
        part of it.
    """
    numbers = [task.numbers for task in facts.tasks if task.numbers is not None]
    if not numbers:
        return None, (Reason("nothing-measured", "no trial of any task was measured"),)
    gated = mean([one.gating_score for one in numbers])
    score = mean([one.score for one in numbers])
    cost = _total_cost(facts)
    failures = [
        *_measure_failures(facts),
        *_score_failures(score, gated, facts.plan.pass_score),
        *_cost_failures(cost, facts),
        *_latency_failures(facts),
    ]
    if facts.agents_failed:
        failures = _agent_failures(facts, failures)
    has_path = any(task.expected.trajectory is not None for task in facts.suite.tasks)
    summary = EvalSummary(
        suite_id=facts.suite.suite_id,
        suite_version=facts.suite.version,
        aggregate_score=float(score),
        passed=not failures,
        task_count=len(facts.suite.tasks),
        passed_count=sum(task.passed for task in facts.tasks),
        total_cost_usd=None if cost is None else float(cost),
        tasks=tuple(task.result for task in facts.tasks if task.result is not None),
        trial_stats=_trial_stats(facts, numbers),
        gated_aggregate_score=float(gated) if has_path else None,
    )
    return summary, tuple(failures) or (_passed_reason(gated, facts.plan.pass_score),)


def _measure_failures(facts: SuiteFacts) -> list[Reason]:
    """Say what was not measured: that is never a pass (invariant: nothing measured is green)."""
    missing = [task.task_id for task in facts.tasks if task.unmeasured]
    failures = []
    if missing:
        text = f"{len(missing)} of {len(facts.tasks)} tasks were not measured whole"
        failures.append(Reason("not-measured", f"{text}: {', '.join(missing[:5])}"))
    if facts.silent:
        failures.append(
            Reason(
                NO_CALLS,
                "no trial made any tool call, though tasks expect some:"
                " was the agent given the sidecar's config?",
            )
        )
    return failures


def _agent_failures(facts: SuiteFacts, others: list[Reason]) -> list[Reason]:
    """Say what an agent that failed in every trial comes to (R17, T09).

    One that called tools was measured: it scores 0, and a bar of 0 does not pass it. One that
    did not may never have come to work, so that its zeros measure nothing.
    """
    if facts.called:
        return [Reason("agents-broke-off", "the agent broke off in every trial"), *others]
    return [Reason(AGENTS_FAILED, "the agent failed in every trial")]


def _score_failures(score: Fraction, gated: Fraction, bar: Fraction) -> list[Reason]:
    if gated >= bar:
        return []
    ungated = "" if score == gated else f" (ungated it is {float(score):g})"
    text = f"the gating aggregate is {float(gated):g}, below the bar of {float(bar):g}{ungated}"
    return [Reason("below-bar", text, expected=f"{float(bar):g}", seen=f"{float(gated):g}")]


def _total_cost(facts: SuiteFacts) -> Fraction | None:
    """Add up what all trials and judges cost; unknown where any of it is (R33)."""
    trials = facts.trials
    known = [trial.cost for trial in trials if trial.cost is not None]
    judges = facts.judge_usage
    # Where model calls are logged, a judgement without one hides a cost.
    judges_silent = judges.calls < facts.judged and any(one.usage.calls for one in trials)
    if len(known) < len(trials) or not facts.seen_all or judges.cost is None or judges_silent:
        return None
    return sum(known, judges.cost)


def _cost_failures(cost: Fraction | None, facts: SuiteFacts) -> list[Reason]:
    bar = (facts.suite.thresholds or Thresholds()).max_cost_usd
    if bar is None:
        return []
    if cost is None:
        text = f"maxCostUsd is {bar:g}, but what the run cost is unknown"
        return [Reason("cost-unknown", text)]
    if cost > exact(bar):
        text = f"the run cost {float(cost):g} US dollars, over maxCostUsd, {bar:g}"
        return [Reason("too-dear", text, expected=f"{bar:g}", seen=f"{float(cost):g}")]
    return []


def _latency_failures(facts: SuiteFacts) -> list[Reason]:
    bar = (facts.suite.thresholds or Thresholds()).max_p95_latency_ms
    if bar is None:
        return []
    trials = facts.trials
    known = [trial.latency_ms for trial in trials if trial.latency_ms is not None]
    if len(known) < len(trials) or not facts.seen_all:
        text = f"maxP95LatencyMs is {bar}, but how long trials took is unknown"
        return [Reason("latency-unknown", text)]
    slow = percentile_95(known)
    if slow <= bar:
        return []
    text = f"the 95th percentile of latency is {slow} ms, over maxP95LatencyMs, {bar}"
    return [Reason("too-slow", text, expected=str(bar), seen=str(slow))]


def _trial_stats(facts: SuiteFacts, numbers: Sequence[TaskNumbers]) -> TrialStats | None:
    at_k = [one.pass_at_k for one in numbers if one.pass_at_k is not None]
    hat_k = [one.pass_hat_k for one in numbers if one.pass_hat_k is not None]
    if facts.plan.count == 1 or not facts.whole:
        return None
    return TrialStats(
        k=facts.plan.k,
        pass_at_k=float(mean(at_k)),
        pass_hat_k=float(mean(hat_k)),
        score_stderr=standard_error([one.score for one in numbers]),
    )


def expects_calls(task: Task) -> bool:
    """Tell whether a task expects tool calls: by its trajectory, else by its fixtures."""
    if task.expected.trajectory is not None:
        return bool(task.expected.trajectory.calls)
    return task.fixtures is not None and bool(task.fixtures.tool_responses)


def _passed_reason(gated: Fraction, bar: Fraction) -> Reason:
    text = f"the gating aggregate is {float(gated):g}, the bar {float(bar):g}"
    return Reason("bar-met", text)
