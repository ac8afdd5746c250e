"""The capability document: ours, and what is read of a host's."""

import json

import pytest

from sidecar.errors import SuiteError
from sidecar.suite.capabilities import (
    IMPLEMENTED,
    CapabilityDocument,
    EvalSuiteCapability,
    TrialsCapability,
    own_document,
    parse_host,
)
from sidecar.suite.model_base import wire_value
from sidecar.suite.validation import problems_in
from tests.eval_data import Json

LIVING_HOST = {  # RFC 0244's own example
    "modes": ["golden", "rubric", "regression"],
    "trajectory": True,
    "trials": {"maxTrials": 10},
    "fixtureMatching": True,
    "regressionVerdict": True,
}
READ = EvalSuiteCapability(
    modes=("golden", "rubric", "regression"),
    trajectory=True,
    trials=TrialsCapability(max_trials=10),
    fixture_matching=True,
    regression_verdict=True,
)


def test_our_document_says_what_is_implemented() -> None:
    assert wire_value(own_document()) == {
        "protocolVersions": ["2.0"],
        "preferredVersion": "2.0",
        "agents": {
            "status": "stable",
            "since": "2.0",
            "witness": "claims-check",
            "evalSuite": {
                "modes": ["golden", "rubric", "adversarial", "regression"],
                "trajectory": True,
                "trials": {"maxTrials": 1000},
                "fixtureMatching": True,
                "regressionVerdict": True,
                "fixtureErrors": True,
            },
        },
    }
    assert problems_in(CapabilityDocument, wire_value(own_document())) == ()


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"agents": {"status": "stable", "evalSuite": LIVING_HOST}}, id="v2 discovery"),
        pytest.param({"capabilities": {"agents": {"evalSuite": LIVING_HOST}}}, id="nested"),
        pytest.param({"evalSuite": LIVING_HOST}, id="the family"),
        pytest.param(LIVING_HOST, id="evalSuite alone"),
        pytest.param({"evalSuite": {**LIVING_HOST, "supported": True}}, id="v1"),
        pytest.param({"evalSuite": {**LIVING_HOST, "fixtureErrors": False}}, id="false is absent"),
        pytest.param({"evalSuite": {**LIVING_HOST, "newer": {"thing": 1}}}, id="a newer member"),
    ],
)
def test_a_hosts_document_is_read_in_any_of_its_forms(document: Json) -> None:
    assert parse_host(json.dumps(document)) == READ


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"agents": {}}, id="no evalSuite"),
        pytest.param({"agents": 1}, id="no family"),
        pytest.param({"capabilities": []}, id="no capabilities"),
        pytest.param({"agents": {"evalSuite": {**LIVING_HOST, "supported": False}}}, id="v1 no"),
    ],
)
def test_a_host_without_eval_suites_is_none(document: Json) -> None:
    assert parse_host(json.dumps(document)) is None


def test_a_host_that_says_no_mode_has_none() -> None:
    assert parse_host('{"evalSuite": {}}') == EvalSuiteCapability(modes=())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "is a JSON object"),
        ("{", "no JSON"),
        ('{"modes": ["gold"]}', "did you mean 'golden'"),
        ('{"modes": [], "trials": {"maxTrials": 0}}', "/trials/maxTrials"),
    ],
)
def test_a_document_that_cannot_be_read_is_refused(text: str, said: str) -> None:
    with pytest.raises(SuiteError, match=said):
        parse_host(text)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        pytest.param({"trajectory": False}, "/trajectory", id="false is left out"),
        pytest.param({"trajectory": 1}, "/trajectory", id="1 is no true"),
        pytest.param({"supported": True}, "/supported", id="v2 knows no supported"),
        pytest.param({"trials": {"maxTrials": 1, "k": 1}}, "/trials/k", id="trials is closed"),
    ],
)
def test_a_capability_is_strict(change: Json, pointer: str) -> None:
    problems = problems_in(EvalSuiteCapability, {**LIVING_HOST, **change})

    assert [problem.pointer for problem in problems] == [pointer]


@pytest.mark.parametrize(
    ("status", "until", "good"),
    [
        ("stable", None, True),
        ("stable", "3.0", False),
        ("deprecated", "3.0", True),
        ("experimental", None, False),
    ],
)
def test_until_is_there_unless_stable(status: str, until: str | None, *, good: bool) -> None:
    document = wire_value(own_document(IMPLEMENTED))
    document["agents"]["status"] = status
    if until:
        document["agents"]["until"] = until

    assert (problems_in(CapabilityDocument, document) == ()) == good
