"""Finding the run or the cassette that is meant."""

from pathlib import Path

import pytest

from sidecar.cli.options import Places
from sidecar.cli.sources import find_run, saved_cassette
from sidecar.errors import UsageError
from sidecar.store import cassettes
from sidecar.store.clock import Clock
from sidecar.store.journal import Journal
from tests.store.samples import answered, call, record

FIRST = "local/01ARZ3NDEKTSV4RRFFQ69G5FAV"
SECOND = "local/01ARZ3NDEKTSV4RRFFQ69G5FAW"
THIRD = "local/7ZZZZZZZZZZZZZZZZZZZZZZZZZ"


@pytest.fixture
def where(tmp_path: Path) -> Places:
    return Places(str(tmp_path), str(tmp_path / ".sidecar"))


@pytest.fixture
def journal(where: Places) -> Journal:
    """A journal with three runs; the newest is not the one that sorts last."""
    times = iter([3.0, 1.0, 2.0])
    journal = Journal.open(
        where.journal, clock=Clock(now=lambda: next(times), monotonic=lambda: 0.0)
    )
    for run in (FIRST, SECOND, THIRD):
        journal.start_run(run, mode="record")
    return journal


@pytest.mark.parametrize(
    ("spec", "run"),
    [
        pytest.param(FIRST, FIRST, id="its id"),
        pytest.param(FIRST.removeprefix("local/"), FIRST, id="without the tenant"),
        pytest.param("7", THIRD, id="the beginning"),
        pytest.param("7zzz", THIRD, id="in small letters"),
        pytest.param("local/7Z", THIRD, id="the beginning with the tenant"),
        pytest.param("last", FIRST, id="the newest"),
    ],
)
def test_a_run_is_found_by_what_names_only_it(journal: Journal, spec: str, run: str) -> None:
    assert find_run(journal, spec) == run


@pytest.mark.parametrize("spec", ["8", "", "G5FAV", "local/8"])
def test_a_run_that_is_not_there_is_refused_with_the_next_step(journal: Journal, spec: str) -> None:
    with pytest.raises(UsageError, match="there is no run") as caught:
        find_run(journal, spec)

    assert caught.value.place == journal.path
    assert "runs list" in (caught.value.hint or "")


@pytest.mark.parametrize("spec", ["01", "local/01", "local/"])
def test_a_beginning_that_several_runs_have_is_refused_and_they_are_named(
    journal: Journal, spec: str
) -> None:
    with pytest.raises(UsageError, match="runs begin with") as caught:
        find_run(journal, spec)

    assert FIRST in (caught.value.hint or "")
    assert SECOND in (caught.value.hint or "")


def test_the_last_of_no_runs_is_refused(where: Places) -> None:
    with pytest.raises(UsageError, match="there is no run 'last'"):
        find_run(Journal.open(where.journal), "last")


def test_a_cassette_that_is_there_is_not_touched(where: Places) -> None:
    path = where.cassette("demo")
    Path(path).parent.mkdir()
    Path(path).write_text("anything", encoding="utf-8")

    assert saved_cassette(where, "demo") == path
    assert Path(path).read_text(encoding="utf-8") == "anything"


def test_a_cassette_that_was_never_recorded_is_not_made(where: Places, journal: Journal) -> None:
    path = saved_cassette(where, "demo")

    assert path == where.cassette("demo")
    assert not Path(path).exists()
    assert journal.path == where.journal


def test_without_a_journal_nothing_is_made(where: Places, tmp_path: Path) -> None:
    assert saved_cassette(where, "demo") == where.cassette("demo")
    assert list(tmp_path.iterdir()) == []


def test_a_cassette_that_was_recorded_and_not_saved_is_saved_from_its_newest_run(
    where: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    path = where.cassette("demo")
    journal = Journal.open(where.journal)
    for run, mode, tool in (
        (FIRST, "record", "a"),
        (SECOND, "record", "b"),
        (THIRD, "replay", "c"),
    ):
        journal.start_run(run, mode=mode, cassette=path)
        session = journal.start_session(run, server="git", mode=mode)
        record(session, answered(call(tool)))
        session.close(exit_code=0)
    journal.close()

    assert saved_cassette(where, "demo") == path

    cassette = cassettes.load(path).cassette
    assert (cassette.run, [item.tool for item in cassette.interactions]) == (SECOND, ["b"])
    assert f"saved from run {SECOND}" in capsys.readouterr().err
