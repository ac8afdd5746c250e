import json
from pathlib import Path

import pytest

import sidecar
from sidecar.store import public, runs, suites
from sidecar.store.journal import Journal
from sidecar.suite.documents import parse_suite
from tests.store.samples import RUN, answered, call, record, started
from tests.store.test_suites import SUITE


def test_the_package_offers_these_functions() -> None:
    names = ("load_cassette", "save_cassette", "load_suite", "save_suite", "load_events")

    assert [getattr(sidecar, name) for name in names] == [getattr(public, name) for name in names]


def test_a_cassette_is_saved_and_loaded(tmp_path: Path) -> None:
    cassette = sidecar.Cassette((answered(call()),), {"git": sidecar.Server()})

    public.save_cassette(tmp_path / "c.jsonl", cassette)

    assert public.load_cassette(str(tmp_path / "c.jsonl")) == cassette


def test_a_last_line_that_was_dropped_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    public.save_cassette(path, sidecar.Cassette((answered(call()),), {}))
    path.write_bytes(path.read_bytes()[:-5])

    with pytest.warns(UserWarning, match="the last line is broken"):
        cassette = public.load_cassette(path)

    assert cassette.interactions == ()


def test_a_suite_is_saved_and_loaded(tmp_path: Path) -> None:
    suite = parse_suite(json.dumps(SUITE))

    public.save_suite(tmp_path / "s.json", suite)

    assert public.load_suite(tmp_path / "s.json") == suite


def test_events_are_loaded(journal: Journal, tmp_path: Path) -> None:
    record(started(journal), answered(call()))
    suites.save_events(str(tmp_path / "e.jsonl"), runs.events(journal, RUN))

    assert [event.sequence for event in public.load_events(tmp_path / "e.jsonl")] == [0, 1]
