"""A project with a config, and an agent whose calls are given."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from sidecar.cli.verbs import verbs
from sidecar.errors import SidecarError
from tests import paths

AGENT = str(paths.ROOT / "tests" / "cli" / "scripted_agent.py")
SERVER = str(paths.ROOT / "tests" / "servers" / "raw_server.py")


class Told(NamedTuple):
    """What a verb came to.

    Attributes:
        code: Its exit code.
        out: What it, and its agent, wrote to standard output.
        err: And to standard error.
    """

    code: int
    out: str
    err: str


class Project:
    """A project folder, which is the working directory.

    Attributes:
        folder: The folder.
        trace: To which each start of the config's server adds a line.
    """

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.trace = folder / "started.jsonl"
        self._capfd = capfd
        self.write_config({"raw": {"command": sys.executable, "args": [SERVER, *self.flags()]}})

    def flags(self) -> list[str]:
        """The flags by which a server leaves a trace."""
        return ["--trace", str(self.trace)]

    def write_config(self, servers: object, name: str = ".mcp.json") -> Path:
        """Write a config with these servers."""
        path = self.folder / name
        path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        return path

    def tell(self, *words: str) -> Told:
        """Run a verb in this process; a refusal is told as `main` tells it."""
        self._capfd.readouterr()
        try:
            code = verbs(words)
            refusal = ""
        except SidecarError as error:
            code, refusal = error.exit_code, f"mcp-sidecar: {error}\n"
        out, err = self._capfd.readouterr()
        return Told(code, out, err + refusal)

    def starts(self) -> int:
        """How often the config's server was started."""
        return self.trace.read_bytes().count(b"\n") if self.trace.exists() else 0

    def agent(self, *calls: tuple[str, Mapping[str, object]], exit_code: int = 0) -> list[str]:
        """The command of an agent that makes these calls of the server `raw`."""
        script = json.dumps([["raw", tool, arguments] for tool, arguments in calls])
        return [sys.executable, AGENT, script, "--exit-code", str(exit_code)]

    def record(self, cassette: str, *calls: tuple[str, Mapping[str, object]]) -> Path:
        """Record these calls, and check that it went well."""
        told = self.tell("record", "--cassette", cassette, "--", *self.agent(*calls))
        assert told.code == 0, told
        return self.folder / "cassettes" / f"{cassette}.jsonl"


@pytest.fixture
def project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert "MCP_SIDECAR_HOME" not in os.environ
    return Project(folder, capfd)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home folder, without a config of any client."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "CLINE_MCP_SETTINGS_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    return folder
