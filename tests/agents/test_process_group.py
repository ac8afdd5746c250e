"""Process groups, and the guard that ends one when its owner is gone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.agents import process_group

DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); "
SLEEP = "import time; print('up', flush=True); time.sleep(60)"


def started(code: str) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, and wait until it says that it is up."""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    process.stdout.close()
    return process


def test_a_group_lives_as_long_as_a_process_of_it_runs() -> None:
    process = started(SLEEP)

    assert process_group.is_alive(process.pid)
    process.kill()
    assert process_group.wait_until_gone(process.pid, 10)
    assert process.wait(10) == -signal.SIGKILL
    assert not process_group.send(process.pid, 0)


def test_d03_a_zombie_does_not_count() -> None:
    process = started("print('up', flush=True)")

    assert process_group.wait_until_gone(process.pid, 10)  # before it is waited for

    assert process.wait(10) == 0


def test_d01_a_process_that_does_not_listen_is_killed() -> None:
    process = started(DEAF + "time.sleep(60)")

    process_group.end(process.pid, 0.1)

    assert process.wait(10) == -signal.SIGKILL


def test_one_that_listens_is_not() -> None:
    process = started(SLEEP)

    process_group.end(process.pid, 10)

    assert process.wait(10) == -signal.SIGTERM


def test_a_wait_is_cut_short_when_there_is_a_hurry() -> None:
    process = started(SLEEP)
    answers = iter([False, False, True])

    gone = process_group.wait_until_gone(process.pid, 600, hurry=lambda: next(answers))

    assert not gone
    process_group.end(process.pid, 600, hurry=lambda: False)
    assert process.wait(10) == -signal.SIGTERM


def guard_of(process: subprocess.Popen[bytes], folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", process_group.__file__, str(process.pid), str(folder)],
        stdin=subprocess.PIPE,
    )


@pytest.mark.parametrize("code", [SLEEP, DEAF + "time.sleep(60)"], ids=["polite", "deaf"])
def test_d02_a_guard_whose_owner_is_gone_ends_the_group_and_removes_the_folder(
    tmp_path: Path, code: str
) -> None:
    process = started(code)
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "secret").touch()
    guard = guard_of(process, folder)

    assert guard.stdin is not None
    guard.stdin.close()

    assert process.wait(20) in {-signal.SIGTERM, -signal.SIGKILL}
    assert guard.wait(20) == 0
    assert not folder.exists()


def test_a_guard_that_is_released_does_nothing(tmp_path: Path) -> None:
    process = started(SLEEP)
    guard = guard_of(process, tmp_path)

    guard.communicate(b"x", 20)

    assert guard.returncode == 0
    assert process.poll() is None
    assert tmp_path.exists()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)
