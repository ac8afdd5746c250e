"""Standard streams that are closed when a verb begins."""

import subprocess
from pathlib import Path

import pytest

from tests import paths

SECONDS = 30.0
CLOSED = {"output": ">&-", "errors": "2>&-", "all": "<&- >&- 2>&-"}


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param("capabilities", 0, id="printed"),
        pytest.param("clients --project .", 0, id="a table"),
        pytest.param("cassette show x", 2, id="an error of ours"),
        pytest.param("no-such-verb", 2, id="bad usage"),
        pytest.param("proxy --server x", 2, id="proxy"),
    ],
)
@pytest.mark.parametrize("closed", list(CLOSED))
def test_a_verb_ends_as_it_would_where_streams_are_closed(
    closed: str, words: str, code: int, tmp_path: Path
) -> None:
    done = shell(f"{paths.MCP_SIDECAR} {words} {CLOSED[closed]}", tmp_path)

    assert done.returncode == code, done
    assert "Traceback" not in done.stderr


def test_what_an_agent_prints_goes_into_no_file_that_took_the_place_of_a_closed_stream(
    tmp_path: Path,
) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "true"}}}')
    agent = f"{paths.PYTHON} -c 'import sys; print(1); sys.stderr.write(chr(65) * 9)'"

    done = shell(f"{paths.MCP_SIDECAR} record --cassette x -- {agent} >&- 2>&-", tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert b"A" * 9 not in (tmp_path / ".sidecar" / "journal.db").read_bytes()
    listed = shell(f"{paths.MCP_SIDECAR} runs list", tmp_path)
    assert " ended " in listed.stdout, listed  # the journal is whole
