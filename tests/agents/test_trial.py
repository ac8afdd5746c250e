"""One trial: an agent alone with a task's fixtures."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.agents.trial import Setting, Trial, TrialResult, run_trial
from sidecar.agents.usage import Usage
from sidecar.errors import AgentError
from sidecar.store import runs
from sidecar.suite.fixtures import compiled
from sidecar.suite.payloads import FAILURE, OUTPUT
from tests.agents.trials import AGENT, ECHO, script, setting, suite, task, telling_late

SECRET = "Zq8knownValue9"


def a_trial(index: int = 0, **more: Any) -> Trial:
    of = suite(task(**more), trials={"count": index + 1})
    return Trial(of.tasks[0], index, compiled(of, of.tasks[0], None))


def calls(*wanted: tuple[str, Any]) -> list[str]:
    return [sys.executable, AGENT, json.dumps([["raw", *one] for one in wanted])]


def events(of: Setting, result: TrialResult) -> list[Any]:
    return [json.loads(line) for line in runs.events(of.journal, result.run_id)]


@pytest.fixture
def leftover_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary folders are made, and are gone after the test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def test_the_fixtures_answer_the_agents_calls(tmp_path: Path) -> None:
    of = setting(tmp_path, calls(("echo", {"text": "hi"})))

    result = run_trial(of, a_trial())

    assert json.loads(result.output) == {"content": [{"type": "text", "text": "hi"}]}
    assert (result.failure, result.misses, result.leftovers) == (None, (), ())
    assert not result.has_open_sessions


def test_its_log_is_one_bracket_with_the_calls_inside(tmp_path: Path) -> None:
    of = setting(tmp_path, calls(("echo", {"text": "hi"})))

    result = run_trial(of, a_trial())

    log = events(of, result)
    assert [event["type"] for event in log] == [
        "agent.invocation-started",
        "agent.tool-called",
        "agent.tool-returned",
        "agent.invocation-completed",
    ]
    started, called, _, completed = (event["payload"] for event in log)
    ulid = result.run_id.partition("/")[2]
    assert started == {"invocationId": ulid, "agentId": "agent", "source": "run-api"}
    assert (called["toolName"], called["inputs"]) == ("raw:echo", {"text": "hi"})
    assert called["agentId"] == "agent"
    assert completed == {
        "invocationId": ulid,
        "agentId": "agent",
        "outcome": "completed",
        OUTPUT: result.output,
    }


def test_the_run_in_the_journal_tells_whose_trial_it_was(tmp_path: Path) -> None:
    of = setting(tmp_path, script("print('hunter2')"))

    result = run_trial(of, a_trial(index=2))

    line = runs.one_run(of.journal, result.run_id)
    assert (line.suite_id, line.task_id, line.trial_index) == ("tests.evals.trials", "one", 2)
    assert (line.eval_run_id, line.mode, line.state) == (of.eval_run, "replay", "ended")
    assert (line.exit_code, line.input) == (0, '"say hi"')


def test_what_is_kept_of_it_is_masked(tmp_path: Path) -> None:
    of = setting(tmp_path, script("import sys; print('hunter2'); sys.exit('hunter2')"))

    result = run_trial(of, a_trial(input="hunter2"))

    line = runs.one_run(of.journal, result.run_id)
    assert result.output == result.last_words
    assert result.output.startswith("[REDACTED:")
    assert "hunter2" not in str(line) + str(events(of, result))


def test_x08_a_value_that_a_call_told_late_is_masked_in_all_that_is_kept_of_the_trial(
    tmp_path: Path,
) -> None:
    of = setting(tmp_path, telling_late(SECRET))

    result = run_trial(of, a_trial())

    assert SECRET[:6] not in str(result)  # words that were cut neither
    assert [result.output.count("[REDACTED:"), len(result.misses)] == [1, 3]
    completed = events(of, result)[-1]["payload"]
    assert completed[OUTPUT] == result.output  # so the log gives the same grade
    kept = b"".join(path.read_bytes() for path in Path(of.home).iterdir())
    assert SECRET[:6].encode() not in kept


def test_r37_a_miss_is_told_with_its_reason(tmp_path: Path) -> None:
    of = setting(tmp_path, calls(("echo", {"text": "ho"})))

    result = run_trial(of, a_trial())

    (miss,) = result.misses
    assert miss.startswith("arguments-differ: no recording of raw:echo has these arguments")
    assert events(of, result)[2]["payload"]["error"]["code"] == "sidecar.fixture_miss"


def test_r45_entries_that_nothing_asked_for_are_told(tmp_path: Path) -> None:
    of = setting(tmp_path, calls(("echo", {"text": "hi"})))
    other = {**ECHO, "args": {"text": "ho"}}

    result = run_trial(of, a_trial(fixtures={"toolResponses": [other, ECHO, other]}))

    assert result.leftovers == (0, 2)


def test_entries_of_forbidden_tools_are_no_leftovers(tmp_path: Path) -> None:
    of = setting(tmp_path, calls(("echo", {"text": "hi"})))
    path = {"match": "in-order", "calls": [], "forbidden": ["raw:drop"]}
    fixtures = {"toolResponses": [ECHO, {"tool": "raw:drop", "isError": True}]}

    result = run_trial(
        of, a_trial(expected={"kind": "trajectory", "trajectory": path}, fixtures=fixtures)
    )

    assert result.leftovers == ()


def test_r19_each_trial_starts_with_all_fixtures_and_an_empty_folder(tmp_path: Path) -> None:
    code = "import os; print(os.listdir()); open('left', 'w').close()"
    of = setting(tmp_path, script(code))

    results = [run_trial(of, a_trial(index)) for index in (0, 1)]

    assert [result.output for result in results] == ["[]", "[]"]
    assert len({result.run_id for result in results}) == 2


def test_nothing_of_it_is_left_behind(tmp_path: Path, leftover_folders: Path) -> None:
    of = setting(tmp_path, script("import os; print(os.getcwd())"))

    result = run_trial(of, a_trial())

    assert Path(result.output).is_relative_to(leftover_folders)


def test_it_can_be_told_where_to_work(tmp_path: Path) -> None:
    of = setting(tmp_path, script("import os; print(os.getcwd())"), cwd=tmp_path)

    assert run_trial(of, a_trial()).output == str(tmp_path)


def test_it_is_told_where_run_was_called(tmp_path: Path) -> None:
    of = setting(tmp_path, script("import os; print(os.environ['MCP_SIDECAR_PROJECT'])"))

    assert run_trial(of, a_trial()).output == str(tmp_path)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("Größe\n", "Größe\n", id="a string as it is"),
        pytest.param({"a": [1, None]}, '{"a":[1,null]}', id="other JSON as JSON"),
        pytest.param(None, "null", id="null"),
    ],
)
def test_the_input_is_in_its_file(tmp_path: Path, given: Any, expected: str) -> None:
    code = "import os; print(ascii(open(os.environ['MCP_SIDECAR_INPUT_FILE'], 'rb').read()))"
    of = setting(tmp_path, script(code))

    assert run_trial(of, a_trial(input=given)).output == ascii(expected.encode())


def test_the_memory_seed_is_in_its_file(tmp_path: Path) -> None:
    code = "import os; print(open(os.environ['MCP_SIDECAR_MEMORY_FILE']).read())"
    of = setting(tmp_path, script(code))
    seed = [{"name": "Ada"}]

    assert json.loads(run_trial(of, a_trial(fixtures={"memorySeed": seed})).output) == seed


def test_without_a_memory_seed_there_is_no_such_file(tmp_path: Path) -> None:
    of = setting(tmp_path, script("import os; print(os.environ.get('MCP_SIDECAR_MEMORY_FILE'))"))

    assert run_trial(of, a_trial()).output == "None"


def test_the_usage_that_it_reports_is_in_its_log(tmp_path: Path) -> None:
    used = {"provider": "p", "model": "m", "inputTokens": 1, "outputTokens": 2}
    line = json.dumps({"type": "provider.usage", "payload": used})
    code = f"import os; open(os.environ['MCP_SIDECAR_EVENTS_FILE'], 'a').write({line!r})"
    of = setting(tmp_path, script(code))

    result = run_trial(of, a_trial())

    assert result.usage == Usage((used,))
    assert [event["type"] for event in events(of, result)] == [
        "agent.invocation-started",
        "provider.usage",
        "agent.invocation-completed",
    ]


def test_a_bad_report_of_usage_is_told_and_not_in_its_log(tmp_path: Path) -> None:
    code = "import os; open(os.environ['MCP_SIDECAR_EVENTS_FILE'], 'a').write('{')"
    of = setting(tmp_path, script(code))

    result = run_trial(of, a_trial())

    assert result.usage.problem is not None
    assert "provider.usage" not in str(events(of, result))


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        pytest.param("import sys; sys.exit(3)", "exit code 3", id="an exit code"),
        pytest.param(
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "ended by SIGKILL",
            id="a signal",
        ),
    ],
)
def test_t08_an_agent_that_fails_is_told_apart_from_a_wrong_answer(
    tmp_path: Path, code: str, failure: str
) -> None:
    of = setting(tmp_path, script(code))

    result = run_trial(of, a_trial())

    completed = events(of, result)[-1]["payload"]
    assert result.failure == failure
    assert (completed["outcome"], completed[FAILURE]) == ("failed", failure)
    assert OUTPUT not in completed
    assert runs.one_run(of.journal, result.run_id).state == "failed"


def test_t08_an_agent_that_hangs_is_ended_and_has_failed(tmp_path: Path) -> None:
    of = setting(tmp_path, script("import time; time.sleep(60)"), timeout_seconds=0.5)

    result = run_trial(of, a_trial())

    assert result.failure == "timed out after 0.5 s"
    assert 500 <= result.latency_ms < 20_000
    assert runs.one_run(of.journal, result.run_id).state == "failed"


def test_a_trial_that_the_user_ends_is_told(tmp_path: Path) -> None:
    of = setting(tmp_path, script("import time; time.sleep(60)"))
    of.stop.order()

    result = run_trial(of, a_trial())

    assert result.is_stopped
    assert runs.one_run(of.journal, result.run_id).state == "interrupted"


@pytest.mark.usefixtures("leftover_folders")
def test_an_agent_that_cannot_start_is_an_error(tmp_path: Path) -> None:
    of = setting(tmp_path, ["no-such-agent"])

    with pytest.raises(AgentError, match="no-such-agent"):
        run_trial(of, a_trial())

    ((state,),) = of.journal.connection.rows("SELECT state FROM runs")
    assert state == "failed"


def test_servers_that_a_client_started_elsewhere_and_that_do_not_end_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "open_sessions", lambda *_: 1)
    monkeypatch.setattr("sidecar.agents.attempt.SETTLE_SECONDS", -1.0)

    result = run_trial(setting(tmp_path, script("print('hi')")), a_trial())

    assert result.has_open_sessions
