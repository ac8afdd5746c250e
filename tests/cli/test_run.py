"""`mcp-sidecar run`: every trial of a suite, offline, and graded."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Project, Told
from tests.servers.judge_server import JudgeServer, judged

SUITE = "suite.json"
ECHO: tuple[str, dict[str, object]] = ("echo", {"text": "hi"})
ADD: tuple[str, dict[str, object]] = ("add", {"a": 1, "b": 2})
DROP: tuple[str, dict[str, object]] = ("drop", {})


def run(project: Project, agent: list[str], *words: str) -> Told:
    return project.tell("run", SUITE, "--agent", shlex.join(agent), *words)


def script(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def suite(project: Project) -> Any:
    return json.loads((project.folder / SUITE).read_text(encoding="utf-8"))


def change(project: Project, **more: Any) -> None:
    """Change the suite; `task` changes its first task."""
    found = suite(project)
    found["tasks"][0].update(more.pop("task", {}))
    found.update(more)
    (project.folder / SUITE).write_text(json.dumps(found), encoding="utf-8")


@pytest.fixture
def promoted(project: Project) -> Project:
    """A project with a suite of one task: two calls, and what the agent said of them."""
    project.record("greeting", ECHO, ADD)
    words = ("--suite", SUITE, "--match", "contains:hi", "--forbid", "raw:drop")
    told = project.tell("promote", "greeting", *words)
    assert told.code == 0, told
    (project.folder / "started.jsonl").unlink()
    return project


def test_the_recorded_agent_passes_without_any_server(promoted: Project) -> None:
    told = run(promoted, promoted.agent(ECHO, ADD))

    assert told.code == 0, told
    assert told.out.splitlines() == [
        "greeting: score 1, gate 1: passed",
        "  + all 2 expected calls were made, in order, among 2 calls",
        "  + no forbidden tool was called",
        "  + the output is as expected (contains)",
        "PASSED: 1 of 1 task passed; the gating aggregate is 1, the bar 1",
    ]
    assert promoted.starts() == 0


def test_the_run_is_named_so_that_others_can_be_compared_with_it(promoted: Project) -> None:
    told = run(promoted, promoted.agent(ECHO, ADD), "--events", "events.jsonl")

    assert told.err == f"mcp-sidecar: run {run_of(Path('events.jsonl'))}\n"


def test_a_forbidden_call_fails_the_gate_and_not_the_score(promoted: Project) -> None:
    told = run(promoted, promoted.agent(DROP, ECHO, ADD))

    assert told.code == 1
    assert told.out.splitlines() == [
        "greeting: score 1, gate 0: failed",
        "  - step 1 called raw:drop, which is forbidden",
        "  + all 2 expected calls were made, in order, among 3 calls",
        "  + the output is as expected (contains)",
        "FAILED: 0 of 1 task passed; the gating aggregate is 0, below the bar of 1 "
        "(ungated it is 1)",
    ]


def test_r18_a_call_that_was_not_recorded_makes_the_score_0(promoted: Project) -> None:
    told = run(promoted, promoted.agent(("counter", {}), ECHO, ADD))

    assert told.code == 1
    assert told.out.splitlines()[0] == "greeting: score 0, gate 0: failed"
    assert "  ! a call missed: unknown-tool: no recording has a call of raw:counter" in told.out


def test_a_differing_argument_is_told_with_what_was_expected_and_seen(promoted: Project) -> None:
    told = run(promoted, promoted.agent(ECHO, ("add", {"a": 1, "b": 3})))

    assert told.code == 1
    assert "  - step 2 (raw:add): argument /b was 3, expected 2" in told.out
    assert "differs at /b: recorded 2, asked for 3" in told.out
    assert "  ! 1 recorded answer was not asked for: entry 2 (raw:add)" in told.out


def test_p02_a_secret_that_changed_is_no_regression(project: Project) -> None:
    def say(key: str) -> tuple[str, dict[str, object]]:
        return ("echo", {"text": "hi", "api_key": key})

    project.record("secret", say("Xk29fLq0vT7mZp4R"))
    told = project.tell("promote", "secret", "--suite", SUITE, "--match", "contains:hi")

    passed = run(project, project.agent(say("aB3dE5gH7jK9mN1p")))

    assert "a secret is masked at /api_key, so it is not compared" in told.out
    assert passed.code == 0, passed
    assert "aB3dE5gH7jK9mN1p" not in passed.out
    kept = b"".join(path.read_bytes() for path in (project.folder / ".sidecar").iterdir())
    assert b"aB3dE5gH7jK9mN1p" not in kept


def test_x08_a_secret_of_the_agents_command_is_masked_in_all_that_is_kept(
    promoted: Project,
) -> None:
    secret = "cmdTOKENvalue8877"
    code = f"""
