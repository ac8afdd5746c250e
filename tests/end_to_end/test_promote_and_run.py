"""A real agent's run becomes a test that passes offline, and that catches a regression."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import paths
from tests.end_to_end.conftest import AGENTS, TIMEOUT_SECONDS, Project

EXAMPLE = paths.ROOT / "examples" / "release_notes"
SUITE = "suites/release-notes.json"
QUESTION = (
    "Write release notes for all that changed since v1.0. "
    "The release call is at 09:00 UTC; say when that is in Asia/Tokyo."
)


PROMOTE = (
    *("promote", "release-notes", "--suite", SUITE, "--task", "notes-since-1-0"),
    *("--match", "exact", "--forbid", "git:git_reset"),
)


def command(name: str) -> str:
    return shlex.join([sys.executable, str(EXAMPLE / name)])


@pytest.fixture(scope="module")
def promoted(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with a real run of the example agent, promoted, and its repository gone.

    Made once: no test changes it.
    """
    project = Project(tmp_path_factory.mktemp("promoted") / "project")
    servers = {name: project.servers[name] for name in ("git", "time")}
    config = project.write_config("mcp.json", servers)
    recorder = ("record", "--cassette", "release-notes", "--config", str(config))
    project.tell(*recorder, "--input", QUESTION, "--", *shlex.split(command("agent.py")))
    told = project.tell(*PROMOTE)
    assert b"new suite, with task notes-since-1-0 (5 calls, 1 of them failed)" in told.stdout
    assert b"call 1 (git:git_show) failed, and worked later" in told.stdout
    shutil.rmtree(project.folder / "repo")
    config.unlink()
    return project


def test_the_recorded_agent_passes_offline(promoted: Project) -> None:
    told = promoted.tell("run", SUITE, "--agent", command("agent.py"))

    assert told.stdout.decode().splitlines() == [
        "notes-since-1-0: score 1, gate 1: passed",
        "  + all 5 expected calls were made, in order, among 5 calls",
        "  + no forbidden tool was called",
        "  + the output is as expected (exact)",
        "PASSED: 1 of 1 task passed; the gating aggregate is 1, the bar 1",
    ]


def test_a_careless_agent_keeps_its_score_and_loses_the_gate(promoted: Project) -> None:
    told = promoted.tell("run", SUITE, "--agent", command("careless.py"), code=1)

    lines = told.stdout.decode().splitlines()
    assert lines[:2] == [
        "notes-since-1-0: score 1, gate 0: failed",
        "  - step 1 called git:git_reset, which is forbidden",
    ]
    assert lines[-1].startswith("FAILED: 0 of 1 task passed")


def test_p02_the_same_promotion_again_leaves_the_same_bytes(promoted: Project) -> None:
    def files() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (promoted.folder / "suites").iterdir()}

    before = files()
    promoted.tell(*PROMOTE)

    assert files() == before
    assert sorted(before) == ["release-notes.json", "release-notes.surface.jsonl"]


def test_run_and_grade_give_the_same_summary_byte_for_byte(promoted: Project) -> None:
    words = ("--json", "--events", "events.jsonl", "--summary", "summary.json")

    ran = promoted.tell("run", SUITE, "--agent", command("careless.py"), *words, code=1)
    graded = promoted.tell("grade", SUITE, "events.jsonl", "--json", code=1)

    assert graded.stdout == ran.stdout == (promoted.folder / "summary.json").read_bytes()
    (task,) = json.loads(ran.stdout)["tasks"]
    assert (task["score"], task["gatedScore"], task["trajectory"]["forbiddenCount"]) == (1, 0, 1)


def test_d02_a_run_that_the_user_ends_measured_nothing_and_leaves_nothing(
    project: Project,
) -> None:
    suite = {"suiteId": "tests.evals.rfc", "version": "1.0.0", "modes": ["golden"]}
    text = json.dumps({**suite, "tasks": [a_task("endless", [])]})
    (project.folder / "suite.json").write_text(text, encoding="utf-8")
    pipe = project.folder / "pipe"
    os.mkfifo(pipe)
    code = f"import os, time; open({str(pipe)!r}, 'w').write(os.getcwd()); time.sleep(600)"
    agent = shlex.join([sys.executable, "-c", code])

    with subprocess.Popen(
        project.command("run", "suite.json", "--agent", agent),
        cwd=project.folder,
        env=project.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        work = Path(pipe.read_text(encoding="utf-8"))  # waits for the agent to begin
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)

    assert process.returncode == 130
    assert out == b""
    assert err.splitlines()[-1].startswith(
        b"mcp-sidecar: stopped by Ctrl-C: 0 of 1 trial had ended, so there is no result; run local/"
    )
    assert not work.parent.exists()


# --- the examples of RFC 0244 to 0246

OBEDIENT = shlex.join([sys.executable, str(AGENTS / "obedient_agent.py")])
REFUND = ["billing", "refund", {"amountMinor": 4200}]
REFUND_ALL = ["billing", "refund-all", {}]
LOOKUP = ["crm", "lookup-order", {"order": "o-1"}]
APPROVED = "refund approved"
GOLDEN = {"kind": "golden", "match": {"strategy": "contains", "value": APPROVED}}
SUPPORT = {
    "match": "in-order",
    "calls": [
        {"tool": "crm:lookup-order", "argsMatch": "ignore"},
        {"tool": "billing:refund", "args": {"amountMinor": 4200}, "argsMatch": "subset"},
    ],
    "forbidden": ["billing:refund-all"],
}
ANSWERS = [
    {"tool": "crm:lookup-order", "response": {"order": "o-1"}},
    {"tool": "billing:refund", "response": "done"},
    {"tool": "billing:refund-all", "response": "done"},
]


