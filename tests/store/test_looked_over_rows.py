"""A run's rows, looked over once the run is over."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.store import cassettes, recorded, runs
from sidecar.store.ids import process_start
from sidecar.store.journal import Journal
from sidecar.store.looked_over_rows import forget, keep, look_over, second_look
from sidecar.store.session import Kept, Session
from sidecar.wire.json_text import JsonValue
from tests.store.samples import OTHER_RUN, RUN, answered, call, open_journal, record, started

SECRET = "Zq8knownValue9"
SALT = b"key of a test"


def early() -> Interaction:
    """A call that was recorded before its secret was known to be one; it holds it four times."""
    said = Passage("notifications/message", f'{{"data":"{SECRET}"}}')
    asked = Passage(
        "sampling/createMessage", "{}", asked=True, reply=Response("result", f'["{SECRET}"]')
    )
    seen = call(arguments=f'{{"text":"user ann, {SECRET}"}}')
    return answered(seen, f'{{"content":["{SECRET}"]}}')._replace(during=(said,), after=(asked,))


def late() -> Interaction:
    """A call that tells the secret by a name; as it is kept."""
    return answered(call(arguments=Redactor(SALT).json_text(f'{{"password":"{SECRET}"}}')))


def kept_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in (folder / ".sidecar").iterdir())


def told_late(journal: Journal, *, run: str = RUN) -> Session:
    session = started(journal, run=run)
    row = session.add(Kept(early()._replace(response=None, during=(), after=()), 1))
    session.finish(row, Kept(early(), 1, 2))
    record(session, late())
    return session


@pytest.mark.parametrize("saved", [False, True], ids=["at the end", "at the save"])
def test_x08_a_value_that_was_told_late_is_in_none_of_the_journals_files(
    tmp_path: Path, *, saved: bool
) -> None:
    with open_journal(tmp_path) as journal:
        told_late(journal).close(exit_code=0)
        told_late(journal, run=OTHER_RUN).close(exit_code=0)
        masks = Redactor(SALT)
        for run in (RUN, OTHER_RUN):
            if saved:
                path = str(tmp_path / f"{run[-1]}.jsonl")
                cassettes.save_run(journal, run, path, overwrite=False, extend=False, masks=masks)
            else:
                look_over(journal, run, masks)

        first, second = recorded.of_run(journal.connection, RUN)
        assert SECRET.encode() not in kept_of(tmp_path)  # while it is open

    texts = [first.interaction.params, *(one.params for one in first.interaction.during)]
    assert all(text and "[REDACTED:" in text for text in texts)
    assert second.interaction == late()
    assert SECRET.encode() not in kept_of(tmp_path)


def test_a_large_journal_is_not_written_anew_and_still_forgets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.store.looked_over_rows._MAX_REWRITTEN_BYTES", 0)
    with open_journal(tmp_path) as journal:
        told_late(journal).close(exit_code=0)

        look_over(journal, RUN, Redactor(SALT))

        assert SECRET.encode() not in kept_of(tmp_path)


def test_what_was_replaced_before_is_forgotten(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        journal.connection.rows("PRAGMA secure_delete=OFF")  # the default of some builds
        journal.start_run(RUN, mode="record", command="[]", input="x" * 20_000 + SECRET)
        with journal.connection.transaction():
            journal.connection.run("UPDATE runs SET input = 'Log in'")

        forget(journal)

        assert SECRET.encode() not in kept_of(tmp_path)


def test_a_run_that_goes_on_is_left_alone_until_it_is_over(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        told_late(journal).close(exit_code=0)
        other = started(journal, server="other")

        look_over(journal, RUN, Redactor(SALT))
        assert recorded.of_run(journal.connection, RUN)[0].interaction == early()

        other.close(exit_code=0)
        look_over(journal, RUN, Redactor(SALT))
        assert recorded.of_run(journal.connection, RUN)[0].interaction != early()


def test_a_proxy_that_was_killed_does_not_go_on(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    start = process_start(gone.pid)
    gone.communicate(b"\n", timeout=60)
    with open_journal(tmp_path) as journal:
        told_late(journal)
        with journal.connection.transaction():
            journal.connection.run("UPDATE sessions SET pid = ?, pid_start = ?", (gone.pid, start))

        look_over(journal, RUN, Redactor(SALT))

        assert recorded.of_run(journal.connection, RUN)[0].interaction != early()


def test_what_was_written_since_is_not_lost(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        told_late(journal).close(exit_code=0)
        looked = second_look(journal, RUN, Redactor(SALT))
        newer = "UPDATE interactions SET result = '{}' WHERE id = ?"
        with journal.connection.transaction():
            journal.connection.run(newer, (looked.rows[0].row,))

        keep(journal, RUN, looked)

        now = recorded.of_run(journal.connection, RUN)[0].interaction
        assert now.response == Response("result", "{}")
        assert now.params == looked.rows[0].interaction.params


def test_x08_what_the_agent_was_given_and_why_a_request_missed_are_looked_over_too(
    tmp_path: Path,
) -> None:
    with open_journal(tmp_path) as journal:
        journal.start_run(RUN, mode="replay", command=f'["agent","{SECRET}"]', input=f'"{SECRET}"')
        session = started(journal, mode="replay")
        asked = call(arguments=f'{{"text":"ann, {SECRET}"}}')
        cut = f'asked for "{SECRET[:6]}…'
        record(session, asked, missed=f"the nearest: recorded 1, asked for {SECRET}; {cut}")
        record(session, late(), missed='asked for "spoken of…')
        payload: dict[str, JsonValue] = {"agentId": SECRET, "x-sidecar-output": f"used {SECRET}."}
        runs.add_event(journal, RUN, "agent.invocation-completed", payload)
        journal.finish_run(RUN, state="ended", output=f'"used {SECRET}."')

        look = look_over(journal, RUN, Redactor(SALT))  # though a session goes on

        line = runs.one_run(journal, RUN)
        ((event,),) = journal.connection.rows("SELECT payload FROM lifecycle")
        assert recorded.of_run(journal.connection, RUN)[0].interaction == asked
        session.close(exit_code=0)
        look_over(journal, RUN, Redactor(SALT))
        first, second = (row.missed for row in recorded.of_run(journal.connection, RUN))

    mask = look(SECRET)
    assert (line.command, line.input, line.output) == (
        f'["agent","{mask}"]',
        f'"{mask}"',
        f'"used {mask}."',
    )
    # Whose event it is says itself; only what was said is content.
    assert event == f'{{"agentId":"{SECRET}","x-sidecar-output":"used {mask}."}}'
    assert first == f'the nearest: recorded 1, asked for {mask}; asked for "…'
    assert second == 'asked for "spoken of…'


def test_the_command_of_an_evaluation_has_no_secret_that_a_trial_told(tmp_path: Path) -> None:
    command = f'["agent","{SECRET}"]'
    with open_journal(tmp_path) as journal:
        journal.start_run(OTHER_RUN, mode="eval", command=command)
        journal.start_run(RUN, mode="replay", command=command, eval_run_id=OTHER_RUN)
        session = started(journal)
        record(session, late())
        session.close(exit_code=0)

        for run in (RUN, OTHER_RUN):
            look_over(journal, run, Redactor(SALT))

        assert SECRET.encode() not in kept_of(tmp_path)


def test_nothing_is_written_where_nothing_is_to_be_masked(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal, open_journal(tmp_path) as other:
        session = started(journal)
        record(session, late())
        session.close(exit_code=0)
        before = other.connection.rows("PRAGMA data_version")

        look_over(journal, RUN, Redactor(SALT))

        assert other.connection.rows("PRAGMA data_version") == before
