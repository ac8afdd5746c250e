"""A server process: what it is given, how it is stopped, and that nothing is left of it."""

import errno
import gc
import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from sidecar.proxy import guard
from sidecar.proxy.child import Child
from sidecar.proxy.guard import is_alive
from sidecar.proxy.streams import read_chunk
from tests.paths import PYTHON
from tests.proxy.place import is_running, running_in_group, until

GRACE_SECONDS = 0.3
WAIT_SECONDS = 20.0
Start = Callable[..., Child]

# The guard is a fork; where tests run in several processes, these have threads of their own.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


@pytest.fixture
def start() -> Iterator[Start]:
    with ExitStack() as children:

        def begin(*command: str, **options: Any) -> Child:
            child = Child(command, **options)
            children.callback(os.close, child.stdout)
            children.callback(child.stop, 0.0)
            return child

        yield begin


def output(child: Child) -> bytes:
    return b"".join(iter(lambda: read_chunk(child.stdout), b""))


def line(child: Child) -> bytes:
    found = b""
    while not found.endswith(b"\n"):
        found += read_chunk(child.stdout)
    return found


# --- what it is given


def test_its_input_and_output_are_pipes(start: Start) -> None:
    child = start("cat")

    child.stdin.send(b"there and back\n")

    assert read_chunk(child.stdout) == b"there and back\n"


