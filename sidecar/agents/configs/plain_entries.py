"""Servers of any client's config, told as Claude's programs write them.

Where the sidecar itself starts or asks the servers, it does not matter whose config it is:
`command`, `args`, `env` and `cwd`, or `url`, `headers` and `type`, say it all.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sidecar.agents.configs.clients import MADE_HEADER_KEYS, Client
from sidecar.agents.configs.document import Document, Entry
from sidecar.agents.configs.nodes import Node
from sidecar.agents.configs.shapes import Remote, Started, UnfitError, shape_of
from sidecar.errors import ConfigError
from sidecar.wire.json_text import JsonValue

_BEARER, _FROM_VARIABLES, _ = MADE_HEADER_KEYS
# What other clients write for `${NAME}`: OpenCode, and those that take `$NAME` as well.
_BRACED = re.compile(r"\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_BARE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


class PlainEntry(NamedTuple):
    """A server.

    Attributes:
        name: Its name.
        entry: What Claude's programs would have in its place.
        line: On which line of the config its command or URL stands.
    """

    name: str
    entry: dict[str, JsonValue]
    line: int


def plain_entries(document: Document) -> list[PlainEntry]:
    """Tell a config's servers, but for those of single projects in a user's own one.

    An entry with neither a command nor a URL is left out: its client has it built in.

    Raises:
        ConfigError: If one cannot be understood, or the config has a name twice, or no server.
    """
    meant = [one for one in document.entries if one.project is None and not _is_built_in(one)]
    found: dict[str, PlainEntry] = {}
    for one in meant:
        if one.name in found:
            line = _line(document, one.node)
            raise ConfigError(
                f"the config has the server {one.name!r} in two sections",
                place=f"{document.path}:{line}",
                hint="rename or remove one",
            )
        found[one.name] = _Teller(document, one).told()
    if not found:
        raise ConfigError(
            "the config names no server that can be started, or reached by a URL",
            place=document.path,
            hint="name the file that has them",
        )
    return list(found.values())


def _is_built_in(entry: Entry) -> bool:
    names = ("command", "cmd", "url", "uri", "serverUrl", "httpUrl")
    return entry.node.kind == "map" and not any(map(entry.node.member, names))


class _Teller:
    """Tells one server."""

    def __init__(self, document: Document, entry: Entry) -> None:
        self._document = document
        self._entry = entry

    def told(self) -> PlainEntry:
        node = self._entry.node
        try:
            shape = shape_of(self._entry, self._document.client)
        except UnfitError as error:
            raise ConfigError(
                f"the server {self._entry.name!r} cannot be read: {error}",
                place=f"{self._document.path}:{_line(self._document, node)}",
                hint="mend it, or leave it out of a copy of the config, and give that one",
            ) from None
        place = shape.command if isinstance(shape, Started) else shape.url
        entry = self._started(shape) if isinstance(shape, Started) else self._remote(shape)
        return PlainEntry(self._entry.name, entry, _line(self._document, place.value))

    def _started(self, shape: Started) -> dict[str, JsonValue]:
        entry: dict[str, JsonValue] = {"command": self._text(shape.program)}
        entry["args"] = [self._text(word) for word in shape.words]
        env = shape.holder.get(self._client.env) or self._entry.node.get(self._client.env)
        entry |= {"env": self._texts(env)} if env else {}
        cwd = self._entry.node.get("cwd")
        return entry | ({"cwd": self._text(cwd.text)} if cwd and cwd.text else {})

    def _remote(self, shape: Remote) -> dict[str, JsonValue]:
        entry: dict[str, JsonValue] = {"url": self._text(shape.url.value.text or "")}
        entry |= {"type": shape.transport} if shape.transport else {}
        headers = self._texts(shape.headers.value) if shape.headers else {}
        headers |= self._made_headers()
        return entry | ({"headers": headers} if headers else {})

    def _made_headers(self) -> dict[str, JsonValue]:
        """The headers that Codex makes of variables."""
        bearer = self._entry.node.get(_BEARER)
        made = self._texts(self._entry.node.get(_FROM_VARIABLES))
        headers: dict[str, JsonValue] = {name: f"${{{value}}}" for name, value in made.items()}
        return headers | ({"Authorization": f"Bearer ${{{bearer.text}}}"} if bearer else {})

    def _texts(self, node: Node | None) -> dict[str, JsonValue]:
        return {one.name: self._value(one.value) for one in node.members} if node else {}

    def _value(self, node: Node) -> JsonValue:
        return None if node.text is None else self._text(node.text)

    def _text(self, text: str) -> str:
        """Write what the client fills in as the sidecar does."""
        variables = self._client.variables
        if variables is None or not variables.pattern.search(text):
            return text
        bare = _BARE.sub(r"${\1}", text) if variables.pattern.match("$A") else text
        return _BRACED.sub(r"${\1}", bare)

    @property
    def _client(self) -> Client:
        return self._document.client


def _line(document: Document, node: Node) -> int:
    return document.text.count("\n", 0, node.span.start) + 1
