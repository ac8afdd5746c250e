"""Tells from the journal when a server was last started behind the sidecar."""

from __future__ import annotations

import os

from sidecar.store import folders
from sidecar.store.journal import Journal

_LAST = "SELECT max(started_at) FROM sessions WHERE server = ?"


def last_connected(home: str, server: str) -> str | None:
    """Tell when a client last started a server's proxy.

    Args:
        home: The sidecar's home, whose journal is read; none is made.
        server: The server's name.

    Returns:
        ISO 8601; None if that never happened.

    Raises:
        JournalError: If the journal cannot be read.
    """
    path = folders.journal_path(home)
    if not os.path.lexists(path):
        return None
    with Journal.open(path) as journal:
        ((last,),) = journal.connection.rows(_LAST, (server,))
    return None if last is None else str(last)
