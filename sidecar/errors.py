"""Every error that the sidecar raises on purpose, and the exit code each one means.

SidecarError                exit 2   base class; catch this one
├── UsageError              exit 2   a command line, name, mode or setting that cannot be used
├── ConfigError             exit 2   an agent's MCP config that cannot be used
├── CassetteError           exit 2   a cassette that cannot be used as it is
├── SuiteError              exit 2   a suite, summary, event log or capability document
├── JournalError            exit 2   the journal cannot be opened, read or written
├── PromotionError          exit 2   a run that must not become a task
├── AgentError              exit 2   an agent command that could not be started
└── MessageTooLargeError    exit 2   one message over the ceiling

Exit codes: 0 passed, 1 measured and failed, 2 not measured. A
failed measurement is a result, not an error: nothing here has exit code 1.
"""

from __future__ import annotations


class SidecarError(Exception):
    """A refusal that the user can act on.

    Attributes:
        problem: What is wrong, in one sentence without a full stop.
        place: Where: a file, `file:line`, or a file and a JSON pointer.
        hint: The next step that helps.
    """

    exit_code = 2

    def __init__(self, problem: str, *, place: str | None = None, hint: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.place = place
        self.hint = hint

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        then = f"; {self.hint}" if self.hint else ""
        return f"{where}{self.problem}{then}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuilt, (type(self), self.problem, self.place, self.hint))


class UsageError(SidecarError):
    """A command line, name, mode or setting that cannot be used."""


class ConfigError(SidecarError):
    """An agent's MCP config that cannot be used."""


class CassetteError(SidecarError):
    """A cassette that is missing, broken, foreign, or newer than this version."""


class SuiteError(SidecarError):
    """A suite, summary, event log or capability document that breaks its rules."""


class JournalError(SidecarError):
    """The journal cannot be opened, read or written."""


class PromotionError(SidecarError):
    """A recorded run that must not become a task."""


class AgentError(SidecarError):
    """An agent command that could not be started."""


class MessageTooLargeError(SidecarError):
    """One message over the ceiling."""


def _rebuilt(
    kind: type[SidecarError], problem: str, place: str | None, hint: str | None
) -> SidecarError:
    return kind(problem, place=place, hint=hint)
