"""Relative paths in a command, made absolute."""

from pathlib import Path

import pytest

from sidecar.agents.anchoring import anchored


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agent.py").touch()
    (tmp_path / "python").touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "start").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["python", "agent.py"], ["python", "{}/agent.py"], id="a file"),
        pytest.param(["bin/start"], ["{}/bin/start"], id="a program with a slash"),
        pytest.param(["./bin/start"], ["{}/bin/start"], id="a program with a dot"),
        pytest.param(["/bin/sh", "/agent.py"], ["/bin/sh", "/agent.py"], id="absolute ones"),
        pytest.param(["x", "bin"], ["x", "bin"], id="a bare name of a folder may be a word"),
        pytest.param(["x", "bin/"], ["x", "{}/bin"], id="a folder with a slash"),
        pytest.param(["x", "."], ["x", "{}"], id="the folder itself"),
        pytest.param(["x", "other.py", "a/b"], ["x", "other.py", "a/b"], id="what is not there"),
        pytest.param(
            ["x", "--file=agent.py", "--name=bin", "--empty=", "-v"],
            ["x", "--file={}/agent.py", "--name=bin", "--empty=", "-v"],
            id="values of options",
        ),
        pytest.param(["x", "{mcp_config}", ""], ["x", "{mcp_config}", ""], id="templates"),
        pytest.param(["x", "a" * 5000, "a\0b"], ["x", "a" * 5000, "a\0b"], id="no paths at all"),
    ],
)
def test_a_word_that_names_something_there_becomes_absolute(
    folder: Path, words: list[str], expected: list[str]
) -> None:
    marked = [word.replace("{}", str(folder)) for word in expected]

    assert anchored(words, folder) == tuple(marked)
