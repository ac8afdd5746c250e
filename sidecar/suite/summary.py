"""EvalSummary: the scorecard of an eval run (RFC 0081, 0244, 0245, 0246).

It is content-free by design (`eval-summary-no-content-leak`): ids, enums, counts, scores
and scalars only. Why a trial failed stays on this machine, in the grade's reasons.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from sidecar.suite.model import TrajectoryMode
from sidecar.suite.model_base import (
    LAX,
    Amount,
    Count,
    Delta,
    Method,
    Model,
    ModelClass,
    NodeId,
    Positive,
    RunId,
    Score,
    Str,
    SuiteId,
    TaskId,
    Text,
    Version,
    fails,
    unique,
)

Verdict: TypeAlias = Literal["improved", "regressed", "unchanged", "inconclusive"]


class SafetyFinding(Model):
    """One safety finding: its kind, never its content."""

    kind: Text
    severity: Literal["low", "medium", "high", "critical"]


class TrajectoryCounts(Model):
    """How a trial's path compares with the expected one, in counts only (RFC 0244 §A).

    With trials it is the last trial's, that with the highest index (R24).

    Attributes:
        mode: The match mode.
        matched: Whether the trajectory matched, and no forbidden tool was called.
        expected_count: Expected calls.
        observed_count: Observed calls, forbidden ones included.
        matched_count: Size of a maximum one-to-one matching, whatever the mode and order.
        forbidden_count: Observed calls to forbidden tools.
    """

    mode: TrajectoryMode
    matched: bool
    expected_count: Count
    observed_count: Count
    matched_count: Count
    forbidden_count: Count


class TrialCounts(Model):
    """A task's trials (RFC 0244 §B).

    Attributes:
        n: Trials.
        passed_count: Trials that passed.
        mean_score: Arithmetic mean of the trials' scores.
        pass_at_k: Unbiased estimate that at least one of k trials passes.
        pass_hat_k: Unbiased estimate that all of k trials pass.
    """

    n: Count
    passed_count: Count
    mean_score: Score
    pass_at_k: Score
    pass_hat_k: Score


class Efficiency(Model):
    """Means over a task's trials; reported, never gating (RFC 0244 §C).

    What could not be observed is absent, not 0 (R35).

    Attributes:
        tool_call_count: Tool calls inside the brackets, all agents.
        model_call_count: Model calls inside the brackets, judges excluded.
        input_tokens: Tokens in.
        output_tokens: Tokens out.
    """

    tool_call_count: Amount | None = None
    model_call_count: Amount | None = None
    input_tokens: Amount | None = None
    output_tokens: Amount | None = None


class EvalTaskResult(Model):
    """One task of the scorecard.

    Attributes:
        score: The task's score; with trials their mean. A measurement, never gated.
        passed: Whether the task passed under the suite's pass rule.
        cost_usd: Cost of all trials, US dollars.
        latency_ms: Mean over the trials, milliseconds.
        schema_valid: Whether every output was valid against the agent's return schema.
        fixture_miss_count: Calls that no fixture answered, over all trials.
        gated_score: The score that the pass decisions read (RFC 0246); on every task with
            a trajectory, also where it equals `score`.
    """

    task_id: TaskId
    score: Score
    passed: bool
    cost_usd: Amount | None = None
    latency_ms: Count | None = None
    schema_valid: bool | None = None
    safety_findings: Annotated[tuple[SafetyFinding, ...], LAX] | None = None
    trajectory: TrajectoryCounts | None = None
    trials: TrialCounts | None = None
    efficiency: Efficiency | None = None
    fixture_miss_count: Count | None = None
    gated_score: Score | None = None


class TrialStats(Model):
    """Trial statistics of the suite: means over tasks (RFC 0244 §B).

    Attributes:
        k: The k of pass@k and pass^k.
        score_stderr: Standard error of `aggregateScore`, clustered by task; absent with
            fewer than two tasks.
    """

    k: Positive
    pass_at_k: Score
    pass_hat_k: Score
    score_stderr: Amount | None = None


class Regression(Model):
    """Comparison with a baseline run, paired by task (RFC 0244 §F).

    Attributes:
        baseline_run_id: The run compared against.
        score_delta: This run's `aggregateScore` minus the baseline's, both ungated.
        diff_ref: Where the difference of the two runs can be read.
        verdict: What the method says of the pairs at `alpha`.
        method: Name of the statistical method; mandatory with a verdict.
        alpha: Significance level, 0 to 1.
        paired_task_count: Tasks that are in both runs.
    """

    baseline_run_id: RunId
    score_delta: Delta
    diff_ref: Str | None = None
    verdict: Verdict | None = None
    method: Method | None = None
    alpha: Score | None = None
    paired_task_count: Count | None = None


class EvalSummary(Model):
    """The scorecard of one eval run.

    Attributes:
        aggregate_score: Arithmetic mean of the tasks' scores; a measurement, never gated.
        passed: Whether the gating aggregate and the declared cost and latency bars hold.
        task_count: Tasks of the suite, not trials.
        total_cost_usd: Cost of all trials and judges, US dollars; absent where unknown.
        tasks: The tasks that were measured, in suite order.
        pinned_node_ids: Nodes whose outputs were mocked: ids, never values.
        gated_aggregate_score: The aggregate that `passed` reads (RFC 0246 §D); present
            exactly where a task has an expected trajectory.
    """

    suite_id: SuiteId
    suite_version: Version
    evaluated_model_class: ModelClass | None = None
    aggregate_score: Score
    passed: bool
    task_count: Count
    passed_count: Count
    total_cost_usd: Amount | None = None
    tasks: Annotated[tuple[EvalTaskResult, ...], LAX]
    pinned_node_ids: Annotated[tuple[NodeId, ...], LAX, AfterValidator(unique)] | None = Field(
        default=None, json_schema_extra={"uniqueItems": True}
    )
    regression: Regression | None = None
    trial_stats: TrialStats | None = None
    gated_aggregate_score: Score | None = None

    @model_validator(mode="after")
    def _counts_fit(self) -> Self:
        if self.passed_count > self.task_count:
            raise fails(
                "passed-count",
                f"passedCount is {self.passed_count}, more than taskCount, {self.task_count}",
                "/passedCount",
            )
        return self

    def task(self, task_id: str) -> EvalTaskResult | None:
        """Find a task's result by the task's id."""
        return next((task for task in self.tasks if task.task_id == task_id), None)
