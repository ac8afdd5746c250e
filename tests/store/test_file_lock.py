import os
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.errors import JournalError
from sidecar.store.file_lock import FileLock, try_lock

HOLDER = """
import sys
from sidecar.store.file_lock import FileLock
with FileLock(sys.argv[1], patience_seconds=10):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_waits_and_then_says_who_is_in_the_way(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with _holder(path) as holder:
        with (
            pytest.raises(JournalError, match=r"held the lock for 0\.05 s; end the") as caught,
            FileLock(path, patience_seconds=0.05),
        ):
            pass
        holder.communicate("", timeout=30)

    assert caught.value.place == path


def test_a_lock_ends_with_its_block_and_with_its_holder(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with FileLock(path, patience_seconds=1):
        pass
    with _holder(path) as holder:
        holder.kill()
        holder.wait(timeout=30)
        with FileLock(path, patience_seconds=10):
            pass


def test_a_lock_file_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    with (
        pytest.raises(JournalError, match="lock file cannot be opened"),
        FileLock(str(tmp_path / "missing" / "lock"), patience_seconds=1),
    ):
        pass


def test_an_open_file_is_locked_once(tmp_path: Path) -> None:
    first = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    second = os.open(tmp_path / "lock", os.O_RDWR)

    assert try_lock(first)
    assert not try_lock(second)
    os.close(first)
    assert try_lock(second)
    os.close(second)


def _holder(path: str) -> subprocess.Popen[str]:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    return holder
