"""Servers of any client's config, told as Claude's programs write them.

Where the sidecar itself starts or asks the servers, it does not matter whose config it is:
`command`, `args`, `env` and `cwd`, or `url`, `headers` and `type`, say it all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sidecar.agents.configs.clients import MADE_HEADER_KEYS, Client, Where
from sidecar.agents.configs.document import Document, Entry
from sidecar.agents.configs.filling import as_ours
from sidecar.agents.configs.nodes import Node, raw
from sidecar.agents.configs.shapes import Remote, Started, UnfitError, shape_of
from sidecar.errors import ConfigError
from sidecar.wire.json_text import JsonValue

_BEARER, _FROM_VARIABLES, _ = MADE_HEADER_KEYS


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

    An entry with neither a command nor a URL is left out: its client has it built in. So is
    one that is turned off: its client does not start it either.

    Raises:
        ConfigError: If one cannot be understood, or the config has a name twice, or no server
            that is turned on.
    """
    there = [
        one
        for one in document.entries
        if one.project is None and not _is_built_in(one, document.client)
    ]
    meant = [one for one in there if not _is_off(one.node)]
    if there and not meant:
        raise _all_off([one.name for one in there], document.path)
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


def turned_on(servers: Mapping[str, JsonValue], place: str) -> dict[str, JsonValue]:
    """Leave out the servers that their client does not start either.

    Args:
        servers: Entries as Claude's programs write them; at least one.
        place: Where they stand.

    Raises:
        ConfigError: If none is left.
    """
    found = {name: entry for name, entry in servers.items() if not _says_off(entry)}
    if not found:
        raise _all_off(list(servers), place)
    return found


def _says_off(entry: JsonValue) -> bool:
    return isinstance(entry, dict) and _means_off(entry.get("disabled"), entry.get("enabled"))


def _means_off(disabled: object, enabled: object) -> bool:
    """Whether two members say so: of Cline, Windsurf and others, and of Codex, Goose, OpenCode."""
    return disabled is True or enabled is False


def _all_off(names: Sequence[str], place: str) -> ConfigError:
    named = ", ".join(map(repr, names))
    told = f"servers {named} are" if len(names) > 1 else f"server {named} is"
    return ConfigError(
        f"the {told} turned off in the config, and there is no other",
        place=place,
        hint="turn one on there (`disabled`, `enabled`), or in a copy of the config, and give that",
    )


def _is_off(node: Node) -> bool:
    disabled, enabled = node.get("disabled"), node.get("enabled")
    return _means_off(disabled and disabled.value, enabled and enabled.value)


def _is_built_in(entry: Entry, client: Client) -> bool:
    names = (client.command, *client.urls)
    return entry.node.kind == "map" and not any(map(entry.node.member, names))


class _Teller:
    """Tells one server."""

    def __init__(self, document: Document, entry: Entry) -> None:
        self._document = document
        self._entry = entry

    def told(self) -> PlainEntry:
        node = self._entry.node
        try:
            shape = shape_of(self._entry, self._client)
            entry = self._started(shape) if isinstance(shape, Started) else self._remote(shape)
        except UnfitError as error:
            raise ConfigError(
                f"the server {self._entry.name!r} cannot be read: {error}",
                place=f"{self._document.path}:{_line(self._document, node)}",
                hint="mend it, or leave it out of a copy of the config, and give that one",
            ) from None
        place = shape.command if isinstance(shape, Started) else shape.url
        return PlainEntry(self._entry.name, entry, _line(self._document, place.value))

    def _started(self, shape: Started) -> dict[str, JsonValue]:
        entry: dict[str, JsonValue] = {"command": self._text(shape.program)}
        entry["args"] = [self._text(word) for word in shape.words]
        env = shape.holder.get(self._client.env) or self._entry.node.get(self._client.env)
        entry |= {"env": self._texts(env, "env")} if env else {}
        cwd = self._entry.node.get("cwd")
        return entry | ({"cwd": self._text(cwd.text)} if cwd and cwd.text else {})

    def _remote(self, shape: Remote) -> dict[str, JsonValue]:
        entry: dict[str, JsonValue] = {"url": self._text(shape.url.value.text or "")}
        entry |= {"type": shape.transport} if shape.transport else {}
        headers = self._texts(shape.headers.value, "headers") if shape.headers else {}
        headers |= self._made_headers()
        return entry | ({"headers": headers} if headers else {})

    def _made_headers(self) -> dict[str, JsonValue]:
        """The headers that Codex makes of variables."""
        bearer = self._entry.node.get(_BEARER)
        named = self._entry.node.get(_FROM_VARIABLES)
        made: dict[str, JsonValue] = {
            one.name: f"${{{one.value.text}}}"
            for one in (named.members if named else ())
            if one.value.text
        }
        token = bearer.text if bearer else None
        return made | ({"Authorization": f"Bearer ${{{token}}}"} if token else {})

    def _texts(self, node: Node, where: Where) -> dict[str, JsonValue]:
        return {one.name: self._value(one.name, one.value, where) for one in node.members}

    def _value(self, name: str, node: Node, where: Where) -> str | None:
        """Tell a value; a number or a switch is the word that stands there."""
        if node.text is not None:
            return self._text(node.text, where)
        if node.kind != "other" or node.shared:
            raise UnfitError(f"its `{name}` is no plain text")
        return None if node.value is None else raw(self._document.text, node.span)

    def _text(self, text: str, where: Where = "words") -> str:
        return as_ours(text, self._client, where)

    @property
    def _client(self) -> Client:
        return self._document.client


def _line(document: Document, node: Node) -> int:
    return document.text.count("\n", 0, node.span.start) + 1
