"""What `wrap` says besides what it changed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from sidecar.agents.config import sidecar_command
from sidecar.agents.configs.discovery import find, is_remote
from sidecar.agents.configs.document import Document
from sidecar.agents.configs.locations import Machine
from sidecar.agents.configs.wrapping import Change, Outcome
from sidecar.cli.options import short_path
from sidecar.cli.wrap_targets import Wanted, where_listed
from sidecar.proxy.http.endpoint import DEFAULT_PORT
from sidecar.store import cassettes, folders

_CACHE = ".cache"  # where `uvx` and the like keep what they run once


def remarks(change: Change, wanted: Wanted, *, dry_run: bool) -> Iterator[str]:
    """What the user should know besides what was changed (E08, E09)."""
    document = change.before
    done = [one for one in change.outcomes if one.state != "skipped"]
    if not done:
        yield "nothing was wrapped"
        return
    verb = "would go" if dry_run else "go"
    for home, target in {one.target.home: one.target for one in done if one.target}.items():
        journal = short_path(folders.journal_path(home))
        yield f"recordings {verb} to {journal}: `{where_listed(target)}` lists them"
    yield from _remarks_on_cassettes(change)
    yield from _remarks_on_replays(change)
    if _CACHE in Path(sidecar_command()[0]).parts:
        yield f"{sidecar_command()[0]} is in a cache: install mcp-sidecar, or it may vanish"
    if not dry_run and any(one.state in ("wrapped", "changed") for one in done):
        yield f"next, in {document.client.title}: {document.client.then}"
    yield from _remarks_on_file(document, dry_run=dry_run)
    yield from _remarks_on_names(done)
    if wanted.serve is None:
        yield from _remarks_on_logins(change)
    elif any(one.target is None for one in done):
        yield _remark_on_serve(document.path, wanted, wanted.serve)
    yield from _other_places(change, wanted)


def _remarks_on_replays(change: Change) -> Iterator[str]:
    """Name the servers that a cassette cannot answer for."""
    recorded: dict[str, set[str]] = {}
    for one in change.outcomes:
        if one.target is None or one.target.cassette is None or one.target.mode != "replay":
            continue
        path = one.target.cassette
        names = recorded[path] if path in recorded else _servers_of(path)
        recorded[path] = names
        if one.entry.name not in names:
            there = ", ".join(map(repr, sorted(names))) or "no server"
            yield (
                f"{short_path(path)} has {there}, and nothing of "
                f"{one.entry.name!r}: nothing that it is asked will be answered"
            )


def _servers_of(path: str) -> set[str]:
    cassette = cassettes.load(path).cassette
    return {*cassette.servers, *(item.server for item in cassette.interactions)}


def _remarks_on_file(document: Document, *, dry_run: bool) -> Iterator[str]:
    title = document.client.title
    if document.location is not None and document.location.is_state:
        way = "end it before you wrap"
        if not dry_run:
            way = (
                "if it runs now, end it, and look with `mcp-sidecar clients` whether the servers "
                "are still wrapped"
            )
        yield f"{title} rewrites this file as it runs: {way}"
    for name in document.unread:
        yield f"`{name}` is not what {title} reads there; it stayed as it is"


def _remarks_on_cassettes(change: Change) -> Iterator[str]:
    """Say of a cassette that is there already what will become of another run."""
    targets = [one.target for one in change.outcomes if one.target]
    recording = [target.cassette for target in targets if target.mode == "record"]
    for cassette in dict.fromkeys(recording):
        if cassette is not None and os.path.lexists(cassette):
            yield (
                f"{short_path(cassette)} is there already, and another run stays in the journal: "
                "`mcp-sidecar cassette save last --overwrite` puts it in its place, and "
                "`--mode auto` adds to it"
            )


def _remarks_on_names(done: Sequence[Outcome]) -> Iterator[str]:
    """Name the servers whose tools could be another one's: tools are `SERVER:TOOL`."""
    for name in dict.fromkeys(one.entry.name for one in done if ":" in one.entry.name):
        yield (
            f"the name {name!r} has a colon, and tools are told as SERVER:TOOL: suites of it "
            "cannot be read for certain; give the server another name"
        )


def _remark_on_serve(path: str, wanted: Wanted, url: str) -> str:
    """Say which `serve` has to run at the URL."""
    words = ["mcp-sidecar", "serve", "--config", short_path(path)]
    port = urlsplit(url).port
    words += ["--port", str(port)] if port not in (None, DEFAULT_PORT) else []
    words += ["--mode", wanted.mode] if wanted.mode else []
    words += ["--cassette", wanted.cassette] if wanted.cassette else []
    return f"what is led to {url} is served by `{shlex.join(words)}`: start it before the client"


def _remarks_on_logins(change: Change) -> Iterator[str]:
    """Name the servers that may ask for a login: with a URL, and no header (E10)."""
    names = [
        one.entry.name
        for one in change.outcomes
        if one.state == "wrapped" and is_remote(change.before, one.entry, with_headers=False)
    ]
    if names:
        yield f"{', '.join(names)} may ask for a login (OAuth): if so, unwrap it, none is passed on"


def _other_places(change: Change, wanted: Wanted) -> Iterator[str]:
    """Name the client's other configs that have a server of the same name (E09)."""
    document = change.before
    names = {one.entry.name for one in change.outcomes if one.state != "skipped"}
    for found in find(Machine.here(wanted.project_of(document))):
        is_same = os.path.realpath(found.path) == os.path.realpath(document.path)
        if found.client != document.client.id or is_same:
            continue
        shared = [server.name for server in found.servers if server.name in names]
        if shared:
            yield (
                f"{document.client.title} also finds {', '.join(dict.fromkeys(shared))} in "
                f"{found.path}: `mcp-sidecar clients` shows which counts"
            )
