"""What `wrap` tells each entry."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Project

pytestmark = pytest.mark.usefixtures("home")


def told_words(project: Project, name: str, server: str = "raw") -> dict[str, str]:
    """The options of a wrapped entry."""
    args = json.loads((project.folder / name).read_bytes())["mcpServers"][server]["args"]
    return dict(zip(args[1::2], args[2::2], strict=False))


def test_what_is_not_said_stays_as_it_was_wrapped(project: Project, tmp_path: Path) -> None:
    project.record("one", ("echo", {"text": "a"}))
    words = (".mcp.json", "--cassette", "one", "--project", str(project.folder), "--home", "h")
    assert project.tell("wrap", *words).code == 0
    once = told_words(project, ".mcp.json")

    same = project.tell("wrap", ".mcp.json")
    assert "raw  unchanged: record, cassette" in same.out
    replay = project.tell("wrap", ".mcp.json", "--mode", "replay")
    assert (replay.code, replay.out.count("changed: replay, cassette")) == (0, 1)
    assert told_words(project, ".mcp.json") == {**once, "--mode": "replay"}

    other = tmp_path / "other"
    other.mkdir()
    moved = project.tell("wrap", ".mcp.json", "--project", str(other), "--mode", "record")
    assert moved.code == 0
    assert told_words(project, ".mcp.json")["--home"] == str(other / ".sidecar")


def test_a_cassette_that_cannot_answer_is_refused_before_a_client_meets_it(
    project: Project,
) -> None:
    config = project.folder / ".mcp.json"
    before = config.read_bytes()
    cassette = project.folder / "cassettes" / "one.jsonl"
    cassette.parent.mkdir()
    cassette.write_text('{"no": "cassette"}\n', encoding="utf-8")

    for mode in ("replay", "auto"):
        told = project.tell("wrap", ".mcp.json", "--mode", mode, "--cassette", "one")
        assert (told.code, f"{cassette}:1" in told.err) == (2, True)
        assert config.read_bytes() == before


def test_settings_that_are_none_are_refused_before_a_client_meets_them(project: Project) -> None:
    config = project.folder / ".mcp.json"
    before = config.read_bytes()
    (project.folder / "sidecar.toml").write_text("[redacton]\n", encoding="utf-8")

    told = project.tell("wrap", ".mcp.json")

    assert (told.code, told.out) == (2, "")
    assert "sidecar.toml:1: unknown setting 'redacton'; did you mean redaction?" in told.err
    assert config.read_bytes() == before


def test_servers_of_a_users_own_config_are_recorded_in_the_working_directory(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = home / ".config" / "Claude" / "claude_desktop_config.json"
    desk.parent.mkdir(parents=True)
    monkeypatch.setattr(sys, "platform", "linux")

    def project_told() -> str:
        desk.write_text('{"mcpServers": {"a": {"command": "x"}}}', encoding="utf-8")
        assert project.tell("wrap", str(desk)).code == 0
        return told_words(project, str(desk), "a")["--project"]

    assert project_told() == str(project.folder)
    assert not (desk.parent / ".sidecar").exists()
    monkeypatch.chdir("/")
    assert project_told() == str(home)


@pytest.mark.parametrize(
    ("words", "listing"),
    [
        pytest.param((), "runs list --project project", id="its project"),
        pytest.param(("--home", "h"), "runs list --home h", id="another home"),
    ],
)
def test_how_to_list_what_is_recorded_elsewhere_is_said(
    project: Project, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], listing: str
) -> None:
    monkeypatch.chdir(project.folder.parent)

    told = project.tell("wrap", str(project.folder / ".mcp.json"), *words)

    assert f": `mcp-sidecar {listing}` lists them\n" in told.err


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        pytest.param(
            lambda folder: (folder / "sidecar.toml").write_text(
                '[redaction]\npatterns = ["("]', encoding="utf-8"
            ),
            "sidecar.toml:2: redaction.patterns: '(' is no regular expression",
            id="a broken pattern",
        ),
        pytest.param(
            lambda folder: (folder / ".sidecar").write_bytes(b""),
            "/.sidecar: the journal of what is recorded cannot be made: ",
            id="a file in the place of the folder",
        ),
        pytest.param(
            lambda folder: (
                (folder / ".sidecar").mkdir(),
                (folder / ".sidecar" / "journal.db").write_bytes(b"none" * 500),
            ),
            "journal.db: ",
            id="a broken journal",
        ),
    ],
)
def test_what_no_wrapped_server_could_start_with_is_refused_before_a_client_meets_it(
    project: Project, make: Callable[[Path], object], problem: str
) -> None:
    make(project.folder)
    before = (project.folder / ".mcp.json").read_bytes()

    told = project.tell("wrap", ".mcp.json")

    assert told.code == 2
    assert problem in told.err
    assert (project.folder / ".mcp.json").read_bytes() == before
