"""Starts the writers of the store's tests as processes of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import paths

WAIT_SECONDS = 50.0


@contextmanager
def writer(path: Path, run: str, count: str) -> Iterator[subprocess.Popen[bytes]]:
    """A running `tests.store.writer`, gone when the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.store.writer", str(path), run, count],
        stdout=subprocess.PIPE,
        cwd=paths.ROOT,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def python(script: str, *arguments: str, options: tuple[str, ...] = ()) -> str:
    """Run a script to its end, Python with these options; give what it printed."""
    done = subprocess.run(
        [sys.executable, *options, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
        cwd=paths.ROOT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
