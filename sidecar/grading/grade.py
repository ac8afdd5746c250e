"""The grade of an eval run: a pure function of its suite and its event log.

Anyone who has the two can compute it again and get the same (ARCHITECTURE.md, invariant 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sidecar.errors import SuiteError
from sidecar.grading.differences import LogDifference, eval_differences, trial_differences
from sidecar.grading.evidence import TrialEvidence
from sidecar.grading.log_reading import MAX_FINDINGS, LogFacts, LogReader, OutOfOrderError
from sidecar.grading.reasons import Reason, named
from sidecar.grading.regression import Baseline, Comparison, compare_runs
from sidecar.grading.statistics import exact
from sidecar.grading.suite_summary import AGENTS_FAILED, NO_CALLS, SuiteFacts, summarise
from sidecar.grading.task import TaskGrade, TrialPlan, grade_task
from sidecar.grading.trial import TrialGrade, TrialGrader, contested
from sidecar.suite.events import RunEvent
from sidecar.suite.model import AgentEvalSuite, Task
from sidecar.suite.payloads import EvalScored, EvalStarted
from sidecar.suite.summary import EvalSummary

DEFAULT_PASS_SCORE = 1.0
"""The bar of a suite without `passScore`: closed unless told otherwise (R16)."""


class Status(StrEnum):
    """How a grade ends."""

    PASSED = "passed"
    """Everything was measured, and the suite's bars hold."""

    FAILED = "failed"
    """Everything was measured, and a bar does not hold."""

    UNMEASURED = "unmeasured"
    """Something, or all, was not measured: no pass, and no failure either."""


@dataclass(frozen=True, slots=True)
class Grade:
    """What an eval run is worth.

    Attributes:
        status: How it ends.
        summary: The content-free scorecard; None where no trial was measured.
        tasks: Each task's grade with its trials and their reasons, in suite order.
        reasons: Why the suite passed or did not.
        findings: What is wrong with the log, and belongs to no trial.
        differences: Where the log says something else than is computed.
        comparison: With the baseline; None without one, or without a summary.
    """

    status: Status
    summary: EvalSummary | None
    tasks: tuple[TaskGrade, ...]
    reasons: tuple[Reason, ...]
    findings: tuple[Reason, ...]
    differences: tuple[LogDifference, ...]
    comparison: Comparison | None = None

    @property
    def exit_code(self) -> int:
        """0 passed, 1 measured and failed, 2 not measured."""
        return (Status.PASSED, Status.FAILED, Status.UNMEASURED).index(self.status)


def grade(
    suite: AgentEvalSuite,
    events: Iterable[RunEvent],
    *,
    baseline: Baseline | None = None,
) -> Grade:
    """Grade an eval run.

    Args:
        suite: The suite that was run.
        events: The run's log. Read once, and held one trial at a time, where it is in
            order; a log that is not is sorted by `sequence`, which a one-shot iterator
            does not allow.
        baseline: What the run is compared with, or None.

    Raises:
        SuiteError: If the log, or the baseline, is of another suite or version; or if the
            log holds several runs, cannot be read, or is a one-shot iterator that is out of
            order.
    """
    try:
        return _Grading(suite, baseline).of(events)
    except OutOfOrderError:
        if isinstance(events, Iterator):
            raise
        in_order = sorted(events, key=lambda event: event.sequence)
        return _Grading(suite, baseline).of(in_order)


def plan_of(suite: AgentEvalSuite, *, live_shadow: bool = False) -> TrialPlan:
    """Say how a suite's tasks are tried.

    Args:
        suite: The suite.
        live_shadow: Whether the run is in mode `live-shadow`.
    """
    own = suite.thresholds.pass_score if suite.thresholds else None
    return TrialPlan(
        count=suite.trial_count,
        k=suite.k,
        pass_rule=suite.pass_rule,
        pass_score=exact(DEFAULT_PASS_SCORE if own is None else own),
        fixtures_serve=not live_shadow,
    )


