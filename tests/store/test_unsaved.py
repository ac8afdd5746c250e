"""Runs that their cassettes do not hold."""

from pathlib import Path

import pytest

from sidecar.store import cassettes, runs
from sidecar.store.journal import Journal
from sidecar.store.unsaved import unsaved
from tests.store.samples import OTHER_RUN, RUN, answered, call, record, request


def recorded(
    journal: Journal, run: str, path: Path, mode: str = "record", *, calls: bool = True
) -> None:
    """Record a run, and save it as its proxy would."""
    journal.start_run(run, mode=mode, cassette=str(path))
    session = journal.start_session(run, server="git", mode=mode)
    record(session, answered(call(run) if calls else request("tools/list")))
    session.close(exit_code=0)
    cassettes.save_run(journal, run, str(path), overwrite=False, extend=mode == "auto")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "one.jsonl"


def found(journal: Journal) -> dict[str, list[str]]:
    return unsaved(journal, runs.list_runs(journal))


def test_a_run_whose_cassette_holds_an_earlier_one_is_found(journal: Journal, path: Path) -> None:
    recorded(journal, RUN, path)
    assert found(journal) == {}

    recorded(journal, OTHER_RUN, path)

    assert found(journal) == {str(path): [OTHER_RUN]}


def test_a_run_that_called_nothing_is_not_missed(journal: Journal, path: Path) -> None:
    recorded(journal, RUN, path)
    recorded(journal, OTHER_RUN, path, calls=False)

    assert found(journal) == {}


@pytest.mark.parametrize("data", [None, b"", b"{}\n", b"no cassette"])
def test_a_cassette_that_says_nothing_is_left_out(
    journal: Journal, path: Path, data: bytes | None
) -> None:
    recorded(journal, RUN, path)
    path.unlink()
    if data is not None:
        path.write_bytes(data)

    assert found(journal) == {}


def test_a_cassette_that_a_run_was_added_to_is_left_out(journal: Journal, path: Path) -> None:
    recorded(journal, RUN, path)
    recorded(journal, OTHER_RUN, path, mode="auto")

    assert found(journal) == {}


def test_a_run_that_goes_on_is_not_missed_yet(journal: Journal, path: Path) -> None:
    recorded(journal, RUN, path)
    journal.start_run(OTHER_RUN, mode="record", cassette=str(path))
    journal.start_session(OTHER_RUN, server="git", mode="record")

    assert found(journal) == {}