import json, runpy, sys
secret = sys.argv[2]
print(secret, file=sys.stderr)
print(json.dumps({{"said": secret}}))
sys.argv = ["agent", json.dumps([["raw", "echo", {{"text": secret}}]]), "--exit-code", "3"]
runpy.run_path({promoted.agent()[1]!r}, run_name="__main__")
"""
    agent = [*script(code), "--token", secret]

    told = run(promoted, agent, "--events", "events.jsonl", "--summary", "summary.json", "--json")
    shown = promoted.tell("runs", "show", "last", "--whole")

    assert told.code == 1, told
    assert "last words: [REDACTED:" in told.err
    files = [*(promoted.folder / ".sidecar").iterdir(), Path("events.jsonl"), Path("summary.json")]
    kept = {path.name: path.read_bytes() for path in files}
    assert b"[REDACTED:" in kept["events.jsonl"]
    assert [name for name, data in kept.items() if secret.encode() in data] == []
    assert secret not in str(told) + str(shown)


def test_settings_and_options_say_what_is_masked_in_a_trial(promoted: Project) -> None:
    (promoted.folder / "sidecar.toml").write_text("[redaction]\nkeys = ['ward']\n", "utf-8")
    told_to = promoted.agent(("echo", {"text": "MRN-7 of hi", "ward": "north"}), ECHO, ADD)

    run(promoted, told_to, "--mask-pattern", r"MRN-\d+")

    shown = promoted.tell("runs", "show", "last", "--whole").out
    kept = b"".join(path.read_bytes() for path in (promoted.folder / ".sidecar").iterdir())
    assert "REDACTED" in shown
    assert (b"MRN-7" in kept, b'"north"' in kept) == (False, False)


def test_t09_what_a_proxy_said_is_not_lost_in_the_agents_traceback(promoted: Project) -> None:
    told = run(
        promoted, script(r"import sys; sys.exit('mcp-sidecar: not so\n' + 'a line\n' * 3000)")
    )

    lines = [line for line in told.out.splitlines() if "last words" in line]
    assert lines[0] == "  ! the agent's last words: mcp-sidecar: not so"
    assert set(lines[1:]) == {"  ! the agent's last words: a line"}


def test_t09_an_agent_that_always_fails_measures_nothing(promoted: Project) -> None:
    told = run(promoted, script("import sys; sys.exit('oh \\x1b[2J no')"))

    assert told.code == 2
    assert told.out.splitlines()[-1] == (
        "NOT MEASURED: 0 of 1 task passed; the agent failed in every trial"
    )
    assert "  - the agent failed: exit code 1" in told.out
    assert "  ! the agent's last words: oh \\x1b[2J no" in told.out


def test_r17_an_agent_that_falls_over_a_miss_is_measured_and_has_failed(promoted: Project) -> None:
    agent = promoted.agent(ECHO, ("echo", {"text": "other"}), exit_code=1)

    told = run(promoted, agent, "--events", "events.jsonl", "--summary", "summary.json")
    again = promoted.tell("grade", SUITE, "events.jsonl", "--summary", "again.json")

    lines = told.out.splitlines()
    assert told.code == again.code == 1
    assert lines[1:3] == [
        "  - call 2 of the trial (raw:echo) was answered by no fixture",
        "  - the agent failed: exit code 1",
    ]
    assert lines[-1].startswith("FAILED: 0 of 1 task passed; the agent broke off in every trial; ")
    assert again.out.splitlines()[-1] == lines[-1]
    assert Path("again.json").read_bytes() == Path("summary.json").read_bytes()


def test_an_agent_that_cannot_start_is_told(promoted: Project) -> None:
    told = run(promoted, ["no-such-agent"])

    assert told.code == 2
    assert told.err.startswith("mcp-sidecar: the agent command 'no-such-agent' was not found")


def test_r17_an_agent_that_calls_nothing_is_not_green(promoted: Project) -> None:
    change(
        promoted,
        task={"expected": {"kind": "golden", "match": {"strategy": "contains", "value": "hi"}}},
    )

    told = run(promoted, script("print('hi')"))

    assert told.code == 2
    assert "no trial made any tool call" in told.out


def test_the_summary_alone_is_on_standard_output_with_json(promoted: Project) -> None:
    told = run(promoted, promoted.agent(ECHO), "--json", "--summary", "out/summary.json")

    assert told.code == 1
    summary = json.loads(told.out)
    assert (summary["suiteId"], summary["passed"]) == ("local.evals.suite", False)
    assert "greeting: score" in told.err
    assert Path("out/summary.json").read_text(encoding="utf-8") == told.out


def test_grade_computes_the_same_summary_from_the_exported_events(promoted: Project) -> None:
    change(promoted, trials={"count": 3, "k": 2})
    told = run(promoted, promoted.agent(DROP, ECHO, ADD), "--json", "--events", "out/events.jsonl")

    again = promoted.tell("grade", SUITE, "out/events.jsonl", "--json")
    exported = promoted.tell(
        "runs", "export", run_of(Path("out/events.jsonl")), "--format", "events"
    )

    assert again.out == told.out
    assert again.code == told.code == 1
    assert exported.out == Path("out/events.jsonl").read_text(encoding="utf-8")


def run_of(events: Path) -> str:
    return str(json.loads(events.read_text(encoding="utf-8").splitlines()[0])["runId"])


def test_t10_trials_that_were_all_the_same_are_told(promoted: Project) -> None:
    change(promoted, trials={"count": 2})

    told = run(promoted, promoted.agent(ECHO, ADD))

    assert told.code == 0
    assert "  ! all 2 trials made the same calls: they tell no more than one" in told.out


def test_a_trial_that_takes_too_long_is_ended(promoted: Project) -> None:
    told = run(promoted, script("import time; time.sleep(60)"), "--timeout", "0.5")

    assert told.code == 2
    assert "the agent failed: timed out after 0.5 s" in told.out


def test_a_bad_report_of_usage_is_told(promoted: Project) -> None:
    code = "import os; open(os.environ['MCP_SIDECAR_EVENTS_FILE'], 'a').write('{'); print('hi')"

    told = run(promoted, script(code))

    assert "  ! its usage is unknown: events file, line 1: no JSON: " in told.out


def test_a_server_that_did_not_end_is_told(
    promoted: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.store.runs.open_sessions", lambda *_: 1)
    monkeypatch.setattr("sidecar.agents.attempt.SETTLE_SECONDS", -1.0)

    told = run(promoted, promoted.agent(ECHO, ADD))

    assert "  ! a server of the agent did not end, so its calls may not all be here" in told.out


def test_a_surface_that_was_cut_off_is_told(promoted: Project) -> None:
    with Path("suite.surface.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"server":')

    told = run(promoted, promoted.agent(ECHO, ADD))

    assert told.code == 0
    assert "suite.surface.jsonl:3: the last line is broken and was dropped" in told.err


def test_words_that_name_a_file_from_here_work_in_a_fresh_folder(promoted: Project) -> None:
    Path("agent.py").write_text("import os; print('hi', os.listdir())", encoding="utf-8")

    told = run(promoted, [sys.executable, "agent.py"])

    assert "the output is as expected (contains)" in told.out


def test_an_agent_may_work_where_it_is_told_to(promoted: Project) -> None:
    Path("work").mkdir()
    Path("work/hi").touch()

    told = run(promoted, script("import os; print(os.listdir())"), "--cwd", "work")

    assert "the output is as expected (contains)" in told.out


def test_a_suite_without_a_surface_offers_the_tools_that_it_names(promoted: Project) -> None:
    Path("suite.surface.jsonl").unlink()

    assert run(promoted, promoted.agent(ECHO, ADD)).code == 0


def test_what_is_unwise_in_the_suite_is_told_as_suite_check_tells_it_and_changes_nothing(
    promoted: Project,
) -> None:
    fixtures = suite(promoted)["tasks"][0]["fixtures"]
    fixtures["toolResponses"].append({"tool": "nobody", "response": "never"})
    change(promoted, task={"fixtures": fixtures})
    lints = promoted.tell("suite", "check", SUITE)

    told = run(promoted, promoted.agent(ECHO, ADD))

    place = f"{SUITE} /tasks/0/fixtures/toolResponses/3/tool"
    assert (lints.code, told.code) == (0, 0), told
    assert lints.out.startswith(f"{place}: tool-name: no call has the name 'nobody'")
    assert told.err.splitlines()[0] == f"mcp-sidecar: {lints.out.splitlines()[0]}"
    assert "not asked for: entry 4 (nobody)" in told.out


class TestLiveMisses:
    @pytest.fixture
    def live(self, promoted: Project) -> Project:
        fixtures = suite(promoted)["tasks"][0]["fixtures"]
        fixtures["onMiss"] = "live"
        del fixtures["toolResponses"][1]
        change(promoted, task={"fixtures": fixtures})
        return promoted

    def test_r38_are_answered_by_the_live_server_and_counted(self, live: Project) -> None:
        told = run(live, live.agent(ECHO, ADD), "--config", ".mcp.json", "--json")

        (task,) = json.loads(told.out)["tasks"]
        assert told.code == 0, told
        assert (task["score"], task["passed"], task["fixtureMissCount"]) == (1, True, 1)
        assert live.starts() == 1

    def test_start_servers_in_the_folder_of_their_config(self, live: Project) -> None:
        live.write_config(
            {"raw": {"command": sys.executable, "args": ["server.py", *live.flags()]}}
        )
        server = Path(__file__).parents[1] / "servers" / "raw_server.py"
        Path("server.py").write_text(
            f"import runpy; runpy.run_path({str(server)!r}, run_name='__main__')", encoding="utf-8"
        )

        told = run(live, live.agent(ECHO, ADD), "--config", ".mcp.json")

        assert told.code == 0, told

    def test_are_refused_without_a_config(self, live: Project) -> None:
        told = run(live, live.agent(ECHO, ADD))

        assert told.code == 2
        assert "task 'greeting' has onMiss live, and no live servers are known" in told.err

    def test_need_every_server_of_the_suite(self, live: Project) -> None:
        live.write_config({"other": {"command": "x"}}, name="other.json")

        told = run(live, live.agent(ECHO, ADD), "--config", "other.json")

        assert told.code == 2
        assert "the suite uses the server 'raw', which the config does not name" in told.err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        pytest.param(["--timeout", "0"], "--timeout", id="time-out"),
        pytest.param(["--cwd", "nowhere"], "the agent's working directory is no folder", id="cwd"),
        pytest.param(["--config", "missing.json"], "the config cannot be read", id="config"),
        pytest.param(["--agent", "x {mcp_confg}"], "write {mcp_config}; there are", id="template"),
        pytest.param(["--agent", "python nope.py"], "'nope.py', which is not there", id="script"),
    ],
)
def test_a_wrong_choice_is_refused(promoted: Project, words: list[str], problem: str) -> None:
    told = run(promoted, promoted.agent(ECHO, ADD), *words)

    assert told.code == 2
    assert problem in told.err


def test_t09_a_suite_that_is_not_there_is_refused(project: Project) -> None:
    told = project.tell("run", "missing.json", "--agent", "true")

    assert told.code == 2
    assert "missing.json" in told.err


RUBRIC = {
    "kind": "rubric",
    "rubric": [
        {"criterion": "says hi", "weight": 0.75},
        {"criterion": "is polite", "weight": 0.25},
    ],
}
JUDGE = """
import json, sys
asked = json.load(sys.stdin)
met = ["hi" in asked["output"], False]
print(json.dumps({"met": met, "reasons": ["it does", "\\x1b[2J no please"]}))
"""


class TestJudges:
    @pytest.fixture
    def rubric(self, promoted: Project) -> Project:
        change(promoted, task={"expected": RUBRIC}, thresholds={"passScore": 0.7})
        return promoted

    def test_without_one_a_rubric_is_refused_by_name(self, rubric: Project) -> None:
        told = run(rubric, rubric.agent(ECHO, ADD))

        assert told.code == 2
        assert (
            "task 'greeting' has kind rubric, and there is no judge; name one with --judge or "
            "--judge-url"
        ) in told.err

    def test_r14_a_command_judges_and_grade_asks_nobody_again(self, rubric: Project) -> None:
        judge = ("--judge", shlex.join(script(JUDGE)))

        told = run(rubric, rubric.agent(ECHO, ADD), *judge, "--json", "--events", "events.jsonl")
        again = rubric.tell("grade", SUITE, "events.jsonl", "--json")

        assert told.code == 0, told
        (task,) = json.loads(told.out)["tasks"]
        assert (task["score"], task["passed"]) == (0.75, True)
        assert (
            "  + the judge found 1 of 2 criteria met; the score, 0.75, meets the bar; not met: "
            'criterion 2, "is polite" (weight 0.25)'
        ) in told.err.splitlines()
        assert [line for line in told.err.splitlines() if "the judge on" in line] == [
            "  ! the judge on criterion 2: \\x1b[2J no please"
        ]
        assert again.out == told.out
        assert "no please" not in Path("events.jsonl").read_text(encoding="utf-8")

    def test_r17_a_judge_that_fails_measures_nothing(self, rubric: Project) -> None:
        failing = shlex.join(script("import sys; sys.exit('no model')"))

        told = run(rubric, rubric.agent(ECHO, ADD), "--judge", failing)

        assert told.code == 2
        lines = told.out.splitlines()
        assert lines[:2] == ["greeting: not measured", "  - trial 1 of 1: no score in the log"]
        assert "  ! the judge gave no judgement: exit code 1 (no model)" in lines
        assert lines[-1] == "NOT MEASURED: no trial of any task was measured"
        assert "the log: task greeting, trial 1 was not judged: exit code 1" in told.err

    def test_a_judge_that_takes_too_long_is_ended(self, rubric: Project) -> None:
        slow = shlex.join(script("import time; time.sleep(60)"))

        told = run(rubric, rubric.agent(ECHO, ADD), "--judge", slow, "--judge-timeout", "0.5")

        assert told.code == 2
        assert "the judge gave no judgement: timed out after 0.5 s" in told.out

    def test_an_endpoint_judges_and_its_key_is_neither_shown_nor_kept(
        self, rubric: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        key = "Xk29fLq0vT7mZp4R"
        monkeypatch.setenv("JUDGE_CRED", key)
        # The agent has the variable too, and says what is in it.
        agent = script("import os; print('hi', os.environ['JUDGE_CRED'])")
        with JudgeServer(judged([True, True])) as server:
            told = run(
                rubric,
                agent,
                *("--judge-url", server.url, "--judge-model", "judge-1"),
                *("--judge-key-env", "JUDGE_CRED", "--judge-price", "10:20"),
                *("--json", "--events", "events.jsonl", "--summary", "summary.json"),
            )

        assert told.code == 2  # since it called no tool
        assert json.loads(told.out)["tasks"][0]["score"] == 1
        (asked,) = server.asked
        assert asked.headers["authorization"] == f"Bearer {key}"
        assert key not in json.dumps(asked.body)
        events = Path("events.jsonl").read_text(encoding="utf-8")
        usage = [one["payload"] for one in map(json.loads, events.splitlines())]
        assert [one["costEstimateUsd"] for one in usage if "costEstimateUsd" in one] == [0.0018]
        kept = b"".join(path.read_bytes() for path in Path(".sidecar").iterdir())
        for text in (told.out, told.err, events, Path("summary.json").read_text(encoding="utf-8")):
            assert key not in text
        assert key.encode() not in kept

    @pytest.mark.parametrize(
        ("words", "problem"),
        [
            pytest.param(["--judge", "no-such-judge"], "'no-such-judge' was not found", id="gone"),
            pytest.param(["--judge-url", "http://localhost"], "needs a model", id="no model"),
            pytest.param(["--judge-timeout", "nan"], "is no number to compare with", id="nan"),
            pytest.param(["--timeout", "nan"], "is no number to compare with", id="a trial's nan"),
        ],
    )
    def test_one_that_cannot_be_used_is_refused_before_anything_runs(
        self, rubric: Project, words: list[str], problem: str
    ) -> None:
        told = run(rubric, script("open('started', 'w')"), *words, "--cwd", ".")

        assert told.code == 2
        assert problem in told.err
        assert not Path("started").exists()


class TestBaselines:
    def test_r48_a_run_is_compared_with_one_of_the_journal(self, promoted: Project) -> None:
        first = run(promoted, promoted.agent(DROP, ECHO, ADD), "--events", "first.jsonl")
        baseline = run_of(Path("first.jsonl"))

        told = run(
            promoted,
            promoted.agent(ECHO, ADD),
            *("--baseline", baseline, "--method", "mcnemar", "--alpha", "0.1"),
            *("--json", "--events", "events.jsonl"),
        )
        again = promoted.tell(
            *("grade", SUITE, "events.jsonl", "--json"),
            *("--baseline", baseline, "--method", "mcnemar", "--alpha", "0.1"),
        )

        assert (first.code, told.code) == (1, 0)
        assert json.loads(told.out)["regression"] == {
            "baselineRunId": baseline,
            "scoreDelta": 0,
            "verdict": "inconclusive",
            "method": "mcnemar",
            "alpha": 0.1,
            "pairedTaskCount": 1,
        }
        assert (
            f"against {baseline}: score +0, inconclusive: of 1 paired tasks 1 went up and 0 down "
            "(exact test, p = 1, alpha 0.1)"
        ) in told.err.splitlines()
        assert again.out == told.out
        events = Path("events.jsonl").read_text(encoding="utf-8").splitlines()
        started, *_, completed = (json.loads(line)["payload"] for line in events)
        assert started["baselineRunId"] == baseline
        assert completed["regressionVsBaseline"] == 0

    def test_r48_another_version_is_refused_before_anything_runs(self, promoted: Project) -> None:
        run(promoted, promoted.agent(ECHO, ADD), "--summary", "before.json")
        change(promoted, version="2.0.0")

        told = run(
            promoted, script("open('started', 'w')"), "--baseline", "before.json", "--cwd", "."
        )

        assert told.code == 2
        assert "the baseline is of suite local.evals.suite 1.0.0" in told.err
        assert not Path("started").exists()


def test_r49_a_feature_that_is_not_implemented_is_refused_by_its_field(promoted: Project) -> None:
    change(promoted, modes=["regression", "live-shadow"])

    told = run(promoted, promoted.agent(ECHO, ADD), "--json")

    assert told.code == 2
    assert json.loads(told.out) == {
        "error": "validation_error",
        "message": "modes needs agents.evalSuite.modes, which this host does not advertise",
        "details": {
            "field": "modes",
            "path": "/modes/1",
            "fields": [{"field": "modes", "path": "/modes/1"}],
        },
    }
    assert told.err == (
        "mcp-sidecar: suite.json /modes/1: modes uses agents.evalSuite.modes, which is not "
        "implemented here; take it out; `mcp-sidecar capabilities` shows what is implemented\n"
    )
