"""Payloads of the run events that are written and graded (RFC 0064, 0077, 0026, 0081, 0244).

Closed, except that most of them (marked with a dagger in the RFCs, here `Extensible`) also
take keys that begin with `x-`, `openwop-` or `vendor.`: carried as they came, never read
for anything but what this product wrote itself.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, model_validator

from sidecar.cassette.arguments import ABSENT, Absent
from sidecar.suite.model_base import (
    V1,
    Amount,
    Count,
    Currency,
    Delta,
    EvalMode,
    Label,
    Model,
    NodeId,
    Positive,
    RunId,
    Score,
    Str,
    Text,
    TraceId,
    UncheckedJson,
    fails,
    unique,
)
from sidecar.wire.json_text import JsonValue

OUTPUT: Final = "x-sidecar-output"
"""On invocation-completed: the agent's output, any JSON value, so that a golden score can
be computed again from the log alone."""

FAILURE: Final = "x-sidecar-failure"
"""On invocation-completed: one short text that says how the agent failed."""

CRITERIA: Final = "x-sidecar-criteria-met"
"""On eval.scored: of each criterion of the rubric, in its order, whether the judge found it
met, so that a rubric score can be computed again from the log alone, and nobody asks twice."""

UNJUDGED: Final = "mcp-sidecar.trial-unjudged"
"""Event type of ours, in place of eval.scored: a trial whose judge gave no judgement."""

_EXTENSION = re.compile(r"(openwop-|x-|vendor\.)")


class Extensible(Model):
    """A payload that also takes extension keys."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "patternProperties": {r"^(openwop-|x-|vendor\.)": {}},
            "additionalProperties": False,
        },
    )

    def extension(self, key: str) -> JsonValue | Absent:
        """Give the value of an extension key, or `ABSENT`."""
        return (self.__pydantic_extra__ or {}).get(key, ABSENT)

    @model_validator(mode="after")
    def _takes_extensions_only(self, info: ValidationInfo) -> Self:
        if self.__pydantic_extra__ and not (info.context and info.context.get(V1)):
            for key in self.__pydantic_extra__:
                if not _EXTENSION.match(key):
                    raise fails("unknown-key", f"unknown key {key!r}", f"/{key}")
        return self


class ToolCalled(Extensible):
    """`agent.tool-called`: an agent asks for a tool.

    Attributes:
        tool_name: `<server>:<tool>`, compared with an expected call's `tool`.
        call_id: Pairs this event with its return.
        inputs: The arguments; absent in a content-free log.
        args_hash: Never graded on: hosts compute it differently.
    """

    agent_id: NodeId
    tool_name: Text
    call_id: Text
    inputs: UncheckedJson = None
    args_hash: Str | None = None
    principal: Str | None = None
    transport: Literal["mcp", "http", "native"] | None = None
    causation_host_id: Text | None = None


class ErrorObject(Extensible):
    """Why a tool call failed: a code, and one short fixed text."""

    code: Text
    message: Text
    details: dict[str, Any] | None = None
    retryable: bool | None = None


class ToolReturned(Extensible):
    """`agent.tool-returned`: what a tool call was answered with, never both of the two.

    Attributes:
        outcome: The result of a call that succeeded.
        error: The failure of a call that did not.
        duration_ms: Milliseconds from call to answer, recorded.
    """

    agent_id: NodeId
    tool_name: Text
    call_id: Text
    outcome: UncheckedJson = None
    error: ErrorObject | None = None
    status: Literal["ok", "error", "forbidden", "rate_limited"] | None = None
    duration_ms: Count | None = None
    causation_host_id: Text | None = None

    @model_validator(mode="after")
    def _has_one_of_the_two(self) -> Self:
        if self.error is not None and self.has("outcome"):
            raise fails("outcome-or-error", "a tool-returned carries outcome or error, not both")
        return self


