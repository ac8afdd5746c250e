"""A process that listens on a port and says where: a test server, or `mcp-sidecar serve`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

START_SECONDS = 60.0
END_SECONDS = 30.0
# A bare URL is a test server's; `serve` names each of its servers.
_PLACE = re.compile(r"(?:mcp-sidecar: (?P<name>.+) at )?(?P<url>http://\S+)")


class Listening:
    """The process, for as long as a `with` block lasts; then its whole group is gone.

    Attributes:
        urls: Where it listens, by the name that it gave; a bare URL has the name "".
        said: The lines that it wrote, on whichever stream.
        process: The process.
    """

    def __init__(
        self,
        words: Sequence[str | Path],
        *,
        servers: int = 1,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Start it, and wait until it has said where it is.

        Args:
            words: Its command.
            servers: How many URLs it will say.
            cwd: Its working directory.
            env: Its environment.

        Raises:
            TimeoutError: If it does not say so in time, or ends.
        """
        self.urls: dict[str, str] = {}
        self.said: list[str] = []
        self.process = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=env,
            start_new_session=True,
            text=True,
            encoding="utf-8",
        )
        self._changed = threading.Condition()
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        with self._changed:
            self._changed.wait_for(lambda: len(self.urls) >= servers or self._ended, START_SECONDS)
        if len(self.urls) < servers:
            self.__exit__(None, None, None)
            raise TimeoutError(f"{words} did not say where it listens, but {self.said}")

    @property
    def url(self) -> str:
        """The first URL."""
        return next(iter(self.urls.values()))

    def end(self) -> int:
        """Ask it to end, as a user does; returns its exit code.

        Raises:
            subprocess.TimeoutExpired: If it does not.
        """
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(END_SECONDS)
        self._reader.join(END_SECONDS)
        return code

    def until_said(self, text: str) -> None:
        """Wait until it has written a line with that text.

        Raises:
            TimeoutError: If it does not in time.
        """

        def is_said() -> bool:
            return any(text in line for line in self.said)

        with self._changed:
            if not self._changed.wait_for(is_said, START_SECONDS):
                raise TimeoutError(f"{text!r} is not among {self.said}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(END_SECONDS)
        self._reader.join(END_SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.said.append(line.rstrip("\n"))
                if found := _PLACE.fullmatch(self.said[-1]):
                    self.urls[found["name"] or ""] = found["url"]
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()
