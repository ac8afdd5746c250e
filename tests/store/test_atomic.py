import os
import random
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.store import atomic
from tests import paths
from tests.store.processes import WAIT_SECONDS, python

SAVER = """
import os, sys
from sidecar.store import atomic
os.write(1, b"up\\n")
while True:
    for letter in (b"a", b"b"):
        atomic.write(sys.argv[1], [letter * 50_000] * 4)
"""


def test_a_file_is_written_in_pieces_and_its_folder_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "x.jsonl"

    atomic.write(str(path), [b"one\n", b"two\n"])

    assert path.read_bytes() == b"one\ntwo\n"
    assert [file.name for file in path.parent.iterdir()] == ["x.jsonl"]


def test_a_new_file_can_be_read_by_all_less_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        atomic.write(str(tmp_path / "x"), [b""])
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


def test_a_file_keeps_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(0o600)

    atomic.write(str(path), [b"new"])

    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o600)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")

    atomic.write(str(tmp_path / "link"), [b"new"])

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_an_error_in_the_middle_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")

    def pieces() -> Iterator[bytes]:
        yield b"new"
        raise LookupError

    with pytest.raises(LookupError):
        atomic.write(str(tmp_path / "x"), pieces())

    assert [file.name for file in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_bytes() == b"old"


def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    """The disk is a limit on the size of files, of a process of its own."""
    (tmp_path / "x").write_bytes(b"old")
    script = (
        "import resource, sys; from sidecar.store import atomic;"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, {resource.RLIM_INFINITY}))\n"
        "try: atomic.write(sys.argv[1], [b'n' * 8_000] * 2)\n"
        "except OSError as error: print(error.strerror)"
    )

    assert python(script, str(tmp_path / "x")) == "File too large\n"
    assert [file.name for file in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_bytes() == b"old"


def test_a_very_long_name_still_has_room_for_the_temporary_one(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)

    atomic.write(str(path), [b"x"])

    assert path.read_bytes() == b"x"


def test_c06_savers_that_write_at_once_and_die_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    chance = random.Random(6)
    whole = {b"a" * 200_000, b"b" * 200_000}
    for _ in range(4):
        savers = [_saver(path), _saver(path)]
        for saver in savers:
            assert saver.stdout
            saver.stdout.readline()
        for saver in savers:
            with saver, pytest.raises(subprocess.TimeoutExpired):
                saver.wait(timeout=chance.random() * 0.2)
            assert not path.exists() or path.read_bytes() in whole
    atomic.write(str(path), [b"mine"])

    assert [file.name for file in tmp_path.iterdir()] == ["x"]
    assert path.read_bytes() == b"mine"


def test_c06_what_a_dead_saver_left_is_cleaned_and_what_a_living_one_writes_is_not(
    tmp_path: Path,
) -> None:
    (tmp_path / ".x.dead.tmp").write_bytes(b"half")
    (tmp_path / ".y.other.tmp").write_bytes(b"of another file")
    (tmp_path / ".x.folder.tmp").mkdir()
    inner: list[list[str]] = []

    def pieces() -> Iterator[bytes]:
        atomic.write(str(tmp_path / "x"), [b"another saver"])
        inner.append(sorted(file.name for file in tmp_path.iterdir()))
        yield b"mine"

    atomic.write(str(tmp_path / "x"), pieces())

    (names,) = inner
    others = {".x.folder.tmp", ".y.other.tmp", "x"}
    (temporary,) = set(names) - others
    assert temporary.startswith(".x.")
    assert {file.name for file in tmp_path.iterdir()} == others
    assert (tmp_path / "x").read_bytes() == b"mine"


class _Saver(subprocess.Popen[bytes]):
    def __exit__(self, *error: object) -> None:
        self.send_signal(signal.SIGKILL)
        self.communicate(timeout=WAIT_SECONDS)


def _saver(path: Path) -> _Saver:
    return _Saver([sys.executable, "-c", SAVER, str(path)], stdout=subprocess.PIPE, cwd=paths.ROOT)
