"""A lock between processes, held on a file; the system drops it when its holder dies."""

from __future__ import annotations

import fcntl
import os
import time
from types import TracebackType

from sidecar.errors import JournalError

_POLL_SECONDS = 0.01


class FileLock:
    """Holds a lock for as long as a `with` block lasts. The file stays behind, empty."""

    def __init__(self, path: str, *, patience_seconds: float) -> None:
        self._path = path
        self._patience_seconds = patience_seconds
        self._file = -1

    def __enter__(self) -> None:
        """Wait for the lock.

        Raises:
            JournalError: If another process holds it for longer than the patience lasts,
                or the file cannot be made.
        """
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise JournalError(
                f"the lock file cannot be opened ({error.strerror})",
                place=self._path,
                hint="make the folder writable, or move it with --home",
            ) from None
        end = time.monotonic() + self._patience_seconds
        while not try_lock(self._file):
            if time.monotonic() > end:
                os.close(self._file)
                raise JournalError(
                    f"another process has held the lock for {self._patience_seconds:g} s",
                    place=self._path,
                    hint="end the mcp-sidecar process that hangs, then try again",
                )
            time.sleep(_POLL_SECONDS)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)  # closing drops the lock


def try_lock(file: int) -> bool:
    """Lock an open file if no other process has; the lock ends when the file is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
