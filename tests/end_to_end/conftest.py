"""A project in which `mcp-sidecar` is run as a user runs it, with real servers."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import paths

AGENTS = Path(__file__).with_name("agents")
TIMEOUT_SECONDS = 120.0


def _entry(words: Sequence[str], **more: object) -> dict[str, object]:
    return {"command": words[0], "args": list(words[1:]), **more}


class Project:
    """A project folder with the servers that tests use, and something for them to work on.

    Attributes:
        folder: The folder.
        servers: The entries of `.mcp.json`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "files").mkdir(parents=True)
        (folder / "files" / "a.txt").write_text("Größe 🎉\n", encoding="utf-8")
        script = paths.ROOT / "examples" / "release_notes" / "repository.py"
        subprocess.run([sys.executable, script, "repo"], cwd=folder, check=True, timeout=30)
        raw = [sys.executable, str(paths.ROOT / "tests" / "servers" / "raw_server.py")]
        memory = {"MEMORY_FILE_PATH": str(folder / "memory.json")}
        self.servers: dict[str, dict[str, object]] = {
            "git": _entry([*paths.GIT_SERVER, "--repository", "repo"]),
            "time": _entry([*paths.TIME_SERVER, "--local-timezone", "UTC"]),
            "everything": _entry(paths.EVERYTHING_SERVER),
            "filesystem": _entry([*paths.FILESYSTEM_SERVER, str(folder / "files")]),
            "memory": _entry(paths.MEMORY_SERVER, env=memory),
            "raw": _entry([*raw, "--trace", str(folder / "trace.jsonl")]),
        }
        self.write_config(".mcp.json", self.servers)

    def write_config(self, name: str, servers: Mapping[str, object]) -> Path:
        """Write a config with these entries."""
        path = self.folder / name
        path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        return path

    def command(self, *words: str | Path) -> list[str]:
        """The words of a verb."""
        return [paths.MCP_SIDECAR, *map(str, words)]

    def tell(self, *words: str | Path, code: int = 0) -> subprocess.CompletedProcess[bytes]:
        """Run a verb, and check its exit code."""
        done = subprocess.run(
            self.command(*words),
            cwd=self.folder,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_SECONDS,
            check=False,
            env=self.environ(),
        )
        assert done.returncode == code, f"{shlex.join(map(str, words))}: {done}"
        return done

    def environ(self) -> dict[str, str]:
        """The environment of a verb."""
        return {**os.environ, "PATH": f"{paths.SCRIPTS}{os.pathsep}{os.environ['PATH']}"}

    def cassette(self, name: str) -> Path:
        """A cassette's file."""
        return self.folder / "cassettes" / f"{name}.jsonl"

    def trace(self) -> list[dict[str, Any]]:
        """What the raw server left at each of its starts."""
        path = self.folder / "trace.jsonl"
        lines = path.read_bytes().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]


def raw_agent(era: str, *requests: tuple[str, str, object], log: Path | None = None) -> list[str]:
    """The command of an agent that makes these requests, and sees every byte."""
    words = [sys.executable, str(AGENTS / "raw_agent.py"), era, json.dumps(requests)]
    return [*words, "--log", str(log)] if log else words


def client_agent(client: str, *calls: tuple[str, str, object]) -> list[str]:
    """The command of an agent that makes these calls with a real client library."""
    return [sys.executable, str(AGENTS / "client_agent.py"), client, json.dumps(calls)]


def call(server: str, tool: str, **arguments: object) -> tuple[str, str, object]:
    """A request for `raw_agent`."""
    return (server, "tools/call", {"name": tool, "arguments": arguments})


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")
