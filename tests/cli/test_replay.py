"""`mcp-sidecar replay`."""

import json
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from sidecar.agents.command import Stop
from sidecar.store import cassettes, runs
from sidecar.store.journal import Journal
from tests.cli.conftest import Project
from tests.cli.test_cassette import BROKEN, HEAD, LINE, written

ECHO = ("echo", {"text": "hi"})
OTHER = ("echo", {"text": "other"})


def replay(
    project: Project, *calls: tuple[str, Mapping[str, object]], flags: str = ""
) -> list[str]:
    return ["replay", "--cassette", "demo", *flags.split(), "--", *project.agent(*calls)]


def test_a_recorded_run_is_replayed_without_its_servers(project: Project) -> None:
    recorded = project.tell("record", "--cassette", "demo", "--", *project.agent(ECHO, OTHER))
    (project.folder / ".mcp.json").unlink()
    shutil.rmtree(project.folder / ".sidecar")
    before = (project.folder / "cassettes" / "demo.jsonl").read_bytes()

    told = project.tell(*replay(project, ECHO, OTHER))

    assert (told.code, told.out) == (0, recorded.out)
    assert "2 calls served, 0 missed, 0 left over" in told.err
    assert project.starts() == 1
    assert (project.folder / "cassettes" / "demo.jsonl").read_bytes() == before


def test_r01_the_same_call_again_gets_the_next_answer(project: Project) -> None:
    calls = [("counter", {"k": "a"})] * 3
    recorded = project.tell("record", "--cassette", "demo", "--", *project.agent(*calls))

    told = project.tell(*replay(project, *calls))

    assert told.out == recorded.out
    assert len(set(told.out.splitlines())) == 3


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        pytest.param(
            [ECHO, ECHO],
            "used-up: every recording of this call of raw:echo was served already",
            id="R08 used up",
        ),
        pytest.param(
            [ECHO, OTHER],
            "arguments-differ: no recording of raw:echo has these arguments; the nearest "
            '(interaction 2) differs at /text: recorded "hi", asked for "other"',
            id="R11 arguments differ",
        ),
        pytest.param(
            [ECHO, ("nope", {})],
            "unknown-tool: no recording has a call of raw:nope",
            id="unknown tool",
        ),
    ],
)
def test_r20_a_miss_fails_the_replay_and_says_which_of_three_it_was(
    project: Project, calls: list[tuple[str, Mapping[str, object]]], reason: str
) -> None:
    project.record("demo", ECHO)

    told = project.tell(*replay(project, *calls))

    answer = json.loads(told.out.splitlines()[-1])
    assert told.code == 1
    assert answer["isError"] is True
    assert f"mcp-sidecar: miss: {reason}\n" in told.err
    assert "1 call served, 1 missed" in told.err
    assert project.starts() == 1
    shown = project.tell("runs", "show", "last").out
    assert reason in shown


def test_r16_a_call_that_is_left_over_fails_only_where_all_are_required(project: Project) -> None:
    project.record("demo", ECHO, OTHER, ECHO)

    lax = project.tell(*replay(project, ECHO))
    strict = project.tell(*replay(project, ECHO, flags="--require-all"))

    assert (lax.code, strict.code) == (0, 1)
    for told in (lax, strict):
        assert "1 call served, 0 missed, 2 left over" in told.err
        assert "left over: raw:echo (interaction 3)\n" in told.err
        assert "left over: raw:echo (interaction 4)\n" in told.err


@pytest.mark.parametrize(
    "agent", [pytest.param([], id="asks nothing"), pytest.param(None, id="starts no server")]
)
def test_r17_a_replay_that_serves_no_call_is_not_green(
    project: Project, agent: list[tuple[str, Mapping[str, object]]] | None
) -> None:
    project.record("demo", ECHO)
    words = [sys.executable, "-c", "pass"] if agent is None else project.agent(*agent)

    told = project.tell("replay", "--cassette", "demo", "--", *words)

    assert told.code == 1
    assert "no recorded call was served: this replay shows nothing" in told.err


def test_the_agents_own_code_is_given_where_the_replay_went_well(project: Project) -> None:
    project.record("demo", ECHO)

    told = project.tell(*("replay", "--cassette", "demo", "--", *project.agent(ECHO, exit_code=7)))

    assert told.code == 7
    assert "the agent failed: exit code 7" in told.err


def test_r10_a_miss_fails_the_replay_whatever_the_agent_makes_of_it(project: Project) -> None:
    project.record("demo", ECHO)

    told = project.tell(
        *("replay", "--cassette", "demo", "--", *project.agent(ECHO, ECHO, exit_code=7))
    )

    assert told.code == 1


def test_on_miss_live_asks_the_server_and_a_live_answer_is_no_failure(project: Project) -> None:
    path = project.record("demo", ECHO)
    before = path.read_bytes()

    told = project.tell(*replay(project, ECHO, OTHER, flags="--config .mcp.json --on-miss live"))

    assert told.code == 0
    assert json.loads(told.out.splitlines()[-1])["content"][0]["text"] == "other"
    assert "miss, answered live: arguments-differ: " in told.err
    assert "1 call served, 1 missed, 0 left over" in told.err
    assert project.starts() == 2
    assert path.read_bytes() == before
    assert "(answered live)" in project.tell("runs", "show", "last").out


def test_on_miss_live_needs_a_config(project: Project) -> None:
    project.record("demo", ECHO)

    told = project.tell(*replay(project, ECHO, flags="--on-miss live"))

    assert told.code == 2
    assert "--on-miss live needs --config" in told.err


