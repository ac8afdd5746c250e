"""Recordings that tests of the front replay, and what a replay leaves."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from sidecar.cassette.interaction import Interaction
from sidecar.store import recorded
from sidecar.store.journal import Journal
from sidecar.wire.mcp import META_SUBSCRIPTION, META_VERSION
from tests.cassette.sessions import notice, question, surface
from tests.proxy.place import RUN

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s"}}
INITIALIZE = surface("initialize", HELLO)
META = {META_VERSION: "2026-07-28"}
STEP = notice("notifications/progress", progress=1)
CHANGED = notice("notifications/tools/list_changed")
ASK = question("elicitation/create", {"action": "accept"}, message="Sure?")


def modern(interaction: Interaction) -> Interaction:
    """The same, recorded with a request of 2026-07-28."""
    params = (interaction.params or "{}")[:-1]
    comma = "," if params != "{" else ""
    return interaction._replace(
        params=f'{params}{comma}"_meta":{{"{META_VERSION}":"2026-07-28"}}}}'
    )


def text(message: Any) -> str:
    """The text of a tool's answer."""
    found = message["result"]["content"][0]["text"]
    assert isinstance(found, str)
    return found


def rows(folder: Path) -> list[recorded.Recorded]:
    """What the journal has of the run."""
    with closing(Journal.open(str(folder / ".sidecar" / "journal.db"))) as journal:
        return list(recorded.of_run(journal.connection, RUN))


def listen(*told: str) -> Interaction:
    """A listen that stays open, and what it is told."""
    meta = {META_SUBSCRIPTION: "0"}
    notices = [notice(method, _meta=meta) for method in told]
    acknowledged = notice("notifications/subscriptions/acknowledged", _meta=meta)
    params = f'{{"notifications":{{}},"_meta":{{"{META_VERSION}":"2026-07-28"}}}}'
    return Interaction("srv", "subscriptions/listen", params, None, during=(acknowledged, *notices))
