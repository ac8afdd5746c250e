"""The summary's model: closed and content-free."""

import pytest

from sidecar.errors import SuiteError
from sidecar.suite.documents import summary_from_json
from sidecar.suite.model_base import wire_value
from tests.eval_data import Json, summary

COUNTS = {
    "mode": "in-order",
    "matched": False,
    "expectedCount": 2,
    "observedCount": 3,
    "matchedCount": 1,
    "forbiddenCount": 1,
}
WHOLE = summary(
    {
        "taskId": "a",
        "score": 0.8,
        "passed": False,
        "costUsd": 0.04,
        "latencyMs": 1200,
        "schemaValid": True,
        "safetyFindings": [{"kind": "pii", "severity": "low"}],
        "trajectory": COUNTS,
        "trials": {"n": 5, "passedCount": 4, "meanScore": 0.8, "passAtK": 1, "passHatK": 0.4},
        "efficiency": {"toolCallCount": 2.5},
        "fixtureMissCount": 0,
        "gatedScore": 0,
    },
    evaluatedModelClass="reasoning",
    totalCostUsd=0.04,
    pinnedNodeIds=["node-1"],
    regression={
        "baselineRunId": "local/" + "0" * 26,
        "scoreDelta": -0.2,
        "diffRef": "/runs/x:diff?against=y",
        "verdict": "regressed",
        "method": "sign-test-gated",
        "alpha": 0.05,
        "pairedTaskCount": 1,
    },
    trialStats={"k": 3, "passAtK": 1, "passHatK": 0.4, "scoreStderr": 0.1},
    gatedAggregateScore=0,
)
CONTENT = (
    "taskOutput",
    "output",
    "rubric",
    "completion",
    "prompt",
    "body",
    "secret",
    "credentials",
    "token",
    "apiKey",
    "judgeCostUsd",
)


def with_task(**more: Json) -> Json:
    return summary({"taskId": "a", "score": 1, **more})


def test_a_summary_with_every_field_is_read_as_it_is_written() -> None:
    assert wire_value(summary_from_json(WHOLE)) == WHOLE


def test_a_task_is_found_by_its_id() -> None:
    read = summary_from_json(WHOLE)

    assert read.task("a") == read.tasks[0]
    assert read.task("b") is None


@pytest.mark.parametrize("key", CONTENT)
def test_no_content_has_a_place_in_a_summary(key: str) -> None:
    for value in (summary(**{key: "x"}), with_task(**{key: "x"})):
        with pytest.raises(SuiteError, match=f"unknown key '{key}'"):
            summary_from_json(value)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(
            with_task(trajectory={**COUNTS, "tools": ["billing:refund"]}), id="tool names"
        ),
        pytest.param(with_task(trajectory={**COUNTS, "mode": "superset"}), id="mode superset"),
        pytest.param(with_task(trajectory={"mode": "exact"}), id="counts missing"),
        pytest.param(with_task(gatedScore=1.1), id="RFC 0246: gatedScore over 1"),
        pytest.param(with_task(gatedScore=-0.1), id="RFC 0246: gatedScore below 0"),
        pytest.param(summary(gatedAggregateScore=1.1), id="RFC 0246: aggregate over 1"),
        pytest.param(with_task(trials={"n": 1}), id="trial numbers missing"),
        pytest.param(with_task(efficiency={"toolCallCount": -1}), id="negative efficiency"),
        pytest.param(with_task(safetyFindings=[{"kind": "x", "severity": "bad"}]), id="severity"),
        pytest.param(with_task(score=float("nan")), id="T06 NaN"),
        pytest.param(summary(passedCount=1), id="more passed than tasks"),
        pytest.param(
            summary(
                regression={
                    "baselineRunId": "local/" + "0" * 26,
                    "scoreDelta": 0,
                    "verdict": "better",
                }
            ),
            id="an unknown verdict",
        ),
        pytest.param(summary(suiteVersion="1"), id="version"),
    ],
)
def test_a_summary_that_breaks_a_rule_is_refused(bad: Json) -> None:
    with pytest.raises(SuiteError):
        summary_from_json(bad)
