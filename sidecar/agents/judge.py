"""Judges of outputs, for tasks with a rubric: what they are asked, and what they answer.

A judgement is asked for once, while a trial runs, and is then a recorded fact: whoever
grades the log again reads it there (RFC 0244 §H, R14). A judge that gives none leaves its
trial unmeasured, which is not 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, Protocol, TypeAlias

from sidecar.agents.command import Stop
from sidecar.errors import SuiteError
from sidecar.suite.json_reading import parse_json
from sidecar.suite.model import Task
from sidecar.suite.model_base import LAX, Model, Str, wire_value
from sidecar.suite.payloads import ProviderUsage
from sidecar.suite.validation import validated
from sidecar.wire.json_text import JsonValue, dump

Evaluator: TypeAlias = Literal["deterministic", "llm_judge", "human"]
"""Who judged, in RFC 0244's words (§E)."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a judge is asked; nothing in it tells which agent, suite or trial it is.

    Attributes:
        input: The task's input, any JSON.
        output: The agent's output, secrets masked: a judge may be anybody's.
        criteria: What to look for, one text each; their weights are not the judge's to know.
    """

    input: JsonValue
    output: str
    criteria: tuple[str, ...]

    @property
    def text(self) -> str:
        """The question as one JSON object."""
        asked = {"input": self.input, "output": self.output, "criteria": list(self.criteria)}
        return dump(asked)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge found.

    Attributes:
        met: Of each criterion, in order, whether it is met.
        reasons: Why, one text a criterion, or none: for the user, and never recorded.
        usage: Payloads of the judge's own model calls.
        evaluator: Who judged.
    """

    met: tuple[bool, ...]
    reasons: tuple[str, ...] = ()
    usage: tuple[JsonValue, ...] = ()
    evaluator: Evaluator = "llm_judge"


@dataclass(frozen=True, slots=True)
class NoJudgement:
    """A judge failed.

    Attributes:
        why: In a few words of ours, which are recorded.
        detail: What else helps the user; it may quote the judge, so it is not recorded.
        usage: Payloads of the model calls that were made all the same.
    """

    why: str
    detail: str = ""
    usage: tuple[JsonValue, ...] = ()


Answer: TypeAlias = Judgement | NoJudgement


class Judge(Protocol):
    """Judges outputs."""

    def judge(self, question: Question, stop: Stop) -> Answer:
        """Judge one output, within a bounded time.

        Args:
            question: What is asked.
            stop: The user's order to end early.
        """


class JudgeAnswer(Model):
    """A judge's answer, as JSON.

    Attributes:
        met: Of each criterion, in order, whether it is met.
        reasons: Why, one text a criterion.
        usage: The judge's own model calls, as payloads of `provider.usage`.
        evaluator_type: Who judged; absent: a model.
    """

    met: Annotated[tuple[bool, ...], LAX]
    reasons: Annotated[tuple[Str, ...], LAX] | None = None
    usage: Annotated[tuple[ProviderUsage, ...], LAX] | None = None
    evaluator_type: Evaluator | None = None


def question_of(task: Task, output: str) -> Question:
    """Make the question of a task with a rubric."""
    criteria = tuple(one.criterion for one in task.expected.rubric or ())
    return Question(task.input, output, criteria)


def read_answer(text: str | bytes, question: Question) -> Answer:
    """Read a judge's answer; one that does not judge each criterion is no judgement."""
    try:
        answer = validated(JudgeAnswer, parse_json(text, name="answer"), name="answer")
    except SuiteError as error:
        return NoJudgement("its answer is not of the form that was asked for", str(error))
    usage = tuple(wire_value(one) for one in answer.usage or ())
    asked, judged = len(question.criteria), len(answer.met)
    if asked != judged:
        return NoJudgement(f"it judged {judged} criteria, and was asked for {asked}", usage=usage)
    return Judgement(
        met=answer.met,
        reasons=answer.reasons or (),
        usage=usage,
        evaluator=answer.evaluator_type or "llm_judge",
    )