def test_s13_its_environment_is_ours(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOO", "é=1")

    lines = output(start("env")).splitlines()

    assert sorted(lines) == sorted(
        b"=".join(variable) for variable in os.environb.items() if variable[0] != b"_"
    ) + [line for line in lines if line.startswith(b"_=")]


def test_its_working_directory_is_ours(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert output(start("pwd")).decode().strip() == str(tmp_path.resolve())


def test_its_working_directory_is_the_one_that_it_is_given(start: Start, tmp_path: Path) -> None:
    (tmp_path / "here").write_text("#!/bin/sh\npwd; echo $GIVEN")
    (tmp_path / "here").chmod(0o700)
    child = start("./here", env=[("GIVEN", "too")], cwd=str(tmp_path))

    assert output(child).decode().splitlines() == [str(tmp_path.resolve()), "too"]
    assert child.wait(WAIT_SECONDS) == 0


def test_in_a_folder_of_its_own_it_is_ended_and_reaped_as_any_other(
    start: Start, tmp_path: Path
) -> None:
    first, second = (start("sh", "-c", "cat; exit 9", cwd=str(tmp_path)) for _ in range(2))
    gc.collect()
    third = start("sleep", "60", cwd=str(tmp_path))  # `subprocess` reaps what it still knows

    assert first.stop(WAIT_SECONDS) == second.stop(WAIT_SECONDS) == 9
    assert third.stop(WAIT_SECONDS, patient=False) == 128 + signal.SIGTERM


def test_a_working_directory_that_is_not_there_is_told(tmp_path: Path) -> None:
    before = sorted(Path("/dev/fd").iterdir())

    with pytest.raises(OSError, match=r"working directory '.*/gone': No such file") as no_folder:
        Child(["cat"], cwd=str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError) as no_command:
        Child(["no-such-command-anywhere"], cwd=str(tmp_path))

    assert no_folder.value.errno == no_command.value.errno == errno.ENOENT
    assert sorted(Path("/dev/fd").iterdir()) == before


@pytest.mark.parametrize("cwd", [None, "/"])
@pytest.mark.parametrize("sign", [signal.SIGPIPE, signal.SIGXFSZ])
def test_it_inherits_no_signal_that_python_ignores(
    start: Start, sign: signal.Signals, cwd: str | None
) -> None:
    # A server would meet EPIPE, or write on, where it expects to be ended.
    child = start("sh", "-c", f"kill -{sign.value} $$; exit 0", cwd=cwd)

    assert child.wait(WAIT_SECONDS) == 128 + sign.value


@pytest.mark.parametrize("cwd", [None, "/"])
def test_it_leads_a_session_of_its_own(start: Start, cwd: str | None) -> None:
    code = "import os; print(os.getsid(0) == os.getpgrp() == os.getpid() != os.getppid())"

    assert output(start(PYTHON, "-c", code, cwd=cwd)) == b"True\n"


def test_it_holds_none_of_our_other_descriptors(start: Start) -> None:
    listing = (PYTHON, "-c", "import os; print(sorted(map(int, os.listdir('/dev/fd'))))")
    before = subprocess.run(listing, stdout=subprocess.PIPE, close_fds=False, check=True)

    assert output(start(*listing)) == before.stdout


@pytest.mark.parametrize(
    ("command", "error"),
    [
        pytest.param("/nowhere/server", FileNotFoundError, id="S12-no such file"),
        pytest.param("no-such-command-anywhere", FileNotFoundError, id="S12-not on the path"),
        pytest.param("/", PermissionError, id="a folder"),
    ],
)
def test_what_cannot_be_started_leaves_nothing(command: str, error: type[OSError]) -> None:
    before = sorted(Path("/dev/fd").iterdir())

    with pytest.raises(error):
        Child([command])

    assert sorted(Path("/dev/fd").iterdir()) == before


def test_what_is_left_of_children_that_were_stopped_is_nothing() -> None:
    before = sorted(Path("/dev/fd").iterdir())
    for _ in range(3):
        child = Child(["sh", "-c", "echo words >&2; cat"])
        child.stop(GRACE_SECONDS)
        child.relay_stderr()
        os.close(child.stdout)

    assert sorted(Path("/dev/fd").iterdir()) == before


@pytest.mark.parametrize("room", range(6))
def test_where_descriptors_run_out_none_is_left_open(room: int) -> None:
    script = """
import os, resource, sys
from sidecar.proxy.child import Child

def opened():
    return sorted(os.listdir("/dev/fd"))

before = opened()
resource.setrlimit(resource.RLIMIT_NOFILE, (3 + int(sys.argv[1]), 256))
try:
    Child(["cat"])
except OSError as error:
    print(error.strerror)
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
print(opened() == before)
"""
    done = subprocess.run(
        [PYTHON, "-c", script, str(room)], capture_output=True, timeout=WAIT_SECONDS, check=True
    )

    assert done.stdout.decode().splitlines() == ["Too many open files", "True"]


def test_what_cannot_be_guarded_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def unguarded(pid: int) -> None:
        started.append(pid)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(guard, "watch", unguarded)
    before = sorted(Path("/dev/fd").iterdir())

    with pytest.raises(OSError, match="Too many"):
        Child(["cat"])

    assert sorted(Path("/dev/fd").iterdir()) == before
    assert not is_alive(started[0])


# --- its exit code


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill -15 $$", 143)]
)
def test_its_exit_code_is_that_of_a_shell(start: Start, script: str, code: int) -> None:
    child = start("sh", "-c", script)

    assert child.wait(WAIT_SECONDS) == code
    assert child.stop(GRACE_SECONDS) == code


def test_a_wait_for_it_is_bounded(start: Start) -> None:
    child = start("cat")

    assert child.wait(0.05) is None
    assert child.exit_code() is None


def test_several_threads_learn_the_same_exit_code(start: Start) -> None:
    # The relay of its output and the main thread both wait for its end.
    threads = 4
    for _ in range(10):
        child = start("sh", "-c", "read line; exit 9")
        gate = Barrier(threads)

        def wait(child: Child = child, gate: Barrier = gate) -> int | None:
            gate.wait(WAIT_SECONDS)
            while (code := child.exit_code()) is None:
                pass
            return code

        with ThreadPoolExecutor(threads) as work:
            codes = [work.submit(wait) for _ in range(threads)]
            child.stdin.send(b"\n")
            assert [code.result(WAIT_SECONDS) for code in codes] == [9] * threads
        assert child.exit_code() == 9


# --- its last words


def test_s10_its_standard_error_is_passed_on_and_its_end_kept(
    start: Start, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    child = start("sh", "-c", "seq 1 40000 >&2; printf 'no end\\r' >&2")

    child.relay_stderr()

    written = b"".join(b"%d\n" % number for number in range(1, 40001)) + b"no end\r"
    assert capfdbinary.readouterr().err == written
    assert child.last_words() == "\n".join(map(str, range(39_981, 40_001))) + "\nno end"


def test_s10_a_line_without_end_takes_no_memory(
    start: Start, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    child = start(PYTHON, "-c", "import os; [os.write(2, b'x' * 65536) for _ in range(64)]")

    child.relay_stderr()

    assert len(capfdbinary.readouterr().err) == 64 * 65_536
    assert child.last_words() == "x" * 2000


def test_last_words_that_are_no_utf8_can_be_shown(
    start: Start, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    child = start("sh", "-c", r"printf '\377\376 caf\303\251' >&2")

    child.relay_stderr()

    assert child.last_words() == "\ufffd\ufffd café"
    assert capfdbinary.readouterr().err == b"\xff\xfe caf\xc3\xa9"


# --- its end


NOTES = """
import os, signal, sys
def note(word):
    with open(sys.argv[1], "a") as file: file.write(word + "\\n")
signal.signal(signal.SIGTERM, lambda *_: note("term"))
print("ready", flush=True)
sys.stdin.read()
note("eof")
while True: signal.pause()
"""


def notes(path: Path) -> list[str]:
    return path.read_text("utf-8").split()


def test_e01_its_input_is_closed_first_then_term_then_kill(start: Start, tmp_path: Path) -> None:
    child = start(PYTHON, "-c", NOTES, str(tmp_path / "notes"))
    assert line(child) == b"ready\n"

    code = child.stop(GRACE_SECONDS)

    assert notes(tmp_path / "notes") == ["eof", "term"]
    assert code == 137


def test_one_that_ends_with_its_input_is_not_killed(start: Start) -> None:
    child = start("sh", "-c", "trap 'exit 5' TERM; cat; exit 3")

    assert child.stop(WAIT_SECONDS) == 3


def test_an_impatient_stop_sends_term_at_once(start: Start) -> None:
    child = start(PYTHON, "-c", NOTES.replace('note("term")', "sys.exit(6)"), os.devnull)
    assert line(child) == b"ready\n"

    assert child.stop(WAIT_SECONDS, patient=False) in {6, 143}


def test_d03_nothing_is_left_to_wait_for(start: Start) -> None:
    child = start("cat")
    pid = child._pid

    child.stop(GRACE_SECONDS)

    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    assert not is_running(pid)


def test_d04_stopping_twice_does_no_harm(start: Start) -> None:
    child = start("sh", "-c", "cat; exit 4")

    assert [child.stop(GRACE_SECONDS), child.stop(GRACE_SECONDS)] == [4, 4]


@pytest.mark.parametrize("direct", ["lives", "is gone already"])
@pytest.mark.parametrize("ignore", ["", "trap '' TERM; "])
def test_d01_what_it_started_is_stopped_with_it(start: Start, direct: str, ignore: str) -> None:
    end = "wait" if direct == "lives" else "exit 0"
    child = start("sh", "-c", f"{ignore}sleep 60 & sleep 60 & echo $!; {end}")
    pid = int(line(child))
    if direct != "lives":
        assert child.wait(WAIT_SECONDS) == 0

    child.stop(GRACE_SECONDS)

    until(lambda: not is_running(pid))
    assert running_in_group(child._pid) == []


def test_its_id_stays_its_own_until_it_is_stopped(start: Start) -> None:
    # A server that ended long ago: its group is signalled at the end of the session, and must
    # not be another program's by then. What is not reaped keeps its id.
    child = start("sh", "-c", "exit 7")
    assert child.wait(WAIT_SECONDS) == 7
    if hasattr(os, "waitid"):
        os.kill(child._pid, 0)

    assert [child.stop(GRACE_SECONDS), child.stop(GRACE_SECONDS)] == [7, 7]
    with pytest.raises(ChildProcessError):
        os.waitpid(child._pid, os.WNOHANG)


def test_once_it_is_reaped_no_signal_is_sent(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    child = start("cat")
    child.stop(GRACE_SECONDS)
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "killpg", lambda group, sign: sent.append((group, sign)))

    child.stop(GRACE_SECONDS)

    assert sent == []


def test_d03_what_is_only_not_reaped_yet_is_not_waited_for() -> None:
    # In a container whose first process reaps nobody, it would be waited for in vain.
    with subprocess.Popen(["true"], start_new_session=True) as process:
        until(lambda: not is_running(process.pid))
        os.killpg(process.pid, 0)  # it is there, as a zombie

        assert not is_alive(process.pid)


def test_one_whose_input_is_full_is_stopped_all_the_same(start: Start) -> None:
    child = start("sleep", "60")

    with ThreadPoolExecutor() as work:
        sending = work.submit(child.stdin.send, b"x" * (1 << 22))
        until(lambda: _is_full(child.stdin._descriptor))

        assert child.stop(GRACE_SECONDS, patient=False) == 143
        assert sending.result(WAIT_SECONDS) is False


def _is_full(descriptor: int | None) -> bool:
    assert descriptor is not None
    poller = select.poll()
    poller.register(descriptor, select.POLLOUT)
    return not poller.poll(0)


# --- the guard


PROXY_THAT_IS_KILLED = """
import os, sys
from sidecar.proxy.child import Child
child = Child(sys.argv[1:])
sys.stdout.write(str(child._pid) + "\\n")
sys.stdout.flush()
sys.stdin.read()
"""


def killed_beside(command: Sequence[str], kill: Callable[[int], None]) -> int:
    """Start a process that has a child, kill the process, and return the child's pid."""
    with subprocess.Popen(
        [PYTHON, "-c", PROXY_THAT_IS_KILLED, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert is_running(pid)
        kill(process.pid)
        process.wait(WAIT_SECONDS)
    return pid


@pytest.mark.parametrize(
    ("command", "kill"),
    [
        pytest.param(("cat",), "process", id="ends with its input"),
        pytest.param(("sleep", "60"), "group", id="ignores the end of its input"),
        pytest.param(
            ("sh", "-c", "trap '' TERM; sleep 60 & wait; wait"), "process", id="ignores TERM, too"
        ),
    ],
)
def test_d02_a_killed_proxys_server_is_stopped_by_the_guard(
    command: tuple[str, ...], kill: str
) -> None:
    by = os.killpg if kill == "group" else os.kill

    pid = killed_beside(command, lambda proxy: by(proxy, signal.SIGKILL))

    until(lambda: not is_running(pid))
    until(lambda: not running_in_group(pid))


def test_d03_the_guard_goes_with_a_server_that_was_stopped() -> None:
    code = (
        "import os\n"
        "from sidecar.proxy.child import Child\n"
        "Child(['cat']).stop(5)\n"
        "try: print(os.waitpid(-1, os.WNOHANG))\n"
        "except ChildProcessError: print('none left')\n"
    )

    done = subprocess.run(
        [PYTHON, "-c", code], capture_output=True, timeout=WAIT_SECONDS, check=True, text=True
    )

    assert done.stdout == "none left\n"
