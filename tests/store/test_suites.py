import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sidecar.cassette.interaction import Cassette, Server
from sidecar.errors import CassetteError, SuiteError
from sidecar.store import runs, suites
from sidecar.store.journal import Journal
from sidecar.suite.documents import parse_suite, summary_from_json
from sidecar.suite.model import AgentEvalSuite
from tests.store.samples import RUN, answered, call, record, request, started

SUITE = {
    "suiteId": "acme.evals.a",
    "version": "1.0.0",
    "modes": ["golden"],
    "tasks": [
        {
            "taskId": "t",
            "input": "é",
            "expected": {"kind": "golden", "match": {"strategy": "exact", "value": 1.5}},
        }
    ],
}
SUMMARY = {
    "suiteId": "acme.evals.a",
    "suiteVersion": "1.0.0",
    "aggregateScore": 1,
    "passed": True,
    "taskCount": 1,
    "passedCount": 1,
    "tasks": [{"taskId": "t", "score": 1, "passed": True}],
}


@pytest.fixture
def suite() -> AgentEvalSuite:
    return parse_suite(json.dumps(SUITE))


def test_a_suite_is_loaded_as_it_was_saved_and_saved_again_as_the_same_bytes(
    tmp_path: Path, suite: AgentEvalSuite
) -> None:
    path = tmp_path / "suites" / "a.json"
    suites.save_suite(str(path), suite)
    before = path.read_bytes()

    loaded = suites.load_suite(str(path))
    suites.save_suite(str(path), loaded)

    assert loaded == suite
    assert path.read_bytes() == before
    assert json.loads(before) == SUITE


def test_a_summary_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    summary = summary_from_json(SUMMARY)
    suites.save_summary(str(tmp_path / "s.json"), summary)

    assert suites.load_summary(str(tmp_path / "s.json")) == summary


@pytest.mark.parametrize(
    "load", [suites.load_suite, suites.load_summary, lambda path: list(suites.load_events(path))]
)
def test_a_file_that_is_not_there_is_an_error_with_the_next_step(
    tmp_path: Path, load: Callable[[str], object]
) -> None:
    path = str(tmp_path / "missing.json")

    with pytest.raises(SuiteError, match=r"cannot be read \(No such file") as caught:
        load(path)

    assert (caught.value.place, bool(caught.value.hint)) == (path, True)


def test_a_suite_that_breaks_a_rule_is_an_error_with_file_line_and_pointer(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    text = json.dumps({**SUITE, "version": "one"}, indent=1)
    path.write_text(text, encoding="utf-8")

    with pytest.raises(SuiteError, match="version") as caught:
        suites.load_suite(str(path))

    line = text.split("\n").index(' "version": "one",') + 1
    assert f"{path}:{line}" in str(caught.value)
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("data", [b"", b"\xff", b'{"a":', b"<<<<<<< HEAD\n"])
def test_a_broken_suite_or_summary_is_an_error_and_stays(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data)

    for load in (suites.load_suite, suites.load_summary):
        with pytest.raises(SuiteError, match=str(path)):
            load(str(path))

    assert path.read_bytes() == data


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path, suite: AgentEvalSuite) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(SuiteError, match="cannot be written"):
        suites.save_suite(str(tmp_path / "file" / "a.json"), suite)


def test_the_surface_lies_beside_its_suite(tmp_path: Path) -> None:
    suite = str(tmp_path / "checkout.json")
    surface = Cassette((answered(request("tools/list")),), {"git": Server("2025-11-25")})

    assert suites.load_surface(suite) is None
    suites.save_surface(suite, surface)

    assert [file.name for file in tmp_path.iterdir()] == ["checkout.surface.jsonl"]
    loaded = suites.load_surface(suite)
    assert loaded
    assert loaded.cassette == surface
    assert suites.surface_path("a/b") == "a/b.surface.jsonl"


def test_a_surface_that_cannot_be_written_is_no_cassette_to_its_user(tmp_path: Path) -> None:
    (tmp_path / "a.surface.jsonl").mkdir()

    with pytest.raises(SuiteError, match=r"a\.surface\.jsonl: the file cannot be written \(Is a"):
        suites.save_surface(str(tmp_path / "a.json"), Cassette((), {}))


def test_a_broken_surface_is_an_error_and_no_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "a.surface.jsonl"
    path.write_bytes(b"nonsense\n")

    with pytest.raises(CassetteError, match=str(path)):
        suites.load_surface(str(tmp_path / "a.json"))

    path.unlink()
    path.symlink_to(tmp_path / "gone")
    with pytest.raises(CassetteError, match="no such cassette"):
        suites.load_surface(str(tmp_path / "a.json"))


def test_a_log_that_was_exported_is_read_back_event_by_event(
    journal: Journal, tmp_path: Path
) -> None:
    record(started(journal), answered(call()))
    path = str(tmp_path / "events.jsonl")

    suites.save_events(path, runs.events(journal, RUN))

    assert Path(path).read_text(encoding="utf-8").count("\n") == 2
    assert [event.type for event in suites.load_events(path)] == [
        "agent.tool-called",
        "agent.tool-returned",
    ]


def test_a_log_may_be_one_array(journal: Journal, tmp_path: Path) -> None:
    record(started(journal), answered(call()))
    path = tmp_path / "events.json"
    path.write_text(f"[{','.join(runs.events(journal, RUN))}]", encoding="utf-8")

    assert [event.sequence for event in suites.load_events(str(path))] == [0, 1]


def test_a_broken_line_of_a_log_is_named(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text("\n{nonsense\n", encoding="utf-8")

    with pytest.raises(SuiteError, match=rf"{path}:2: the line is no JSON"):
        list(suites.load_events(str(path)))


def test_a_log_that_fails_half_way_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text("old", encoding="utf-8")

    def lines() -> Iterator[str]:
        yield "{}"
        raise LookupError

    with pytest.raises(LookupError):
        suites.save_events(str(path), lines())

    assert path.read_text(encoding="utf-8") == "old"


def test_any_document_can_be_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "host.json"
    path.write_bytes(b"\xff{")

    assert suites.read(str(path)) == b"\xff{"
    with pytest.raises(SuiteError, match=r"missing\.json: the file cannot be read"):
        suites.read(str(tmp_path / "missing.json"))


def test_a_file_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    suites.check_target(str(tmp_path / "yet to be made" / "summary.json"))
    (tmp_path / "file").touch()

    with pytest.raises(SuiteError, match="is a folder"):
        suites.check_target(str(tmp_path))
    with pytest.raises(SuiteError, match="no folder that can be written"):
        suites.check_target(str(tmp_path / "file" / "summary.json"))
