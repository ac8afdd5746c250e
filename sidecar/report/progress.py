"""How far an evaluation is, on a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sidecar.grading.trial import TrialGrade
from sidecar.suite.model import Task


class TrialProgress:
    """A progress bar over all trials; nothing where no terminal would show it.

    It is a watcher of `sidecar.agents.evaluation`.
    """

    def __init__(self, total: int, file: TextIO | None = None) -> None:
        """Make it.

        Args:
            total: Number of trials of all tasks.
            file: Where it is shown; default standard error.
        """
        shown = sys.stderr if file is None else file
        self._passed = self._failed = 0
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(file=shown, legacy_windows=False),
            transient=True,  # what it says at the end is in the report
            disable=not shown.isatty(),
        )
        self._bar = self._progress.add_task("", total=total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def began(self, task: Task, index: int) -> None:
        """Show which trial runs."""
        self._show(f"{task.task_id}, trial {index + 1}")

    def ended(self, task: Task, index: int, graded: TrialGrade) -> None:
        """Count a trial."""
        if graded.passed:
            self._passed += 1
        else:
            self._failed += 1
        self._show(f"{task.task_id}, trial {index + 1}")
        self._progress.advance(self._bar)

    def _show(self, what: str) -> None:
        counts = f"{self._passed} passed, {self._failed} failed"
        self._progress.update(self._bar, description=f"{counts}; {what}")
