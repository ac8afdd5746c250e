"""Config files changed in place, whoever else writes them."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.agents.configs.files import change_file, keep_backup, newest_backup, read_file
from sidecar.errors import ConfigError
from sidecar.store import atomic

BEFORE, AFTER = b'\xef\xbb\xbf{"a": 1}\r\n', b'\xef\xbb\xbf{"a": 2}\r\n'


def to_after(data: bytes) -> bytes:
    return data.replace(b"1", b"2")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "mcp.json"
    path.write_bytes(BEFORE)
    return path


def test_a_file_is_changed_and_what_was_there_is_told(config: Path) -> None:
    assert change_file(str(config), to_after) == BEFORE
    assert config.read_bytes() == AFTER
    assert [path.name for path in config.parent.iterdir()] == ["mcp.json"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o700], ids=oct)
def test_a_files_mode_and_owner_stay(config: Path, mode: int) -> None:
    config.chmod(mode)
    if os.geteuid() == 0:
        os.chown(config, 1234, 4321)
    before = config.stat()

    change_file(str(config), to_after)

    after = config.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )


def test_w04_a_link_stays_a_link_and_its_target_is_changed(config: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dot"
    folder.mkdir()
    target = config.rename(folder / "real.json")
    config.symlink_to(Path("dot") / "real.json")

    change_file(str(config), to_after)

    assert config.is_symlink()
    assert config.readlink() == Path("dot") / "real.json"
    assert target.read_bytes() == AFTER


def test_w04_a_link_that_leads_nowhere_is_refused_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.symlink_to("nowhere.json")

    with pytest.raises(ConfigError, match="a symbolic link to a file that is not there") as caught:
        change_file(str(path), to_after)

    assert "nowhere.json" in (caught.value.hint or "")
    assert path.is_symlink()
    assert not path.exists()


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    for path, problem in (
        (tmp_path, "the config is no file"),
        (tmp_path / "none.json", "the config cannot be read (No such file or directory)"),
    ):
        with pytest.raises(ConfigError) as caught:
            read_file(str(path))
        assert (caught.value.problem, caught.value.place) == (problem, str(path))


def test_a_change_that_changes_nothing_does_not_touch_the_file(config: Path) -> None:
    config.chmod(0o444)
    before = config.stat()

    assert change_file(str(config), lambda data: data) == BEFORE
    assert config.stat() == before


def test_a_file_with_several_names_is_refused(config: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").hardlink_to(config)

    with pytest.raises(ConfigError, match=r"has 2 names \(hard links\)"):
        change_file(str(config), to_after)

    assert config.read_bytes() == BEFORE


@pytest.mark.parametrize(
    ("allowed", "user", "problem"),
    [(False, 0, "is read-only"), (True, 4242, "belongs to another user")],
)
def test_a_file_that_is_not_ours_to_write_is_refused(
    config: Path, monkeypatch: pytest.MonkeyPatch, *, allowed: bool, user: int, problem: str
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: allowed)
    monkeypatch.setattr(os, "geteuid", lambda: user)

    with pytest.raises(ConfigError, match=f"{problem}; nothing was changed"):
        change_file(str(config), to_after)

    assert config.read_bytes() == BEFORE


def interfering(monkeypatch: pytest.MonkeyPatch, when: Callable[[], None]) -> None:
    """Have another program act between our reading and our replacing."""
    write = atomic.write

    def slow(path: str, chunks: list[bytes], *, check: Callable[[], None]) -> None:
        def checked() -> None:
            when()
            check()

        write(path, chunks, check=checked)

    monkeypatch.setattr(atomic, "write", slow)


def test_w07_what_another_program_wrote_meanwhile_is_kept_and_changed(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = iter([b'{"a": 1, "theirs": 1}'])

    def once() -> None:
        for data in theirs:
            config.write_bytes(data)

    interfering(monkeypatch, once)

    change_file(str(config), to_after)

    assert config.read_bytes() == b'{"a": 2, "theirs": 2}'


def test_w07_a_file_that_keeps_changing_is_left_to_the_other_program(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter(range(100, 200))

    def theirs() -> None:
        config.write_bytes(b'{"a": 1, "n": %d}' % next(numbers))

    interfering(monkeypatch, theirs)

    with pytest.raises(ConfigError, match="another program keeps changing the config"):
        change_file(str(config), to_after)

    assert config.read_bytes() == b'{"a": 1, "n": 102}'


def test_w07_what_was_written_is_looked_at_again(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = atomic.write

    def overwritten(path: str, chunks: list[bytes], *, check: Callable[[], None]) -> None:
        write(path, chunks, check=check)
        config.write_bytes(b"theirs")

    monkeypatch.setattr(atomic, "write", overwritten)

    with pytest.raises(ConfigError, match="its change stayed"):
        change_file(str(config), to_after)


def test_w06_a_failure_while_writing_leaves_the_old_file_whole(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(ConfigError, match=r"cannot be written \(No space left on device\)"):
        change_file(str(config), to_after)

    assert config.read_bytes() == BEFORE
    assert [path.name for path in config.parent.iterdir()] == ["mcp.json"]


def test_w08_an_error_in_the_change_leaves_the_file_as_it_was(config: Path) -> None:
    def refuse(_: bytes) -> bytes:
        raise ConfigError("no")

    with pytest.raises(ConfigError, match="no"):
        change_file(str(config), refuse)

    assert config.read_bytes() == BEFORE


def test_backups_are_numbered_and_the_last_one_is_not_kept_twice(
    config: Path, tmp_path: Path
) -> None:
    home = str(tmp_path / "x" / ".sidecar")

    kept = [keep_backup(home, str(config), data) for data in (b"1", b"1", b"2")]
    kept += [keep_backup(home, str(config), b"%d" % number) for number in range(3, 12)]
    assert newest_backup(home, str(config)) == kept[-1]
    kept.append(keep_backup(home, str(config), b"11"))
    kept.append(keep_backup(home, str(config), b"2"))
    assert newest_backup(home, str(config)) == kept[-1]

    numbers = [int(Path(path).suffix[1:]) for path in kept]
    assert numbers == [1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 12]
    assert Path(kept[-1]).read_bytes() == b"2"
    assert Path(kept[0]).name.startswith("mcp.json.")
    assert (tmp_path / "x" / ".sidecar" / ".gitignore").read_text(encoding="utf-8") == "*\n"


@pytest.mark.parametrize(("mode", "wanted"), [(0o644, 0o600), (0o600, 0o600), (0o400, 0o400)])
def test_a_backup_is_never_wider_than_the_config(
    config: Path, tmp_path: Path, mode: int, wanted: int
) -> None:
    config.chmod(mode)

    kept = Path(keep_backup(str(tmp_path / ".sidecar"), str(config), b"1"))

    assert stat.S_IMODE(kept.stat().st_mode) == wanted
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def test_configs_of_one_name_have_backups_of_their_own(config: Path, tmp_path: Path) -> None:
    home = str(tmp_path / ".sidecar")
    other = tmp_path / "sub"
    other.mkdir()
    (other / "mcp.json").write_bytes(b"2")

    kept = {keep_backup(home, str(path), b"1") for path in (config, other / "mcp.json")}

    assert len(kept) == 2


def test_a_backup_that_cannot_be_written_is_named(config: Path, tmp_path: Path) -> None:
    home = tmp_path / "file"
    home.write_text("", encoding="utf-8")

    with pytest.raises(ConfigError, match=r"the backup of .* cannot be written") as caught:
        keep_backup(str(home), str(config), b"1")

    assert "--home" in (caught.value.hint or "")


def test_w04_links_in_a_circle_are_told_as_such(tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.symlink_to(two)
    two.symlink_to(one)

    with pytest.raises(ConfigError, match="a symbolic link that leads back to itself"):
        read_file(str(one))
