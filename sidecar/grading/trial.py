"""The verdict on one trial: its score, whether it passed, and what the gate reads (R12-R18, R27).

A score is a measurement and is never changed to move a gate (RFC 0246 §C).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import blake2b
from typing import Final

from sidecar.cassette.arguments import Absent
from sidecar.grading.candidates import ObservedCall
from sidecar.grading.evidence import TrialEvidence
from sidecar.grading.reasons import Reason, named
from sidecar.grading.scores import golden_reason, judgement_in, rubric_score, unmet
from sidecar.grading.statistics import exact
from sidecar.grading.trajectory import TrajectoryGrader, TrajectoryVerdict
from sidecar.grading.usage import NO_USAGE, Usage
from sidecar.suite.model import GoldenMatch, Task
from sidecar.suite.payloads import CRITERIA
from sidecar.wire.json_text import JsonValue

_FAILED: Final = frozenset({"failed", "refused"})
_AGENT_FAILED: Final = "agent-failed"
_MAX_MISSES_SHOWN = 5
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class TrialGrade:
    """What one trial is worth.

    Attributes:
        task_id: The task.
        trial_index: Which of its trials, from 0.
        score: 0 to 1; None where it was not measured, which is neither 0 nor a pass.
        passed: Whether the trial passed.
        gating_score: What the pass decisions read instead of the score (RFC 0246 §A).
        trajectory: The verdict on its path; None where the task expects none.
        indeterminate: Whether the log tells too little for a verdict.
        miss_count: Calls that no fixture answered.
        reasons: Why it passed or did not, most telling first.
        cost: US dollars, or None where unknown.
        latency_ms: Milliseconds, or None where unknown.
        schema_valid: Whether the output was valid against the agent's schema, or None.
        usage: Model calls inside the bracket.
        tool_call_count: Tool calls inside the bracket, of every agent.
        defective: Whether something is missing from the log, or contradictory.
        fingerprint: Equal for trials that made the same calls; empty where not asked for.
    """

    task_id: str
    trial_index: int
    score: Fraction | None
    passed: bool
    gating_score: Fraction | None
    trajectory: TrajectoryVerdict | None = None
    indeterminate: bool = False
    miss_count: int = 0
    reasons: tuple[Reason, ...] = ()
    cost: Fraction | None = None
    latency_ms: int | None = None
    schema_valid: bool | None = None
    usage: Usage = NO_USAGE
    tool_call_count: int = 0
    defective: bool = False
    fingerprint: str = ""

    @property
    def agent_failed(self) -> bool:
        """Whether the agent failed or refused, so that it did not do its work."""
        return any(reason.code == _AGENT_FAILED for reason in self.reasons)


class TrialGrader:
    """Grades the trials of one task.

    Args of the constructor:
        task: The task.
        agent_id: The target agent.
        pass_score: The suite's bar, 0 to 1.
        fixtures_serve: Whether fixtures were in use; not in mode `live-shadow` (R40).
        fingerprints: Whether trials are to be compared with one another.
    """

    def __init__(
        self,
        task: Task,
        *,
        agent_id: str,
        pass_score: Fraction,
        fixtures_serve: bool,
        fingerprints: bool,
    ) -> None:
        self._fingerprints = fingerprints
        self._task = task
        self._agent_id = agent_id
        self._pass_score = pass_score
        trajectory = task.expected.trajectory
        self._path = TrajectoryGrader(trajectory) if trajectory else None
        # R39: absent acts as `fail`.
        allowed = task.fixtures is not None and task.fixtures.on_miss == "live"
        self._misses_fail = fixtures_serve and not allowed

    def grade(self, index: int, evidence: TrialEvidence) -> TrialGrade:
        """Grade one trial.

        Args:
            index: Which of the task's trials, from 0.
            evidence: What the log tells of it.
        """
        verdict = self._verdict(evidence)
        closed = self._failed_closed(evidence)
        score, said = self._score(evidence, verdict, failed_closed=closed)
        unclear = bool(evidence.defects) or (verdict is not None and verdict.indeterminate)
        off_path = verdict is not None and not verdict.matched
        passed = (
            score is not None
            and not (closed or unclear or off_path or evidence.outcome in _FAILED)
            and meets_bar(self._task.expected.kind, score, self._pass_score)
        )
        scored = evidence.scored
        return TrialGrade(
            task_id=self._task.task_id,
            trial_index=index,
            score=score,
            passed=passed,
            gating_score=gating_score(score, shut=closed or unclear or off_path),
            trajectory=verdict,
            indeterminate=unclear,
            miss_count=len(evidence.misses),
            reasons=(*_evidence_reasons(evidence), *(verdict.reasons if verdict else ()), said),
            cost=_cost(evidence),
            latency_ms=scored.latency_ms if scored else None,
            schema_valid=scored.schema_valid if scored else None,
            usage=evidence.usage,
            tool_call_count=len(evidence.calls),
            defective=bool(evidence.defects),
            fingerprint=fingerprint(evidence.calls) if self._fingerprints else "",
        )

    def _verdict(self, evidence: TrialEvidence) -> TrajectoryVerdict | None:
        if self._path is None:
            return None
        return self._path.grade(self._path.observed(evidence.calls, self._agent_id))

    def _failed_closed(self, evidence: TrialEvidence) -> bool:
        """Tell whether a miss fails the trial (R18, R38).

        A miss that was answered with an error always does. One that a live tool answered
        does where the suite did not allow that.
        """
        return evidence.failed_closed or (bool(evidence.misses) and self._misses_fail)

    def _score(
        self,
        evidence: TrialEvidence,
        verdict: TrajectoryVerdict | None,
        *,
        failed_closed: bool,
    ) -> tuple[Fraction | None, Reason]:
        """Give the score, and what is to be said of it."""
        expected = self._task.expected
        if failed_closed:
            return ZERO, Reason("score-zero", "a fixture miss makes the score 0")
        if evidence.outcome in _FAILED:
            return ZERO, Reason("score-zero", "an agent that failed scores 0")
        if verdict is not None and expected.kind == "trajectory":
            return (ONE if verdict.matched else ZERO), _path_score(verdict)
        if expected.kind == "golden" and expected.match and not isinstance(evidence.output, Absent):
            return _golden_score(expected.match, evidence.output)
        return self._recorded_score(evidence)

    def _recorded_score(self, evidence: TrialEvidence) -> tuple[Fraction | None, Reason]:
        if evidence.scored is None:
            return None, Reason("no-score", "no score of the output was recorded")
        rubric = self._task.expected.rubric or ()
        judgement = evidence.scored.extension(CRITERIA)
        if self._task.expected.kind != "rubric" or isinstance(judgement, Absent):
            score = exact(evidence.scored.score)
            return score, self._held(score, "the recorded score")
        met = judgement_in(judgement, rubric)
        if met is None:
            text = f"the recorded judgement is none of a rubric of {len(rubric)} criteria"
            return None, Reason("no-score", text)
        score = rubric_score(rubric, met)
        missing = unmet(rubric, met)
        said = f"the judge found {sum(met)} of {len(met)} criteria met; the score"
        return score, self._held(score, said, after=f"; not met: {missing}" if missing else "")

    def _held(self, score: Fraction, said: str, *, after: str = "") -> Reason:
        """Say whether a score that others gave is enough."""
        kind = self._task.expected.kind
        bar = ONE if kind == "golden" else self._pass_score
        if meets_bar(kind, score, self._pass_score):
            return Reason("score-met", f"{said}, {_shown(score)}, meets the bar{after}")
        text = f"{said}, {_shown(score)}, is below the bar of {_shown(bar)}{after}"
        return Reason("score-below", text, expected=_shown(bar), seen=_shown(score))


def contested(grade: TrialGrade) -> TrialGrade:
    """Give the grade of a trial that the log scores more than once: no pass (T08)."""
    reason = Reason("trial-twice", "the log scores this trial more than once")
    return replace(
        grade,
        passed=False,
        indeterminate=True,
        gating_score=gating_score(grade.score, shut=True),
        defective=True,
        reasons=(reason, *grade.reasons),
    )


def meets_bar(kind: str, score: Fraction, pass_score: Fraction) -> bool:
    """Tell whether a trial's score is enough to pass (R15; the RFCs are silent).

    A golden output is right or wrong, and a path matched or not: these need a score of 1,
    so that a suite's bar of 0 passes no wrong answer. A judged output needs the suite's bar.

    Args:
        kind: Of the task: `golden`, `rubric` or `trajectory`.
        score: The trial's score.
        pass_score: The suite's bar, or the grader's default (R16).
    """
    return score >= (pass_score if kind == "rubric" else ONE)


def gating_score(score: Fraction | None, *, shut: bool) -> Fraction | None:
    """Give what the pass decisions read in place of a trial's score (RFC 0246 §A, R27).

    Args:
        score: The trial's score, or None where it was not measured.
        shut: Whether the path did not match, a miss failed the trial, or the log tells too
            little: unknown is not compliant.
    """
    return ZERO if shut and score is not None else score


def _path_score(verdict: TrajectoryVerdict) -> Reason:
    if verdict.matched:
        return Reason("score-met", "the path matched: the score is 1")
    return Reason("score-zero", "the path did not match: the score is 0")


def _golden_score(match: GoldenMatch, output: JsonValue) -> tuple[Fraction, Reason]:
    reason = golden_reason(match, output)
    if reason is not None:
        return ZERO, reason
    return ONE, Reason("output-matched", f"the output is as expected ({match.strategy})")


def _evidence_reasons(evidence: TrialEvidence) -> list[Reason]:
    reasons = list(evidence.defects)
    for place in evidence.misses[:_MAX_MISSES_SHOWN]:
        tool = evidence.calls[place].tool
        text = f"call {place + 1} of the trial ({named(tool)}) was answered by no fixture"
        reasons.append(Reason("fixture-miss", text, step=place + 1, tool=tool))
    if evidence.outcome in _FAILED:  # after a miss, often because of it
        why = f": {named(evidence.failure)}" if evidence.failure else ""
        reasons.append(Reason(_AGENT_FAILED, f"the agent {evidence.outcome}{why}"))
    return reasons


def _cost(evidence: TrialEvidence) -> Fraction | None:
    """Give a trial's cost: that of its model calls, else what the log says of it (R33)."""
    if evidence.usage.calls and evidence.usage.cost is not None:
        return evidence.usage.cost
    if evidence.scored is None or evidence.scored.cost_usd is None:
        return None
    return exact(evidence.scored.cost_usd)


def fingerprint(calls: Sequence[ObservedCall]) -> str:
    """Give a short text that is the same for the same calls with the same arguments.

    Returns:
        The text; empty where there is nothing to compare.
    """
    told = [[one.tool, None if isinstance(one.inputs, Absent) else one.inputs] for one in calls]
    try:
        text = json.dumps(told, sort_keys=True)
    except RecursionError:
        return ""
    return blake2b(text.encode(), digest_size=8).hexdigest() if calls else ""


def _shown(number: Fraction) -> str:
    return f"{float(number):g}"
