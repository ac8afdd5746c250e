"""An agent's process: started, heard, and ended with all that it started."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.agents import process as process_module
from sidecar.agents import process_group
from sidecar.agents.process import AgentProcess
from sidecar.errors import AgentError

SECONDS = 20.0


def never() -> bool:
    return False


def python(code: str, tmp_path: Path, *, attached: bool = False) -> AgentProcess:
    return AgentProcess(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=tmp_path,
        environ=os.environ,
        folder=tmp_path / "made",
        attached=attached,
    )


def within(seconds: float) -> Callable[[], bool]:
    until = time.monotonic() + seconds
    return lambda: time.monotonic() > until


def finished(process: AgentProcess) -> int:
    process.wait(within(SECONDS))
    return process.end(hurry=never)


def await_file(path: Path) -> str:
    """Wait until a process has written a whole line to a file; gives it."""
    until = time.monotonic() + SECONDS
    while not path.exists() or not path.read_text(encoding="utf-8").endswith("\n"):
        assert time.monotonic() < until, f"{path} was not written"
        select.select([], [], [], 0.01)
    return path.read_text(encoding="utf-8").strip()


def test_its_output_and_the_end_of_its_standard_error_are_kept(tmp_path: Path) -> None:
    code = "import sys; print('out' * 50_000); sys.stderr.write('x' * 300_000 + 'last words')"
    process = python(code, tmp_path)

    assert finished(process) == 0
    assert process.output == b"out" * 50_000 + b"\n"
    assert not process.is_output_cut
    assert process.last_words == "x" * (32_000 - len("last words")) + "last words"


def test_an_output_without_end_is_cut_and_never_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "MAX_OUTPUT_BYTES", 1000)
    process = python("print('x' * 2_000_000)", tmp_path)

    assert finished(process) == 0
    assert process.output == b"x" * 1000
    assert process.is_output_cut


def test_its_input_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "given").write_text("a question\n" * 20_000, encoding="utf-8")
    process = AgentProcess(
        [sys.executable, "-c", "import sys; print(len(sys.stdin.read()))"],
        cwd=tmp_path,
        environ=os.environ,
        folder=tmp_path / "made",
        stdin=tmp_path / "given",
    )

    assert finished(process) == 0
    assert process.output == b"220000\n"


def test_it_has_no_input_unless_it_is_attached(tmp_path: Path) -> None:
    process = python("import sys; print(repr(sys.stdin.read()))", tmp_path)

    assert finished(process) == 0
    assert process.output == b"''\n"


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        pytest.param("raise SystemExit(7)", 7, id="its own"),
        pytest.param("import os; os.kill(os.getpid(), 15)", 143, id="a signal"),
    ],
)
def test_its_exit_code_is_the_one_a_shell_would_give(
    tmp_path: Path, code: str, exit_code: int
) -> None:
    assert finished(python(code, tmp_path)) == exit_code


GRANDCHILD = """
    import os, signal, subprocess, sys
    code = "import signal, sys, time; signal.signal(15, signal.SIG_IGN);"
    code += "print('up', flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    child.stdout.readline()
    with open("grandchild", "w") as file:
        print(child.pid, file=file)
