"""`mcp-sidecar grade`: a summary from an event log."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Project
from tests.report.test_grades import GOLDEN, Trial, suite

SUITE = "suite.json"
EVENTS = "events.jsonl"


def write(trial: Trial) -> None:
    """Write a suite of one golden task, and the log of one trial of it."""
    Path(SUITE).write_text(suite(GOLDEN).model_dump_json(), encoding="utf-8")
    started = {"suiteId": "tests.evals.grades", "suiteVersion": "1.0.0", "taskCount": 1}
    said = [("eval.started", {**started, "modes": ["golden"]}), *trial.events("task-1", 0)]
    lines = [
        json.dumps(
            {
                "eventId": f"01J00000000000000000000000.{sequence:06d}",
                "runId": "local/01J00000000000000000000000",
                "sequence": sequence,
                "type": kind,
                "timestamp": "2026-01-01T00:00:00Z",
                "schemaVersion": 1,
                "payload": payload,
            }
        )
        for sequence, (kind, payload) in enumerate(said)
    ]
    Path(EVENTS).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("trial", "code", "verdict"),
    [
        pytest.param(Trial(), 0, "PASSED: 1 of 1 task passed", id="passed"),
        pytest.param(Trial(output="wrong"), 1, "FAILED: 0 of 1 task passed", id="failed"),
        pytest.param(Trial(failure="exit code 3"), 2, "NOT MEASURED: ", id="T09 not measured"),
    ],
)
def test_the_exit_code_says_what_the_last_line_says(
    project: Project, trial: Trial, code: int, verdict: str
) -> None:
    write(trial)

    told = project.tell("grade", SUITE, EVENTS)

    assert told.code == code
    assert told.out.splitlines()[-1].startswith(verdict)
    assert told.err == ""


def test_the_summary_alone_is_on_standard_output_with_json(project: Project) -> None:
    write(Trial(output="wrong"))

    told = project.tell("grade", SUITE, EVENTS, "--json", "--summary", "summary.json")

    assert json.loads(told.out)["passed"] is False
    assert "task-1: score 0, gate 0: failed" in told.err
    assert Path("summary.json").read_text(encoding="utf-8") == told.out


def test_where_nothing_was_measured_there_is_no_summary(project: Project) -> None:
    write(Trial())
    Path(EVENTS).write_text("", encoding="utf-8")

    told = project.tell("grade", SUITE, EVENTS, "--json", "--summary", "summary.json")

    assert (told.code, told.out) == (2, "")
    assert "NOT MEASURED: no trial of any task was measured" in told.err
    assert not Path("summary.json").exists()


def test_it_runs_nothing_and_makes_no_journal(project: Project) -> None:
    write(Trial())

    project.tell("grade", SUITE, EVENTS)

    assert not (project.folder / ".sidecar").exists()


def test_a_broken_line_is_named(project: Project) -> None:
    write(Trial())
    with Path(EVENTS).open("a", encoding="utf-8") as file:
        file.write("{\n")

    told = project.tell("grade", SUITE, EVENTS)

    assert told.code == 2
    assert f"mcp-sidecar: {EVENTS}:5: " in told.err


def test_a_log_of_another_suite_is_refused(project: Project) -> None:
    write(Trial())
    text = Path(EVENTS).read_text(encoding="utf-8")
    Path(EVENTS).write_text(text.replace('"1.0.0"', '"2.0.0"'), encoding="utf-8")

    told = project.tell("grade", SUITE, EVENTS)

    assert told.code == 2
    assert "grade it with the suite it was run with" in told.err
