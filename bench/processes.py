"""What the kernel knows of processes: their children, processor time and peak memory. Linux."""

import contextlib
import time
from pathlib import Path

_PROC = Path("/proc")


def tree(pid: int, *, without: str) -> list[int]:
    """Find a process and all that it started, and they started, and so on.

    Args:
        pid: The root.
        without: A word of a command line. Processes that have it, and all below them, are
            left out, the root itself excepted.
    """
    found = [pid]
    for child in _children(pid):
        if without not in _command(child):
            found += tree(child, without=without)
    return found


def cpu_ns(pids: list[int]) -> int:
    """Processor time that the processes have taken so far, user and system, nanoseconds.

    Their own clocks are read: `/proc/PID/stat` counts in steps of 10 ms.
    """
    return sum(time.clock_gettime_ns(_clock(pid)) for pid in pids)


def peak_bytes(pids: list[int]) -> int:
    """The most memory that each process ever held (VmHWM), added up, bytes."""
    return sum(_held(pid, "VmHWM") for pid in pids)


def held_bytes(pid: int) -> int:
    """The memory that a process holds now (VmRSS), bytes."""
    return _held(pid, "VmRSS")


def _clock(pid: int) -> int:
    # The number that clock_getcpuclockid(3) gives; Python has no name for it.
    return (~pid << 3) | 2


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with contextlib.suppress(FileNotFoundError):
        for thread in (_PROC / str(pid) / "task").iterdir():
            with contextlib.suppress(FileNotFoundError):  # threads come and go
                children += map(int, (thread / "children").read_text("ascii").split())
    return children


def _command(pid: int) -> str:
    try:
        words = (_PROC / str(pid) / "cmdline").read_bytes()
    except FileNotFoundError:
        return ""
    return words.replace(b"\0", b" ").decode("utf-8", "replace")


def _held(pid: int, field: str) -> int:
    for line in (_PROC / str(pid) / "status").read_text("ascii", "replace").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return 0
