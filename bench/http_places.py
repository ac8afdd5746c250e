"""The server that is reached over HTTP, and `mcp-sidecar serve` before it."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.client import ContestantError
from bench.contestants import ROOT, environment
from tests.end_to_end import serving
from tests.servers.listening import Listening

_SERVER = ROOT / "tests" / "servers" / "http_server.py"


class Place(NamedTuple):
    """Where a contestant listens.

    Attributes:
        url: Its endpoint.
        pid: Its process.
    """

    url: str
    pid: int


@contextlib.contextmanager
def server() -> Iterator[Place]:
    """Start the server.

    Raises:
        ContestantError: If it does not begin in time.
    """
    with _told(), Listening([sys.executable, _SERVER], env=environment()) as process:
        yield _place(process)


@contextlib.contextmanager
def recording(folder: Path, url: str) -> Iterator[Place]:
    """Record a server into a cassette in the folder, which is there once this is over.

    Raises:
        ContestantError: If it does not begin or end as it should.
    """
    with _told(), serving.recording(folder, url) as process:
        yield _place(process)


@contextlib.contextmanager
def replaying(folder: Path) -> Iterator[Place]:
    """Replay the cassette that is in the folder.

    Raises:
        ContestantError: If it does not begin or end as it should: a miss is an error too.
    """
    with _told(), serving.replaying(folder) as process:
        yield _place(process)


def _place(process: Listening) -> Place:
    return Place(process.url, process.process.pid)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except (AssertionError, TimeoutError, subprocess.TimeoutExpired) as error:
        raise ContestantError(f"over HTTP: {error}") from None
