"""The log that grading is measured with."""

import json
from pathlib import Path

import pytest

from bench import grading
from bench.client import ContestantError
from sidecar.grading.grade import Status, grade
from sidecar.suite.documents import suite_from_json
from sidecar.suite.event_document import event_problems
from sidecar.suite.events import event_from_json


def test_it_is_a_whole_log_that_passes() -> None:
    log = list(grading.events(2))
    found = grade(suite_from_json(grading.suite(2)), [event_from_json(one) for one in log])

    assert [problem for one in log for problem in event_problems(one)] == []
    assert (found.status, found.findings, found.differences) == (Status.PASSED, (), ())
    assert sum(one["type"] == "agent.tool-called" for one in log) == (
        2 * grading.TRIALS * grading.CALLS
    )


def test_a_log_that_does_not_pass_is_no_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = list(grading.events(1))
    monkeypatch.setattr(grading, "events", lambda _: events[:-20])

    with pytest.raises(ContestantError, match="grade ended with 2"):
        grading._graded(tmp_path, 1)

    assert json.loads((tmp_path / "suite.json").read_text(encoding="utf-8")) == grading.suite(1)
