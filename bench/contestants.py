"""Who is measured, and how each is started."""

import os
import sys
import sysconfig
import time
from pathlib import Path

from bench.client import Launch
from sidecar.store.ids import RANDOMNESS_BYTES, new_run_id

DIRECT, RELAY, MCP_REC, OURS = "direct", "relay", "mcp-rec", "ours"
RECORDING = (DIRECT, RELAY, MCP_REC, OURS)
"""Who stands in for a server that is there; the first is that server itself."""
REPLAYING = (DIRECT, MCP_REC, OURS)
"""Who stands in for a server that is not there; the first is there, for comparison."""
KEEPING = (MCP_REC, OURS)
"""Who keeps a recording."""

ROOT = Path(__file__).resolve().parent.parent
SERVER = ROOT / "tests" / "servers" / "tiny_server.py"
SERVER_COMMAND = (sys.executable, str(SERVER))
_SETTINGS = ("MCP_SIDECAR_", "PYTHON")
_SCRIPTS = Path(sysconfig.get_path("scripts"))


def environment() -> dict[str, str]:
    """What every contestant gets: ours without any settings, and mcp-rec's notice is off.

    Python's settings are left out since they may make it compile our modules at each start,
    where mcp-rec, which came as a package, is compiled.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_SETTINGS)}
    path = {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}
    return {**kept, **path, "CI": "1"}


def recording(name: str, file: Path, home: Path) -> Launch:
    """Start a contestant before a live server.

    Args:
        name: One of `RECORDING`.
        file: Where its recording goes, in an existing folder.
        home: The folder of our journal.
    """
    commands: dict[str, list[str]] = {
        DIRECT: [],
        RELAY: [sys.executable, "-P", str(ROOT / "bench" / "relay.py")],
        MCP_REC: [str(_SCRIPTS / "mcp-rec"), "record", "-o", str(file), "--"],
        OURS: [*_ours("record", file, home)],
    }
    return Launch([*commands[name], *SERVER_COMMAND], environment(), file.parent)


def replaying(name: str, file: Path, home: Path) -> Launch:
    """Start a contestant on its own recording.

    Args:
        name: One of `REPLAYING`.
        file: The recording; the live server needs none.
        home: The folder of our journal.
    """
    commands: dict[str, list[str]] = {
        DIRECT: [*SERVER_COMMAND],
        MCP_REC: [str(_SCRIPTS / "mcp-rec"), "replay", str(file)],
        OURS: [*_ours("replay", file, home)],
    }
    return Launch(commands[name], environment(), file.parent)


def _ours(mode: str, file: Path, home: Path) -> list[str]:
    # Each process has its own run, as if each were started by another agent.
    run = new_run_id(time.time(), os.urandom(RANDOMNESS_BYTES))  # noqa: TID251  # a name, no measure
    return [
        *(str(_SCRIPTS / "mcp-sidecar"), "proxy", "--server", "t", "--mode", mode),
        *("--cassette", str(file), "--home", str(home), "--run", run),
    ]
