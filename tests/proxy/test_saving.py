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
ASKED = Interaction("up", "tools/call", '{"name":"look"}', Response("result", "{}"))


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


def test_what_a_broken_journal_keeps_from_being_saved_is_told_with_the_way_to_save_it(
    tmp_path: Path, journal: Journal, capfd: pytest.CaptureFixture[str]
) -> None:
    with journal.connection.transaction():
        journal.connection.run("ALTER TABLE runs RENAME TO others")

    save(Options("record", str(tmp_path / "tape.jsonl")), journal, MASKS)

    assert f"save it with `mcp-sidecar cassette save {RUN}`" in capfd.readouterr().err


def test_without_a_cassette_nothing_is_saved_or_loaded(tmp_path: Path, journal: Journal) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    save(Options("record", None), journal, MASKS)

    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert [load(Options(mode, None)) for mode in MODES] == [None] * 4


@pytest.mark.parametrize("mode", MODES)
def test_x08_what_was_told_late_is_masked_whatever_the_mode(
    journal: Journal, capfd: pytest.CaptureFixture[str], mode: Mode
) -> None:
    early = Interaction("up", "ping", '{"text":"for ann: Zq8knownValue9"}', None)
    told = Interaction("up", "ping", MASKS.json_text('{"password":"Zq8knownValue9"}'), None)
    session = journal.start_session(RUN, server="up", mode=mode)
    for item in (early, told):
        session.add(Kept(item, 1, 2))
    session.close(exit_code=0)

    save(Options(mode, None), journal, MASKS)

    kept = journal.connection.rows("SELECT params FROM interactions WHERE params IS NOT NULL")
    assert "Zq8knownValue9" not in str(kept)
    assert capfd.readouterr().err == ""


def test_a_run_whose_agent_is_looked_after_is_looked_over_once_that_has_ended(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    monkeypatch.setattr(
        "sidecar.store.looked_over_rows.look_over", lambda _, run, __: looked.append(run)
    )
    journal.start_run(OTHER, mode="replay", command="[]")

    for run in (RUN, OTHER):
        save(Options("replay", None, run), journal, MASKS)

    assert looked == [RUN]


def test_a_look_that_fails_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with Journal.open(str(tmp_path / "journal.db")) as journal:
        journal.start_run(RUN, mode="replay")
        with journal.connection.transaction():
            journal.connection.run("DROP TABLE passages")

        save(Options("replay", None), journal, MASKS)

    assert f"run {RUN} was not searched once more for secrets" in capfd.readouterr().err


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
