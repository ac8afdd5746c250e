"""Every trial of every task of a suite, in turn, and the event log that they leave.

The summary is the grade of that log, so that whoever grades the exported log gets the
same (ARCHITECTURE.md, invariant 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sidecar.agents.judge import Answer, Judge, Judgement, NoJudgement, question_of
from sidecar.agents.trial import Setting, Trial, TrialResult, run_trial
from sidecar.agents.usage import USAGE
from sidecar.cassette.interaction import Cassette
from sidecar.errors import SuiteError
from sidecar.grading.evidence import TrialEvidence
from sidecar.grading.grade import Grade, grade, grade_trial
from sidecar.grading.log_reading import read_trial
from sidecar.grading.regression import Baseline
from sidecar.grading.scores import rubric_score
from sidecar.grading.trial import TrialGrade
from sidecar.store import runs
from sidecar.store.looked_over_rows import look_over
from sidecar.suite.events import RunEvent, read_events
from sidecar.suite.fixtures import compiled, tools_by_server
from sidecar.suite.model import AgentEvalSuite, Task
from sidecar.suite.model_base import Model, wire_value
from sidecar.suite.payloads import (
    CRITERIA,
    UNJUDGED,
    EvalCompleted,
    EvalScored,
    EvalStarted,
    TrialUnjudged,
)
from sidecar.suite.summary import EvalSummary
from sidecar.wire.json_text import dump

DEFAULT_AGENT_ID = "agent"


class Watcher(Protocol):
    """Whom an evaluation tells how far it is."""

    def began(self, task: Task, index: int) -> None:
        """A trial begins."""

    def ended(self, task: Task, index: int, graded: TrialGrade) -> None:
        """A trial ended, and was graded."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What an evaluation is measured by, beside its suite.

    Attributes:
        judge: Judges the outputs of tasks with a rubric; None where there is none.
        baseline: What the run is compared with, or None.
    """

    judge: Judge | None = None
    baseline: Baseline | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """A trial that was run.

    Attributes:
        task: The task.
        index: Which of its trials, from 0.
        result: What came of it.
        answer: The judge's; None where none was asked.
    """

    task: Task
    index: int
    result: TrialResult
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A suite that was run.

    Attributes:
        run_id: The run that holds the event log.
        grade: The grade of that log.
        trials: The trials that ended, in order.
        is_stopped: Whether the user ended it before all trials were done.
    """

    run_id: str
    grade: Grade
    trials: tuple[Done, ...]
    is_stopped: bool = False


def refuse_unrunnable(
    suite: AgentEvalSuite, *, live_servers: Iterable[str], name: str, has_judge: bool = False
) -> None:
    """Refuse what cannot be run here, before anything is started.

    Args:
        suite: The suite.
        live_servers: Servers that may be asked for real, where a task allows that.
        name: The suite's file, for errors.
        has_judge: Whether there is someone to judge outputs.

    Raises:
        SuiteError: Naming the task and the field.
    """
    live = frozenset(live_servers)
    for index, task in enumerate(suite.tasks):
        if task.expected.kind == "rubric" and not has_judge:
            raise SuiteError(
                f"task {task.task_id!r} has kind rubric, and there is no judge",
                place=f"{name} /tasks/{index}/expected/kind",
                hint="name one with --judge or --judge-url",
            )
        if task.fixtures and task.fixtures.on_miss == "live" and not live:
            raise SuiteError(
                f"task {task.task_id!r} has onMiss live, and no live servers are known",
                place=f"{name} /tasks/{index}/fixtures/onMiss",
                hint="name them with --config, or say onMiss fail",
            )


def servers_of(suite: AgentEvalSuite, surface: Cassette | None) -> tuple[str, ...]:
    """Name the servers that the agent is offered: the surface's, then those that tools name."""
    shown = surface.servers if surface else {}
    return tuple(dict.fromkeys([*shown, *tools_by_server(suite)]))


def evaluate(
    suite: AgentEvalSuite,
    surface: Cassette | None,
    setting: Setting,
    watcher: Watcher,
    *,
    measures: Measures = Measures(),  # frozen
) -> Evaluation:
    """Run every trial of every task, one after the other.

    Each trial's events go into the evaluation's log as a whole once it ended.

    Raises:
        AgentError: If the agent cannot be started.
        SidecarError: If the journal cannot be written, or the baseline is of another suite.
    """
    log = _Log(suite, setting, measures)
    log.begin()
    done: list[Done] = []
    state = "failed"
    try:
        for trial in _trials(suite, surface):
            watcher.began(trial.task, trial.index)
            result = run_trial(setting, trial)
            outcome = None if result.is_stopped else log.take(trial, result)
            if outcome is None:
                state = "interrupted"
                break
            done.append(Done(trial.task, trial.index, result, outcome.answer))
            watcher.ended(trial.task, trial.index, outcome.graded)
        else:
            log.complete()
            state = "ended"
    finally:
        setting.journal.finish_run(setting.eval_run, state=state)
    look_over(setting.journal, setting.eval_run, setting.masks)  # the trials told more
    found = log.grade()
    if found.summary is not None:
        runs.save_summary(setting.journal, setting.eval_run, found.summary)
    return Evaluation(setting.eval_run, found, tuple(done), state == "interrupted")


