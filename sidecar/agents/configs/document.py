"""A config file's text, read: its format, the client that reads it, and its servers.

Which client it is, is told by the path and by what is in it; where the two do not agree, or
say nothing, that is an error: a section that the client would not read is never made (W14).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sidecar.agents.configs.clients import (
    INPUTS,
    SECTION_KEYS,
    SECTIONS,
    Client,
    client_of,
    known_sections,
)
from sidecar.agents.configs.detection import client_that_reads, format_of
from sidecar.agents.configs.locations import Location, location_of
from sidecar.agents.configs.nodes import BrokenTextError, Format, Node
from sidecar.errors import ConfigError

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Entry:
    """One server of a config.

    Attributes:
        name: Its name there.
        node: What stands there.
        section: The path of names to the section that it is in.
    """

    name: str
    node: Node
    section: tuple[str, ...]

    @property
    def key(self) -> tuple[tuple[str, ...], str]:
        """What tells it from the others of its file."""
        return self.section, self.name

    @property
    def project(self) -> str | None:
        """The project folder that its section names: Claude Code's local scope."""
        is_local = self.section[:1] == ("projects",) and len(self.section) > 1
        return self.section[1] if is_local else None


@dataclass(frozen=True, slots=True)
class Document:
    """A config, read.

    Attributes:
        path: The file, as the user named it.
        text: Its text, without a byte order mark.
        has_bom: Whether it has one.
        format: How it is written.
        root: The whole of it.
        client: Who reads it.
        location: The place it is in, if that is a known one.
        entries: Its servers, in order.
        unread: Names of sections in it that its client does not read.
    """

    path: str
    text: str
    has_bom: bool
    format: Format
    root: Node
    client: Client
    location: Location | None
    entries: tuple[Entry, ...]
    unread: tuple[str, ...] = ()

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        return ((_BOM if self.has_bom else "") + self.text).encode("utf-8")

    def scope_of(self, entry: Entry) -> str:
        """What an entry holds for: `project`, `user`, `local`, `managed`, or just this file."""
        if entry.project is not None:
            return "local"
        return self.location.scope if self.location else "file"


def read(path: str, data: bytes, *, client: str | None = None) -> Document:
    """Read a config's bytes.

    Args:
        path: The file's name, absolute.
        data: What is in it.
        client: The id of the client, if the user says it.

    Raises:
        ConfigError: With the place and the next step, if it is broken, of no known format,
            or no client's.
    """
    text = _decoded(path, data)
    has_bom = text.startswith(_BOM)
    text = text.removeprefix(_BOM)
    form = format_of(path, text)
    root = _parsed(path, text, form)
    if root.kind != "map":
        raise ConfigError(
            "the config is no object", place=path, hint=f"known are {known_sections()}"
        )
    location = location_of(path) or location_of(str(Path(path).resolve()))
    found = client_that_reads(path, root, form, location) if client is None else client_of(client)
    entries = tuple(_entries(path, text, root, found))
    read_here = {section[0] for section in found.sections}
    unread = [key for key in SECTION_KEYS if key not in read_here and _is_filled(root.get(key))]
    return Document(path, text, has_bom, form, root, found, location, entries, tuple(unread))


def read_servers(path: str, data: bytes, *, client: str | None = None) -> Document:
    """Read a config's bytes; one without a server is refused.

    Raises:
        ConfigError: As for `read`; also if it names no server.
    """
    document = read(path, data, client=client)
    if not document.entries:
        raise _no_server(document)
    return document


def again(document: Document, text: str) -> Document:
    """Read a changed text of the same file.

    Raises:
        ConfigError: If it is broken.
    """
    if text == document.text:
        return document
    data = ((_BOM if document.has_bom else "") + text).encode("utf-8")
    return read(document.path, data, client=document.client.id)


def _decoded(path: str, data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            "the config is not UTF-8", place=f"{path}:{line}", hint="save it as UTF-8"
        ) from None
    if not text.removeprefix(_BOM).strip():
        raise ConfigError(
            "the config is empty",
            place=path,
            hint="if its client is just writing it, try again; else put its servers back",
        )
    return text


def _parsed(path: str, text: str, form: Format) -> Node:
    try:
        return form.parse(text, (*SECTIONS, (INPUTS,)))
    except BrokenTextError as error:
        where = f":{error.line}:{error.column}" if error.line else ""
        raise ConfigError(
            f"the config is no {form.name}: {error.problem}",
            place=f"{path}{where}",
            hint="mend it there; nothing was changed",
        ) from None


def _maps(root: Node, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Find what a path of names leads to; `*` goes to each member."""
    if not path:
        yield (), root
        return
    for member in root.members:
        if path[0] in ("*", member.name):
            for rest, node in _maps(member.value, path[1:]):
                yield (member.name, *rest), node


def _entries(path: str, text: str, root: Node, client: Client) -> Iterator[Entry]:
    for pattern in client.sections:
        sections = list(_maps(root, pattern))
        twice = _repeated(".".join(section) for section, _ in sections)
        if twice is not None:
            raise ConfigError(
                f"the config has `{twice}` twice",
                place=path,
                hint="make one of them: which of the two counts is the client's guess",
            )
        for section, node in sections:
            yield from _section_entries(path, text, section, node)
        if sections and client.first_only:
            return


def _section_entries(path: str, text: str, section: tuple[str, ...], node: Node) -> Iterator[Entry]:
    name = ".".join(section)
    if node.kind == "list":
        entries = [
            Entry(item.get("name").text or "", item, section)  # type: ignore[union-attr]
            for item in node.items
            if item.kind == "map" and item.get("name") is not None
        ]
    elif node.kind == "map":
        entries = [Entry(member.name, member.value, section) for member in node.members]
    elif node.value is None:  # `mcpServers:` of YAML, with nothing after it
        entries = []
    else:
        place = _place(path, text, node.span.start)
        raise ConfigError(f"`{name}` is no object", place=place, hint="mend it")
    twice = _repeated(entry.name for entry in entries)
    if twice is not None:
        raise ConfigError(
            f"`{name}` has the name {twice!r} twice",
            place=_place(path, text, node.span.start),
            hint="rename or remove one: which of the two counts is the client's guess",
        )
    yield from entries


def _place(path: str, text: str, offset: int) -> str:
    return f"{path}:{text.count(chr(10), 0, offset) + 1}"


def _repeated(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _is_filled(node: Node | None) -> bool:
    return node is not None and bool(node.members or node.items)


def _no_server(document: Document) -> ConfigError:
    client, names = document.client, [member.name for member in document.root.members]
    sections = [section for section in client.sections if "*" not in section]
    wanted = " or ".join(f"`{'.'.join(section)}`" for section in sections)
    problem = f"the config names no server: {client.title} reads {wanted}"
    hint = "name the file that has them"
    near = difflib.get_close_matches(sections[0][0], names, 1)
    if document.unread:
        problem += f"; its `{document.unread[0]}` is for another client"
        hint += ", or say with --client whose this is"
    elif near and near[0] not in {section[0] for section in sections}:
        hint = f"is `{near[0]}` misspelt?"
    return ConfigError(problem, place=document.path, hint=hint)