def test_r13_a_call_that_was_matched_by_name_only_is_told(project: Project) -> None:
    path = project.record("demo", ECHO)
    text = path.read_text(encoding="utf-8")
    assert text.count("isError") == 0
    head, opening, call = text.splitlines()
    loose = call.removesuffix("}") + ',"argsMatch":"ignore"}'
    path.write_text("\n".join([head, opening, loose, ""]), encoding="utf-8")

    told = project.tell(*replay(project, OTHER))

    assert told.code == 0
    assert "mcp-sidecar: matched by name only: raw:echo (interaction 2)\n" in told.err


def test_a_live_server_that_cannot_be_started_leaves_the_replay_unmeasured(
    project: Project,
) -> None:
    project.record("demo", ECHO)
    project.write_config({"raw": {"command": "no-such-server"}})

    told = project.tell(*replay(project, ECHO, OTHER, flags="--config .mcp.json --on-miss live"))

    assert told.code == 2
    assert ".mcp.json:1 /mcpServers/raw/command: the server 'raw' could not be started" in told.err


def test_a_replay_whose_journal_has_gaps_is_not_measured(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.record("demo", ECHO)
    one_run = runs.one_run

    def with_a_gap(journal: Journal, run_id: str) -> runs.RunLine:
        run = one_run(journal, run_id)
        return run._replace(sessions=tuple(one._replace(state="failed") for one in run.sessions))

    monkeypatch.setattr(runs, "one_run", with_a_gap)

    told = project.tell(*replay(project, ECHO))

    assert told.code == 2
    assert "a part of the replay could not be journalled: it is not measured" in told.err


def test_a_replay_that_was_stopped_shows_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.record("demo", ECHO)

    @contextmanager
    def stopped() -> Iterator[Stop]:
        stop = Stop()
        stop.order(signal.SIGTERM)
        yield stop

    monkeypatch.setattr("sidecar.cli.replay.stop_on_signals", stopped)
    code = "import time; time.sleep(50)"

    told = project.tell("replay", "--cassette", "demo", "--", sys.executable, "-c", code)

    assert told.code == 128 + signal.SIGTERM
    assert "mcp-sidecar: the agent was stopped by SIGTERM\n" in told.err


@pytest.mark.parametrize(("text", "said"), BROKEN)
def test_r09_a_cassette_that_cannot_be_used_is_an_error_before_the_agent_works(
    project: Project, text: str | bytes, said: str
) -> None:
    path = written(project, text)
    before = path.read_bytes()

    told = project.tell("replay", "--cassette", "demo", "--", sys.executable, "-c", "print('ran')")

    assert (told.code, told.out) == (2, "")
    assert told.err.startswith(f"mcp-sidecar: {path}")
    assert said in told.err
    assert path.read_bytes() == before


def test_r09_a_cassette_that_is_missing_is_an_error_and_none_is_made(project: Project) -> None:
    told = project.tell(*replay(project, ECHO))

    assert told.code == 2
    assert "cassettes/demo.jsonl: there is no such cassette" in told.err
    assert project.starts() == 0
    assert [path.name for path in project.folder.iterdir()] == [".mcp.json"]


def test_r26_a_last_line_that_was_cut_off_is_dropped_with_a_warning(project: Project) -> None:
    path = written(project, HEAD.replace("git", "raw") + LINE.replace("git", "raw") + LINE[:40])

    told = project.tell("replay", "--cassette", "demo", "--", *project.agent(("log", {})))

    assert f"mcp-sidecar: {path}:3: the last line is broken and was dropped" in told.err
    assert "1 call served" in told.err


def test_a_cassette_that_names_no_server_is_an_error(project: Project) -> None:
    path = written(project, '{"cassette":1,"servers":{},"complete":true}\n')

    told = project.tell(*replay(project, ECHO))

    assert told.code == 2
    assert told.err.startswith(f"mcp-sidecar: {path}: the cassette names no server; ")


def test_a_cassette_without_calls_needs_none(project: Project) -> None:
    written(project, HEAD)

    told = project.tell("replay", "--cassette", "demo", "--", sys.executable, "-c", "pass")

    assert told.code == 0


@pytest.mark.parametrize("name", ["../x", "/abs", "a\\b", "CON"])
def test_c07_a_name_that_leads_out_is_refused(project: Project, name: str) -> None:
    told = project.tell("replay", "--cassette", name, "--", "true")

    assert told.code == 2
    assert "is no cassette name" in told.err


def test_the_replay_is_a_run_of_the_journal(project: Project) -> None:
    path = project.record("demo", ECHO)
    run = cassettes.load(str(path)).cassette.run

    project.tell(*replay(project, ECHO, OTHER))

    journal = Journal.open(str(project.folder / ".sidecar" / "journal.db"))
    found = [(one.mode, one.state, one.calls, one.misses) for one in runs.list_runs(journal)]
    newest = runs.list_runs(journal)[0]
    journal.close()
    assert found == [("replay", "ended", 2, 1), ("record", "ended", 1, 0)]
    assert newest.cassette == str(path)
    assert newest.run_id != run


def test_a_replay_of_a_cassette_that_was_not_saved_saves_it_first(project: Project) -> None:
    path = project.record("demo", ECHO)
    before = path.read_bytes()
    Path(path).unlink()

    told = project.tell(*replay(project, ECHO))

    assert told.code == 0
    assert "was not saved yet: saved from run" in told.err
    assert path.read_bytes() == before
