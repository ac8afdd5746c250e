"""The promotion gate: may this agent go on, by the evidence of an eval (RFC 0082).

The gate is closed unless everything speaks for opening it. It reads the gated aggregate:
the RFC's own words read the ungated one, and would let through what RFC 0246 stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sidecar.grading.reasons import Reason, named
from sidecar.grading.statistics import exact
from sidecar.suite.summary import EvalSummary


@dataclass(frozen=True, slots=True)
class EvalEvidence:
    """What is known of an eval run.

    Attributes:
        summary: Its scorecard, or None where there is none.
        terminal: Whether the run has ended.
        agent_id: The agent that was evaluated, or None where that is not known.
        agent_version: Its version, or None where that is not known.
    """

    summary: EvalSummary | None
    terminal: bool = True
    agent_id: str | None = None
    agent_version: str | None = None


@dataclass(frozen=True, slots=True)
class GateRequirement:
    """What a gate asks for.

    Attributes:
        required_pass_score: Least gated aggregate, 0 to 1, or None for the suite's own bar.
        forbid_regression: Whether a verdict against a baseline must be there, and must not
            be `regressed`.
        agent_id: The agent that is to be promoted, or None where it is not checked.
        agent_version: Its version, or None where it is not checked.
    """

    required_pass_score: float | None = None
    forbid_regression: bool = False
    agent_id: str | None = None
    agent_version: str | None = None


@dataclass(frozen=True, slots=True)
class GateDecision:
    """What the gate decides.

    Attributes:
        allowed: Whether it opens.
        reasons: Why; of a denial all reasons.
    """

    allowed: bool
    reasons: tuple[Reason, ...]


def decide(
    evidence: EvalEvidence,
    requirement: GateRequirement = GateRequirement(),  # frozen
) -> GateDecision:
    """Decide whether an agent may be promoted.

    Args:
        evidence: What is known of its eval run.
        requirement: What the gate asks for.
    """
    denials = tuple(_denials(evidence, requirement))
    if denials:
        return GateDecision(allowed=False, reasons=denials)
    return GateDecision(allowed=True, reasons=(Reason("allowed", "the eval passed its bars"),))


def _denials(evidence: EvalEvidence, requirement: GateRequirement) -> Iterator[Reason]:
    yield from _identity_denials(evidence, requirement)
    if not evidence.terminal:
        yield Reason("not-terminal", "the eval run has not ended")
    summary = evidence.summary
    if summary is None:
        yield Reason("no-summary", "the eval run has no summary")
        return
    yield from _measure_denials(summary)
    if not summary.passed:
        yield Reason("not-passed", "the eval did not pass")
    if requirement.required_pass_score is not None:
        yield from _score_denials(summary, requirement.required_pass_score)
    if requirement.forbid_regression:
        yield from _regression_denials(summary)


def _identity_denials(evidence: EvalEvidence, wanted: GateRequirement) -> Iterator[Reason]:
    for what, given, asked in (
        ("agent", evidence.agent_id, wanted.agent_id),
        ("agent version", evidence.agent_version, wanted.agent_version),
    ):
        if asked is not None and given != asked:
            told = "of an unknown one" if given is None else f"of {named(given)}"
            text = f"the gate asks for {what} {named(asked)}, the eval is {told}"
            yield Reason("other-agent", text, expected=asked, seen=given)


def _measure_denials(summary: EvalSummary) -> Iterator[Reason]:
    if len(summary.tasks) < max(summary.task_count, 1):
        text = f"{len(summary.tasks)} of {summary.task_count} tasks were measured"
        yield Reason("not-measured", text)
    paths = [task for task in summary.tasks if task.trajectory is not None]
    ungated = [task.task_id for task in paths if task.gated_score is None]
    if ungated or (paths and summary.gated_aggregate_score is None):
        yield Reason(
            "not-gated",
            "the summary has trajectories but no gated scores: its grader does not apply RFC 0246",
        )


def _score_denials(summary: EvalSummary, required: float) -> Iterator[Reason]:
    gated = summary.gated_aggregate_score
    score = summary.aggregate_score if gated is None else gated
    if exact(score) < exact(required):
        what = "aggregate" if gated is None else "gated aggregate"
        text = f"the {what} is {score:g}, the gate asks for {required:g}"
        yield Reason("below-required", text, expected=f"{required:g}", seen=f"{score:g}")


def _regression_denials(summary: EvalSummary) -> Iterator[Reason]:
    verdict = summary.regression.verdict if summary.regression else None
    if verdict is None:
        yield Reason("no-verdict", "the gate forbids a regression, and there is no verdict")
    elif verdict == "regressed":
        yield Reason("regressed", "the run regressed against its baseline")
