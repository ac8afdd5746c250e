"""Where the clients keep their configs, on this machine and in a project."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, TypeAlias

Base: TypeAlias = Literal["project", "home", "config", "application", "system"]
"""`config` is XDG's folder; `application` where the system's GUI programs keep theirs."""

_VARIABLES = {"claude-code": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}
_SETTINGS_FILE = "CLINE_MCP_SETTINGS_PATH"


@dataclass(frozen=True, slots=True)
class Location:
    """A place where a client looks.

    Attributes:
        client: The client's id.
        scope: What it holds for: `project`, `user`, `managed`.
        base: Where the path begins.
        path: The path, with slashes; `*` stands for any name.
        known: How many of the path's last parts tell the client by themselves; 0 if they
            do not.
        is_state: Whether the client rewrites the file as it runs.
    """

    client: str
    scope: str
    base: Base
    path: str
    known: int = 2
    is_state: bool = False

    def tells(self, parts: tuple[str, ...]) -> bool:
        """Whether a file's path is of this kind, wherever it lies."""
        own = self.path.split("/")[-self.known :]
        return (
            bool(self.known)
            and len(parts) >= len(own)
            and all(
                fnmatchcase(part, pattern)
                for part, pattern in zip(parts[-len(own) :], own, strict=True)
            )
        )


LOCATIONS = (
    Location("claude-desktop", "user", "application", "Claude/claude_desktop_config.json", 1),
    Location("claude-code", "managed", "system", "managed-mcp.json", 1),
    Location("claude-code", "project", "project", ".mcp.json", 1),
    Location("claude-code", "user", "home", ".claude.json", 1, is_state=True),
    Location("vscode", "project", "project", ".vscode/mcp.json"),
    Location("vscode", "project", "project", ".vscode/settings.json"),
    Location("vscode", "user", "application", "Code/User/mcp.json"),
    Location("vscode", "user", "application", "Code/User/settings.json"),
    Location("vscode", "user", "application", "Code - Insiders/User/mcp.json"),
    Location("copilot", "user", "home", ".copilot/mcp-config.json", 1),
    Location("cursor", "project", "project", ".cursor/mcp.json"),
    Location("cursor", "user", "home", ".cursor/mcp.json"),
    Location("windsurf", "user", "home", ".codeium/windsurf/mcp_config.json", 1),
    Location(
        "cline",
        "user",
        "application",
        "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        1,
    ),
    Location("cline", "user", "home", ".cline/data/settings/cline_mcp_settings.json", 1),
    Location("zed", "project", "project", ".zed/settings.json"),
    Location("zed", "user", "config", "zed/settings.json"),
    Location("codex", "project", "project", ".codex/config.toml"),
    Location("codex", "user", "home", ".codex/config.toml"),
    Location("gemini", "project", "project", ".gemini/settings.json"),
    Location("gemini", "user", "home", ".gemini/settings.json"),
    Location("goose", "user", "config", "goose/config.yaml"),
    Location("goose", "user", "application", "Block/goose/config/config.yaml", 3),
    Location("opencode", "project", "project", ".opencode/opencode.json*"),
    Location("opencode", "project", "project", "opencode.json*", 1),
    Location("opencode", "user", "config", "opencode/opencode.json*", 1),
    Location("continue", "project", "project", ".continue/mcpServers/*", 3),
    Location("continue", "user", "home", ".continue/mcpServers/*", 3),
    Location("continue", "user", "home", ".continue/config.yaml"),
    Location("generic", "project", "project", "mcp.json", 0),
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What says where things are.

    Attributes:
        home: The user's home folder.
        project: The project folder.
        environ: The environment.
        platform: As `sys.platform` has it.
    """

    home: Path
    project: Path
    environ: Mapping[str, str]
    platform: str = sys.platform

    @classmethod
    def here(cls, project: str) -> Machine:
        """This machine."""
        return cls(Path.home(), Path(project), os.environ)

    def folder(self, base: Base) -> Path:
        """The folder that a location's path begins in."""
        config = Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")
        application, system = config, Path("/etc/claude-code")
        if self.platform == "darwin":
            application = self.home / "Library" / "Application Support"
            system = Path("/Library/Application Support/ClaudeCode")
        elif self.platform == "win32":
            application = Path(self.environ.get("APPDATA") or self.home / "AppData" / "Roaming")
            system = Path(r"C:\Program Files\ClaudeCode")
        found: dict[Base, Path] = {
            "project": self.project,
            "home": self.home,
            "config": config,
            "application": application,
            "system": system,
        }
        return found[base]


def location_of(path: str, *, home: Path | None = None) -> Location | None:
    """Tell by a file's path whose config it is, wherever it lies; None if it does not say.

    Args:
        path: The file, absolute.
        home: The user's home folder, where a name means the user's own config.
    """
    file = Path(path)
    found = [place for place in LOCATIONS if place.tells(file.parts)]
    own = [
        place
        for place in found
        if place.base == "home" and file.match(str((home or Path.home()) / place.path))
    ]
    return next(iter([*own, *found]), None)


def is_users_own(path: str, machine: Machine) -> bool:
    """Whether a file is a client's config of the user or the system, none of a project.

    Args:
        path: The file, absolute.
        machine: Where things are.
    """
    real = os.path.realpath(path)
    own = (found for place, found in present(machine) if place.base != "project")
    return any(os.path.realpath(found) == real for found in own)


def present(machine: Machine) -> Iterator[tuple[Location, Path]]:
    """List the files that are there, each once, client by client."""
    seen: set[Path] = set()
    for place in LOCATIONS:
        for path in _files(place, machine):
            if path not in seen:
                seen.add(path)
                yield place, path


def _files(place: Location, machine: Machine) -> list[Path]:
    if place.scope == "user" and place.client == "cline" and machine.environ.get(_SETTINGS_FILE):
        return _there([Path(machine.environ[_SETTINGS_FILE])])
    moved = machine.environ.get(_VARIABLES.get(place.client, ""))
    folder, pattern = machine.folder(place.base), place.path
    if moved and place.base == "home":
        # The variable names the folder that else is `~/.codex`; `.claude.json` moves into it.
        folder, pattern = Path(moved), pattern.rpartition("/")[2]
    try:
        return _there(sorted(folder.glob(pattern)) if "*" in pattern else [folder / pattern])
    except OSError:  # a folder that may not be listed
        return []


def _there(paths: list[Path]) -> list[Path]:
    # A link that leads nowhere is there, too, and said to be broken.
    return [path for path in paths if os.path.lexists(path) and not path.is_dir()]
