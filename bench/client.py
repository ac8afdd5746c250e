"""A client as cheap as can be: it sends a line, and blocks until the answer is there."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple

READ_BYTES = 1 << 16  # what a pipe holds; more would be mapped and unmapped at each read
ENDING_SECONDS = 60.0  # a recording of megabytes is saved meanwhile


class Launch(NamedTuple):
    """How a process is started.

    Attributes:
        argv: The command.
        env: Its whole environment.
        folder: Its working directory, and where its standard error is kept.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    folder: Path

    @property
    def words(self) -> Path:
        """The file that its standard error is added to."""
        return self.folder / "stderr.txt"


class ContestantError(Exception):
    """A contestant ended, or took too long."""


class Timed(NamedTuple):
    """What came back, and after how many nanoseconds."""

    data: bytes
    took_ns: int


class Client:
    """A process that is spoken to in lines, one request at a time.

    Nothing here waits with a bound of its own, which would cost on every call: use it
    inside `bounded`.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        with launch.words.open("ab") as words:
            self.process = subprocess.Popen(
                launch.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=words,
                env=dict(launch.env),
                cwd=launch.folder,
                bufsize=0,
                start_new_session=True,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        self._to, self._from = self._stdin.fileno(), self._stdout.fileno()

    def exchange(self, line: bytes) -> Timed:
        """Send a line, and wait for one.

        Raises:
            ContestantError: If the process ends first.
        """
        begun = time.perf_counter_ns()
        os.write(self._to, line)
        answer = os.read(self._from, READ_BYTES)
        if answer[-1:] != b"\n":
            answer = self._rest(answer, 1)
        return Timed(answer, time.perf_counter_ns() - begun)

    def exchange_all(self, lines: bytes, count: int) -> Timed:
        """Send several lines in one write, and wait for as many.

        Raises:
            ContestantError: If the process ends first.
        """
        begun = time.perf_counter_ns()
        os.write(self._to, lines)
        answers = self._rest(b"", count)
        return Timed(answers, time.perf_counter_ns() - begun)

    def say(self, line: bytes) -> None:
        """Send a line that nothing answers."""
        os.write(self._to, line)

    def close(self) -> None:
        """End the input, and wait until the process has gone.

        Raises:
            ContestantError: If it does not go in time. It is killed then.
        """
        self._stdin.close()
        try:
            self.process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ContestantError(f"{self._name} did not end with its input") from None
        self._stdout.close()

    def kill(self) -> None:
        """End the process and all that it started, whatever state they are in."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(ENDING_SECONDS)
        self._stdin.close()
        self._stdout.close()

    @property
    def _name(self) -> str:
        return " ".join(self._launch.argv)

    def _rest(self, begun: bytes, count: int) -> bytes:
        chunks = [begun]
        missing = count - begun.count(b"\n")
        while missing > 0 or chunks[-1][-1:] != b"\n":
            chunk = os.read(self._from, READ_BYTES)
            if not chunk:
                words = self._launch.words.read_text("utf-8", "replace")[-1000:]
                raise ContestantError(f"{self._name} ended too early: {words}")
            missing -= chunk.count(b"\n")
            chunks.append(chunk)
        return b"".join(chunks)


@contextlib.contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """End whatever blocks inside after so many seconds, at no cost until then.

    Raises:
        ContestantError: If the time is over.
    """

    def over(_sign: int, _frame: FrameType | None) -> None:
        raise ContestantError(f"no end after {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    outer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *outer)  # of a test's own bound, if there is one
