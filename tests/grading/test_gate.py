"""The promotion gate: closed unless everything speaks for opening it."""

import pytest

from sidecar.grading.gate import EvalEvidence, GateDecision, GateRequirement, decide
from sidecar.grading.reasons import Reason
from sidecar.suite.documents import summary_from_json
from tests.eval_data import Json, summary

COUNTS = {
    "mode": "exact",
    "matched": True,
    "expectedCount": 1,
    "observedCount": 1,
    "matchedCount": 1,
    "forbiddenCount": 0,
}


ANY = GateRequirement()


def decided(
    value: Json,
    requirement: GateRequirement = ANY,
    **evidence: Json,
) -> GateDecision:
    made = None if value is None else summary_from_json(value)
    return decide(EvalEvidence(made, **evidence), requirement)


NO_SUMMARY = Reason("no-summary", "the eval run has no summary")
NOT_PASSED = Reason("not-passed", "the eval did not pass")
NOT_GATED = Reason(
    "not-gated",
    "the summary has trajectories but no gated scores: its grader does not apply RFC 0246",
)
NO_VERDICT = Reason("no-verdict", "the gate forbids a regression, and there is no verdict")
REGRESSED = Reason("regressed", "the run regressed against its baseline")


PASSED = summary({"taskId": "a", "score": 1})
GATED = summary(
    {"taskId": "a", "score": 1, "trajectory": COUNTS, "gatedScore": 1}, gatedAggregateScore=1
)


def regression(verdict: str | None) -> Json:
    block = {"baselineRunId": "local/" + "0" * 26, "scoreDelta": 0}
    if verdict:
        block |= {"verdict": verdict, "method": "sign-test"}
    return {**PASSED, "regression": block}


def test_a_run_that_passed_is_allowed() -> None:
    allowed = Reason("allowed", "the eval passed its bars")

    assert decided(PASSED) == GateDecision(allowed=True, reasons=(allowed,))
    assert decided(GATED, GateRequirement(required_pass_score=1, forbid_regression=False)).allowed


def test_the_gated_aggregate_is_read_where_the_rfcs_words_would_let_it_pass() -> None:
    value = summary(
        {"taskId": "a", "score": 0.9, "trajectory": COUNTS, "gatedScore": 0.45},
        passed=False,
        aggregateScore=0.9,
        gatedAggregateScore=0.45,
    )

    found = decided(value, GateRequirement(required_pass_score=0.7))

    assert not found.allowed
    assert list(found.reasons) == [
        NOT_PASSED,
        Reason(
            "below-required",
            "the gated aggregate is 0.45, the gate asks for 0.7",
            expected="0.7",
            seen="0.45",
        ),
    ]


@pytest.mark.parametrize(
    ("value", "requirement", "said"),
    [
        pytest.param(None, GateRequirement(), [NO_SUMMARY], id="no summary"),
        pytest.param({**PASSED, "passed": False}, GateRequirement(), [NOT_PASSED], id="not passed"),
        pytest.param(
            {**PASSED, "passed": True, "aggregateScore": 0.8},
            GateRequirement(required_pass_score=0.81),
            [
                Reason(
                    "below-required",
                    "the aggregate is 0.8, the gate asks for 0.81",
                    expected="0.81",
                    seen="0.8",
                )
            ],
            id="passed, not enough",
        ),
        pytest.param(
            summary({"taskId": "a", "score": 1, "trajectory": COUNTS}),
            GateRequirement(),
            [NOT_GATED],
            id="a path without a gated score",
        ),
        pytest.param(
            summary({"taskId": "a", "score": 1, "trajectory": COUNTS, "gatedScore": 1}),
            GateRequirement(),
            [NOT_GATED],
            id="a path without a gated aggregate",
        ),
        pytest.param(
            summary({"taskId": "a", "score": 1}, taskCount=2),
            GateRequirement(),
            [Reason("not-measured", "1 of 2 tasks were measured")],
            id="a task that was not measured",
        ),
        pytest.param(
            summary(),
            GateRequirement(),
            [Reason("not-measured", "0 of 0 tasks were measured")],
            id="T09 no task",
        ),
        pytest.param(
            summary(
                {"taskId": "a", "score": 1, "trajectory": COUNTS, "gatedScore": 1},
                {"taskId": "b", "score": 1, "trajectory": COUNTS},
                gatedAggregateScore=1,
            ),
            GateRequirement(),
            [NOT_GATED],
            id="one path of two without a gated score",
        ),
        pytest.param(
            PASSED,
            GateRequirement(forbid_regression=True),
            [NO_VERDICT],
            id="no comparison",
        ),
        pytest.param(
            regression(None),
            GateRequirement(forbid_regression=True),
            [NO_VERDICT],
            id="no verdict",
        ),
        pytest.param(
            regression("regressed"),
            GateRequirement(forbid_regression=True),
            [REGRESSED],
            id="regressed",
        ),
    ],
)
def test_the_gate_stays_closed(
    value: Json, requirement: GateRequirement, said: list[Reason]
) -> None:
    assert decided(value, requirement) == GateDecision(allowed=False, reasons=tuple(said))


@pytest.mark.parametrize("verdict", ["improved", "unchanged", "inconclusive"])
def test_only_regressed_is_a_regression(verdict: str) -> None:
    assert decided(regression(verdict), GateRequirement(forbid_regression=True)).allowed


def test_a_regression_may_be_let_through() -> None:
    assert decided(regression("regressed")).allowed


def test_a_run_that_has_not_ended_is_no_evidence() -> None:
    assert decided(PASSED, terminal=False).reasons == (
        Reason("not-terminal", "the eval run has not ended"),
    )


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ({"agent_id": "a", "agent_version": "2"}, []),
        ({"agent_id": "b", "agent_version": "2"}, ["the gate asks for agent a, the eval is of b"]),
        (
            {"agent_id": "a", "agent_version": "1"},
            ["the gate asks for agent version 2, the eval is of 1"],
        ),
        (
            {},
            [
                "the gate asks for agent a, the eval is of an unknown one",
                "the gate asks for agent version 2, the eval is of an unknown one",
            ],
        ),
    ],
)
def test_the_evidence_must_be_of_the_agent(evidence: Json, said: list[str]) -> None:
    found = decided(PASSED, GateRequirement(agent_id="a", agent_version="2"), **evidence)

    assert found.allowed is (not said)
    others = [reason for reason in found.reasons if reason.code == "other-agent"]
    assert [reason.text for reason in others] == said
    seen = {reason.expected: reason.seen for reason in others}
    given = {"a": evidence.get("agent_id"), "2": evidence.get("agent_version")}
    assert seen == {asked: one for asked, one in given.items() if one != asked}


def test_a_required_score_is_compared_exactly() -> None:
    value = {**PASSED, "aggregateScore": 0.7}

    assert decided(value, GateRequirement(required_pass_score=0.7)).allowed
    assert not decided(value, GateRequirement(required_pass_score=0.7000001)).allowed
