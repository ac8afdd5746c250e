"""Refusing a suite that a host cannot grade (RFC 0244 §G, RFC 0245 §C, R49).

Grading on as if an unknown field were absent is what this prevents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sidecar.suite.capabilities import EvalSuiteCapability
from sidecar.suite.model import AgentEvalSuite, Task
from sidecar.wire.json_text import JsonValue


class UnmetFeature(NamedTuple):
    """Something that a suite uses and a host does not advertise.

    Attributes:
        field: The field in the RFCs' short form, such as `trials.count`.
        path: JSON pointer into the suite.
        facet: The member of `agents.evalSuite` that would be needed.
    """

    field: str
    path: str
    facet: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer to a run request that must be refused.

    Attributes:
        status: HTTP status.
        body: The error body.
        features: What is not met, in the order of the suite.
    """

    status: int
    body: dict[str, JsonValue]
    features: tuple[UnmetFeature, ...]


def refusal(suite: AgentEvalSuite, host: EvalSuiteCapability | None) -> Refusal | None:
    """Say how a host has to refuse a suite; None where it can grade it.

    Args:
        suite: The suite.
        host: What the host says of eval suites, or None where it has none.
    """
    if host is None:
        message = "this host does not provide agents.evalSuite"
        body: dict[str, JsonValue] = {
            "error": "capability_not_provided",
            "message": message,
            "details": {"capability": "agents.evalSuite"},
        }
        return Refusal(422, body, ())
    features = tuple(unmet_features(suite, host))
    if not features:
        return None
    first = features[0]
    body = {
        "error": "validation_error",
        "message": f"{first.field} needs agents.evalSuite.{first.facet},"
        " which this host does not advertise",
        "details": {
            "field": first.field,
            "path": first.path,
            "fields": [{"field": one.field, "path": one.path} for one in features],
        },
    }
    return Refusal(400, body, features)


def unmet_features(suite: AgentEvalSuite, host: EvalSuiteCapability) -> Iterator[UnmetFeature]:
    """List what a suite uses and a host does not advertise, in the order of the suite."""
    for index, mode in enumerate(suite.modes):
        if mode not in host.modes:
            yield UnmetFeature("modes", f"/modes/{index}", "modes")
    most = host.trials.max_trials if host.trials else 1
    if suite.trial_count > most:
        yield UnmetFeature("trials.count", "/trials/count", "trials")
    if host.max_tasks_per_suite is not None and len(suite.tasks) > host.max_tasks_per_suite:
        yield UnmetFeature("tasks", "/tasks", "maxTasksPerSuite")
    for index, task in enumerate(suite.tasks):
        yield from _path_features(task, f"/tasks/{index}/expected", host)
        yield from _fixture_features(task, f"/tasks/{index}/fixtures", host)


def _path_features(task: Task, at: str, host: EvalSuiteCapability) -> Iterator[UnmetFeature]:
    if host.trajectory:
        return
    if task.expected.kind == "trajectory":
        yield UnmetFeature("expected.kind", f"{at}/kind", "trajectory")
    if task.expected.trajectory is not None:
        yield UnmetFeature("expected.trajectory", f"{at}/trajectory", "trajectory")


def _fixture_features(task: Task, at: str, host: EvalSuiteCapability) -> Iterator[UnmetFeature]:
    if task.fixtures is None:
        return
    for index, entry in enumerate(task.fixtures.tool_responses or ()):
        field, path = f"fixtures.toolResponses[{index}]", f"{at}/toolResponses/{index}"
        if entry.has("args") and not host.fixture_matching:
            yield UnmetFeature(f"{field}.args", f"{path}/args", "fixtureMatching")
        if entry.is_error and not host.fixture_errors:
            yield UnmetFeature(f"{field}.isError", f"{path}/isError", "fixtureErrors")
    if task.fixtures.on_miss is not None and not host.fixture_matching:
        yield UnmetFeature("fixtures.onMiss", f"{at}/onMiss", "fixtureMatching")
