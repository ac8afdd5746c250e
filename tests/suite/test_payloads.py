"""Payloads: closed, save for extension keys, which are carried as they came."""

import pytest

from sidecar.cassette.arguments import ABSENT
from sidecar.suite.model_base import Model, wire_value
from sidecar.suite.payloads import (
    CRITERIA,
    FAILURE,
    OUTPUT,
    PAYLOADS,
    UNJUDGED,
    EvalScored,
    ToolReturned,
    TrialUnjudged,
)
from sidecar.suite.validation import problems_in
from tests.eval_data import AGENT, Json

CALL = {"agentId": AGENT, "toolName": "crm:lookup", "callId": "c-1"}
BRACKET = {"invocationId": "i-1", "agentId": AGENT}
EXAMPLES: dict[str, dict[str, Json]] = {
    "agent.tool-called": {**CALL, "inputs": {"id": 1.5}, "argsHash": "00", "transport": "mcp"},
    "agent.tool-returned": {**CALL, "outcome": None, "status": "ok", "durationMs": 3},
    "agent.invocation-started": {**BRACKET, "source": "run-api", "toolSurfaceCount": 3},
    "agent.invocation-completed": {**BRACKET, "outcome": "completed", "confidence": 0.5},
    "provider.usage": {
        "provider": "p",
        "model": "m",
        "inputTokens": 1,
        "outputTokens": 2,
        "costEstimateUsd": 0.01,
        "currency": "EUR",
        "traceId": "0" * 32,
    },
    "eval.started": {
        "suiteId": "s",
        "suiteVersion": "1",
        "taskCount": 1,
        "modes": ["golden"],
        "trialCount": 5,
    },
    "eval.scored": {
        "taskId": "t",
        "score": 0.5,
        "passed": False,
        "trialIndex": 0,
        "scoreLabel": "partial",
        "evaluatorType": "llm_judge",
    },
    "eval.completed": {"aggregateScore": 1, "passed": True, "taskCount": 1, "passedCount": 1},
    UNJUDGED: {"taskId": "t", "trialIndex": 0, "why": "timed out after 60 s"},
}
EXTENSIBLE = [kind for kind in EXAMPLES if kind != "provider.usage"]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_payload_is_read_as_it_is_written(kind: str) -> None:
    model = PAYLOADS[kind].model_validate(EXAMPLES[kind])

    assert wire_value(model) == EXAMPLES[kind]


@pytest.mark.parametrize("kind", EXTENSIBLE)
@pytest.mark.parametrize("key", ["x-mine", "openwop-thing", "vendor.acme.thing"])
def test_an_extension_key_is_carried(kind: str, key: str) -> None:
    value = {**EXAMPLES[kind], key: {"any": ["thing", None]}}

    model = PAYLOADS[kind].model_validate(value)

    assert wire_value(model) == value
    assert model.extension(key) == {"any": ["thing", None]}  # type: ignore[attr-defined]  # Extensible
    assert model.extension("x-other") is ABSENT  # type: ignore[attr-defined]  # Extensible


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize("key", ["explanation", "y-mine", "vendor"])
def test_any_other_key_is_refused(kind: str, key: str) -> None:
    (problem,) = problems_in(PAYLOADS[kind], {**EXAMPLES[kind], key: 1})

    assert (problem.code, problem.pointer) == ("unknown-key", f"/{key}")


def test_usage_takes_no_extension_either() -> None:
    (problem,) = problems_in(PAYLOADS["provider.usage"], {**EXAMPLES["provider.usage"], "x-a": 1})

    assert problem.code == "unknown-key"


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        pytest.param("eval.scored", {"scoreLabel": "Looks good to me"}, id="RFC 0244 prose label"),
        pytest.param("eval.scored", {"evaluatorType": "robot"}, id="RFC 0244 evaluator type"),
        pytest.param("eval.scored", {"score": 1.1}, id="score over 1"),
        pytest.param("eval.scored", {"trialIndex": -1}, id="negative trial index"),
        pytest.param("eval.started", {"trialCount": 0}, id="no trial"),
        pytest.param("eval.started", {"modes": ["golden", "golden"]}, id="a mode twice"),
        pytest.param("agent.tool-called", {"toolName": ""}, id="no tool name"),
        pytest.param("agent.tool-called", {"agentId": "my agent"}, id="an agent id with a space"),
        pytest.param(
            "agent.tool-returned", {"error": {"code": "c", "message": ""}}, id="no message"
        ),
        pytest.param(
            "agent.tool-returned",
            {"error": {"code": "c", "message": "m"}},
            id="outcome and error",
        ),
        pytest.param("agent.invocation-completed", {"outcome": "gone"}, id="unknown outcome"),
        pytest.param("agent.invocation-started", {"source": "cron"}, id="unknown source"),
        pytest.param("provider.usage", {"currency": "eur"}, id="currency"),
        pytest.param("provider.usage", {"inputTokens": 1.5}, id="half a token"),
    ],
)
def test_a_payload_that_breaks_a_rule_is_refused(kind: str, change: Json) -> None:
    assert problems_in(PAYLOADS[kind], {**EXAMPLES[kind], **change})


def test_a_null_outcome_is_an_outcome() -> None:
    assert ToolReturned(agent_id="a", tool_name="t", call_id="c", outcome=None).has("outcome")
    assert not ToolReturned(agent_id="a", tool_name="t", call_id="c").has("outcome")


def test_our_own_extensions_may_stand_on_a_payload() -> None:
    assert all(key.startswith("x-sidecar-") for key in (OUTPUT, FAILURE, CRITERIA))


def test_an_eval_scored_holds_no_content() -> None:
    allowed = {
        "taskId",
        "score",
        "passed",
        "costUsd",
        "latencyMs",
        "schemaValid",
        "safetyFindingCount",
        "trialIndex",
        "scoreLabel",
        "evaluatorType",
    }

    assert {field.alias for field in EvalScored.model_fields.values()} == allowed
    assert issubclass(EvalScored, Model)


def test_a_trial_that_was_not_judged_has_a_reason_and_no_score() -> None:
    without = {"taskId": "t", "trialIndex": 0}

    assert [one.pointer for one in problems_in(TrialUnjudged, without)] == ["/why"]
    assert "score" not in TrialUnjudged.model_fields
