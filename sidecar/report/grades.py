"""A grade in words: each task's score and gate, and why a trial failed.

Reasons quote tools and recordings, so all that is shown is escaped (ARCHITECTURE.md,
invariant 10).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import NamedTuple, TypeAlias

from rich.console import Console
from rich.text import Text

from sidecar.grading.grade import Grade, Status
from sidecar.grading.reasons import Reason
from sidecar.grading.task import TaskGrade
from sidecar.grading.trial import TrialGrade
from sidecar.report.text import counted, escaped
from sidecar.suite.summary import EvalSummary, EvalTaskResult

Notes: TypeAlias = Mapping[tuple[str, int], Sequence[str]]
"""What else is known of a trial, by task id and trial index: sentences for the user."""

_GOOD = frozenset(
    {
        "bar-met",
        "none-forbidden",
        "output-matched",
        "path-matched",
        "rule-met",
        "score-met",
    }
)
_STYLES = {
    Status.PASSED: "bold green",
    Status.FAILED: "bold red",
    Status.UNMEASURED: "bold yellow",
}
_VERDICT_STYLES = {"improved": "green", "regressed": "red", "inconclusive": "yellow"}


class _Line(NamedTuple):
    """One line: how deep, its text, and how a terminal shows it."""

    depth: int
    text: str
    style: str = ""


def graded(
    grade: Grade,
    *,
    notes: Notes | None = None,
    baseline: str | None = None,
    width: int | None = None,
) -> str:
    """Write a grade for a person; what is odd about its log is left to `oddities`.

    Args:
        grade: The grade.
        notes: What else is known of its trials.
        baseline: What to call the baseline; default by its run's id.
        width: The terminal's width in columns, and that there is one: lines are coloured
            and broken there. None: neither.
    """
    lines = [*_task_lines(grade, notes or {}), *_comparison_lines(grade, baseline)]
    return _written([*lines, *_verdict_lines(grade)], width)


def oddities(grade: Grade, *, width: int | None = None) -> str:
    """Write what is odd about a grade's log: what is missing, and where it says otherwise.

    Args:
        grade: The grade.
        width: As for `graded`.

    Returns:
        A line an oddity, all of them; empty where there is none.
    """
    lines = [_Line(0, f"the log: {finding.text}", "yellow") for finding in grade.findings]
    lines += [_Line(0, f"the log differs: {one}", "yellow") for one in grade.differences]
    return _written(lines, width)


def _written(lines: Sequence[_Line], width: int | None) -> str:
    out = StringIO()
    console = Console(
        file=out,
        width=width or 1_000_000,
        force_terminal=width is not None,
        color_system="standard" if width else None,
        highlight=False,
        legacy_windows=False,
    )
    for line in lines:
        # rich never reads markup in a Text; hanging indents keep reasons apart.
        for part in _wrapped(line, console, width):
            console.print(part, soft_wrap=True)
    return out.getvalue()


def _wrapped(line: _Line, console: Console, width: int | None) -> Iterable[Text]:
    indent = "  " * line.depth
    text = Text(escaped(line.text), style=line.style)
    if width is None:
        yield Text(indent).append_text(text)
        return
    for part in text.wrap(console, max(width - len(indent) - 2, 20)):
        yield Text(indent).append_text(part)
        indent = "  " * (line.depth + 1)


def _task_lines(grade: Grade, notes: Notes) -> Iterator[_Line]:
    for task in grade.tasks:
        style = _STYLES[_status_of(task)]
        yield _Line(0, f"{task.task_id}: {_numbers(task.result)}{_word(task)}", style)
        if len(task.trials) > 1 or task.unmeasured:
            yield from (_reason_line(1, reason) for reason in task.reasons)
        for trial in task.trials:
            yield from _trial_lines(task, trial, notes.get((task.task_id, trial.trial_index), ()))
        graded = {trial.trial_index for trial in task.trials}
        for index in task.unmeasured:
            if index not in graded:
                yield from _note_lines(1, notes.get((task.task_id, index), ()))


def _status_of(task: TaskGrade) -> Status:
    if task.unmeasured:
        return Status.UNMEASURED
    return Status.PASSED if task.passed else Status.FAILED


def _numbers(result: EvalTaskResult | None) -> str:
    if result is None:
        return ""
    gate = result.score if result.gated_score is None else result.gated_score
    return f"score {result.score:g}, gate {gate:g}: "


def _word(task: TaskGrade) -> str:
    return "not measured" if task.unmeasured else "passed" if task.passed else "failed"


def _trial_lines(task: TaskGrade, trial: TrialGrade, notes: Sequence[str]) -> Iterator[_Line]:
    depth = 1
    if len(task.trials) > 1:
        score = "no score" if trial.score is None else f"score {float(trial.score):g}"
        word = "passed" if trial.passed else "failed"
        yield _Line(1, f"trial {trial.trial_index + 1} of {len(task.trials)}: {score}, {word}")
        depth = 2
    bad_first = sorted(trial.reasons, key=lambda reason: reason.code in _GOOD)
    yield from (_reason_line(depth, reason) for reason in bad_first)
    yield from _note_lines(depth, notes)


def _note_lines(depth: int, notes: Sequence[str]) -> Iterator[_Line]:
    return (_Line(depth, f"! {note}", "yellow") for note in notes)


def _reason_line(depth: int, reason: Reason) -> _Line:
    if reason.code in _GOOD:
        return _Line(depth, f"+ {reason.text}", "green")
    if reason.code == "identical-trials":
        return _Line(depth, f"! {reason.text}", "yellow")
    return _Line(depth, f"- {reason.text}", "red")


def _comparison_lines(grade: Grade, baseline: str | None) -> Iterator[_Line]:
    if grade.comparison is None:
        return
    regression = grade.comparison.regression
    said = "; ".join(reason.text for reason in grade.comparison.reasons)
    name = baseline or regression.baseline_run_id
    text = f"against {name}: score {regression.score_delta:+g}, {said}"
    yield _Line(0, text, _VERDICT_STYLES.get(regression.verdict or "", ""))


def _verdict_lines(grade: Grade) -> Iterator[_Line]:
    reasons = [reason.text for reason in grade.reasons]
    head = {
        Status.PASSED: "PASSED",
        Status.FAILED: "FAILED",
        Status.UNMEASURED: "NOT MEASURED",
    }[grade.status]
    text = f"{head}: {_tasks_passed(grade.summary)}{'; '.join(reasons)}"
    yield _Line(0, text, _STYLES[grade.status])


def _tasks_passed(summary: EvalSummary | None) -> str:
    if summary is None:
        return ""
    return f"{summary.passed_count} of {counted(summary.task_count, 'task')} passed; "
