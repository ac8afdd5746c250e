"""Where a log, or another grader's summary, says something else than we compute.

A log's own words are no evidence of their truth: they are compared, and told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sidecar.grading.log_reading import LogFacts
from sidecar.grading.reasons import shown
from sidecar.grading.trial import TrialGrade
from sidecar.suite.model import AgentEvalSuite
from sidecar.suite.model_base import wire_value
from sidecar.suite.payloads import EvalCompleted, EvalScored, EvalStarted
from sidecar.suite.summary import EvalSummary
from sidecar.wire.json_text import JsonValue

_TOLERANCE = 1e-9  # RFC 0244 §B: |host - formula| <= 1e-9 * max(1, |formula|)


class LogDifference(NamedTuple):
    """One thing that was said and computed differently.

    Attributes:
        place: What it is about: a trial, the eval's start or end, or a JSON pointer.
        field: Which of its fields.
        logged: What was said, as JSON text.
        computed: What we compute, as JSON text; `nothing` where we say nothing.
    """

    place: str
    field: str
    logged: str
    computed: str

    def __str__(self) -> str:
        return f"{self.place}: {self.field} is {self.logged} there, computed {self.computed}"


def trial_differences(scored: EvalScored, grade: TrialGrade) -> Iterator[LogDifference]:
    """Compare what a log says of a trial with its grade."""
    place = f"task {grade.task_id}, trial {grade.trial_index + 1}"
    if grade.score is not None and not _same_number(scored.score, float(grade.score)):
        yield _difference(place, "score", scored.score, float(grade.score))
    if scored.passed != grade.passed:
        yield _difference(place, "passed", scored.passed, grade.passed)


def eval_differences(
    facts: LogFacts, suite: AgentEvalSuite, summary: EvalSummary | None
) -> Iterator[LogDifference]:
    """Compare what a log says of the whole eval with the suite and the computed summary.

    What is said of a baseline is only compared where the summary has one: which one is for
    whoever grades to choose.
    """
    if facts.started is not None:
        yield from _start_differences(facts.started, suite, summary)
    if facts.completed is not None and summary is not None:
        yield from _end_differences(facts.completed, summary)


def _start_differences(
    started: EvalStarted, suite: AgentEvalSuite, summary: EvalSummary | None
) -> Iterator[LogDifference]:
    if started.task_count != len(suite.tasks):
        yield _difference("eval.started", "taskCount", started.task_count, len(suite.tasks))
    if (started.trial_count or 1) != suite.trial_count:
        yield _difference("eval.started", "trialCount", started.trial_count, suite.trial_count)
    said, regression = started.baseline_run_id, summary and summary.regression
    if said and regression and said != regression.baseline_run_id:
        yield _difference("eval.started", "baselineRunId", said, regression.baseline_run_id)


def _end_differences(completed: EvalCompleted, summary: EvalSummary) -> Iterator[LogDifference]:
    place = "eval.completed"
    if not _same_number(completed.aggregate_score, summary.aggregate_score):
        yield _difference(
            place, "aggregateScore", completed.aggregate_score, summary.aggregate_score
        )
    for field, said, computed in (
        ("passed", completed.passed, summary.passed),
        ("taskCount", completed.task_count, summary.task_count),
        ("passedCount", completed.passed_count, summary.passed_count),
    ):
        if said != computed:
            yield _difference(place, field, said, computed)
    delta, regression = completed.regression_vs_baseline, summary.regression
    if regression and delta is not None and not _same_number(delta, regression.score_delta):
        yield _difference(place, "regressionVsBaseline", delta, regression.score_delta)


def summary_differences(said: EvalSummary, computed: EvalSummary) -> tuple[LogDifference, ...]:
    """Compare another grader's summary with the computed one, number by number.

    Members that only one of the two has are differences too. `regression` is left out: it
    is no part of a run's own grade.
    """
    left, right = wire_value(said), wire_value(computed)
    for value in (left, right):
        value.pop("regression", None)
    return tuple(_walk(left, right, ""))


def _walk(said: JsonValue, computed: JsonValue, pointer: str) -> Iterator[LogDifference]:
    if isinstance(said, dict) and isinstance(computed, dict):
        for name in [*said, *(name for name in computed if name not in said)]:
            yield from _walk(said.get(name), computed.get(name), f"{pointer}/{name}")
    elif isinstance(said, list) and isinstance(computed, list) and len(said) == len(computed):
        for index, (one, other) in enumerate(zip(said, computed, strict=True)):
            yield from _walk(one, other, f"{pointer}/{index}")
    elif not _same(said, computed):
        place, _, field = pointer.rpartition("/")
        yield _difference(place or "/", field, said, computed)


def _same(said: JsonValue, computed: JsonValue) -> bool:
    numbers = isinstance(said, int | float) and isinstance(computed, int | float)
    if numbers and not isinstance(said, bool) and not isinstance(computed, bool):
        return _same_number(said, computed)
    return type(said) is type(computed) and bool(said == computed)


def _same_number(said: float, computed: float) -> bool:
    return abs(said - computed) <= _TOLERANCE * max(1.0, abs(computed))


def _difference(place: str, field: str, said: JsonValue, computed: JsonValue) -> LogDifference:
    return LogDifference(place, field, _json(said), _json(computed))


def _json(value: JsonValue) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # as the RFCs write a whole score
    return "nothing" if value is None else shown(value)
