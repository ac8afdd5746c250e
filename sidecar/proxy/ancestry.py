"""Finds the agent among the processes above a proxy, past the shells and launchers between.

An agent gives the server that it starts a pipe (or a socket) as standard input, and keeps
the other end. A shell, `npx`, `uv run` or a start script between the two hands that same
pipe on, since it has nothing to do but wait. So the agent is the first process above whose
standard input is another than ours. Where processes cannot be looked into that closely,
which is anywhere but on Linux, shells and launchers are known by their names.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from sidecar.store.ids import stat_of

_PROC = "/proc/self"
_PRIVATE = ("pipe:", "socket:")
_INTERPRETERS = ("bun", "node", "python")
_SHELLS = frozenset({
    "ash", "bash", "cmd", "dash", "fish", "ksh", "powershell", "pwsh", "sh", "zsh",
})  # fmt: skip
_LAUNCHERS = frozenset({
    "bunx", "npm", "npm-cli", "npx", "npx-cli", "pdm", "pipx", "pnpm", "pnpx", "poetry", "rye",
    "timeout", "uv", "uvx", "yarn",
})  # fmt: skip


def agent_process() -> int:
    """Find the process that is the agent: the one whose proxies are one run.

    Returns:
        Its pid; our own if there is none to be seen, as when we are the first process of a
        container.
    """
    parent = os.getppid()
    if parent == 0:
        return os.getpid()
    return _by_input(parent) if os.path.isdir(_PROC) else _by_name(parent)


def is_launcher(command: Sequence[str]) -> bool:
    """Tell whether a command line is a shell's that was given a command, or a launcher's.

    A shell without one is somebody's terminal: what it starts has no agent in between.
    """
    program, *words = command or ("",)
    name = _name(program)
    if name in _SHELLS:
        return any(not word.startswith("-") for word in words)
    if name.startswith(_INTERPRETERS) and words:
        name = _name(words[0])
    return name in _LAUNCHERS


def _name(program: str) -> str:
    # npm writes `npm exec NAME` over its own command line; a login shell is `-zsh`.
    first = program.split(" ", 1)[0]
    path = first if first in _LAUNCHERS else program
    base = path.replace("\\", "/").rpartition("/")[2].lower()
    return base.lstrip("-").removesuffix(".exe").removesuffix(".js")


def _by_input(pid: int) -> int:
    ours = _standard_input("self")
    if not ours.startswith(_PRIVATE):  # a terminal or a file, which anyone may share
        return pid
    while _standard_input(str(pid)) == ours:
        above = int(stat_of(pid)[1])
        if above == 0:
            break
        pid = above
    return pid


def _standard_input(process: str) -> str:
    """Name what a process reads; empty if it may not be looked at, as another user's."""
    try:
        return os.readlink(f"/proc/{process}/fd/0")
    except OSError:
        return ""


def _by_name(pid: int) -> int:
    import psutil  # noqa: PLC0415  # only where there is no /proc

    try:
        while is_launcher(psutil.Process(pid).cmdline()):
            above = psutil.Process(pid).ppid()
            if above == 0:
                break
            pid = above
    except (psutil.Error, OSError):
        pass  # it is gone, or another user's: no further
    return pid