class InvocationStarted(Extensible):
    """`agent.invocation-started`: opens an agent's bracket, around a trial."""

    invocation_id: Text
    agent_id: NodeId
    source: Literal["workflow-node", "run-api", "chat-mention"]
    model_class: Str | None = None
    resolved_model: Str | None = None
    resolved_provider: Str | None = None
    resolved_agent_version: Str | None = None
    resolved_channel: Str | None = None
    tool_surface_count: Count | None = None
    memory_bound: bool | None = None


class InvocationCompleted(Extensible):
    """`agent.invocation-completed`: closes the bracket of the same `invocationId`."""

    invocation_id: Text
    agent_id: NodeId
    outcome: Literal["completed", "handed-off", "escalated", "refused", "failed"]
    schema_validated: bool | None = None
    confidence: Score | None = None
    enqueued_run_id: RunId | None = None


class ProviderUsage(Model):
    """`provider.usage`: one model call; closed, without extensions.

    Attributes:
        cost_estimate_usd: Estimated cost; absent where unknown.
        currency: Where given, the cost is in this currency instead of US dollars.
        cache_hit: Whether the answer came from a cache; the tokens are the first call's.
    """

    provider: Text
    model: Text
    input_tokens: Count
    output_tokens: Count
    total_tokens: Count | None = None
    cost_estimate_usd: Amount | None = None
    currency: Currency | None = None
    cache_hit: bool | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    node_id: NodeId | None = None
    trace_id: TraceId | None = None


class EvalStarted(Extensible):
    """`eval.started`: once, first.

    Attributes:
        trial_count: Trials of each task; required whenever it is more than 1.
    """

    suite_id: Text
    suite_version: Text
    task_count: Count
    modes: Annotated[
        tuple[EvalMode, ...],
        Field(strict=False, json_schema_extra={"uniqueItems": True}),
        AfterValidator(unique),
    ]
    baseline_run_id: RunId | None = None
    trial_count: Positive | None = None
    fixture_runs: dict[str, RunId] | None = None


class EvalScored(Extensible):
    """`eval.scored`: once per task and trial, after that trial's bracket.

    Attributes:
        score: The trial's score, 0 to 1: a recorded fact, never gated.
        passed: Whether the trial passed.
        cost_usd: Cost of the trial, US dollars.
        latency_ms: Duration of the trial, milliseconds.
        trial_index: From 0, contiguous; may be absent where each task has one trial.
        score_label: A word of few values, such as `pass`; never prose.
    """

    task_id: Text
    score: Score
    passed: bool
    cost_usd: Amount | None = None
    latency_ms: Count | None = None
    schema_valid: bool | None = None
    safety_finding_count: Count | None = None
    trial_index: Count | None = None
    score_label: Label | None = None
    evaluator_type: Literal["deterministic", "llm_judge", "human"] | None = None


class EvalCompleted(Extensible):
    """`eval.completed`: once, after all tasks; `passed` is the gated decision."""

    aggregate_score: Score
    passed: bool
    task_count: Count
    passed_count: Count
    regression_vs_baseline: Delta | None = None


class TrialUnjudged(Extensible):
    """A trial that has no score, since its judge gave no judgement: not measured, and not 0.

    Attributes:
        task_id: The task.
        trial_index: From 0; absent where each task has one trial.
        why: In a few words of the runner's own; never the judge's.
    """

    task_id: Text
    trial_index: Count | None = None
    why: Text


PAYLOADS: Final[dict[str, type[Model]]] = {
    "agent.tool-called": ToolCalled,
    "agent.tool-returned": ToolReturned,
    "agent.invocation-started": InvocationStarted,
    "agent.invocation-completed": InvocationCompleted,
    "provider.usage": ProviderUsage,
    "eval.started": EvalStarted,
    "eval.scored": EvalScored,
    "eval.completed": EvalCompleted,
    UNJUDGED: TrialUnjudged,
}
"""The payload model of each event type that is read; other types are tolerated."""