"""


def test_d01_what_it_started_is_ended_with_it_deaf_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "GRACE_SECONDS", 0.2)
    process = python(GRANDCHILD + "    child.wait()", tmp_path)
    grandchild = int(await_file(tmp_path / "grandchild"))

    code = process.end(hurry=never)

    assert code == 128 + signal.SIGTERM
    assert not is_running(grandchild)


def test_d01_what_it_leaves_behind_is_ended_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "GRACE_SECONDS", 0.2)
    process = python(GRANDCHILD, tmp_path)

    assert finished(process) == 0
    assert not is_running(int(await_file(tmp_path / "grandchild")))


def test_what_ends_by_itself_may_do_so_before_it_is_told_to(tmp_path: Path) -> None:
    code = """
        import subprocess, sys
        code = "import sys; sys.stdin.read(); open('done', 'w').write('by itself\\\\n')"
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    """
    process = python(code, tmp_path)

    assert finished(process) == 0
    assert await_file(tmp_path / "done") == "by itself"


def test_an_output_held_open_by_a_process_that_left_the_group_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "GRACE_SECONDS", 0.2)
    code = """
        import subprocess, sys
        code = "import time; time.sleep(60)"
        child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        with open("escaped", "w") as file:
            print(child.pid, file=file)
        print("said")
    """
    process = python(code, tmp_path)

    try:
        assert finished(process) == 0
        assert process.output == b"said\n"
    finally:
        os.kill(int(await_file(tmp_path / "escaped")), signal.SIGKILL)


def test_a_signal_is_passed_on_and_time_given_to_act_on_it(tmp_path: Path) -> None:
    code = """
        import time
        try:
            print("up", flush=True)
            open("up", "w").write("up\\n")
            time.sleep(60)
        except KeyboardInterrupt:
            print("tidied up")
    """
    process = python(code, tmp_path)
    await_file(tmp_path / "up")

    process.send(signal.SIGINT, hurry=never)

    assert process.end(hurry=never) == 0
    assert process.output == b"up\ntidied up\n"


def test_d03_no_zombie_is_left(tmp_path: Path) -> None:
    assert finished(python("pass", tmp_path)) == 0

    with contextlib.suppress(ChildProcessError):
        done, _ = os.waitpid(-1, os.WNOHANG)
        assert done == 0, "a child was not waited for"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        pytest.param(["no-such-program"], "'no-such-program' was not found", id="not found"),
        pytest.param(["./plain"], "may not be run", id="not executable"),
        pytest.param(["./broken"], "cannot be started (Exec format error)", id="no program"),
        pytest.param([sys.executable, "a\0b"], "null byte", id="a NUL"),
        pytest.param([sys.executable, "x" * 3_000_000], "cannot be started", id="too long"),
    ],
)
def test_a_command_that_cannot_be_started_is_an_error_with_the_next_step(
    tmp_path: Path, words: list[str], problem: str
) -> None:
    (tmp_path / "plain").touch(0o600)
    (tmp_path / "broken").write_text("no program", encoding="utf-8")
    (tmp_path / "broken").chmod(0o700)

    with pytest.raises(AgentError) as caught:
        AgentProcess(words, cwd=tmp_path, environ={}, folder=tmp_path / "made", attached=False)

    assert problem in str(caught.value)
    assert caught.value.hint


def test_a_working_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone"

    with pytest.raises(AgentError, match="working directory is not there") as caught:
        AgentProcess(["true"], cwd=gone, environ={}, folder=tmp_path / "made", attached=False)

    assert caught.value.place == str(gone)


OWNER = """
import os, sys
from pathlib import Path
from sidecar.agents.process import AgentProcess
folder = Path(sys.argv[1])
code = "import os, time; print(os.getpid(), file=open('agent', 'w')); time.sleep(60)"
process = AgentProcess(
    [sys.executable, "-c", code], cwd=folder, environ=os.environ,
    folder=folder / "made", attached=ATTACHED,
)
process.wait(lambda: False)
process.end(hurry=lambda: False)
"""


def test_d02_it_does_not_outlive_us_even_if_we_are_killed(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER.replace("ATTACHED", "False"), str(tmp_path)]
    )
    agent = int(await_file(tmp_path / "agent"))

    owner.kill()
    owner.wait(SECONDS)

    assert process_group.wait_until_gone(agent, SECONDS)
    until = time.monotonic() + SECONDS
    while (tmp_path / "made").exists():
        assert time.monotonic() < until
        select.select([], [], [], 0.01)


def test_an_attached_one_shares_our_streams_and_its_output_is_passed_on_at_once(
    tmp_path: Path,
) -> None:
    code = OWNER.replace("ATTACHED", "True").replace(
        "import os, time; print(os.getpid(), file=open('agent', 'w')); time.sleep(60)",
        "import sys; print(sys.stdin.readline(), end='', flush=True); "
        "print(sys.stdin.readline(), end=''); print('warned', file=sys.stderr)",
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    assert owner.stdin is not None
    assert owner.stdout is not None

    owner.stdin.write(b"one\n")
    assert select.select([owner.stdout], [], [], SECONDS)[0], "it was not passed on at once"
    assert owner.stdout.read(4) == b"one\n"
    out, err = owner.communicate(b"two\n", SECONDS)

    assert (out, err, owner.returncode) == (b"two\n", b"warned\n", 0)


def test_an_attached_one_lives_on_when_nobody_reads_what_it_says(tmp_path: Path) -> None:
    code = OWNER.replace("ATTACHED", "True").replace(
        "import os, time; print(os.getpid(), file=open('agent', 'w')); time.sleep(60)",
        "import sys; sys.stdin.read(); print('x' * 200_000); print('done', file=sys.stderr)",
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert owner.stdout is not None
    owner.stdout.close()

    _, err = owner.communicate(b"", SECONDS)

    assert (owner.returncode, err) == (0, b"done\n")


def is_running(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"
