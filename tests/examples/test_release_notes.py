"""The release notes agents against the real servers, without the sidecar."""

import re
import subprocess
from pathlib import Path

from tests.examples.conftest import EXAMPLES, Project

NOTES = """\
# Changes since release-1.0

- Say in the README what a member is
- Add a discount for members
- Round totals to cents

Release call: 09:00 UTC, 18:00 in Asia/Tokyo."""


def test_the_agent_writes_the_notes_to_both_outputs(release_notes: Project, tmp_path: Path) -> None:
    output = tmp_path / "answer.txt"

    printed = release_notes.run("agent.py", MCP_SIDECAR_OUTPUT_FILE=str(output))

    assert printed == NOTES + "\n"
    assert output.read_text(encoding="utf-8") == NOTES


def test_the_agent_answers_the_question_that_it_is_given(
    release_notes: Project, tmp_path: Path
) -> None:
    question = tmp_path / "question.txt"
    question.write_text(
        "Write release notes for all that changed since release-1.0. "
        "The release call is at 14:00 UTC; say when that is in Asia/Kolkata.",
        encoding="utf-8",
    )

    printed = release_notes.run("agent.py", MCP_SIDECAR_INPUT_FILE=str(question))

    assert printed.splitlines()[-1] == "Release call: 14:00 UTC, 19:30 in Asia/Kolkata."


def test_the_agent_meets_a_tool_error_and_recovers(release_notes: Project) -> None:
    release_notes.run_tapped("agent.py")

    assert release_notes.calls("git") == [
        ("git_show", True),
        ("git_branch", False),
        ("git_show", False),
        ("git_log", False),
    ]
    assert release_notes.calls("time") == [("convert_time", False)]


def test_the_careless_agent_gives_the_same_answer_on_another_path(
    release_notes: Project,
) -> None:
    assert release_notes.run_tapped("careless.py") == NOTES + "\n"
    assert release_notes.calls("git")[0] == ("git_reset", False)


def test_the_same_session_has_the_same_traffic(release_notes: Project, tmp_path: Path) -> None:
    again = Project(tmp_path / "again", "release_notes")

    release_notes.run_tapped("agent.py")
    again.run_tapped("agent.py")

    assert _without_the_day(release_notes.traffic()) == _without_the_day(again.traffic())
    assert str(tmp_path).encode() not in b"".join(again.traffic().values())


def _without_the_day(traffic: dict[str, bytes]) -> dict[str, bytes]:
    # Midnight may fall between the two; mcp-server-time names the day on which it is asked.
    day = re.compile(rb"\d{4}-\d\d-\d\dT|\w+day\b")
    return {file: day.sub(b"", data) for file, data in traffic.items()}


def test_the_repository_does_not_depend_on_the_users_settings(tmp_path: Path) -> None:
    plain, settled = tmp_path / "plain", tmp_path / "settled"
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Other\n[commit]\n\tgpgsign = true\n[init]\n\tdefaultBranch = trunk\n"
        "[core]\n\tautocrlf = true\n",
        encoding="utf-8",
    )

    project = Project(tmp_path / "project", "release_notes")
    project.run("repository.py", plain)
    project.run("repository.py", settled, HOME=str(home), GIT_AUTHOR_NAME="Other")

    assert _heads(plain) == _heads(settled)


def _heads(repository: Path) -> list[str]:
    shown = subprocess.run(
        ["git", "show-ref", "--heads"], cwd=repository, capture_output=True, check=True, timeout=10
    )
    return shown.stdout.decode().splitlines()


def test_both_example_agents_have_the_same_servers() -> None:
    configs = [
        (EXAMPLES / name / "mcp.json").read_text(encoding="utf-8")
        for name in ("release_notes", "pydantic_ai_agent")
    ]

    assert configs[0] == configs[1]
