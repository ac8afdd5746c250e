"""A judge that is a command: the question as JSON on its standard input, the answer on its output.

It answers `{"met": [true, false]}`, one boolean a criterion; `reasons`, `usage` and
`evaluatorType` may be there too.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from sidecar.agents.attempt import private_folder
from sidecar.agents.command import Stop
from sidecar.agents.judge import Answer, NoJudgement, Question, read_answer
from sidecar.agents.process import AgentProcess
from sidecar.errors import AgentError, UsageError
from sidecar.store.clock import SYSTEM_CLOCK, Clock
from sidecar.store.environment import PREFIX


class CommandJudge:
    """Asks a command; it is started anew for each question, and leaves nothing behind."""

    def __init__(
        self,
        words: tuple[str, ...],
        *,
        cwd: Path,
        timeout_seconds: float,
        environ: Mapping[str, str] | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """Prepare it.

        Args:
            words: Program and arguments.
            cwd: Where it works.
            timeout_seconds: How long one judgement may take.
            environ: Its environment; default this process's.
            clock: Where time comes from.

        Raises:
            UsageError: If there is no such program: that would be told of each trial.
        """
        given = os.environ if environ is None else environ
        # What an outer sidecar told is not for a judge.
        self._environ = {
            name: value for name, value in given.items() if not name.startswith(PREFIX)
        }
        if shutil.which(words[0], path=self._environ.get("PATH")) is None:
            raise UsageError(
                f"the judge's command {words[0]!r} was not found, or may not be run",
                hint="check --judge, or give the path of the program",
            )
        self._words = words
        self._cwd = cwd
        self._timeout_seconds = timeout_seconds
        self._clock = clock

    def judge(self, question: Question, stop: Stop) -> Answer:
        """Judge one output."""
        with private_folder("judge") as folder:
            path = folder / "question.json"
            path.write_bytes(question.text.encode())
            try:
                return self._answer(path, question, stop)
            except AgentError as error:
                return NoJudgement("it could not be started", error.problem)

    def _answer(self, path: Path, question: Question, stop: Stop) -> Answer:
        until = self._clock.monotonic() + self._timeout_seconds
        process = AgentProcess(
            self._words, cwd=self._cwd, environ=self._environ, folder=path.parent, stdin=path
        )
        is_late = True
        try:
            process.wait(lambda: stop.sign is not None or self._clock.monotonic() > until)
            is_late = process.exit_code() is None
        finally:
            code = process.end(hurry=lambda: stop.is_urgent)
        if is_late and stop.sign is None:
            return NoJudgement(f"timed out after {self._timeout_seconds:g} s", process.last_words)
        if is_late:
            return NoJudgement("stopped by the user")
        if code:
            return NoJudgement(f"exit code {code}", process.last_words)
        return read_answer(process.output, question)
