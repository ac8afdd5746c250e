"""Running an agent behind the sidecar, as the journal sees it."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.agents import attempt
from sidecar.agents.attempt import new_run
from sidecar.agents.command import AgentResult, Stop
from sidecar.agents.config import ProxyArguments, config_of_names, read_config
from sidecar.cli.execution import Plan, execute, exit_code_of
from sidecar.cli.options import Places
from sidecar.errors import AgentError
from sidecar.store import runs
from sidecar.store.journal import Journal
from sidecar.store.runs import RunLine

SECRET = "sup3r-s3cret-value"


@pytest.fixture
def where(tmp_path: Path) -> Places:
    return Places(str(tmp_path), str(tmp_path / ".sidecar"))


@pytest.fixture
def journal(where: Places) -> Iterator[Journal]:
    journal = Journal.open(where.journal)
    yield journal
    journal.close()


def plan(where: Places, *words: str, text: str | None = None) -> Plan:
    arguments = ProxyArguments("record", new_run(), where.home, where.cassette("demo"), "me")
    return Plan(words, config_of_names(["git"]), arguments, text)


def the_run(journal: Journal) -> RunLine:
    (run,) = runs.list_runs(journal)
    return run


def test_a_run_is_journalled_with_what_went_in_and_what_came_out(
    where: Places, journal: Journal, capfd: pytest.CaptureFixture[str]
) -> None:
    code = "import sys; print('said', sys.argv[1])"
    wanted = plan(where, sys.executable, "-c", code, "{input}", text="Größe?\n")

    result = execute(wanted, journal, where, Stop())

    run = the_run(journal)
    assert (result.exit_code, result.output) == (0, "said Größe?\n")
    assert capfd.readouterr().out == "said Größe?\n\n"
    assert (run.run_id, run.mode, run.state, run.agent_id, run.cassette, run.exit_code) == (
        wanted.arguments.run,
        "record",
        "ended",
        "me",
        where.cassette("demo"),
        0,
    )
    assert run.input == '"Größe?\\n"'
    assert run.output == '"said Größe?\\n"'
    assert run.command == f'["{sys.executable}","-c","{code}","{{input}}"]'


def test_an_agent_that_cannot_be_started_is_a_failed_run(where: Places, journal: Journal) -> None:
    with pytest.raises(AgentError):
        execute(plan(where, "no-such-agent"), journal, where, Stop())

    assert the_run(journal).state == "failed"


@pytest.mark.parametrize(
    ("code", "state"),
    [("raise SystemExit(1)", "failed"), ("import os; os.kill(os.getpid(), 9)", "failed")],
)
def test_an_agent_that_fails_is_a_failed_run(
    where: Places, journal: Journal, code: str, state: str
) -> None:
    execute(plan(where, sys.executable, "-c", code), journal, where, Stop())

    assert the_run(journal).state == state


def test_an_agent_that_the_user_stops_is_an_interrupted_run(
    where: Places, journal: Journal
) -> None:
    stop = Stop()
    stop.order(signal.SIGINT)

    result = execute(
        plan(where, sys.executable, "-c", "import time; time.sleep(50)"), journal, where, stop
    )

    assert result.stopped == signal.SIGINT
    assert the_run(journal).state == "interrupted"


@pytest.mark.parametrize("source", ["environment", "config"])
def test_x08_a_secret_is_masked_wherever_the_run_is_kept_and_nowhere_else(
    where: Places,
    journal: Journal,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    source: str,
) -> None:
    config = Path(where.project) / "mcp.json"
    variables = f'{{"API_TOKEN":"{SECRET}"}}' if source == "config" else "{}"
    config.write_text(
        f'{{"mcpServers":{{"git":{{"command":"srv","env":{variables}}}}}}}', encoding="utf-8"
    )
    if source == "environment":
        monkeypatch.setenv("API_TOKEN", SECRET)
    words = (sys.executable, "-c", "import sys; print(sys.argv[1:])", f"--key={SECRET}", "{input}")
    wanted = plan(where, *words, text=f"use {SECRET}")._replace(config=read_config(config))

    execute(wanted, journal, where, Stop())
    journal.close()

    assert capfd.readouterr().out == f"['--key={SECRET}', 'use {SECRET}']\n"
    kept = b"".join(path.read_bytes() for path in Path(where.home).iterdir())
    assert b"use [REDACTED:" in kept
    assert SECRET.encode() not in kept


@pytest.mark.parametrize(
    ("code", "stopped", "given"),
    [(0, None, 0), (7, None, 7), (0, signal.SIGINT, 130), (7, signal.SIGINT, 130)],
)
def test_a_run_that_was_stopped_is_never_green(code: int, stopped: int | None, given: int) -> None:
    result = AgentResult(code, "", seconds=0, stopped=stopped)

    assert exit_code_of(result) == given


def test_servers_that_did_not_end_are_told(
    where: Places,
    journal: Journal,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(runs, "open_sessions", lambda *_: 1)
    monkeypatch.setattr(attempt, "SETTLE_SECONDS", -1.0)

    execute(plan(where, sys.executable, "-c", "pass"), journal, where, Stop())

    assert "1 server of the run did not end; the run is incomplete" in capsys.readouterr().err
