"""A server process: started as the client would, stopped so that nothing is left of it.

It leads a session of its own, so that what it starts can be stopped with it. Stopping
closes its input first, then sends TERM, then KILL, each wait bounded. A guard process
does the same if the proxy itself is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence

from sidecar.proxy import guard, open_files
from sidecar.proxy.streams import Outlet, pipe, read_chunk

_PIPE_BYTES = 256 * 1024  # fewer switches for large results; the system's default is 64 KiB
_POLL_SECONDS = 0.005
_GROUP_POLL_SECONDS = 0.02  # looks at all processes of the machine
_TAIL_LINES = 20
_TAIL_LINE_BYTES = 2000
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")  # PEP 538


class Child:
    """A running server.

    Attributes:
        stdin: What goes to it.
        stdout: The descriptor that its messages come from; whoever reads it closes it.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Sequence[tuple[str, str]] = (),
        cwd: str | None = None,
    ) -> None:
        """Start it, with this process's environment.

        Args:
            command: Its program and arguments.
            env: Variables that it gets beside ours.
            cwd: Its working directory; None for this process's.

        Raises:
            OSError: If it cannot be started.
        """
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            in_read, in_write = pipe(theirs, ours)
            self.stdout, out_write = pipe(ours, theirs)
            self._stderr, err_write = pipe(ours, theirs)
            for descriptor in (in_write, self.stdout):
                _widen(descriptor)
            os.set_blocking(in_write, False)  # ours alone: the child's end is not touched
            ends = (in_read, out_write, err_write)
            given = {**_environment(), **dict(env)} if env else _environment()
            self._pid = (
                _spawn(command, given, ends)
                if cwd is None
                else _spawn_in(cwd, command, given, ends)
            )
            theirs.close()
            _guard(self._pid)
            open_files.give_back(self._pid)
            ours.pop_all()
        self.stdin = Outlet(in_write)
        self._code: int | None = None
        self._reaping = threading.Lock()  # whoever comes second would find no child
        self._reaped = False  # from then on its id may be another's
        self._tail: deque[bytes] = deque(maxlen=_TAIL_LINES)
        self._tail_part = b""

    def relay_stderr(self) -> None:
        """Pass its standard error on until it ends, keeping the last lines; once. Blocks."""
        errors = Outlet(2)
        try:
            while chunk := read_chunk(self._stderr):
                errors.send(chunk)
                *lines, part = (self._tail_part + chunk).split(b"\n")
                self._tail.extend(line[-_TAIL_LINE_BYTES:] for line in lines)
                self._tail_part = part[-_TAIL_LINE_BYTES:]
        finally:
            os.close(self._stderr)

    def last_words(self) -> str:
        """The last lines of its standard error, as text."""
        lines = [*self._tail, self._tail_part]
        return b"\n".join(lines).decode(errors="replace").strip()

    def exit_code(self) -> int | None:
        """Its exit code, 128 plus the signal's number if one ended it; None while it runs."""
        with self._reaping:
            if self._code is None:
                self._code = _exit_code(self._pid)
            return self._code

    def wait(self, seconds: float) -> int | None:
        """Wait for its end, at most so long; return `exit_code()`."""
        until = time.monotonic() + seconds
        while (code := self.exit_code()) is None and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
        return code

    def stop(self, grace_seconds: float, *, patient: bool = True) -> int:
        """End it and all that it started; return its exit code.

        Args:
            grace_seconds: Waited at each step.
            patient: Whether it may end by itself once its input is closed.
        """
        self.stdin.close()
        if patient:
            self.wait(grace_seconds)
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if self._reaped or not guard.is_alive(self._pid):
                break
            guard.signal_group(self._pid, sign)
            self._wait_for_group(grace_seconds)
        code = self.wait(grace_seconds)
        self._reap()
        guard.release(self._pid)
        return 128 + signal.SIGKILL if code is None else code

    def _reap(self) -> None:
        with self._reaping:
            if self._code is not None and not self._reaped:
                self._reaped = True
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(self._pid, os.WNOHANG)

    def _wait_for_group(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.exit_code()
            if not guard.is_alive(self._pid):
                return
            time.sleep(_GROUP_POLL_SECONDS)


def _spawn(command: Sequence[str], env: Mapping[str, str], ends: tuple[int, int, int]) -> int:
    actions = [(os.POSIX_SPAWN_DUP2, end, target) for target, end in enumerate(ends)]
    return os.posix_spawnp(
        command[0],
        list(command),
        env,
        file_actions=actions,
        setsid=True,
        setsigdef=_IGNORED_BY_PYTHON,
    )


def _spawn_in(
    cwd: str, command: Sequence[str], env: Mapping[str, str], ends: tuple[int, int, int]
) -> int:
    """Start it in a folder, which `posix_spawn` cannot do.

    Raises:
        OSError: If it cannot be started; where that is for the folder, it says so.
    """
    import subprocess  # noqa: PLC0415  # few need it, and it is slow to import

    stdin, stdout, stderr = ends
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            close_fds=False,
        )
    except OSError as error:
        if error.filename == cwd:
            text = f"its working directory {cwd!r}: {error.strerror}"
            raise OSError(error.errno, text) from None
        raise
    process.returncode = 0  # so that it is left to us: we look how it ended, and reap it
    return process.pid


def _guard(pid: int) -> None:
    """Have a process guarded, or end it: nobody else would.

    Raises:
        OSError: If there can be no guard.
    """
    try:
        guard.watch(pid)
    except OSError:
        guard.signal_group(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise


def _environment() -> Mapping[str, str]:
    """The environment that the client gave us (S13)."""
    if os.environ.get("LC_CTYPE") not in _COERCED or not _has_coerced_locale():
        return os.environ
    return {name: value for name, value in os.environ.items() if name != "LC_CTYPE"}


def _has_coerced_locale() -> bool:
    """Tell whether Python has set LC_CTYPE itself, as it does where the locale is C."""
    try:
        with open("/proc/self/environ", "rb") as file:
            return b"\0LC_CTYPE=" not in b"\0" + file.read()
    except OSError:  # no Linux
        return sys.flags.utf8_mode == 1 and "PYTHONUTF8" not in os.environ


def _widen(descriptor: int) -> None:
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):  # over the user's allowance: the default does
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _exit_code(pid: int) -> int | None:
    """Look how a child ended, and leave it to be reaped: until then, nobody else gets its id.

    It is the id of its group, too, which must be its own for as long as we may signal it.
    """
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return _reaped_exit_code(pid)
    try:
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return 0
    if ended is None:
        return None
    return ended.si_status if ended.si_code == os.CLD_EXITED else 128 + ended.si_status


def _reaped_exit_code(pid: int) -> int | None:
    try:
        done, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return 0
    if not done:
        return None
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code
