"""Runs of the journal, laid out."""

from typing import Any

import pytest

from sidecar.cassette.interaction import Interaction, Response
from sidecar.report.runs import as_json, listed, shown
from sidecar.store.recorded import Recorded
from sidecar.store.runs import RunLine, SessionLine

SESSION = SessionLine(
    server="git",
    mode="record",
    agent_id="me",
    state="ended",
    exit_code=0,
    started_at="2026-11-30T00:00:01.000Z",
    ended_at="2026-11-30T00:00:02.000Z",
)
RUN = RunLine(
    run_id="local/01ARZ3NDEKTSV4RRFFQ69G5FAV",
    mode="record",
    state="failed",
    agent_id="me",
    cassette="/p/cassettes/demo.jsonl",
    command='["python","agent.py"]',
    input='"What\\nnow?"',
    output='"done \\u001b[31m"',
    exit_code=3,
    suite_id=None,
    task_id=None,
    trial_index=None,
    eval_run_id=None,
    started_at="2026-11-30T00:00:00.000Z",
    ended_at="2026-11-30T00:00:03.000Z",
    sessions=(SESSION, SESSION._replace(server="time", state="interrupted")),
    calls=2,
    errors=1,
    misses=1,
)


def seen(**more: Any) -> Recorded:
    interaction = Interaction(
        "git",
        "tools/call",
        '{"name":"log","arguments":{"n":1}}',
        Response("result", '{"content":[{"type":"text","text":"a\\u001bb"}]}'),
    )
    row = Recorded(
        row=7,
        state="answered",
        missed=None,
        entry=0,
        replayed=False,
        call=None,
        started_at="2026-11-30T00:00:01.500Z",
        span=(1_000_000, 13_000_000),
        interaction=interaction,
    )
    return row._replace(**more)


def test_a_list_has_a_line_a_run() -> None:
    text = listed([RUN, RUN._replace(agent_id=None, exit_code=None)], width=None)

    assert [" ".join(line.split()) for line in text.splitlines()] == [
        "run started time agent mode state servers calls errors misses",
        f"{RUN.run_id} 2026-11-30 00:00:00 3.0 s me record failed git, time 2 1 1",
        f"{RUN.run_id} 2026-11-30 00:00:00 3.0 s record failed git, time 2 1 1",
    ]


@pytest.mark.parametrize(
    ("ended", "time"),
    [
        ("2026-11-30T00:00:00.040Z", " 0.0 s "),
        ("2026-11-30T00:00:59.940Z", " 59.9 s "),
        ("2026-11-30T00:02:05.000Z", " 2 min 05 s "),
        ("2026-11-30T02:00:59.700Z", " 121 min 00 s "),
        (None, " 00:00:00 me "),
    ],
)
def test_a_list_tells_how_long_a_run_took(ended: str | None, time: str) -> None:
    _, line = listed([RUN._replace(ended_at=ended)], width=None).splitlines()

    assert time in " ".join(line.split())


def test_a_run_is_shown_with_what_it_saw_and_why_requests_missed() -> None:
    missed = "arguments-differ: the nearest differs at /n: recorded 1, asked for 2"
    rows = [
        seen(),
        seen(missed=missed, replayed=True, entry=None, span=None),
        seen(missed="unknown-tool: no recording\nhas it", entry=None),
    ]

    text = shown(RUN, rows, whole=False, width=None)

    assert text == (
        "run: local/01ARZ3NDEKTSV4RRFFQ69G5FAV\n"
        "state: failed, exit code 3\n"
        "mode: record\n"
        "started: 2026-11-30 00:00:00, ended 2026-11-30 00:00:03\n"
        "agent: me\n"
        "command: python agent.py\n"
        "cassette: /p/cassettes/demo.jsonl\n"
        "servers: git (ended), time (interrupted)\n"
        "calls: 2 calls, 1 error, 1 miss\n"
        "input: What\\nnow?\n"
        "output: done \\x1b[31m\n"
        "\n"
        "#  request  arguments  answer  ms\n"
        '1  git:log  {"n":1}    a\\x1bb  12\n'
        '2  git:log  {"n":1}    a\\x1bb\n'
        '3  git:log  {"n":1}    a\\x1bb  12\n'
        "\n"
        "Misses:\n"
        f"  2: {missed}\n"
        "  3: unknown-tool: no recording\\nhas it (answered live)\n"
    )


@pytest.mark.parametrize(("whole", "length"), [(False, 200), (True, 1000)])
def test_a_long_output_is_cut_unless_all_of_it_is_asked_for(*, whole: bool, length: int) -> None:
    text = shown(RUN._replace(output=f'"{"x" * 1000}"'), [], whole=whole, width=None)

    (line,) = (line for line in text.splitlines() if line.startswith("output: "))
    assert len(line.removeprefix("output: ")) == length


def test_a_trial_names_its_task() -> None:
    run = RUN._replace(suite_id="s", task_id="t", trial_index=2, ended_at=None, exit_code=None)

    lines = shown(run, [], whole=False, width=None).splitlines()

    assert "trial: 3, of task t of s" in lines
    assert "state: failed" in lines
    assert "started: 2026-11-30 00:00:00" in lines


def test_the_json_of_a_run_has_its_texts_as_values() -> None:
    found = as_json(RUN, [seen(missed="used-up: x")])

    assert found == {
        "runId": RUN.run_id,
        "mode": "record",
        "state": "failed",
        "agentId": "me",
        "startedAt": "2026-11-30T00:00:00.000Z",
        "endedAt": "2026-11-30T00:00:03.000Z",
        "exitCode": 3,
        "cassette": "/p/cassettes/demo.jsonl",
        "command": ["python", "agent.py"],
        "input": "What\nnow?",
        "output": "done \x1b[31m",
        "suiteId": None,
        "taskId": None,
        "trialIndex": None,
        "servers": ["git", "time"],
        "calls": 2,
        "errors": 1,
        "misses": 1,
        "interactions": [
            {
                "number": 1,
                "server": "git",
                "method": "tools/call",
                "tool": "log",
                "arguments": '{"n":1}',
                "answer": "a\x1bb",
                "state": "answered",
                "isError": False,
                "missed": "used-up: x",
                "startedAt": "2026-11-30T00:00:01.500Z",
                "durationMs": 12,
            }
        ],
    }


def test_a_text_that_is_no_json_stands_for_itself() -> None:
    run = RUN._replace(output="plain text", input=None, command=None)

    found = as_json(run)

    assert isinstance(found, dict)
    assert (found["output"], found["input"], found["command"]) == ("plain text", None, None)
    assert "interactions" not in found
    assert "output: plain text" in shown(run, [], whole=False, width=None)
