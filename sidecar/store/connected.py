"""Tells from the journal when servers were last started behind the sidecar."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import NamedTuple
from urllib.parse import quote

from sidecar.store import folders
from sidecar.store.connection import PATIENCE_SECONDS, explained, version_of

# Of several rows, SQLite takes what stands beside a maximum from that row.
_LAST = (
    "SELECT server, coalesce(config_entry, ''), max(started_at), exit_code FROM sessions"
    " GROUP BY 1, 2"
)


class Connected(NamedTuple):
    """When a server was last started behind the sidecar.

    Attributes:
        at: ISO 8601.
        exit_code: How the server ended then; None if it runs, or did not end by itself.
    """

    at: str
    exit_code: int | None = None


def last_connected(home: str) -> dict[tuple[str, str], Connected]:
    """Tell when a client last started each server's proxy.

    Args:
        home: The sidecar's home, whose journal is only read: none is made, and an older one
            is not brought up to date.

    Returns:
        The last start by the server's name and the id of its config's entry, empty for a proxy that
        no wrapped config started; those that no client ever started are left out.

    Raises:
        JournalError: If the journal cannot be read.
    """
    path = os.path.abspath(folders.journal_path(home))
    if not os.path.lexists(path):
        return {}
    try:
        with closing(_reader(path)) as reader:
            # Whoever makes a journal right now has had no client yet.
            rows = reader.execute(_LAST).fetchall() if version_of(reader, path) else []
    except sqlite3.Error as error:
        raise explained(error, path) from error
    return {(server, entry): Connected(at, code) for server, entry, at, code in rows}


def _reader(path: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=PATIENCE_SECONDS)
