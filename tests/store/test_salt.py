import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.errors import JournalError
from sidecar.store.salt import masking_salt
from tests import paths
from tests.store.processes import WAIT_SECONDS

READER = "import sys; from sidecar.store.salt import masking_salt; print(masking_salt(sys.argv[1]))"


def test_a_home_has_one_key_for_its_owner_alone_and_keeps_it(tmp_path: Path) -> None:
    home = tmp_path / "home"

    first = masking_salt(str(home))

    assert len(first) == 32
    assert masking_salt(str(home)) == first == (home / "salt").read_bytes()
    assert stat.S_IMODE((home / "salt").stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert (home / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_another_home_has_another_key(tmp_path: Path) -> None:
    assert masking_salt(str(tmp_path / "a")) != masking_salt(str(tmp_path / "b"))


def test_processes_that_start_at_once_agree_on_the_key(tmp_path: Path) -> None:
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READER, str(tmp_path / "home")],
            stdout=subprocess.PIPE,
            cwd=paths.ROOT,
        )
        for _ in range(8)
    ]
    told = {reader.communicate(timeout=WAIT_SECONDS)[0] for reader in readers}

    assert told == {f"{masking_salt(str(tmp_path / 'home'))!r}\n".encode()}


def test_what_a_killed_process_left_is_no_key(tmp_path: Path) -> None:
    (tmp_path / "salt.new").write_bytes(b"half")

    assert len(masking_salt(str(tmp_path))) == 32
    assert not (tmp_path / "salt.new").exists()


def test_a_home_that_cannot_be_used_is_an_error_with_the_next_step(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("mine", encoding="utf-8")

    with pytest.raises(JournalError, match=r"cannot be used .*--home") as caught:
        masking_salt(str(tmp_path / "home"))

    assert caught.value.place == str(tmp_path / "home")
