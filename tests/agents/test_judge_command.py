"""A judge that is a command."""

import json
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from sidecar.agents.command import Stop
from sidecar.agents.judge import Answer, Judgement, NoJudgement, Question
from sidecar.agents.judge_command import CommandJudge
from sidecar.errors import UsageError

QUESTION = Question("2 + 2?", "4", ("is right",))
SECONDS = 20.0


def judge(
    folder: Path,
    code: str,
    *,
    seconds: float = SECONDS,
    environ: Mapping[str, str] | None = None,
) -> CommandJudge:
    words = (sys.executable, "-c", textwrap.dedent(code))
    return CommandJudge(words, cwd=folder, timeout_seconds=seconds, environ=environ)


def answer(folder: Path, code: str, question: Question = QUESTION) -> Answer:
    return judge(folder, code).judge(question, Stop())


def test_it_reads_the_question_and_writes_the_answer(tmp_path: Path) -> None:
    code = """
        import json, sys
        asked = json.load(sys.stdin)
        assert sorted(asked) == ["criteria", "input", "output"]
        print(json.dumps({"met": [asked["input"] == "2 + 2?" and asked["output"] == "4"]}))
    """

    assert answer(tmp_path, code) == Judgement((True,))


def test_it_need_not_read_a_question_of_any_size(tmp_path: Path) -> None:
    question = Question(None, "x" * 1_000_000, ("is short",))

    assert answer(tmp_path, "print('{\"met\": [false]}')", question) == Judgement((False,))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        pytest.param(
            "import sys; sys.exit('no model here')",
            NoJudgement("exit code 1", "no model here"),
            id="it fails",
        ),
        pytest.param(
            "import os; os.kill(os.getpid(), 9)", NoJudgement("exit code 137"), id="it is killed"
        ),
        pytest.param(
            "pass",
            NoJudgement(
                "its answer is not of the form that was asked for",
                "answer:1: no JSON: Expecting value; "
                "mend the JSON; an editor that knows JSON shows the place",
            ),
            id="it says nothing",
        ),
    ],
)
def test_where_it_fails_there_is_no_judgement(
    tmp_path: Path, code: str, found: NoJudgement
) -> None:
    assert answer(tmp_path, code) == found


def test_it_is_ended_when_it_takes_too_long_and_so_is_what_it_started(tmp_path: Path) -> None:
    code = """
        import subprocess, sys, time
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        sys.stderr.write("thinking")
        sys.stderr.flush()
        time.sleep(60)
    """

    found = judge(tmp_path, code, seconds=0.5).judge(QUESTION, Stop())

    assert isinstance(found, NoJudgement)
    assert found.why == "timed out after 0.5 s"


def test_the_user_can_stop_it(tmp_path: Path) -> None:
    stop = Stop()
    stop.order()

    found = judge(tmp_path, "import time; time.sleep(60)").judge(QUESTION, stop)

    assert found == NoJudgement("stopped by the user")


def test_it_works_where_run_was_called_with_its_environment_and_without_the_agents(
    tmp_path: Path,
) -> None:
    code = """
        import json, os
        mine = [os.getcwd(), os.environ.get("KEY"), os.environ.get("MCP_SIDECAR_RUN")]
        print(json.dumps({"met": [True], "reasons": [str(one) for one in mine]}))
    """
    environ = {"KEY": "k", "MCP_SIDECAR_RUN": "local/1"}

    found = judge(tmp_path, code, environ=environ).judge(QUESTION, Stop())

    assert found == Judgement((True,), (str(tmp_path), "k", "None"))


def test_the_question_is_for_this_user_alone_and_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = """
        import json, os, stat
        (folder,) = os.listdir()
        mode = oct(stat.S_IMODE(os.stat(folder).st_mode))
        print(json.dumps({"met": [True], "reasons": [mode, *os.listdir(folder)]}))
    """

    assert answer(tmp_path, code) == Judgement((True,), ("0o700", "question.json"))
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_is_not_there_is_told_before_anything_is_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the judge's command 'no-such-judge' was not found"):
        CommandJudge(("no-such-judge",), cwd=tmp_path, timeout_seconds=1)


def test_a_program_that_went_away_gives_no_judgement(tmp_path: Path) -> None:
    program = tmp_path / "judge"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    made = CommandJudge((str(program),), cwd=tmp_path, timeout_seconds=SECONDS)
    program.unlink()

    found = made.judge(QUESTION, Stop())

    assert isinstance(found, NoJudgement)
    assert found.why == "it could not be started"
    assert str(program) in found.detail


def test_its_own_model_calls_are_taken_over(tmp_path: Path) -> None:
    usage = {"provider": "p", "model": "m", "inputTokens": 1, "outputTokens": 2}
    said = json.dumps({"met": [True], "usage": [usage]})

    assert answer(tmp_path, f"print({said!r})") == Judgement((True,), usage=(usage,))
