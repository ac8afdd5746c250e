"""`mcp-sidecar serve` before a server, as a user starts it."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.paths import MCP_SIDECAR
from tests.servers.listening import Listening

NAME = "shared"
CASSETTE = "tape.jsonl"


@contextmanager
def recording(folder: Path, url: str) -> Iterator[Listening]:
    """Record a server; the cassette is in the folder once this is over.

    Args:
        folder: Where config, journal and cassette are.
        url: The server's endpoint.
    """
    entry = {"type": "http", "url": url}
    (folder / "servers.json").write_text(json.dumps({"mcpServers": {NAME: entry}}), "utf-8")
    with _serving(folder, "record", "home") as sidecar:
        yield sidecar
        assert sidecar.end() == 0, sidecar.said


@contextmanager
def replaying(
    folder: Path, *, home: str = "home-of-replay", may_miss: bool = False
) -> Iterator[Listening]:
    """Replay what `recording` left in the folder.

    Args:
        folder: Where config and cassette are.
        home: Its journal's folder, in that folder.
        may_miss: Whether a request may miss.
    """
    with _serving(folder, "replay", home) as sidecar:
        yield sidecar
        assert sidecar.end() <= int(may_miss), sidecar.said


@contextmanager
def _serving(folder: Path, mode: str, home: str) -> Iterator[Listening]:
    words: list[str | Path] = [
        *(MCP_SIDECAR, "serve", "--config", folder / "servers.json", "--mode", mode),
        *("--cassette", folder / CASSETTE, "--home", folder / home, "--port", "0"),
    ]
    env = {name: value for name, value in os.environ.items() if not name.startswith("MCP_SIDECAR_")}
    with Listening(words, cwd=folder, env=env) as sidecar:
        yield sidecar
