"""What verbs have in common."""

import os
from pathlib import Path

import click
import pytest

from sidecar.cli import options
from sidecar.cli.options import (
    FiniteRange,
    Places,
    places,
    present_journal,
    say,
    short_path,
    shown_width,
)
from sidecar.errors import UsageError
from sidecar.store.journal import Journal


def test_things_lie_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    where = places(None, None)

    assert where == Places(str(tmp_path), str(tmp_path / ".sidecar"))
    assert where.journal == str(tmp_path / ".sidecar" / "journal.db")
    assert where.cassette("a/b") == str(tmp_path / "cassettes" / "a" / "b.jsonl")
    assert where.cassette("x.jsonl") == str(tmp_path / "x.jsonl")


@pytest.mark.parametrize("home", ["option", "variable"])
def test_the_project_and_the_home_can_be_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MCP_SIDECAR_HOME", str(tmp_path / "variable"))

    where = places("project", str(tmp_path / "option") if home == "option" else None)

    assert where == Places(str(tmp_path / "project"), str(tmp_path / home))


def test_a_project_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the project folder is no folder") as caught:
        places(str(tmp_path / "gone"), None)

    assert caught.value.place == str(tmp_path / "gone")


def test_c07_a_name_that_leads_out_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no cassette name"):
        Places(str(tmp_path), str(tmp_path)).cassette("../x")


def test_reading_makes_no_journal(tmp_path: Path) -> None:
    where = Places(str(tmp_path), str(tmp_path / ".sidecar"))

    with pytest.raises(UsageError, match="there is no journal") as caught:
        present_journal(where)

    assert caught.value.place == where.journal
    assert list(tmp_path.iterdir()) == []


def test_a_journal_that_is_there_is_opened(tmp_path: Path) -> None:
    where = Places(str(tmp_path), str(tmp_path / ".sidecar"))
    Journal.open(where.journal).close()

    journal = present_journal(where)

    assert journal.path == where.journal
    journal.close()


def test_a_path_below_the_working_directory_is_written_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert short_path(str(tmp_path / "a" / "b")) == "a/b"
    assert short_path(str(tmp_path) + "er/b") == str(tmp_path) + "er/b"


def test_what_is_said_is_escaped_and_goes_to_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say("a\x1b[31m\nb")

    assert capsys.readouterr() == ("", "mcp-sidecar: a\\x1b[31m\\nb\n")


def test_tables_are_as_wide_as_the_terminal_that_shows_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    widths = [shown_width()]
    monkeypatch.setattr(options, "sys", Terminal())
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((93, 20)))
    widths.append(shown_width())

    assert widths == [None, 93]


class Terminal:
    """Stands for `sys`, with a terminal as its standard output."""

    @property
    def stdout(self) -> "Terminal":
        return self

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1


@pytest.mark.parametrize("given", ["nan", "inf", "-inf", "x", "2", "-0.1"])
def test_a_number_that_cannot_be_compared_with_is_refused(given: str) -> None:
    with pytest.raises(click.BadParameter):
        FiniteRange(0, 1)(given)


def test_a_number_within_bounds_is_read() -> None:
    assert FiniteRange(0, 1)("0.7") == 0.7
    assert FiniteRange(min=0)("1e300") == 1e300
