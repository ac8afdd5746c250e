"""AgentEvalSuite: the tasks, what is expected of them, and the fixtures they run on.

Sources: OpenWOP RFC 0081 (base), 0244 (trajectory, trials, fixture matching), 0245
(`isError`). The objects are closed, without an extension hatch: product-specific data
lives beside the suite, never in it. V1-V7 are the cross-field rules that a JSON Schema of
the suite does not hold.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from sidecar.cassette.arguments import ABSENT, Absent, ArgsMatch
from sidecar.suite.model_base import (
    LAX,
    Amount,
    Count,
    EvalMode,
    FreeJson,
    Model,
    ModelClass,
    NodeId,
    Positive,
    Score,
    SuiteId,
    TaskId,
    Text,
    Version,
    fails,
    unique,
)
from sidecar.wire.json_text import JsonValue

TrajectoryMode: TypeAlias = Literal["exact", "in-order", "any-order", "subset"]
PassRule: TypeAlias = Literal["all", "any", "mean"]
Strategy: TypeAlias = Literal["exact", "contains", "json-match"]


class _Call(Model):
    """What expected calls and fixture entries share: a tool, and how arguments compare."""

    tool: Text
    args: FreeJson = None
    args_match: Literal["exact", "subset", "ignore"] | None = None  # an `ArgsMatch`, to pydantic

    @property
    def matching(self) -> ArgsMatch:
        """How arguments are compared; `ignore` where `argsMatch` is absent, even with args."""
        return self.args_match or "ignore"

    @property
    def arguments(self) -> JsonValue | Absent:
        """The arguments, or `ABSENT` where there are none."""
        return self.args if self.has("args") else ABSENT

    @model_validator(mode="after")
    def _compares_something(self) -> Self:
        if self.matching != "ignore" and not self.has("args"):
            raise fails(
                "V7",
                f"argsMatch is {self.matching!r}, but there are no args to compare",
                "/argsMatch",
            )
        return self


class ExpectedCall(_Call):
    """One call of an expected trajectory (RFC 0244 §A).

    Attributes:
        tool: `<server>:<tool>`, compared exactly; no patterns.
        args: The arguments; compared only where `argsMatch` is `exact` or `subset`.
        args_match: `exact`: deep equality. `subset`: every key path of `args` is there with
            an equal value, more is allowed. `ignore`, also where absent: not compared.
    """


class Trajectory(Model):
    """The tool calls that a task expects (RFC 0244 §A).

    Attributes:
        match: `exact`: these calls and no others, in this order. `in-order`: these, in
            this order, among any others. `any-order`: these, in any order, among any
            others. `subset`: no calls but these; repeats are allowed, none is required.
        calls: The expected calls; may be empty (R9).
        forbidden: Tools of which any call fails the trajectory, whatever the mode.
        include_delegates: Whether calls of other agents within the trial count too.
    """

    match: TrajectoryMode
    calls: Annotated[tuple[ExpectedCall, ...], LAX]
    forbidden: Annotated[tuple[Text, ...], LAX, AfterValidator(unique)] | None = Field(
        default=None, json_schema_extra={"uniqueItems": True}
    )
    include_delegates: bool | None = None


class GoldenMatch(Model):
    """How an output is compared with the golden value (RFC 0081).

    Attributes:
        strategy: `exact`: the output as text is the value as text. `contains`: it contains
            it. `json-match`: the two are deeply equal as JSON.
        value: The golden value, any JSON.
    """

    strategy: Strategy
    value: FreeJson


class Criterion(Model):
    """One criterion of a rubric.

    Attributes:
        criterion: What a judge is to look for.
        weight: Its share of the score, 0 to 1; all should sum to 1.
    """

    criterion: Text
    weight: Score


class Expected(Model):
    """What a task expects: an output, a judgement, or a path.

    Attributes:
        kind: `golden`: the output is compared. `rubric`: a judge scores it. `trajectory`:
            the path alone is graded.
        match: How the output is compared; with kind `golden`.
        rubric: What a judge looks for; with kind `rubric`.
        trajectory: The path; with kind `trajectory`, or as a condition beside the others.
    """

    kind: Literal["golden", "rubric", "trajectory"]
    match: GoldenMatch | None = None
    rubric: Annotated[tuple[Criterion, ...], Field(min_length=1, strict=False)] | None = None
    trajectory: Trajectory | None = None

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self) -> Self:
        if self.kind == "trajectory":
            for name in ("match", "rubric"):
                if getattr(self, name) is not None:
                    raise fails("V1", f"kind 'trajectory' must not carry {name!r}", f"/{name}")
            if self.trajectory is None:
                raise fails("V2", "kind 'trajectory' needs a 'trajectory' to grade", "/trajectory")
        if self.kind == "golden" and self.match is None:
            raise fails("V4", "kind 'golden' needs a 'match'", "/match")
        if self.kind == "rubric" and self.rubric is None:
            raise fails("V4", "kind 'rubric' needs a 'rubric'", "/rubric")
        return self


class FixtureEntry(_Call):
    """One recorded answer (RFC 0244 §D, RFC 0245).

    Attributes:
        tool: `<server>:<tool>` of the calls that it answers.
        args: The arguments of the calls that it answers; compared only where `argsMatch` is
            `exact` or `subset`.
        args_match: As in an expected call; absent means `ignore`.
        response: The answer, opaque; may be absent.
        is_error: Whether the recorded call failed, and is served as a tool error.
    """

    response: FreeJson = None
    is_error: bool | None = None


class Fixtures(Model):
    """What a task's tool calls are answered with.

    Attributes:
        tool_responses: Entries, each served once, the first that matches first (R36).
        memory_seed: Memory that each trial starts from.
        on_miss: What happens to a call that no entry answers; absent acts as `fail` (R39).
    """

    tool_responses: Annotated[tuple[FixtureEntry, ...], LAX] | None = None
    memory_seed: Annotated[tuple[dict[str, FreeJson], ...], LAX] | None = None
    on_miss: Literal["fail", "live"] | None = None


class Task(Model):
    """One task: an input for the agent, and what is expected of it.

    Attributes:
        task_id: Unique in the suite.
        input: What the agent is given, any JSON.
        expected: What is expected of it.
        fixtures: What its tool calls are answered with.
    """

    task_id: TaskId
    input: FreeJson
    expected: Expected
    fixtures: Fixtures | None = None


class Thresholds(Model):
    """The suite's bars (RFC 0081).

    Attributes:
        pass_score: Least gating aggregate, 0 to 1; absent: the grader's default bar (R16).
        max_cost_usd: Most that the run may cost, all trials and judges, in US dollars.
        max_p95_latency_ms: Most that the 95th percentile of trials may take, milliseconds.
    """

    pass_score: Score | None = None
    max_cost_usd: Amount | None = None
    max_p95_latency_ms: Count | None = None


class Trials(Model):
    """How often each task runs, and when it counts as passed (RFC 0244 §B).

    Attributes:
        count: Trials of each task; absent means 1.
        k: The k of pass@k and pass^k; absent means `count`.
        pass_rule: Absent means `all`.
    """

    count: Positive | None = None
    k: Positive | None = None
    pass_rule: PassRule | None = None

    @model_validator(mode="after")
    def _k_fits(self) -> Self:
        count = self.count or 1
        if self.k is not None and self.k > count:
            raise fails("V3", f"k is {self.k}, more than count, which is {count}", "/k")
        return self


class AgentEvalSuite(Model):
    """A versioned set of tasks for an agent (RFC 0081, 0244, 0245).

    Attributes:
        suite_id: `<name>.evals.<name>`, in small letters.
        version: Three numbers; runs are compared within one version only.
        target_agent_id: The agent that the suite is for; absent: any.
        modes: What the suite may be run as.
        allowed_models: Model classes that may be evaluated; absent: any.
        thresholds: The bars of the whole suite.
        trials: How often each task runs.
        tasks: The tasks.
    """

    suite_id: SuiteId
    version: Version
    target_agent_id: NodeId | None = None
    modes: Annotated[
        tuple[EvalMode, ...],
        Field(min_length=1, strict=False, json_schema_extra={"uniqueItems": True}),
        AfterValidator(unique),
    ]
    allowed_models: Annotated[tuple[ModelClass, ...], LAX, AfterValidator(unique)] | None = Field(
        default=None, json_schema_extra={"uniqueItems": True}
    )
    thresholds: Thresholds | None = None
    trials: Trials | None = None
    tasks: Annotated[tuple[Task, ...], Field(min_length=1, strict=False)]

    @property
    def trial_count(self) -> int:
        """How often each task runs."""
        return (self.trials and self.trials.count) or 1

    @property
    def k(self) -> int:
        """The k of pass@k and pass^k."""
        return (self.trials and self.trials.k) or self.trial_count

    @property
    def pass_rule(self) -> PassRule:
        """When a task counts as passed."""
        return (self.trials and self.trials.pass_rule) or "all"

    def task(self, task_id: str) -> Task | None:
        """Find a task by its id."""
        return next((task for task in self.tasks if task.task_id == task_id), None)

    @model_validator(mode="after")
    def _task_ids_are_unique(self) -> Self:
        seen: dict[str, int] = {}
        for index, task in enumerate(self.tasks):
            first = seen.setdefault(task.task_id, index)
            if first != index:
                raise fails(
                    "V6",
                    f"taskId {task.task_id!r} is also that of /tasks/{first}",
                    f"/tasks/{index}/taskId",
                )
        return self