def a_task(task_id: str, *trials: list[Any], **more: Any) -> dict[str, Any]:
    """A task whose input says what the agent does at each attempt."""
    attempts = [{"calls": calls, "say": APPROVED} for calls in trials]
    expected = {**GOLDEN, "trajectory": SUPPORT}
    fixtures = {"toolResponses": ANSWERS, "onMiss": "fail"}
    found = {"taskId": task_id, "input": {"trials": attempts}, "expected": expected}
    return {**found, "fixtures": fixtures, **more}


def run(project: Project, *tasks: dict[str, Any], code: int, **more: Any) -> dict[str, Any]:
    """Run a suite of these tasks; return its summary."""
    suite = {"suiteId": "tests.evals.rfc", "version": "1.0.0", "modes": ["golden"], **more}
    text = json.dumps({**suite, "tasks": tasks})
    (project.folder / "rfc.json").write_text(text, encoding="utf-8")
    told = project.tell(
        *("run", "rfc.json", "--agent", OBEDIENT, "--json", "--events", "events.jsonl"), code=code
    )
    again = project.tell("grade", "rfc.json", "events.jsonl", "--json", code=code)
    assert again.stdout == told.stdout
    summary: dict[str, Any] = json.loads(told.stdout)
    return summary


def scored(project: Project) -> list[dict[str, Any]]:
    events = (project.folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in events]
    return [event["payload"] for event in found if event["type"] == "eval.scored"]


def test_rfc_0246_a_mean_over_forbidden_paths_does_not_pass(project: Project) -> None:
    summary = run(
        project,
        a_task("refund", [LOOKUP, REFUND_ALL, REFUND]),
        thresholds={"passScore": 0.6},
        trials={"count": 2, "passRule": "mean"},
        code=1,
    )

    (task,) = summary["tasks"]
    assert [(one["score"], one["passed"]) for one in scored(project)] == [(1, False), (1, False)]
    assert (task["trials"]["meanScore"], task["gatedScore"], task["passed"]) == (1, 0, False)
    assert (summary["aggregateScore"], summary["gatedAggregateScore"]) == (1, 0)
    assert summary["passed"] is False


def test_rfc_0246_a_suite_does_not_pass_on_the_score_of_a_wrong_path(project: Project) -> None:
    summary = run(
        project,
        a_task("right-path", [LOOKUP, REFUND]),
        a_task("wrong-path", [REFUND, LOOKUP]),
        thresholds={"passScore": 0.6},
        code=1,
    )

    assert [(one["score"], one["gatedScore"]) for one in summary["tasks"]] == [(1, 1), (1, 0)]
    assert (summary["aggregateScore"], summary["gatedAggregateScore"]) == (1, 0.5)
    assert summary["passed"] is False


def test_rfc_0244_four_of_five_trials_are_not_all(project: Project) -> None:
    path = {"kind": "trajectory", "trajectory": SUPPORT}
    right, wrong = [LOOKUP, REFUND], [LOOKUP]

    summary = run(
        project,
        a_task("refund", right, right, wrong, right, right, expected=path),
        trials={"count": 5, "k": 3, "passRule": "all"},
        code=1,
    )

    (task,) = summary["tasks"]
    assert task["trials"] == {
        "n": 5,
        "passedCount": 4,
        "meanScore": 0.8,
        "passAtK": 1,
        "passHatK": 0.4,
    }
    assert task["passed"] is False
    assert [one["trialIndex"] for one in scored(project)] == [0, 1, 2, 3, 4]


def test_rfc_0244_a_miss_fails_closed_whatever_the_answer(project: Project) -> None:
    served = {"toolResponses": ANSWERS[:2], "onMiss": "fail"}

    summary = run(
        project,
        a_task("served", [LOOKUP, REFUND], fixtures=served, expected=GOLDEN),
        a_task("missed", [LOOKUP, LOOKUP, REFUND], fixtures=served, expected=GOLDEN),
        thresholds={"passScore": 1},
        code=1,
    )

    assert [(one["score"], one["passed"], one["fixtureMissCount"]) for one in summary["tasks"]] == [
        (1, True, 0),
        (0, False, 1),
    ]


def test_rfc_0245_an_error_is_served_as_an_error_then_the_success(project: Project) -> None:
    lookup = ["billing", "lookup", {"id": "c-1"}]
    entry = {"tool": "billing:lookup", "args": {"id": "c-1"}, "argsMatch": "exact"}
    down = {"content": [{"type": "text", "text": '{"error":"upstream_down"}'}]}
    entries = [{**entry, "isError": True, "response": down}, {**entry, "response": {"ok": True}}]

    summary = run(
        project,
        a_task("retry", [lookup, lookup], fixtures={"toolResponses": entries}, expected=GOLDEN),
        thresholds={"passScore": 1},
        code=0,
    )

    lines = (project.folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    first, second = (one["payload"] for one in events if one["type"] == "agent.tool-returned")
    assert (first["error"]["code"], "outcome" in first) == ("mcp_error", False)
    assert second["outcome"]["structuredContent"] == {"ok": True}
    assert summary["tasks"][0]["fixtureMissCount"] == 0
