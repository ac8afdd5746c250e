"""Which process above a proxy is the agent, with real processes in between."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from sidecar.proxy import ancestry
from tests.paths import NODE, ROOT

Launcher: TypeAlias = Callable[[Path, list[str]], list[str]]

WAIT_SECONDS = 30.0
# In place of a proxy: tells which process it takes for the agent, and what that took.
TELLER = [
    sys.executable,
    "-c",
    "import sys; from sidecar.proxy.ancestry import agent_process;"
    "print(agent_process(), 'psutil' in sys.modules)",
]


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def shell(_: Path, words: list[str]) -> list[str]:
    return ["sh", "-c", f"{shlex.join(words)}; exit"]


def script(folder: Path, words: list[str]) -> list[str]:
    return ["sh", written(folder / "start.sh", f"cd /\n{shlex.join(words)}\nexit 0\n")]


def environment(_: Path, words: list[str]) -> list[str]:
    return ["env", "A_NAME=a value", *words]


def python(folder: Path, words: list[str]) -> list[str]:
    code = f"import subprocess\nsubprocess.run({words!r}, check=True)\n"
    return [sys.executable, written(folder / "start.py", code)]


def node(_: Path, words: list[str]) -> list[str]:
    """As `npx` does it."""
    code = "require('child_process').spawnSync(process.argv[1], process.argv.slice(2), {stdio: %s})"
    return [NODE, "-e", code % "'inherit'", "--", *words]


def timed(_: Path, words: list[str]) -> list[str]:
    return ["timeout", str(WAIT_SECONDS), *words]


def logged(_: Path, words: list[str]) -> list[str]:
    """A shell that has something to do with the output."""
    return ["sh", "-c", f"{shlex.join(words)} | cat"]


def nested(folder: Path, words: list[str]) -> list[str]:
    return shell(folder, python(folder, script(folder, words)))


def told(words: Sequence[str]) -> tuple[int, str]:
    """Run this as an agent runs a server; give the pid that it told, and the rest."""
    done = subprocess.run(
        [*words],
        input=b"",
        capture_output=True,
        timeout=WAIT_SECONDS,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    pid, rest = done.stdout.split()
    return int(pid), rest.decode()


LAUNCHERS = [shell, script, environment, python, node, timed, logged, nested]


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_the_agent_is_found_past_what_only_hands_its_pipe_on(
    tmp_path: Path, launcher: Launcher
) -> None:
    assert told(launcher(tmp_path, TELLER)) == (os.getpid(), "False")


def test_a_process_that_gives_us_a_pipe_of_its_own_is_the_agent(tmp_path: Path) -> None:
    words = shlex.join(TELLER)
    code = f"echo $$; printf x | {words}; {words} </dev/null; {words}"

    agent, *found = subprocess.run(
        ["sh", written(tmp_path / "agent.sh", code)],
        stdin=subprocess.PIPE,
        capture_output=True,
        timeout=WAIT_SECONDS,
        check=True,
        cwd=ROOT,
    ).stdout.split()

    # It has the third as a launcher has it.
    assert found[::2] == [agent, agent, str(os.getpid()).encode()]


def test_agents_that_one_shell_starts_at_once_are_several(tmp_path: Path) -> None:
    code = (
        "import os, subprocess, sys\n"
        "for _ in range(2):\n"
        "    told = subprocess.run(sys.argv[1:], input=b'', stdout=subprocess.PIPE, check=True)\n"
        "    sys.stdout.write(f'{os.getpid()} {told.stdout.decode()}')\n"
    )
    agent = [sys.executable, written(tmp_path / "agent.py", code), *shell(tmp_path, TELLER)]
    line = shlex.join(agent)

    found = subprocess.run(
        ["sh", "-c", f"({line} >a) & ({line} >b); wait; cat a b"],
        input=b"",
        stdout=subprocess.PIPE,
        timeout=WAIT_SECONDS,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ).stdout.splitlines()

    pairs = [tuple(line.split()[:2]) for line in found]
    assert len(pairs) == 4
    assert [agent for agent, _ in pairs] == [one for _, one in pairs]
    assert pairs[0] == pairs[1] != pairs[2] == pairs[3]


def test_a_launcher_that_nothing_started_is_the_agent_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ancestry, "_standard_input", lambda _: "pipe:[1]")
    monkeypatch.setattr("sidecar.proxy.ancestry.stat_of", lambda _: ["S", "0"])

    assert ancestry.agent_process() == os.getppid()


def test_the_first_process_of_a_container_is_a_run_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "getppid", lambda: 0)

    assert ancestry.agent_process() == os.getpid()


def test_another_users_process_is_where_the_search_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def readlink(path: str) -> str:
        if path == "/proc/self/fd/0":
            return "pipe:[1]"
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "readlink", readlink)

    assert ancestry.agent_process() == os.getppid()


# --- where there is no /proc

BY_NAME = [
    sys.executable,
    "-c",
    "import os.path; os.path.isdir = lambda _: False;"
    "from sidecar.proxy.ancestry import agent_process; print(agent_process(), '-')",
]


@pytest.mark.parametrize("launcher", [shell, script, timed])
def test_without_proc_shells_and_launchers_are_known_by_name(
    tmp_path: Path, launcher: Launcher
) -> None:
    assert told(launcher(tmp_path, BY_NAME)) == (os.getpid(), "-")


def test_without_proc_a_process_of_another_name_is_the_agent(tmp_path: Path) -> None:
    assert told(python(tmp_path, BY_NAME))[0] != os.getpid()


def test_without_proc_a_process_that_is_gone_is_where_the_search_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait(timeout=WAIT_SECONDS)
    monkeypatch.setattr("os.path.isdir", lambda _: False)
    monkeypatch.setattr(os, "getppid", lambda: child.pid)

    assert ancestry.agent_process() == child.pid


@pytest.mark.parametrize(
    ("command", "is_launcher"),
    [
        (["sh", "-c", "mcp-sidecar proxy"], True),
        (["/bin/bash", "start.sh"], True),
        (["C:\\Windows\\System32\\cmd.exe", "/c", "npx", "server"], True),
        (["node", "/usr/local/bin/npx", "-y", "server"], True),
        (["node", "/opt/npm/bin/npx-cli.js", "server"], True),
        (["npm exec @scope/server", "", ""], True),
        (["/home/me/.local/bin/uv", "run", "server"], True),
        (["python3.13", "/usr/bin/pipx", "run", "server"], True),
        (["/Library/Python.app/Contents/MacOS/Python", "/usr/bin/poetry", "run", "x"], True),
        (["bash"], False),
        (["-zsh"], False),
        (["bash", "--login", "-i"], False),
        (["python3", "agent.py"], False),
        (["python3"], False),
        (["node", "/opt/claude/cli.js"], False),
        (["/Applications/npx lookalike"], False),
        (["/opt/uv-agent"], False),
        ([], False),
        ([""], False),
    ],
)
def test_what_a_launcher_is(command: list[str], *, is_launcher: bool) -> None:
    assert ancestry.is_launcher(command) is is_launcher
