"""The configs that are on this machine, with their servers: what a client may read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sidecar.agents.configs.clients import client_of
from sidecar.agents.configs.document import Document, Entry, read
from sidecar.agents.configs.files import read_file
from sidecar.agents.configs.locations import Machine, present
from sidecar.agents.configs.marks import Target
from sidecar.agents.configs.shapes import Remote, Started, UnfitError, shape_of
from sidecar.errors import ConfigError

_RANKS = {"managed": 0, "local": 1, "project": 2, "user": 3}
"""The scopes, that which wins first."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server of a config that was found.

    Attributes:
        name: Its name there.
        scope: What its entry holds for.
        project: The project that the entry names, if it names one.
        how: How the client reaches it: `stdio`, `url`, or `client` where the client itself
            knows.
        target: What it is told, if it is behind `proxy`.
        is_served: Whether it is led to `serve`.
    """

    name: str
    scope: str
    project: str | None
    how: str
    target: Target | None = None
    is_served: bool = False

    @property
    def is_wrapped(self) -> bool:
        """Whether it is behind the sidecar."""
        return self.target is not None or self.is_served


@dataclass(frozen=True, slots=True)
class Found:
    """A config that was found.

    Attributes:
        client: The id of the client that reads it.
        path: The file.
        servers: Its servers; none if it is broken.
        problem: What is wrong with it; empty if nothing is.
    """

    client: str
    path: str
    servers: tuple[Server, ...] = ()
    problem: str = ""

    @property
    def title(self) -> str:
        """What people call the client."""
        return client_of(self.client).title


def find(machine: Machine) -> Iterator[Found]:
    """Find the configs that hold servers, or cannot be read; none is changed."""
    for place, path in present(machine):
        try:
            document = read(str(path), read_file(str(path)), client=place.client)
        except ConfigError as error:
            yield Found(place.client, str(path), problem=str(error))
            continue
        if document.entries:
            document = replace(document, location=place)
            servers = tuple(server_of(document, entry) for entry in document.entries)
            yield Found(place.client, str(path), servers)


def overriding(found: Sequence[Found], project: str) -> dict[tuple[str, Server], str]:
    """Tell which servers do not count, since another one of their name does (E09).

    Args:
        found: The configs.
        project: The project folder, absolute.

    Returns:
        By a config's path and a server of it, the path of the config that counts.
    """
    winners: dict[tuple[str, str], tuple[int, str]] = {}
    for one, server in _layered(found, project):
        key = (one.client, server.name)
        winners[key] = min(winners.get(key, (len(_RANKS), "")), (_RANKS[server.scope], one.path))
    return {
        (one.path, server): winners[one.client, server.name][1]
        for one, server in _layered(found, project)
        if _RANKS[server.scope] > winners[one.client, server.name][0]
    }


def _layered(found: Sequence[Found], project: str) -> Iterator[tuple[Found, Server]]:
    """The servers that a client would use in a project, where its scopes are layers."""
    for one in found:
        for server in one.servers:
            is_here = server.project is None or os.path.realpath(server.project) == project
            if client_of(one.client).is_layered and server.scope in _RANKS and is_here:
                yield one, server


def server_of(document: Document, entry: Entry) -> Server:
    """Tell what an entry of a config is."""
    scope = document.scope_of(entry)
    try:
        shape = shape_of(entry, document.client)
    except UnfitError:
        return Server(entry.name, scope, entry.project, "client")
    if isinstance(shape, Started):
        target = shape.mark.target if shape.mark else None
        is_url = shape.mark is not None and shape.mark.how.url is not None
        return Server(entry.name, scope, entry.project, "url" if is_url else "stdio", target)
    return Server(entry.name, scope, entry.project, "url", is_served=shape.original is not None)


def is_remote(document: Document, entry: Entry, *, with_headers: bool) -> bool:
    """Whether an entry has a URL, and headers or none, as is asked."""
    try:
        shape = shape_of(entry, document.client)
    except UnfitError:
        return False
    return isinstance(shape, Remote) and (shape.headers is not None) == with_headers
