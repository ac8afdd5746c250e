"""What masks secrets is made while the server starts; what can be refused is refused before."""

import threading
from pathlib import Path

import pytest

from sidecar.errors import JournalError, UsageError
from sidecar.proxy.late_masks import LateMasks
from sidecar.proxy.options import ProxyOptions
from sidecar.store.settings import Rules

SECRET = "dae6Thah4eevie7E"


def options(home: Path) -> ProxyOptions:
    return ProxyOptions(
        server="git",
        mode="record",
        command=("server", "--token", SECRET),
        cassette=None,
        journal=str(home / "journal.db"),
        run="local/01JDPR0XY00000000000000001",
    )


def test_they_are_not_made_before_they_are_needed(tmp_path: Path) -> None:
    wrong = options(tmp_path)._replace(redaction=Rules(patterns=("(",)))

    masks = LateMasks(wrong)

    with pytest.raises(UsageError, match="no regular expression"):
        masks.make()


def test_a_text_that_comes_before_they_are_made_is_masked(tmp_path: Path) -> None:
    assert SECRET not in LateMasks(options(tmp_path)).json_text(f'{{"a":"{SECRET}"}}')


def test_threads_that_need_them_at_once_share_them(tmp_path: Path) -> None:
    masks = LateMasks(options(tmp_path))
    made: list[object] = []
    threads = [threading.Thread(target=lambda: made.append(masks.make())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert len(made) == 4
    assert len({id(redactor) for redactor in made}) == 1


def test_a_folder_that_holds_no_key_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "salt").mkdir()

    with pytest.raises(JournalError, match="cannot be used"):
        LateMasks(options(tmp_path))
