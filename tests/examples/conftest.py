"""Examples run as a user runs them: in a project folder of their own, as commands."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.paths import PYTHON, ROOT, SCRIPTS

EXAMPLES = ROOT / "examples"
TIMEOUT_SECONDS = 50.0

# The real servers, with all that goes in and out of them kept in files beside.
_TAPPED = {
    "git": "tee git.in | mcp-server-git --repository repo | tee git.out",
    "time": "tee time.in | mcp-server-time --local-timezone UTC | tee time.out",
}


class Project:
    """A project folder with an example's files and the repository to work on."""

    def __init__(self, folder: Path, example: str) -> None:
        self.folder = folder
        shutil.copytree(EXAMPLES / example, folder, ignore=shutil.ignore_patterns("__pycache__"))
        self.run(EXAMPLES / "release_notes" / "repository.py", "repo")

    def run(self, *words: str | Path, **variables: str) -> str:
        """Run a script with this Python; returns what it printed."""
        return run([PYTHON, *words], cwd=self.folder, env=_environment(variables))

    def run_tapped(self, script: str, **variables: str) -> str:
        """Run an agent with servers whose traffic is kept; returns what it printed."""
        entries = {name: {"command": "sh", "args": ["-c", line]} for name, line in _TAPPED.items()}
        config = self.folder / "tapped.json"
        config.write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
        return self.run(script, MCP_SIDECAR_CONFIG=str(config), **variables)

    def traffic(self) -> dict[str, bytes]:
        """What `run_tapped` kept, file by file."""
        files = [f"{name}.{way}" for name in _TAPPED for way in ("in", "out")]
        return {file: (self.folder / file).read_bytes() for file in files}

    def calls(self, server: str) -> list[tuple[str, bool]]:
        """The calls that reached a server: the tool's name, and whether it failed."""
        sent, answered = self._messages(f"{server}.in"), self._messages(f"{server}.out")
        failed = {one["id"]: one["result"].get("isError", False) for one in answered if "id" in one}
        return [
            (one["params"]["name"], failed[one["id"]])
            for one in sent
            if one["method"] == "tools/call"
        ]

    def _messages(self, file: str) -> list[Any]:
        return [json.loads(line) for line in self.traffic()[file].splitlines()]


def run(words: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str]) -> str:
    done = subprocess.run(
        words, cwd=cwd, env=env, timeout=TIMEOUT_SECONDS, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    path = os.pathsep.join([str(SCRIPTS), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", **variables}


@pytest.fixture
def release_notes(tmp_path: Path) -> Project:
    return Project(tmp_path / "project", "release_notes")


@pytest.fixture
def pydantic_ai_agent(tmp_path: Path) -> Project:
    return Project(tmp_path / "project", "pydantic_ai_agent")
