"""What every run of an agent has."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.agents import attempt
from sidecar.agents.attempt import new_run, private_folder, proxies_left
from sidecar.agents.command import Stop
from sidecar.store import runs
from sidecar.store.clock import Clock
from sidecar.store.ids import checked
from sidecar.store.journal import Journal

RUN = "local/01JDPR0XY00000000000000000"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal.open(str(tmp_path / "journal.db")) as journal:
        yield journal


def still_open(monkeypatch: pytest.MonkeyPatch, *counts: int) -> list[int]:
    """Make as many proxies seem to run, look by look; what is left is given back."""
    left = list(counts)
    monkeypatch.setattr(runs, "open_sessions", lambda *_: left.pop(0))
    return left


def test_every_run_has_an_id_of_its_own() -> None:
    found = [new_run() for _ in range(100)]

    assert [checked(run) for run in found] == found
    assert len(set(found)) == 100


def test_proxies_are_waited_for(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    left = still_open(monkeypatch, 2, 1, 1, 0)

    assert proxies_left(journal, RUN, Stop()) == 0
    assert left == []


def test_they_are_not_waited_for_for_ever(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = still_open(monkeypatch, 2, 2, 1, 1)
    times = iter([0.0, 1.0, attempt.SETTLE_SECONDS, attempt.SETTLE_SECONDS + 1])
    clock = Clock(lambda: 0.0, lambda: next(times))

    assert proxies_left(journal, RUN, Stop(), clock=clock) == 1
    assert left == [1]


def test_nor_when_the_user_is_in_a_hurry(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    still_open(monkeypatch, 3)
    stop = Stop()
    stop.order()
    stop.order()

    assert proxies_left(journal, RUN, stop) == 3


@pytest.mark.parametrize(("what", "name"), [("", "mcp-sidecar-"), ("trial", "mcp-sidecar-trial-")])
def test_a_folder_is_for_its_user_alone_and_goes_whatever_is_in_it(what: str, name: str) -> None:
    with private_folder(what) as folder:
        assert folder.name.startswith(name)
        assert folder.stat().st_mode & 0o777 == 0o700
        inner = folder / "inner"
        inner.mkdir()
        (inner / "file").touch()
        Path(inner).chmod(0)

    assert not folder.exists()
