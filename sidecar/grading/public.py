"""Grading, for people's own code: part of the public API."""

from __future__ import annotations

from collections.abc import Iterable

from sidecar.errors import SuiteError
from sidecar.grading import grade as grading
from sidecar.suite.events import RunEvent
from sidecar.suite.model import AgentEvalSuite
from sidecar.suite.summary import EvalSummary


def grade(suite: AgentEvalSuite, events: Iterable[RunEvent]) -> EvalSummary:
    """Compute the summary of an eval run from its suite and its event log.

    Args:
        suite: The suite that was run.
        events: The run's log, in the order of `sequence`; any other order only as a
            collection that can be read twice.

    Raises:
        SuiteError: If the log is of another suite, version or several runs, or if it
            measures nothing. What was measured in part has a summary that did not pass;
            `sidecar.grading.grade.grade` tells more, with the reasons.
    """
    found = grading.grade(suite, events)
    if found.summary is None:
        raise SuiteError(
            "no trial of any task was measured",
            hint="give the log of a run of this suite, with its eval.scored events",
        )
    return found.summary
