import os
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
os.read(0, 1)
for letter in (b"a", b"b") * 50:
    atomic.write(sys.argv[1], [letter * 50_000] * 4)
"""
WHOLE = {b"a" * 200_000, b"b" * 200_000}
DYING = """
import os, signal, sys
from sidecar.store import atomic

def dies(step):
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    calls = 0
    def count(frame, event, argument):
        nonlocal calls
        calls += event == "c_call"
        if calls > step:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.setprofile(count)
    atomic.write(sys.argv[1], [b"ab"[step % 2 :][:1] * 50_000] * 4)
    os._exit(0)

step = 0
while dies(step):
    step += 1
    if os.path.exists(sys.argv[1]):
        with open(sys.argv[1], "rb") as file:
            assert file.read() in (b"a" * 200_000, b"b" * 200_000), step
print(step)
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


def test_c06_savers_that_write_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with _saver(path) as one, _saver(path) as other:
        for saver in (one, other):
            assert saver.stdout
            assert saver.stdout.readline() == b"up\n"
        for saver in (one, other):
            assert saver.stdin
            saver.stdin.write(b"!")
            saver.stdin.flush()
        while one.poll() is None or other.poll() is None:
            assert not path.exists() or path.read_bytes() in WHOLE
        assert (one.returncode, other.returncode) == (0, 0)

    assert [file.name for file in tmp_path.iterdir()] == ["x"]
    assert path.read_bytes() in WHOLE


def test_c06_a_saver_that_dies_at_any_step_leaves_the_old_file_or_the_new_one(
    tmp_path: Path,
) -> None:
    """Each is killed as it calls a function of the system, or of C: the n-th, for each n."""
    path = tmp_path / "x"

    steps = int(python(DYING, str(path)))

    assert steps > 30
    assert [file.name for file in tmp_path.iterdir()] == ["x"]
    assert path.read_bytes() in WHOLE


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


def test_c06_what_is_written_is_on_the_disk_before_it_has_its_name_and_then_the_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    content = b"y" * 1000  # less than a buffer: it would be written at the closing
    done: list[tuple[str, int]] = []
    sync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        sync(descriptor)
        facts = os.fstat(descriptor)
        is_folder = stat.S_ISDIR(facts.st_mode)
        done.append(("folder", 0) if is_folder else ("file", facts.st_size))

    def replaced(source: str, target: str) -> None:
        replace(source, target)
        done.append(("name", 0))

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)

    atomic.write(str(path), [content])

    assert done == [("file", len(content)), ("name", 0), ("folder", 0)]


def test_w07_what_a_last_check_refuses_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    seen: list[bytes] = []

    def refuse() -> None:
        seen.append(path.read_bytes())
        raise KeyError("changed")

    with pytest.raises(KeyError, match="changed"):
        atomic.write(str(path), [b"new"], check=refuse)

    assert seen == [b"old"]
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"x": b"old"}


def test_what_is_private_is_so_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(0o640)
    modes: list[int] = []

    def pieces() -> Iterator[bytes]:
        modes.extend(stat.S_IMODE(file.stat().st_mode) for file in tmp_path.glob(".x.*"))
        yield b"new"

    atomic.write(str(path), pieces())

    assert modes == [0o600]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_the_owner_of_a_file_stays_as_far_as_the_system_lets_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    given: list[tuple[int, int]] = []
    stat_of = os.stat

    def of_another(name: str) -> os.stat_result:
        facts = list(stat_of(name))
        if name == str(path):
            facts[4:6] = [1234, 4321]
        return os.stat_result(facts)

    def refuse(_: str, user: int, group: int) -> None:
        given.append((user, group))
        raise PermissionError

    monkeypatch.setattr(os, "stat", of_another)
    monkeypatch.setattr(os, "chown", refuse)

    atomic.write(str(path), [b"new"])

    assert given == [(1234, 4321)]
    assert path.read_bytes() == b"new"


class _Saver(subprocess.Popen[bytes]):
    def __exit__(self, *error: object) -> None:
        self.send_signal(signal.SIGKILL)
        self.communicate(timeout=WAIT_SECONDS)


def _saver(path: Path) -> _Saver:
    return _Saver(
        [sys.executable, "-c", SAVER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=paths.ROOT,
    )
