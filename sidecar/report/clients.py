"""Agents' MCP configs: what was changed in one, and those that were found."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sidecar.agents.configs.discovery import Found, Server
from sidecar.agents.configs.document import again
from sidecar.agents.configs.masked_text import masked_texts
from sidecar.agents.configs.wrapping import Change, Outcome
from sidecar.report.tables import Column, table
from sidecar.report.text import escaped
from sidecar.store.connected import Connected
from sidecar.wire.json_text import JsonValue

NEVER = "never"
_COLUMNS = (
    Column("client"),
    Column("scope"),
    Column("server"),
    Column("sidecar"),
    Column("last connected", whole=True),
    Column("config"),
)


class Seen(NamedTuple):
    """A server that was found, and when it connected.

    Attributes:
        found: The config.
        server: The server.
        last: None for never, or where the sidecar cannot know.
        overridden: The config that has a server of the name that counts instead, if any.
    """

    found: Found
    server: Server
    last: Connected | None = None
    overridden: str | None = None


def changed(change: Change) -> str:
    """Tell what became of a config's servers, a line each."""
    rows = [(f"  {one.entry.name}", _told(one, change)) for one in change.outcomes]
    width = max((len(escaped(name)) for name, _ in rows), default=0)
    return "".join(f"{escaped(name):{width}}  {escaped(told)}\n" for name, told in rows)


def difference(change: Change) -> str:
    """Show a change as a unified diff, with secrets masked: it may go to a log."""
    path = change.before.path
    before, after = masked_texts((change.before, again(change.before, change.text)))
    lines = difflib.unified_diff(_lines(before), _lines(after), path, path, lineterm="")
    return "".join(f"{escaped(line)}\n" for line in lines)


def listed(seen: Sequence[Seen], *, width: int | None) -> str:
    """Lay out servers that were found; `width` as in `tables.table`."""
    rows = [
        (
            one.found.title,
            one.server.scope if one.overridden is None else f"{one.server.scope} (overridden)",
            one.server.name,
            _behind(one.server),
            _last(one),
            one.found.path
            if one.server.project is None
            else f"{one.found.path} ({one.server.project})",
        )
        for one in seen
    ]
    return table(_COLUMNS, rows, width=width)


def as_json(found: Found, seen: Sequence[Seen]) -> JsonValue:
    """Make the JSON of a config that was found."""
    return {
        "client": found.client,
        "path": found.path,
        "problem": found.problem or None,
        "servers": [_server(one) for one in seen],
    }


def _server(one: Seen) -> JsonValue:
    server, target = one.server, one.server.target
    return {
        "name": server.name,
        "scope": server.scope,
        "project": server.project,
        "reachedBy": server.how,
        "wrapped": server.is_wrapped,
        "served": server.is_served,
        "mode": target.mode if target else None,
        "cassette": target.cassette if target else None,
        "home": target.home if target else None,
        "lastConnected": one.last.at if one.last else None,
        "overriddenBy": one.overridden,
    }


def _told(one: Outcome, change: Change) -> str:
    if one.state == "skipped":
        return f"skipped: {one.reason}"
    if one.reason:
        return one.reason
    if one.target is None:
        return "unwrapped" if one.state == "unwrapped" else f"{one.state}: led to serve"
    cassette = one.target.cassette
    to = f"cassette {cassette}" if cassette else "journal only"
    scope = change.before.scope_of(one.entry)
    where = f" ({scope} scope of {one.entry.project})" if one.entry.project else ""
    return f"{one.state}: {one.target.mode}, {to}{where}"


def _behind(server: Server) -> str:
    if server.target is None:
        return "by serve" if server.is_served else ""
    name = server.target.cassette
    return server.target.mode + (f", {Path(name).name}" if name else "")


def _last(one: Seen) -> str:
    if one.server.target is None:
        return ""
    return one.last.at[:19].replace("T", " ") if one.last else NEVER


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
