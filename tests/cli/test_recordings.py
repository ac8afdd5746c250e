"""Which recording a word means."""

from pathlib import Path
from typing import Any

import pytest

from sidecar.cassette.arguments import ABSENT
from sidecar.cli.options import Places
from sidecar.cli.recordings import Source, find_source
from sidecar.errors import UsageError
from sidecar.store.journal import Journal
from tests.cli.conftest import Project

ECHO: tuple[str, dict[str, object]] = ("echo", {"text": "hi"})


def places(project: Project) -> Places:
    return Places(str(project.folder), str(project.folder / ".sidecar"))


def found(project: Project, spec: str) -> Source:
    return find_source(places(project), spec)


def run_ids(project: Project) -> list[str]:
    journal = Journal.open(places(project).journal)
    rows = journal.connection.rows("SELECT run_id FROM runs ORDER BY rowid")
    journal.close()
    return [run for (run,) in rows]


@pytest.fixture
def recorded(project: Project) -> Project:
    told = project.tell(
        "record", "--cassette", "Green_Tea", "--input", "say hi", "--", *project.agent(ECHO)
    )
    assert told.code == 0, told
    return project


def test_a_run_and_its_cassette_are_the_same_recording(recorded: Project) -> None:
    (run_id,) = run_ids(recorded)
    words = [
        run_id,
        run_id.partition("/")[2][:12],
        "last",
        "Green_Tea",
        "cassettes/Green_Tea.jsonl",
    ]

    sources = [found(recorded, word) for word in words]

    first = sources[0].recording
    assert all(source.recording._replace(name="") == first._replace(name="") for source in sources)
    assert [source.recording.name for source in sources] == words
    assert {source.task_id for source in sources} == {"green-tea"}
    assert first.input == "say hi"
    assert first.output is not None
    assert first.doubts == ()
    assert first.cassette.run == run_id


def test_a_cassette_of_another_machine_tells_no_input_and_no_output(recorded: Project) -> None:
    path = recorded.folder / "cassettes" / "Green_Tea.jsonl"
    (recorded.folder / "elsewhere").mkdir()
    text = path.read_text(encoding="utf-8")
    Path("elsewhere/tea.jsonl").write_text(
        text.replace(run_ids(recorded)[0], "local/01J00000000000000000000000"), encoding="utf-8"
    )

    recording = found(recorded, "elsewhere/tea.jsonl").recording

    assert (recording.input, recording.output, recording.doubts) == (ABSENT, None, ())


def test_without_a_journal_a_cassette_is_all_there_is(recorded: Project) -> None:
    (recorded.folder / ".sidecar").rename(recorded.folder / "gone")

    recording = found(recorded, "Green_Tea").recording

    assert (recording.input, recording.output) == (ABSENT, None)


def test_a_cassette_that_was_not_saved_yet_is_saved_first(recorded: Project) -> None:
    path = recorded.folder / "cassettes" / "Green_Tea.jsonl"
    path.unlink()

    assert found(recorded, "Green_Tea").recording.input == "say hi"
    assert path.exists()


def test_a_cassette_that_was_cut_off_is_told(
    recorded: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    path = recorded.folder / "cassettes" / "Green_Tea.jsonl"
    path.write_bytes(path.read_bytes()[:-5])

    recording = found(recorded, "Green_Tea").recording

    assert not recording.cassette.complete
    assert "the last line is broken and was dropped" in capfd.readouterr().err


def test_what_several_runs_begin_with_is_refused(recorded: Project) -> None:
    recorded.tell("replay", "--cassette", "Green_Tea", "--", *recorded.agent(ECHO))

    with pytest.raises(UsageError, match="2 runs begin with 'local/'"):
        found(recorded, "local/")


def test_a_run_that_still_goes_on_is_told(recorded: Project) -> None:
    run_id = "local/01J00000000000000000000000"
    journal = Journal.open(places(recorded).journal)
    journal.start_run(run_id, mode="record", command="[]", input="hi")
    session = journal.start_session(run_id, server="raw", mode="record")

    recording = found(recorded, run_id).recording

    session.close(exit_code=0)
    journal.close()
    assert recording.doubts == ("it is still going on",)
    assert recording.input == "hi"


def test_last_is_the_newest_recording_not_the_newest_run(recorded: Project) -> None:
    recorded.tell("replay", "--cassette", "Green_Tea", "--", *recorded.agent(ECHO))
    first, second = run_ids(recorded)

    assert found(recorded, "last").recording.cassette.run == first
    assert found(recorded, second).recording.cassette.run == second


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        pytest.param("nothing", "'nothing' is neither a run nor a cassette", id="unknown"),
        pytest.param("../out", "'../out' is neither a run nor a cassette", id="C07 leads out"),
        pytest.param("local/01ZZ", "there is no run|neither", id="an unknown run"),
    ],
)
def test_what_means_nothing_is_refused(recorded: Project, word: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        found(recorded, word)


def test_where_nothing_was_recorded_nothing_is_found(project: Project) -> None:
    with pytest.raises(UsageError, match="nothing is recorded here yet"):
        found(project, "last")


def test_a_journal_without_recordings_has_no_last_one(project: Project) -> None:
    journal = Journal.open(places(project).journal)
    journal.start_run("local/01J00000000000000000000000", mode="eval")
    journal.close()

    with pytest.raises(UsageError, match="nothing was recorded here yet"):
        found(project, "last")
    with pytest.raises(UsageError, match="is an evaluation, and no run of an agent"):
        found(project, "01J0")


@pytest.mark.parametrize(
    ("facts", "doubt"),
    [
        pytest.param({"state": "failed", "exit_code": 3}, "the agent ended with exit code 3"),
        pytest.param({"state": "failed"}, "the agent or one of its servers failed"),
        pytest.param({"state": "interrupted"}, "it was interrupted"),
    ],
    ids=["failed with a code", "failed", "interrupted"],
)
def test_p01_what_speaks_against_a_run_is_told(
    recorded: Project, facts: dict[str, Any], doubt: str
) -> None:
    (run_id,) = run_ids(recorded)
    journal = Journal.open(places(recorded).journal)
    journal.finish_run(run_id, **facts)
    journal.close()

    assert found(recorded, run_id).recording.doubts == (doubt,)


def test_p01_a_replay_that_missed_is_told(recorded: Project) -> None:
    other = recorded.agent(("echo", {"text": "ho"}))
    recorded.tell("replay", "--cassette", "Green_Tea", "--", *other)
    _, replayed = run_ids(recorded)

    assert "some of its requests were answered by no recording" in (
        found(recorded, replayed).recording.doubts
    )
