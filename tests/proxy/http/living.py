"""The raw server over stdio, behind a front."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import Any

from sidecar.proxy.http.endpoint import Limits
from sidecar.store.journal import Journal
from tests.paths import PYTHON, ROOT
from tests.proxy.http.fronting import Place, Raw
from tests.proxy.place import is_running, until

SERVER = (PYTHON, str(ROOT / "tests" / "servers" / "raw_server.py"))


def live(folder: Path, *flags: str, **more: Any) -> Place:
    """A front before the raw server."""
    command = (*SERVER, "--trace", str(folder / "trace"), *flags)
    given = {"mode": "record", **more}
    return Place(folder, command=command, limits=Limits(grace_seconds=2.0), **given)


def started(folder: Path) -> list[dict[str, Any]]:
    """What the raw server left at each of its starts."""
    trace = folder / "trace"
    return [json.loads(line) for line in trace.read_text("utf-8").splitlines()]


async def gone(pid: int) -> None:
    """Wait, bounded, for the end of a process."""
    await asyncio.to_thread(until, lambda: not is_running(pid))


def sessions(folder: Path) -> list[Any]:
    """The sessions of the journal."""
    with closing(Journal.open(str(folder / ".sidecar" / "journal.db"))) as journal:
        return journal.connection.rows("SELECT state FROM sessions")


async def lines_received(client: Raw, ident: object) -> list[Any]:
    """What the raw server has received, this question included."""
    answer = await client.call(ident, "received")
    lines = answer.messages[-1]["result"]["structuredContent"]["lines"]
    return [json.loads(line) for line in lines]
