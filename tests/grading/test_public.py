"""Grading as people's own code calls it."""

import pytest

import sidecar
from sidecar.errors import SuiteError
from sidecar.suite.documents import suite_from_json
from sidecar.suite.events import event_from_json
from tests.eval_data import Log, suite


def test_a_suite_and_a_log_give_a_summary() -> None:
    events = [
        event_from_json(one) for one in Log().begin(suite()).trial("task", output="ok").events
    ]

    found = sidecar.grade(suite_from_json(suite()), events)

    assert (found.passed, found.task_count, found.passed_count) == (True, 1, 1)


def test_a_log_that_measures_nothing_is_an_error() -> None:
    with pytest.raises(SuiteError) as refused:
        sidecar.grade(suite_from_json(suite()), [])

    assert str(refused.value) == (
        "no trial of any task was measured;"
        " give the log of a run of this suite, with its eval.scored events"
    )