class _Grading:
    """One pass over one log."""

    def __init__(self, suite: AgentEvalSuite, baseline: Baseline | None) -> None:
        self._suite = suite
        self._baseline = baseline
        self._reader = LogReader(suite.target_agent_id)
        self._tasks = {task.task_id: task for task in suite.tasks}
        self._graders: dict[str, TrialGrader] = {}
        self._grades: dict[str, dict[int, TrialGrade]] = {task: {} for task in self._tasks}
        self._findings: list[Reason] = []
        self._differences: list[LogDifference] = []
        self._judged = 0

    def of(self, events: Iterable[RunEvent]) -> Grade:
        for evidence in self._reader.trials(events):
            self._check_suite()
            self._take(evidence)
        self._check_suite()
        facts = self._reader.facts()
        plan = self._plan()
        tasks = tuple(
            grade_task(task, tuple(self._grades[task.task_id].values()), plan)
            for task in self._suite.tasks
        )
        return self._whole(tasks, facts, plan)

    def _whole(self, tasks: tuple[TaskGrade, ...], facts: LogFacts, plan: TrialPlan) -> Grade:
        suite_facts = SuiteFacts(
            suite=self._suite,
            plan=plan,
            tasks=tasks,
            judge_usage=facts.judge_usage,
            judged=self._judged,
        )
        summary, reasons = summarise(suite_facts)
        comparison = self._compared(summary)
        if summary is not None and comparison is not None:
            summary = summary.model_copy(update={"regression": comparison.regression})
        self._differences += eval_differences(facts, self._suite, summary)
        return Grade(
            status=_status(summary, reasons, whole=suite_facts.whole),
            summary=summary,
            tasks=tasks,
            reasons=reasons,
            findings=(*facts.findings, *self._findings),
            differences=tuple(self._differences),
            comparison=comparison,
        )

    def _compared(self, summary: EvalSummary | None) -> Comparison | None:
        baseline = self._baseline
        if summary is None or baseline is None:
            return None
        return compare_runs(
            summary, baseline.summary, baseline_run_id=baseline.run_id, options=baseline.options
        )

    def _check_suite(self) -> None:
        started = self._reader.started
        suite = self._suite
        if started is None:
            return
        if (started.suite_id, started.suite_version) != (suite.suite_id, suite.version):
            raise SuiteError(
                f"the log is of suite {named(started.suite_id)} {named(started.suite_version)},"
                f" not of {suite.suite_id} {suite.version}",
                hint="grade it with the suite it was run with",
            )

    def _plan(self) -> TrialPlan:
        started: EvalStarted | None = self._reader.started
        modes = started.modes if started else self._suite.modes
        shadow = "live-shadow" in modes if started else modes == ("live-shadow",)
        return plan_of(self._suite, live_shadow=shadow)

    def _take(self, evidence: TrialEvidence) -> None:
        scored = evidence.scored
        assert scored is not None  # the reader hands out a trial with its score
        task = self._tasks.get(scored.task_id)
        index = self._index(scored)
        if task is None:
            self._find("unknown-task", f"the suite has no task {named(scored.task_id)}")
        elif index is not None:
            self._grade(task, index, evidence, scored)

    def _index(self, scored: EvalScored) -> int | None:
        count = self._suite.trial_count
        index = scored.trial_index
        if index is None and count == 1:
            return 0
        if index is None:
            text = f"a score of task {named(scored.task_id)} has no trialIndex, of {count} trials"
            self._find("no-trial-index", text)
        elif index >= count:
            text = f"task {named(scored.task_id)} has a trial {index + 1}, of {count} trials"
            self._find("extra-trial", text)
            return None
        return index

    def _grade(self, task: Task, index: int, evidence: TrialEvidence, scored: EvalScored) -> None:
        grades = self._grades[task.task_id]
        if index in grades:
            self._find("trial-twice", f"task {task.task_id}, trial {index + 1} is scored twice")
            grades[index] = contested(grades[index])
            return
        self._judged += scored.evaluator_type == "llm_judge"
        grades[index] = self._grader(task).grade(index, evidence)
        self._differences += trial_differences(scored, grades[index])

    def _grader(self, task: Task) -> TrialGrader:
        if task.task_id not in self._graders:
            plan = self._plan()
            self._graders[task.task_id] = TrialGrader(
                task,
                agent_id=self._reader.agent_id or "",
                pass_score=plan.pass_score,
                fixtures_serve=plan.fixtures_serve,
                fingerprints=plan.count > 1,
            )
        return self._graders[task.task_id]

    def _find(self, code: str, text: str) -> None:
        if len(self._findings) < MAX_FINDINGS:
            self._findings.append(Reason(code, text))


def _status(summary: EvalSummary | None, reasons: Sequence[Reason], *, whole: bool) -> Status:
    if summary is None or not whole:
        return Status.UNMEASURED
    if summary.passed:
        return Status.PASSED
    # A suite that would pass because its agent did nothing at all was not measured either,
    # nor was one whose agent failed in every trial before it called any tool (T09).
    idle = all(reason.code in {NO_CALLS, AGENTS_FAILED} for reason in reasons)
    return Status.UNMEASURED if idle else Status.FAILED


def grade_trial(
    suite: AgentEvalSuite,
    task: Task,
    evidence: TrialEvidence,
    *,
    agent_id: str,
) -> TrialGrade:
    """Grade one trial on its own, as its runner does before it writes `eval.scored`.

    Args:
        suite: The suite.
        task: One of its tasks.
        evidence: What the trial's events tell (`read_trial`).
        agent_id: The target agent.
    """
    plan = plan_of(suite)
    grader = TrialGrader(
        task,
        agent_id=agent_id,
        pass_score=plan.pass_score,
        fixtures_serve=plan.fixtures_serve,
        fingerprints=False,
    )
    return grader.grade(0, evidence)
