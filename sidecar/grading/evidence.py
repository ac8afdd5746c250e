"""What a log tells of a trial: the calls inside its bracket, and what is missing.

A trial is the target agent's invocation bracket and the `eval.scored` that follows it.
What the log does not hold is unknown, never compliant: every gap, unpaired call and open
bracket becomes a defect, and a trial with one is not a pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

from sidecar.cassette.arguments import ABSENT, Absent
from sidecar.cassette.outcome import FIXTURE_MISS
from sidecar.grading.candidates import ObservedCall
from sidecar.grading.reasons import Reason, named
from sidecar.grading.usage import NO_USAGE, Usage
from sidecar.suite.events import ToolCall, ToolReturn
from sidecar.suite.payloads import (
    FAILURE,
    OUTPUT,
    EvalScored,
    InvocationCompleted,
    ProviderUsage,
)
from sidecar.wire.json_text import JsonValue

_MAX_UNPAIRED = 20  # unpaired calls that are named


@dataclass(frozen=True, slots=True)
class TrialEvidence:
    """What a log tells of one trial.

    Attributes:
        calls: Tool calls inside the bracket, of every agent, in the log's order.
        outcome: Of the invocation; None where the bracket is missing or open.
        failure: Why the agent failed, in its runner's words, or None.
        output: The agent's output, or `ABSENT` where the log does not hold it.
        usage: Model calls inside the bracket.
        misses: Which calls no fixture answered, by place in `calls`.
        failed_closed: Whether any of the misses was answered with an error.
        defects: What is missing or contradictory, with words for each.
        scored: What the log says of the trial, or None.
    """

    calls: tuple[ObservedCall, ...] = ()
    outcome: str | None = None
    failure: str | None = None
    output: JsonValue | Absent = ABSENT
    usage: Usage = NO_USAGE
    misses: tuple[int, ...] = ()
    failed_closed: bool = False
    defects: tuple[Reason, ...] = ()
    scored: EvalScored | None = None


@dataclass(slots=True)
class Bracket:
    """An invocation bracket while it is read."""

    invocation_id: str
    completed: InvocationCompleted | None = None
    usage: Usage = NO_USAGE
    _calls: list[ObservedCall] = field(default_factory=list)
    _open: dict[str, list[int]] = field(default_factory=dict)  # places, by call id
    _misses: list[int] = field(default_factory=list)
    _failed_closed: bool = False
    _defects: list[Reason] = field(default_factory=list)

    def call(self, call: ToolCall, sequence: int) -> None:
        """Take a tool call."""
        self._open.setdefault(call.call_id, []).append(len(self._calls))
        self._calls.append(ObservedCall(call.tool, call.inputs, call.agent_id, sequence))

    def answer(self, answer: ToolReturn, sequence: int) -> None:
        """Take a tool call's return; equal call ids are answered in the order of the calls."""
        places = self._open.get(answer.call_id)
        if not places:
            self.defect(
                "unpaired-return",
                f"{named(answer.tool)} returned (event {sequence}) without having been called",
            )
            return
        place = places.pop(0)
        failed_closed = answer.error_code == FIXTURE_MISS
        if failed_closed or answer.answered_live:
            self._misses.append(place)
            self._failed_closed |= failed_closed

    def use(self, call: ProviderUsage) -> None:
        """Take a model call."""
        self.usage = self.usage.plus(call)

    def defect(self, code: str, text: str) -> None:
        """Note that something is missing or contradictory."""
        self._defects.append(Reason(code, text))

    def evidence(self, scored: EvalScored | None) -> TrialEvidence:
        """Give what was read, with a defect for everything that is still open."""
        done = self.completed
        return TrialEvidence(
            calls=tuple(self._calls),
            outcome=done.outcome if done else None,
            failure=_text(done.extension(FAILURE)) if done else None,
            output=done.extension(OUTPUT) if done else ABSENT,
            usage=self.usage,
            misses=tuple(sorted(self._misses)),
            failed_closed=self._failed_closed,
            defects=(*self._defects, *self._still_open()),
            scored=scored,
        )

    def _still_open(self) -> list[Reason]:
        found = [
            Reason(
                "unpaired-call",
                f"step {place + 1} ({named(self._calls[place].tool)}) has no return in the log",
                step=place + 1,
                tool=self._calls[place].tool,
            )
            for place in sorted(chain.from_iterable(self._open.values()))[:_MAX_UNPAIRED]
        ]
        if self.completed is None:
            text = f"the bracket {named(self.invocation_id)} is not closed before its score"
            found.append(Reason("unclosed-bracket", text))
        return found


def _text(value: JsonValue | Absent) -> str | None:
    return value if isinstance(value, str) else None
