"""An event log, event by event, into trials (R1, R2, R19, R20).

One trial is held at a time, so a log of any length needs the room of its longest trial.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, TypeVar

from sidecar.errors import SuiteError
from sidecar.grading.evidence import Bracket, TrialEvidence
from sidecar.grading.reasons import Reason, named
from sidecar.grading.usage import Usage
from sidecar.suite.events import EventPayload, RunEvent, ToolCall, ToolReturn
from sidecar.suite.payloads import (
    EvalCompleted,
    EvalScored,
    EvalStarted,
    InvocationCompleted,
    InvocationStarted,
    ProviderUsage,
    TrialUnjudged,
)

MAX_FINDINGS: Final = 1000
"""Findings that are kept: a log of another kind could have one for every line."""

AnyPayload = TypeVar("AnyPayload")


class LogFacts(NamedTuple):
    """What a log tells beside its trials.

    Attributes:
        started: The eval's beginning, or None.
        completed: The eval's end, or None.
        agent_id: The target agent: the one asked for, else that of the first bracket.
        judge_usage: Model calls outside all brackets: those of judges.
        findings: What is wrong with the log, and belongs to no trial.
    """

    started: EvalStarted | None
    completed: EvalCompleted | None
    agent_id: str | None
    judge_usage: Usage
    findings: tuple[Reason, ...]


class OutOfOrderError(SuiteError):
    """The events are not in the order of their sequence numbers."""


def read_trial(events: Iterable[RunEvent], *, agent_id: str) -> TrialEvidence:
    """Read one trial that has no score yet, as its runner does before it writes one.

    Args:
        events: The trial's events in order, its bracket among them.
        agent_id: The target agent.

    Raises:
        SuiteError: If the events are of several runs, or out of order.
    """
    reader = LogReader(agent_id)
    for _ in reader.trials(events):
        raise SuiteError("the trial has a score already", hint="give its events without it")
    return reader.unscored()


class LogReader:
    """Reads events in order, and hands out each trial when its score comes.

    Args of the constructor:
        agent_id: The target agent, or None for that of the first bracket.

    Attributes:
        agent_id: The target agent, None until it is known.
        started: The eval's beginning, None until it is read.
    """

    def __init__(self, agent_id: str | None = None) -> None:
        self.agent_id = agent_id
        self.started: EvalStarted | None = None
        self._completed: EvalCompleted | None = None
        self._judge_usage = Usage()
        self._findings: list[Reason] = []
        self._open: list[Bracket] = []
        self._closed: list[Bracket] = []
        self._run_id: str | None = None
        self._last_id = ""
        self._other_agent: str | None = None
        self._seen_target = False
        self._next = 0

    def trials(self, events: Iterable[RunEvent]) -> Iterator[TrialEvidence]:
        """Read a log.

        Raises:
            OutOfOrderError: If a sequence number is lower than the one before it.
            SuiteError: If the log holds events of several runs.
        """
        for event in events:
            payload = event.payload
            if event.sequence != self._next or event.run_id != self._run_id:
                if self._is_repeated(event):
                    continue
                self._check_place(event)
            self._next, self._last_id = event.sequence + 1, event.event_id
            if isinstance(payload, EvalScored):
                yield self._trial(payload)
            elif payload is not None:
                self._take(payload, event.sequence)

    def unscored(self) -> TrialEvidence:
        """Give the trial whose score is still to come."""
        return self._trial(None)

    def facts(self) -> LogFacts:
        """Give what is left to tell, after the last event."""
        for bracket in (*self._closed, *self._open):
            self._find("no-score", f"no eval.scored follows bracket {named(bracket.invocation_id)}")
        self._find_absences()
        return LogFacts(
            self.started,
            self._completed,
            self.agent_id,
            self._judge_usage,
            tuple(self._findings),
        )

    def _find_absences(self) -> None:
        if self.started is None:
            self._find("no-eval-started", "the log has no eval.started")
        if self._completed is None:
            self._find("no-eval-completed", "the log has no eval.completed")
        if self._other_agent is not None and not self._seen_target:
            target, other = named(self.agent_id or ""), named(self._other_agent)
            text = f"no bracket is of the target agent, {target}; the first is of {other}"
            self._find("other-agent", text)

    def _is_repeated(self, event: RunEvent) -> bool:
        """Tell whether an event is the last one again: an upload that was retried (T08)."""
        if (event.sequence, event.event_id) != (self._next - 1, self._last_id):
            return False
        self._find("event-twice", f"event {event.sequence} is in the log twice")
        return True

    def _check_place(self, event: RunEvent) -> None:
        if self._run_id is None:
            self._run_id = event.run_id
        elif event.run_id != self._run_id:
            raise SuiteError(
                f"the log holds events of two runs, {named(self._run_id)} and"
                f" {named(event.run_id)}",
                hint="grade each run's log on its own",
            )
        last = self._next - 1
        if event.sequence < last:
            text = f"event {event.sequence} comes after event {last}"
            raise OutOfOrderError(text, hint="sort the log by sequence")
        if event.sequence == last:
            self._defect("sequence-twice", f"sequence {last} is used by two events")
        elif event.sequence > self._next:
            gap = self._next if event.sequence == self._next + 1 else None
            to = event.sequence - 1
            which = f"events {self._next} to {to} are" if gap is None else f"event {gap} is"
            self._defect("sequence-gap", f"{which} missing from the log")

    def _defect(self, code: str, text: str) -> None:
        for bracket in self._open:
            bracket.defect(code, text)
        if not self._open:
            self._find(code, text)

    def _find(self, code: str, text: str) -> None:
        if len(self._findings) < MAX_FINDINGS:
            self._findings.append(Reason(code, text))

    def _take(self, payload: EventPayload, sequence: int) -> None:
        if isinstance(payload, ToolCall | ToolReturn):
            self._take_tool_event(payload, sequence)
        elif isinstance(payload, ProviderUsage):
            self._take_usage(payload)
        elif isinstance(payload, InvocationStarted):
            self._begin(payload)
        elif isinstance(payload, InvocationCompleted):
            self._end(payload)
        elif isinstance(payload, TrialUnjudged):
            self._pass_over(payload)
        else:
            self._take_eval_event(payload)

    def _take_eval_event(self, payload: EventPayload) -> None:
        if isinstance(payload, EvalStarted):
            self.started = self._once(self.started, payload, "eval.started")
        elif isinstance(payload, EvalCompleted):
            self._completed = self._once(self._completed, payload, "eval.completed")

    def _pass_over(self, payload: TrialUnjudged) -> None:
        """Leave out a trial that has no score: its bracket is not that of the next score."""
        self._trial(None)
        which = "" if payload.trial_index is None else f", trial {payload.trial_index + 1}"
        text = f"task {named(payload.task_id)}{which} was not judged: {named(payload.why)}"
        self._find("not-judged", text)

    def _take_tool_event(self, payload: ToolCall | ToolReturn, sequence: int) -> None:
        if not self._open:
            if isinstance(payload, ToolCall) and self.agent_id in {payload.agent_id, None}:
                self._find(
                    "stray-call",
                    f"{named(payload.tool)} was called outside every trial (event {sequence})",
                )
            return
        # Where two brackets overlap, whose call it is cannot be told: both have a defect.
        bracket = self._open[0]
        if isinstance(payload, ToolCall):
            bracket.call(payload, sequence)
        else:
            bracket.answer(payload, sequence)

    def _take_usage(self, payload: ProviderUsage) -> None:
        if self._open:
            self._open[0].use(payload)
        else:
            self._judge_usage = self._judge_usage.plus(payload)

    def _begin(self, payload: InvocationStarted) -> None:
        if self.agent_id is None:
            self.agent_id = payload.agent_id
        if payload.agent_id != self.agent_id:
            self._other_agent = self._other_agent or payload.agent_id
            return
        self._seen_target = True
        self._open.append(Bracket(payload.invocation_id))
        if len(self._open) > 1:
            names = " and ".join(named(one.invocation_id) for one in self._open)
            self._defect("overlap", f"the brackets {names} of one agent overlap")

    def _end(self, payload: InvocationCompleted) -> None:
        if self.agent_id not in {None, payload.agent_id}:
            return
        for bracket in self._open:
            if bracket.invocation_id == payload.invocation_id:
                bracket.completed = payload
                self._open.remove(bracket)
                self._closed.append(bracket)
                return
        self._defect(
            "unopened-bracket", f"the bracket {named(payload.invocation_id)} closes unopened"
        )

    def _trial(self, scored: EvalScored | None) -> TrialEvidence:
        waiting = self._closed or self._open[:1]
        if not waiting:
            text = "no invocation bracket of the target agent comes before its score"
            return TrialEvidence(defects=(Reason("no-bracket", text),), scored=scored)
        *others, bracket = waiting
        for other in others:
            text = f"no eval.scored follows bracket {named(other.invocation_id)} at once"
            self._find("no-score", text)
            bracket.defect("unclear-bracket", f"{text}: whose score this is cannot be told")
        self._closed = []
        if bracket in self._open:
            self._open.remove(bracket)
        return bracket.evidence(scored)

    def _once(self, before: AnyPayload | None, now: AnyPayload, name: str) -> AnyPayload:
        if before is not None:
            self._find("twice", f"the log has more than one {name}")
            return before
        return now
