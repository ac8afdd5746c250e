"""The process that stops servers when the proxy itself was killed without doing so (D02).

One guard looks after all servers of a proxy. It is a fork where that is safe, which costs
a millisecond; a process that has threads runs this file as a script instead, so it may
import the standard library alone, and little of that.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Collection

_GRACE_SECONDS = 2.0
_POLL_SECONDS = 0.02  # looks at all processes of the machine
_CHUNK_BYTES = 4096
_DESCRIPTORS = 256
_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_STEPS: tuple[int, ...] = (0, signal.SIGTERM, signal.SIGKILL)  # its input closed with the proxy


def is_alive(group: int) -> bool:
    """Tell whether anything of a group runs; what nobody has reaped yet does not (D03)."""
    if not signal_group(group, 0):
        return False
    try:
        processes = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:  # no Linux
        return True
    return any(_runs_in(group, name) for name in processes)


def signal_group(group: int, sign: int) -> bool:
    """Send a signal to what is left of a group; tell whether anything was."""
    try:
        os.killpg(group, sign)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def wait_for_groups(groups: Collection[int], seconds: float) -> None:
    """Wait for the end of all that runs in some groups, at most so long."""
    until = time.monotonic() + seconds
    while any(map(is_alive, groups)) and time.monotonic() < until:
        time.sleep(_POLL_SECONDS)


def _runs_in(group: int, process: str) -> bool:
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            state, _, its_group = file.read().rpartition(")")[2].split()[:3]
    except OSError:  # it has gone meanwhile
        return False
    return int(its_group) == group and state != "Z"


class _Guard:
    """The guard of this process, once there is one; it is told of groups over a pipe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid = 0
        self._pipe = -1
        self._groups: set[int] = set()
        self._kept = False

    def keep(self) -> None:
        with self._lock:
            self._kept = True
            self._start()

    def watch(self, group: int) -> None:
        with self._lock:
            self._start()
            self._groups.add(group)
            self._tell(f"+{group}\n")

    def release(self, group: int) -> None:
        with self._lock:
            if group not in self._groups:
                return
            self._groups.discard(group)
            self._tell(f"-{group}\n")
            if not self._groups and not self._kept:
                self._end()

    def _start(self) -> None:
        if self._pipe >= 0:
            return
        ours, self._pipe = os.pipe()
        is_alone = threading.active_count() == 1
        self._pid = _forked(ours) if is_alone else _spawned(ours)
        os.close(ours)

    def _tell(self, text: str) -> None:
        with contextlib.suppress(OSError):  # somebody has killed it
            os.write(self._pipe, text.encode())

    def _end(self) -> None:
        os.close(self._pipe)
        self._pipe = -1
        with contextlib.suppress(OSError):
            os.waitpid(self._pid, 0)


_guard = _Guard()


def keep() -> None:
    """Have a guard from now on, and for good; to be called before there are threads."""
    _guard.keep()


def watch(group: int) -> None:
    """Have a group stopped if this process is gone without stopping it."""
    _guard.watch(group)


def release(group: int) -> None:
    """Let a group go: it is stopped."""
    _guard.release(group)


def _forked(pipe: int) -> int:
    pid = os.fork()
    if pid:
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)  # at once, so that who kills our group does not kill it, too
        return pid
    try:
        os.dup2(pipe, 0)
        os.closerange(1, _DESCRIPTORS)
        _stand()
    finally:
        os._exit(0)


def _spawned(pipe: int) -> int:
    words = [sys.executable, "-I", "-S", os.path.abspath(__file__)]
    actions = [
        (os.POSIX_SPAWN_DUP2, pipe, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    return os.posix_spawn(sys.executable, words, os.environ, file_actions=actions, setpgroup=0)


def _stand() -> None:
    """Wait for the end of the proxy, and stop what it has left."""
    for ignored in _IGNORED:
        signal.signal(ignored, signal.SIG_IGN)
    groups = _left_behind()
    for sign in _STEPS:
        groups = {group for group in groups if signal_group(group, sign)}
        wait_for_groups(groups, _GRACE_SECONDS)


def _left_behind() -> set[int]:
    groups: set[int] = set()
    rest = b""
    while chunk := os.read(0, _CHUNK_BYTES):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            change = groups.add if line[:1] == b"+" else groups.discard
            change(int(line[1:]))
    return groups


if __name__ == "__main__":
    _stand()
