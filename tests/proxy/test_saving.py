"""A proxy's cassette: loaded before it serves, and saved when it has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sidecar.cassette.interaction import Cassette, Interaction, Response
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.errors import CassetteError
from sidecar.proxy.options import MODES, Mode
from sidecar.proxy.saving import answering, load, save
from sidecar.store import cassettes
from sidecar.store.journal import Journal
from sidecar.store.session import Kept

RUN = "local/01JDPR0XY00000000000000000"
OTHER = "local/01JDPR0XY00000000000000001"
MASKS = Redactor(b"")
ASKED = Interaction("up", "ping", None, Response("result", "{}"))


class Options(NamedTuple):
    mode: Mode
    cassette: str | None
    run: str = RUN
    overwrite: bool = False


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal.open(str(tmp_path / "journal.db")) as journal:
        for run in (RUN, OTHER):
            journal.start_run(run, mode="record")
            session = journal.start_session(run, server="up", mode="record")
            session.add(Kept(ASKED, 1, 2))
            session.close(exit_code=0)
        yield journal


def test_a_run_is_saved_and_loaded(tmp_path: Path, journal: Journal) -> None:
    path = str(tmp_path / "tape.jsonl")
    save(Options("record", path), journal, MASKS)

    loaded = load(Options("replay", path))
    assert loaded is not None
    assert (loaded.cassette.run, loaded.cassette.interactions) == (RUN, (ASKED,))


def test_a_cassette_of_another_run_stays_and_the_user_is_told(
    tmp_path: Path, journal: Journal, capfd: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "tape.jsonl")
    save(Options("record", path), journal, MASKS)
    save(Options("record", path, OTHER), journal, MASKS)

    assert cassettes.load(path).cassette.run == RUN
    assert f"cassette save {OTHER}" in capfd.readouterr().err

    save(Options("record", path, OTHER, overwrite=True), journal, MASKS)
    assert cassettes.load(path).cassette.run == OTHER


def test_what_cannot_be_saved_stays_in_the_journal_and_the_user_is_told(
    tmp_path: Path, journal: Journal, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tape.jsonl"
    path.write_text("no cassette\n", encoding="utf-8")
    save(Options("record", str(path)), journal, MASKS)

    assert path.read_text(encoding="utf-8") == "no cassette\n"
    assert f"save it with `mcp-sidecar cassette save {RUN}`" in capfd.readouterr().err


def test_without_a_cassette_nothing_is_saved_or_loaded(tmp_path: Path, journal: Journal) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    save(Options("record", None), journal, MASKS)

    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert [load(Options(mode, None)) for mode in MODES] == [None] * 4


def test_a_cassette_that_is_missing_is_an_error_only_for_a_replay(tmp_path: Path) -> None:
    path = str(tmp_path / "none.jsonl")

    assert load(Options("record", path)) is load(Options("auto", path)) is None
    with pytest.raises(CassetteError):
        load(Options("replay", path))


@pytest.mark.parametrize(
    ("mode", "server", "answers"),
    [("replay", "up", True), ("replay", "new", True), ("auto", "up", True), ("auto", "new", False)],
)
def test_a_cassette_answers_for_what_it_knows_and_in_a_replay_for_all(
    mode: Mode, server: str, *, answers: bool
) -> None:
    loaded = cassettes.Loaded(Cassette((ASKED,), {}), ())

    assert answering(loaded, mode, server) == (loaded if answers else None)
    assert answering(None, mode, server) is None
