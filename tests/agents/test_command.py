"""An agent command: words, files, environment, and what comes of running it."""

import json
import os
import signal
import stat
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from sidecar.agents import process as process_module
from sidecar.agents.command import (
    AgentFiles,
    AgentOrder,
    AgentResult,
    Stop,
    environment,
    filled,
    run_agent,
    stop_on_signals,
    words_of,
    write_files,
)
from sidecar.errors import AgentError, UsageError
from sidecar.store.clock import Clock

RUN = "local/01KB3T5C0000000000000000AA"


@pytest.fixture
def files(tmp_path: Path) -> AgentFiles:
    folder = tmp_path / "made"
    folder.mkdir()
    return write_files(folder, {"mcpServers": {}}, input_text="what?", memory={"a": 1})


def order(files: AgentFiles, *command: str, **more: Any) -> AgentOrder:
    return AgentOrder(
        command=command, files=files, run=RUN, cwd=files.folder.parent, input="what?", **more
    )


def python(files: AgentFiles, code: str, **more: Any) -> AgentOrder:
    return order(files, sys.executable, "-c", textwrap.dedent(code), **more)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param(["python", "a b.py"], ("python", "a b.py"), id="several words"),
        pytest.param(["python 'a b.py'"], ("python", "a b.py"), id="one word is split"),
        pytest.param(["x " + "y" * 300], ("x", "y" * 300), id="one too long for a path"),
        pytest.param(["agent"], ("agent",), id="one word"),
    ],
)
def test_a_command_is_read_as_it_was_given(given: list[str], words: tuple[str, ...]) -> None:
    assert words_of(given) == words


def test_a_program_whose_path_has_spaces_is_one_word(tmp_path: Path) -> None:
    program = tmp_path / "my agent"
    program.touch()

    assert words_of([str(program)]) == (str(program),)


@pytest.mark.parametrize("given", [[], [""], ["  "], ["", "x"]])
def test_no_command_is_refused(given: list[str]) -> None:
    with pytest.raises(AgentError, match=r"there is no agent command.*--agent 'python"):
        words_of(given)


def test_quotes_that_do_not_match_are_refused() -> None:
    with pytest.raises(AgentError, match="No closing quotation"):
        words_of(["python 'agent.py"])


def test_templates_are_filled_in_once_and_other_braces_stay(files: AgentFiles) -> None:
    asked = order(files, "a={mcp_config}", "{input}", "{input_file}", "{output_file}{x} {}")
    asked = AgentOrder(**{**fields(asked), "input": "{output_file} $(rm)"})

    assert filled(asked) == (
        f"a={files.config}",
        "{output_file} $(rm)",
        str(files.input),
        f"{files.output}{{x}} {{}}",
    )


def fields(value: AgentOrder) -> dict[str, Any]:
    return {name: getattr(value, name) for name in AgentOrder.__slots__}


@pytest.mark.parametrize("template", ["{input}", "{input_file}"])
def test_a_template_that_asks_for_an_input_where_there_is_none_is_refused(
    tmp_path: Path, template: str
) -> None:
    files = write_files(tmp_path, {})
    asked = AgentOrder(command=("agent", template), files=files, run=RUN, cwd=tmp_path)

    with pytest.raises(UsageError) as caught:
        run_agent(asked)

    assert str(caught.value) == (
        f"the agent command holds {template}, but there is no input; give one with --input"
    )


def test_the_files_are_private_and_hold_what_was_given(files: AgentFiles) -> None:
    assert files.input is not None
    assert files.memory is not None
    found = {
        path.name: (path.read_text(encoding="utf-8"), stat.S_IMODE(path.stat().st_mode))
        for path in files.folder.iterdir()
    }

    assert found == {
        "mcp.json": ('{"mcpServers":{}}\n', 0o600),
        "input": ("what?", 0o600),
        "events.jsonl": ("", 0o600),
        "memory.json": ('{"a":1}\n', 0o600),
    }
    assert {files.config.name, files.input.name, files.events.name, files.memory.name} == set(found)


def test_an_input_that_is_no_unicode_text_can_be_written(tmp_path: Path) -> None:
    files = write_files(tmp_path, {}, input_text="a\r\nb\ud800")

    assert files.input is not None
    assert files.input.read_bytes() == b"a\r\nb\\ud800"


def test_the_environment_tells_the_agent_where_to_find_what(files: AgentFiles) -> None:
    outer = {"PATH": "/bin", "MCP_SIDECAR_RUN": "outer", "MCP_SIDECAR_HOME": "/h"}

    assert environment(order(files, "agent", environ=outer)) == {
        "PATH": "/bin",
        "MCP_SIDECAR_HOME": "/h",
        "MCP_SIDECAR_CONFIG": str(files.config),
        "MCP_SIDECAR_RUN": RUN,
        "MCP_SIDECAR_INPUT_FILE": str(files.input),
        "MCP_SIDECAR_OUTPUT_FILE": str(files.output),
        "MCP_SIDECAR_EVENTS_FILE": str(files.events),
        "MCP_SIDECAR_MEMORY_FILE": str(files.memory),
    }


