"""Where things lie: the project folder, the sidecar's home, the journal, a cassette."""

from __future__ import annotations

import os
from collections.abc import Mapping

from sidecar.errors import UsageError
from sidecar.store.environment import HOME_VARIABLE

CASSETTE_SUFFIX = ".jsonl"

_HOME = ".sidecar"
_JOURNAL = "journal.db"
_CASSETTES = "cassettes"
_MAX_PART = 200  # of the 255 bytes that file systems allow; saving adds to a name
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"] + [f"{name}{n}" for name in ("com", "lpt") for n in range(10)]
)
_CLIENT_FOLDERS = frozenset({
    ".agents", ".amazonq", ".claude", ".codeium", ".codex", ".continue", ".copilot", ".cursor",
    ".devcontainer", ".factory", ".gemini", ".github", ".idea", ".junie", ".kiro", ".opencode",
    ".qwen", ".roo", ".trae", ".vs", ".vscode", ".windsurf", ".zed",
})  # fmt: skip
_INNER_FOLDERS = frozenset({"agents", "mcp", "settings", "windsurf"})  # .kiro/settings/mcp.json


def project_folder(config: str | None, cwd: str) -> str:
    """Find the folder that a run belongs to, as an absolute path.

    Args:
        config: The wrapped MCP config, or None.
        cwd: The working directory.

    Returns:
        The working directory, or the folder that holds the config; folders that clients
        keep for themselves, like `.vscode`, are not counted.
    """
    if config is None:
        return os.path.abspath(cwd)
    folder = os.path.dirname(os.path.abspath(os.path.join(cwd, config)))
    parent, name = os.path.split(folder)
    if name in _INNER_FOLDERS and os.path.basename(parent) in _CLIENT_FOLDERS:
        folder, name = parent, os.path.basename(parent)
    return os.path.dirname(folder) if name in _CLIENT_FOLDERS else folder


def home(environ: Mapping[str, str], option: str | None, project: str) -> str:
    """Find the folder that holds the journal, as an absolute path.

    Args:
        environ: The process's environment, for `MCP_SIDECAR_HOME`.
        option: What `--home` says, if it was given; it wins.
        project: The project folder, which holds `.sidecar` where neither says otherwise.
    """
    given = option or environ.get(HOME_VARIABLE) or ""
    if "\0" in given:
        raise UsageError("the home folder's name holds a NUL", hint="give the name of a folder")
    return os.path.abspath(os.path.expanduser(given) if given else os.path.join(project, _HOME))


def make_home(home: str) -> None:
    """Make the sidecar's home, for its owner alone, if it is not there; git does not see it.

    Raises:
        OSError: If it cannot be made.
    """
    made = not os.path.isdir(home)
    os.makedirs(os.path.dirname(home), exist_ok=True)
    try:
        os.mkdir(home, 0o700)
    except FileExistsError:
        if not os.path.isdir(home):
            raise
    ignored = os.path.join(home, ".gitignore")
    # A folder of the user's own may be a whole project: nothing in it is hidden.
    if (made or os.path.basename(home) == _HOME) and not os.path.exists(ignored):
        with open(ignored, "w", encoding="utf-8") as file:
            file.write("*\n")


def journal_path(home: str) -> str:
    """The journal's file in the sidecar's home."""
    return os.path.join(home, _JOURNAL)


def cassette_path(spec: str, project: str) -> str:
    """Find the file that `--cassette` means, as an absolute path.

    Args:
        spec: A path that ends in `.jsonl`, or a name, which is a file in the project's
            folder `cassettes`. A name never leads out of that folder (C07).
        project: The project folder; a relative path starts there too.

    Raises:
        UsageError: If it can be neither.
    """
    if "\0" in spec:
        raise UsageError("a cassette's name holds a NUL", hint=_NAMES)
    if spec.endswith(CASSETTE_SUFFIX):
        return os.path.abspath(os.path.join(project, os.path.expanduser(spec)))
    problem = _problem_of(spec)
    if problem:
        raise UsageError(f"{spec!r} is no cassette name: {problem}", hint=_NAMES)
    folder = os.path.join(os.path.abspath(project), _CASSETTES)
    path = os.path.join(folder, *spec.split("/")) + CASSETTE_SUFFIX
    if not os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), "")):
        raise UsageError(
            f"the cassette {spec!r} leads out of the folder by a symbolic link",
            place=path,
            hint="remove the link, or give the path of a .jsonl file",
        )
    return path


_NAMES = "a name is letters, digits, `.`, `_`, `-` and single `/`; or give a path ending in .jsonl"


def _problem_of(name: str) -> str:
    return next(filter(None, map(_problem_of_part, name.split("/"))), "")


def _problem_of_part(part: str) -> str:
    problems = (
        (not part, "a part of it is empty"),
        (not _LETTERS.issuperset(part), f"{part!r} holds a character that is none of these"),
        (part.endswith("."), f"{part!r} ends in a dot"),
        (len(part) > _MAX_PART, f"a part of it has more than {_MAX_PART} characters"),
        (part.partition(".")[0].lower() in _DEVICES, f"{part!r} is a device on Windows"),
    )
    return next((words for found, words in problems if found), "")
