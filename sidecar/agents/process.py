"""An agent's process: started in a session of its own, ended so that nothing is left.

Its standard output is read on a thread, so that it never blocks on a full pipe.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sidecar.agents import process_group
from sidecar.agents.process_group import GRACE_SECONDS
from sidecar.errors import AgentError

MAX_OUTPUT_BYTES = 64 * 1024 * 1024
"""How much of an agent's output is kept; far more than a person or a grader reads."""

_TAIL_BYTES = 32_000  # the tracebacks of nested task groups are long
_CHUNK_BYTES = 64 * 1024
_POLL_SECONDS = 0.01
_KILLED = 128 + 9


class AgentProcess:
    """A running agent.

    Attached, it has the user's standard input and error, and its output is passed on as it
    comes. Otherwise its input is a file or empty, and the end of its standard error is kept.
    """

    def __init__(  # noqa: PLR0913  # each is one fact of a process
        self,
        words: Sequence[str],
        *,
        cwd: Path,
        environ: Mapping[str, str],
        folder: Path,
        attached: bool = False,
        stdin: Path | None = None,
    ) -> None:
        """Start it.

        Args:
            words: Program and arguments.
            cwd: Its working directory.
            environ: Its whole environment.
            folder: What was made for it: the guard removes that if this process is killed.
            attached: Whether it shares the user's terminal.
            stdin: The file that it reads as its standard input, where it is not attached;
                None: an empty one.

        Raises:
            AgentError: If it cannot be started.
        """
        with (stdin or Path(os.devnull)).open("rb") as given:
            try:
                self._process = subprocess.Popen(
                    list(words),
                    cwd=cwd,
                    env=dict(environ),
                    stdin=None if attached else given,
                    stdout=subprocess.PIPE,
                    stderr=None if attached else subprocess.PIPE,
                    start_new_session=True,
                    bufsize=0,
                )
            except (OSError, ValueError) as error:
                raise _explained(error, words, cwd) from None
        self._guard = _start_guard(self._process.pid, folder)
        assert self._process.stdout is not None
        self._head = _Head()
        passed_on = 1 if attached else None
        self._pumps = [_Pump(self._process.stdout.fileno(), self._head.take, passed_on)]
        self._tail = _Tail()
        if self._process.stderr is not None:
            self._pumps.append(_Pump(self._process.stderr.fileno(), self._tail.take, None))

    @property
    def output(self) -> bytes:
        """What it wrote to its standard output, up to `MAX_OUTPUT_BYTES`."""
        return self._head.data()

    @property
    def is_output_cut(self) -> bool:
        """Whether it wrote more than is kept."""
        return self._head.is_cut

    @property
    def last_words(self) -> str:
        """The end of its standard error; empty for an attached one."""
        return self._tail.text()

    def exit_code(self) -> int | None:
        """Its exit code, 128 plus the signal's number if one ended it; None while it runs."""
        code = self._process.poll()
        return 128 - code if code is not None and code < 0 else code

    def wait(self, until: Callable[[], bool]) -> None:
        """Wait for its end, or until told otherwise."""
        while self.exit_code() is None and not until():
            time.sleep(_POLL_SECONDS)

    def send(self, sign: int, *, hurry: Callable[[], bool]) -> None:
        """Pass on a signal to it and what it started, and give them time to act on it."""
        process_group.send(self._process.pid, sign)
        self._wait_for_group(hurry)

    def end(self, *, hurry: Callable[[], bool]) -> int:
        """End it and all that it started; return its exit code.

        What it leaves behind when it ends by itself, such as proxies that see the end of
        their input, may first end by itself too.
        """
        group = self._process.pid
        if self.exit_code() is not None:
            self._wait_for_group(hurry)
        process_group.end(group, GRACE_SECONDS, hurry=self._reaping(hurry))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_SECONDS)
        for pump in self._pumps:
            pump.finish(GRACE_SECONDS)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        _release(self._guard)
        code = self.exit_code()
        return _KILLED if code is None else code

    def _wait_for_group(self, hurry: Callable[[], bool]) -> None:
        process_group.wait_until_gone(self._process.pid, GRACE_SECONDS, hurry=self._reaping(hurry))

    def _reaping(self, hurry: Callable[[], bool]) -> Callable[[], bool]:
        def asked() -> bool:
            self.exit_code()  # or it stays a zombie, and in its group
            return hurry()

        return asked


class _Head:
    """The beginning of a stream."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._room = MAX_OUTPUT_BYTES
        self.is_cut = False

    def take(self, chunk: bytes) -> None:
        self.is_cut = self.is_cut or len(chunk) > self._room
        kept = chunk[: self._room]
        self._chunks.append(kept)
        self._room -= len(kept)

    def data(self) -> bytes:
        return b"".join(self._chunks)


class _Tail:
    """The end of a stream."""

    def __init__(self) -> None:
        self._data = b""

    def take(self, chunk: bytes) -> None:
        self._data = (self._data + chunk)[-_TAIL_BYTES:]

    def text(self) -> str:
        return self._data.decode(errors="replace").strip()


class _Pump:
    """A thread that reads a stream to its end, keeps of it what is wanted, and passes it on."""

    def __init__(self, source: int, keep: Callable[[bytes], None], passed_on: int | None) -> None:
        self._source = source
        self._keep = keep
        self._passed_on = passed_on
        self._wake_read, self._wake_write = os.pipe()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def finish(self, seconds: float) -> None:
        """Wait for the stream's end; a stream that someone else holds open is left then."""
        self._thread.join(seconds)
        os.close(self._wake_write)
        self._thread.join(seconds)
        if not self._thread.is_alive():
            os.close(self._wake_read)

    def _run(self) -> None:
        poller = select.poll()
        poller.register(self._source, select.POLLIN)
        poller.register(self._wake_read, select.POLLIN)
        while self._source in (file for file, _ in poller.poll()):
            chunk = os.read(self._source, _CHUNK_BYTES)
            if not chunk:
                return
            self._keep(chunk)
            if self._passed_on is not None:
                self._pass_on(self._passed_on, memoryview(chunk))

    def _pass_on(self, target: int, data: memoryview) -> None:
        try:
            while data:
                data = data[os.write(target, data) :]
        except OSError:  # nobody reads it any more; the agent need not know
            self._passed_on = None


def _start_guard(group: int, folder: Path) -> subprocess.Popen[bytes]:
    script = Path(process_group.__file__).absolute()
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(script), str(group), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        bufsize=0,
    )


def _release(guard: subprocess.Popen[bytes]) -> None:
    assert guard.stdin is not None
    with contextlib.suppress(OSError):
        guard.stdin.write(b"x")
    guard.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        guard.wait(GRACE_SECONDS)


def _explained(error: OSError | ValueError, words: Sequence[str], cwd: Path) -> AgentError:
    program = words[0]
    if isinstance(error, ValueError):
        return AgentError(
            f"the agent command cannot be started: {error}",
            hint="take the input from {input_file} instead of {input}",
        )
    if not cwd.is_dir():
        return AgentError("the agent's working directory is not there", place=str(cwd))
    if isinstance(error, FileNotFoundError):
        return AgentError(
            f"the agent command {program!r} was not found",
            hint="check how it is spelt, or give its path",
        )
    if isinstance(error, PermissionError):
        return AgentError(
            f"the agent command {program!r} may not be run",
            hint="make it executable, or start it with its interpreter",
        )
    return AgentError(
        f"the agent command {program!r} cannot be started ({error.strerror})",
        hint="a script needs an interpreter in its first line, "
        "and a long input is read from {input_file}",
    )
