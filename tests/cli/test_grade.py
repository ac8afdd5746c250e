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
    assert "the log" not in told.out


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


def test_where_the_log_says_otherwise_that_is_told_and_the_computed_counts(
    project: Project,
) -> None:
    write(Trial())

    told = project.tell("grade", SUITE, EVENTS)

    assert told.code == 0
    assert told.err.splitlines() == [
        "the log: the log has no eval.completed",
        "the log differs: task task-1, trial 1: score is 0 there, computed 1",
        "the log differs: task task-1, trial 1: passed is false there, computed true",
    ]


def test_a_log_of_another_host_in_v1_as_an_array_is_read(project: Project) -> None:
    write(Trial())
    events = [json.loads(line) for line in Path(EVENTS).read_text(encoding="utf-8").splitlines()]
    names = {"agent.invocation-started": "agent.invocation.started"}
    names["agent.invocation-completed"] = "agent.invocation.completed"
    for event in events:
        event["type"] = names.get(event["type"], event["type"])
        event["runId"] = "run-7"
        event["eventId"] = f"e{event['sequence']}"
        event["hostField"] = 1
        del event["schemaVersion"]
    Path(EVENTS).write_text(json.dumps(events, indent=1), encoding="utf-8")

    assert project.tell("grade", SUITE, EVENTS).code == 0


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        pytest.param("agent.tool-returned", "step 1 (git:log) has no return in the log", id="G13"),
        pytest.param(
            "agent.invocation-completed",
            "the bracket task-1.0 is not closed before its score",
            id="an open bracket",
        ),
        pytest.param(
            "agent.invocation-started",
            "no invocation bracket of the target agent comes before its score",
            id="no bracket",
        ),
    ],
)
def test_what_a_log_does_not_tell_is_named_and_is_no_pass(
    project: Project, gone: str, said: str
) -> None:
    write(Trial(("git:log", {})))
    lines = Path(EVENTS).read_text(encoding="utf-8").splitlines()
    kept = [json.loads(line) for line in lines if f'"{gone}"' not in line]
    for sequence, event in enumerate(kept):
        event["sequence"] = sequence
    Path(EVENTS).write_text("\n".join(map(json.dumps, kept)), encoding="utf-8")

    told = project.tell("grade", SUITE, EVENTS)

    assert told.code == 1
    assert said in told.out


def test_a_gap_in_the_sequence_is_named_and_is_no_pass(project: Project) -> None:
    write(Trial(("git:log", {}), ("git:show", {})))
    lines = Path(EVENTS).read_text(encoding="utf-8").splitlines()
    Path(EVENTS).write_text("\n".join(lines[:2] + lines[4:]), encoding="utf-8")

    told = project.tell("grade", SUITE, EVENTS)

    assert told.code == 1
    assert "events 2 to 3 are missing from the log" in told.out


class TestClaimed:
    def test_a_summary_that_agrees_is_not_spoken_of(self, project: Project) -> None:
        write(Trial())
        project.tell("grade", SUITE, EVENTS, "--summary", "claimed.json")

        told = project.tell("grade", SUITE, EVENTS, "--claimed", "claimed.json")

        assert "the claimed summary differs" not in told.err

    def test_every_difference_is_told_and_the_computed_counts(self, project: Project) -> None:
        write(Trial())
        project.tell("grade", SUITE, EVENTS, "--summary", "claimed.json")
        claimed = json.loads(Path("claimed.json").read_text(encoding="utf-8"))
        claimed["tasks"][0].update(passed=False, costUsd=1)
        Path("claimed.json").write_text(json.dumps(claimed), encoding="utf-8")

        told = project.tell("grade", SUITE, EVENTS, "--claimed", "claimed.json")

        assert told.code == 0
        assert [line for line in told.err.splitlines() if "claimed" in line] == [
            "the claimed summary differs: /tasks/0: passed is false there, computed true",
            "the claimed summary differs: /tasks/0: costUsd is 1 there, computed nothing",
        ]


class TestBaseline:
    def test_r48_the_summary_says_how_the_run_compares(self, project: Project) -> None:
        write(Trial(output="wrong"))
        project.tell("grade", SUITE, EVENTS, "--summary", "before.json")
        write(Trial())

        told = project.tell(
            "grade", SUITE, EVENTS, "--baseline", "before.json", "--alpha", "0.2", "--json"
        )

        regression = json.loads(told.out)["regression"]
        assert regression.pop("baselineRunId").startswith("local/summary-")
        assert regression == {
            "scoreDelta": 1,
            "verdict": "inconclusive",
            "method": "sign-test",
            "alpha": 0.2,
            "pairedTaskCount": 1,
        }
        assert "against before.json: score +1, inconclusive: of 1 paired tasks" in told.err
        assert told.code == 0

    def test_r48_another_version_is_refused(self, project: Project) -> None:
        write(Trial())
        project.tell("grade", SUITE, EVENTS, "--summary", "before.json")
        text = Path("before.json").read_text(encoding="utf-8").replace("1.0.0", "2.0.0")
        Path("before.json").write_text(text, encoding="utf-8")

        told = project.tell("grade", SUITE, EVENTS, "--baseline", "before.json")

        assert (told.code, told.out) == (2, "")
        assert "the baseline is of suite tests.evals.grades 2.0.0" in told.err