def test_what_an_outer_sidecar_told_is_not_passed_on(tmp_path: Path) -> None:
    outer = {"MCP_SIDECAR_INPUT_FILE": "/outer", "MCP_SIDECAR_MEMORY_FILE": "/outer"}
    files = write_files(tmp_path, {})
    asked = AgentOrder(command=("agent",), files=files, run=RUN, cwd=tmp_path, environ=outer)

    assert sorted(environment(asked)) == [
        "MCP_SIDECAR_CONFIG",
        "MCP_SIDECAR_EVENTS_FILE",
        "MCP_SIDECAR_OUTPUT_FILE",
        "MCP_SIDECAR_RUN",
    ]


def test_an_agent_that_does_its_work_has_no_failure(files: AgentFiles) -> None:
    code = "import os; print(open(os.environ['MCP_SIDECAR_INPUT_FILE']).read(), end='!\\r\\n\\n')"
    wanted = python(files, code)
    times = iter([5.0, 7.5])
    clock = Clock(now=lambda: 0.0, monotonic=lambda: next(times))

    result = run_agent(wanted, clock=clock)

    assert result == AgentResult(exit_code=0, output="what?!\r\n", seconds=2.5)
    assert result.failure is None


@pytest.mark.parametrize(
    ("code", "output"),
    [
        pytest.param("print('printed')", "printed", id="else it is what it printed"),
        pytest.param("print('a\\r\\nb\\r\\n\\r')", "a\r\nb\r\n", id="one line end is taken off"),
        pytest.param("pass", "", id="nothing"),
        pytest.param("open(output, 'w').write('kept\\n'); print('x')", "kept\n", id="written"),
        pytest.param("open(output, 'w'); print('x')", "", id="written, and empty"),
        pytest.param("os.mkdir(output); print('x')", "x", id="a folder is no output"),
        pytest.param("os.mkfifo(output); print('x')", "x", id="a pipe is not waited for"),
        pytest.param("open(output, 'wb').write(b'a\\xffb')", "a\ufffdb", id="not UTF-8"),
    ],
)
def test_its_output_is_what_it_writes_to_the_output_file(
    files: AgentFiles, code: str, output: str
) -> None:
    result = run_agent(
        python(files, "import os; output = os.environ['MCP_SIDECAR_OUTPUT_FILE']; " + code)
    )

    assert (result.output, result.failure) == (output, None)


def test_it_runs_in_its_working_directory(files: AgentFiles) -> None:
    result = run_agent(python(files, "import os; print(os.getcwd())"))

    assert result.output == str(files.folder.parent)


@pytest.mark.parametrize(
    ("code", "exit_code", "failure"),
    [
        pytest.param("raise SystemExit(3)", 3, "exit code 3", id="exit code"),
        pytest.param("os.kill(os.getpid(), 9)", 137, "ended by SIGKILL", id="signal"),
        pytest.param("raise SystemExit(255)", 255, "exit code 255", id="no signal's number"),
    ],
)
def test_why_it_failed_is_told_in_a_few_words(
    files: AgentFiles, code: str, exit_code: int, failure: str
) -> None:
    result = run_agent(python(files, "import os, sys; sys.stderr.write('why\\n'); " + code))

    assert (result.exit_code, result.failure, result.last_words) == (exit_code, failure, "why")


def test_a_time_out_ends_it_and_says_so(files: AgentFiles) -> None:
    code = "import time; print('begun', flush=True); time.sleep(60)"

    result = run_agent(python(files, code, timeout_seconds=1.5))

    assert (result.exit_code, result.timed_out, result.failure) == (
        128 + signal.SIGTERM,
        1.5,
        "timed out after 1.5 s",
    )
    assert result.output == "begun"
    assert 1.5 < result.seconds < 20


def test_an_output_over_the_limit_is_a_failure(
    files: AgentFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "MAX_OUTPUT_BYTES", 10)

    result = run_agent(python(files, "print('x' * 1000)"))

    assert (result.output, result.is_output_cut) == ("x" * 10, True)
    assert result.failure == "its output is over 67108864 bytes"


def test_another_thread_can_stop_it(files: AgentFiles, tmp_path: Path) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    stop = Stop()

    def stop_when_started() -> None:
        started.read_bytes()
        stop.order()

    thread = threading.Thread(target=stop_when_started, daemon=True)
    thread.start()
    code = f"import time; open({str(started)!r}, 'w').write('x'); time.sleep(60)"
    result = run_agent(python(files, code), stop=stop)
    thread.join(10)

    assert (result.exit_code, result.stopped, result.timed_out) == (143, signal.SIGTERM, None)
    assert result.failure == "stopped by SIGTERM"


def test_a_stop_that_is_ordered_twice_is_urgent() -> None:
    stop = Stop()
    states = [(stop.sign, stop.is_urgent)]

    for sign in (signal.SIGINT, signal.SIGTERM):
        stop.order(sign)
        states.append((stop.sign, stop.is_urgent))

    assert states == [(None, False), (signal.SIGINT, False), (signal.SIGINT, True)]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_becomes_an_order_to_stop_and_only_within_the_block(sign: signal.Signals) -> None:
    before = signal.getsignal(sign)

    with stop_on_signals() as stop:
        signal.raise_signal(sign)

    assert stop.sign == sign
    assert signal.getsignal(sign) == before


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_on_signals() as stop:
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)

    assert stop.sign is None


def test_the_config_for_the_agent_keeps_the_spelling_of_numbers(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"a": 1.5, "é": [None, True]})

    assert json.loads(files.config.read_bytes()) == {"a": 1.5, "é": [None, True]}
