"""The JSON Schemas: kept true, and of one mind with the models."""

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from sidecar.suite.capabilities import CapabilityDocument, own_document
from sidecar.suite.event_document import RunEventDocument
from sidecar.suite.model import AgentEvalSuite
from sidecar.suite.model_base import Model, wire_value
from sidecar.suite.payloads import PAYLOADS
from sidecar.suite.schemas import json_schemas
from sidecar.suite.summary import EvalSummary
from sidecar.suite.validation import problems_in
from tests.eval_data import Json, Log, call, golden, path_only, rubric, suite, summary, task
from tests.paths import ROOT

SCHEMAS = json_schemas()


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_written_schema_is_that_of_the_models(name: str) -> None:
    """After a change to the models, run tools/write_schemas.py."""
    path = ROOT / "docs" / "schemas" / f"{name}.schema.json"

    assert json.loads(path.read_text(encoding="utf-8")) == SCHEMAS[name]


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_of_draft_2020_12(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.parametrize("name", SCHEMAS)
def test_no_field_may_be_null_and_every_model_is_described(name: str) -> None:
    assert '"null"' not in json.dumps(SCHEMAS[name])
    for part in (SCHEMAS[name], *SCHEMAS[name].get("$defs", {}).values()):
        assert part["description"]
        assert part["additionalProperties"] is False


def test_fields_are_described_by_their_docstrings() -> None:
    trials = SCHEMAS["agent-eval-suite"]["$defs"]["Trials"]["properties"]

    assert trials["count"] == {
        "description": "Trials of each task; absent means 1.",
        "minimum": 1,
        "type": "integer",
    }
    assert trials["passRule"]["description"] == "Absent means `all`."


def accepts(name: str, value: Json) -> bool:
    return bool(jsonschema.Draft202012Validator(SCHEMAS[name]).is_valid(value))


def changed(value: Json, path: str, new: Any) -> Json:
    copy = json.loads(json.dumps(value))
    *outer, last = path.split("/")
    here = copy
    for part in outer:
        here = here[int(part) if part.isdigit() else part]
    here[last] = new
    return copy


SUITE = suite(
    task(
        "a",
        golden(trajectory={"match": "exact", "calls": [call("a:b", {"x": None}, "subset")]}),
        fixtures={
            "toolResponses": [{**call("a:b", {}, "exact"), "isError": True, "response": None}],
            "memorySeed": [{"any": [1]}],
            "onMiss": "fail",
        },
    ),
    task("b", rubric(0.5, 0.5)),
    task("c", path_only("subset")),
    trials={"count": 3, "k": 2, "passRule": "mean"},
    thresholds={"passScore": 0.5, "maxCostUsd": 1, "maxP95LatencyMs": 5},
    allowedModels=["coding"],
)
EVENT = Log().called("a:b", {"x": 1})
SCORED = Log().scored().events[0]
CASES = [
    ("agent-eval-suite", AgentEvalSuite, SUITE, "", None),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "trials/count", 0),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "trials/count", 3.0),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "trials/k", None),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "thresholds/passScore", 1.5),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "version", "1.0"),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "modes", []),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "modes", ["golden", "golden"]),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "owner", "me"),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "tasks/0/input", None),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "tasks/0/expected/kind", "judge"),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "tasks/0/expected/trajectory/match", "superset"),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "tasks/0/expected/trajectory/tools", []),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "tasks/0/fixtures/onMiss", "skip"),
    ("agent-eval-suite", AgentEvalSuite, SUITE, "tasks/0/fixtures/toolResponses/0/isError", "true"),
    ("eval-summary", EvalSummary, summary({"taskId": "a", "score": 1}), "", None),
    ("eval-summary", EvalSummary, summary({"taskId": "a", "score": 1}), "output", "x"),
    ("eval-summary", EvalSummary, summary({"taskId": "a", "score": 1}), "tasks/0/gatedScore", 2),
    ("eval-summary", EvalSummary, summary({"taskId": "a", "score": 1}), "tasks/0/score", True),
    ("capabilities", CapabilityDocument, wire_value(own_document()), "", None),
    (
        "capabilities",
        CapabilityDocument,
        wire_value(own_document()),
        "agents/evalSuite/trajectory",
        False,
    ),
    ("run-event", RunEventDocument, EVENT, "", None),
    ("run-event", RunEventDocument, EVENT, "runId", "run-7"),
    ("run-event", RunEventDocument, EVENT, "payload/toolName", ""),
    ("run-event", RunEventDocument, EVENT, "payload/x-mine", 1),
    ("run-event", RunEventDocument, EVENT, "payload/mine", 1),
    ("run-event", RunEventDocument, EVENT, "type", "acme.happened"),
    ("run-event", RunEventDocument, SCORED, "payload/scoreLabel", "Looks good to me"),
    ("run-event", RunEventDocument, SCORED, "payload/evaluatorType", "robot"),
]


@pytest.mark.parametrize(
    ("name", "model", "value", "path", "new"),
    [pytest.param(*case, id=f"{case[0]} {case[3]} {case[4]}") for case in CASES],
)
def test_schema_and_model_are_of_one_mind(
    name: str, model: type[Model], value: Json, path: str, new: Any
) -> None:
    document = changed(value, path, new) if path else value

    assert accepts(name, document) is (problems_in(model, document) == ())


def test_every_payload_that_is_read_has_a_schema() -> None:
    assert {
        one["if"]["properties"]["type"]["const"] for one in SCHEMAS["run-event"]["allOf"]
    } == set(PAYLOADS)