def _trials(suite: AgentEvalSuite, surface: Cassette | None) -> Iterator[Trial]:
    for task in suite.tasks:
        cassette = compiled(suite, task, surface)
        for index in range(suite.trial_count):
            yield Trial(task, index, cassette)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A trial's grade, and the judge's answer where it was asked."""

    graded: TrialGrade
    answer: Answer | None = None


class _Log:
    """Writes the evaluation's event log: RFC 0081 §C with 0244's trials (spec, 3.7)."""

    def __init__(self, suite: AgentEvalSuite, setting: Setting, measures: Measures) -> None:
        self._suite = suite
        self._setting = setting
        self._measures = measures

    def begin(self) -> None:
        setting, suite, baseline = self._setting, self._suite, self._measures.baseline
        setting.journal.start_run(
            setting.eval_run,
            mode=runs.EVAL_MODE,
            agent_id=setting.agent_id,
            command=setting.masks.json_text(dump(list(setting.agent))),
            suite_id=suite.suite_id,
        )
        count = suite.trial_count
        started = EvalStarted(
            suite_id=suite.suite_id,
            suite_version=suite.version,
            task_count=len(suite.tasks),
            modes=suite.modes,
            baseline_run_id=baseline.run_id if baseline else None,
            trial_count=count if count > 1 else None,
        )
        self._add("eval.started", started)

    def take(self, trial: Trial, result: TrialResult) -> _Outcome | None:
        """Add a trial's score; its bracket is in the log already, by its run.

        Returns:
            What came of it; None if the user ended the judge.
        """
        lines = runs.events(self._setting.journal, result.run_id)
        evidence = read_trial(read_events(lines), agent_id=self._setting.agent_id)
        graded = self._graded(trial, evidence)
        if graded.score is not None:
            self._score(trial, result, graded)
            return _Outcome(graded)
        answer = self._judged(trial, result)
        if isinstance(answer, NoJudgement):
            if self._setting.stop.sign is not None:
                return None
            self._leave_out(trial, answer)
            return _Outcome(graded, answer)
        graded = self._graded(trial, replace(evidence, scored=_scored(trial, answer)))
        self._score(trial, result, graded, answer)
        return _Outcome(graded, answer)

    def _graded(self, trial: Trial, evidence: TrialEvidence) -> TrialGrade:
        agent_id = self._setting.agent_id
        return grade_trial(self._suite, trial.task, evidence, agent_id=agent_id)

    def _judged(self, trial: Trial, result: TrialResult) -> Answer:
        """Ask the judge, and log what it used: outside of every bracket (R35)."""
        judge = self._measures.judge
        assert judge is not None  # refused before anything was started
        answer = judge.judge(question_of(trial.task, result.output), self._setting.stop)
        for payload in answer.usage:
            runs.add_event(self._setting.journal, self._setting.eval_run, USAGE, payload)
        return answer

    def _score(
        self,
        trial: Trial,
        result: TrialResult,
        graded: TrialGrade,
        judgement: Judgement | None = None,
    ) -> None:
        assert graded.score is not None
        scored = EvalScored(
            task_id=trial.task.task_id,
            score=float(graded.score),
            passed=graded.passed,
            cost_usd=None if graded.cost is None else float(graded.cost),
            latency_ms=result.latency_ms,
            trial_index=trial.index,
            score_label="pass" if graded.passed else "fail",
            evaluator_type=judgement.evaluator if judgement else "deterministic",
            **_recorded(judgement),
        )
        self._add("eval.scored", scored)

    def _leave_out(self, trial: Trial, answer: NoJudgement) -> None:
        unjudged = TrialUnjudged(
            task_id=trial.task.task_id, trial_index=trial.index, why=answer.why
        )
        self._add(UNJUDGED, unjudged)

    def complete(self) -> None:
        summary = self.grade().summary
        if summary is not None:  # as it is unless no judge answered
            self._add("eval.completed", _completed(summary))

    def grade(self) -> Grade:
        return grade(self._suite, self._events(), baseline=self._measures.baseline)

    def _events(self) -> Iterator[RunEvent]:
        return read_events(runs.events(self._setting.journal, self._setting.eval_run))

    def _add(self, kind: str, payload: Model) -> None:
        runs.add_event(self._setting.journal, self._setting.eval_run, kind, wire_value(payload))


def _scored(trial: Trial, judgement: Judgement) -> EvalScored:
    """Say what a judgement comes to, for the grade; whether that passes is its to say."""
    score = rubric_score(trial.task.expected.rubric or (), judgement.met)
    return EvalScored(
        task_id=trial.task.task_id, score=float(score), passed=False, **_recorded(judgement)
    )


def _recorded(judgement: Judgement | None) -> dict[str, Any]:
    """Give what is kept of a judgement: booleans only, since the log is free of content."""
    return {CRITERIA: list(judgement.met)} if judgement else {}


def _completed(summary: EvalSummary) -> EvalCompleted:
    return EvalCompleted(
        aggregate_score=summary.aggregate_score,
        passed=summary.passed,
        task_count=summary.task_count,
        passed_count=summary.passed_count,
        regression_vs_baseline=summary.regression.score_delta if summary.regression else None,
    )
