"""How far an evaluation is, on a terminal."""

import io

import pytest

from sidecar.grading.trial import TrialGrade
from sidecar.report.progress import TrialProgress
from sidecar.suite.model import Task

TASK = Task.model_validate(
    {
        "taskId": "a-task",
        "input": None,
        "expected": {"kind": "golden", "match": {"strategy": "exact", "value": 1}},
    }
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def trial(*, passed: bool) -> TrialGrade:
    return TrialGrade("a-task", 0, score=None, passed=passed, gating_score=None)


def test_a_terminal_shows_how_many_trials_are_done_and_how_they_went(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()

    with TrialProgress(3, terminal) as progress:
        progress.began(TASK, 0)
        progress.ended(TASK, 0, trial(passed=True))
        progress.ended(TASK, 1, trial(passed=False))

    shown = terminal.getvalue()
    assert "1 passed, 1 failed; a-task, trial 2" in shown
    assert "2/3" in shown


def test_where_no_terminal_would_show_it_nothing_is_written() -> None:
    file = io.StringIO()

    with TrialProgress(1, file) as progress:
        progress.began(TASK, 0)
        progress.ended(TASK, 0, trial(passed=True))

    assert file.getvalue() == ""
