"""What an entry of a config is: a server that is started, one with a URL, or one of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from sidecar.agents.configs.clients import (
    KIND_KEYS,
    KINDS,
    Client,
    Transport,
)
from sidecar.agents.configs.document import Entry
from sidecar.agents.configs.marks import OUR_WORDS, VERB, Mark, mark_of, original_url
from sidecar.agents.configs.nodes import Member, Node

_TRANSPORTS: Mapping[str, Transport] = {
    said: kind for said, kind in KINDS.items() if kind is not None and kind != "stdio"
}

BY_HAND = "it starts `mcp-sidecar proxy`, but as written by hand, not by `wrap`"
DAMAGED = "it is damaged: it starts `mcp-sidecar`, but without the words that bring it back"


class UnfitError(Exception):
    """An entry that stays as it is, with the reason."""


@dataclass(frozen=True, slots=True)
class Started:
    """An entry whose server the client starts.

    Attributes:
        holder: The map that holds the next two: the entry, or Zed's older `command`.
        command: The member that names the program, or holds the whole command line.
        args: The member of its arguments, if there is one.
        words: The arguments; of a whole command line, all after the program.
        mark: What they say, if they are ours.
    """

    holder: Node
    command: Member
    args: Member | None
    words: tuple[str, ...]
    mark: Mark | None

    @property
    def program(self) -> str:
        """The program that the client starts."""
        node = self.command.value
        return node.text or (node.items[0].text if node.items else None) or ""


@dataclass(frozen=True, slots=True)
class Remote:
    """An entry whose server has a URL.

    Attributes:
        url: The member of the URL.
        kind: The member that says which kind of server it is, if there is one.
        headers: The member of its headers, if there is one.
        transport: What the client will speak; None where it tries one after the other.
        original: The URL that it had, if it is led to `serve`.
    """

    url: Member
    kind: Member | None
    headers: Member | None
    transport: Transport | None
    original: str | None


Shape: TypeAlias = Started | Remote


def shape_of(entry: Entry, client: Client) -> Shape:
    """Tell what an entry is.

    Raises:
        UnfitError: If it is neither, or is written so that it cannot be changed safely.
    """
    node = entry.node
    if node.kind != "map":
        raise UnfitError("it is no object")
    if node.shared:
        raise UnfitError("it has an anchor, or refers to one")
    _refuse_twice(node)
    if node.member(client.command) is not None:
        return _started(node, client)
    url = next((node.member(key) for key in client.urls if node.member(key)), None)
    if url is None and node.member("<<") is not None:
        raise UnfitError("it takes over what stands elsewhere (`<<`)")
    if url is None:
        raise UnfitError(f"it has no `{client.command}`: the client itself starts it")
    return _remote(node, url, client)


def is_wrapped(shape: Shape) -> bool:
    """Whether an entry is behind the sidecar."""
    return (shape.mark if isinstance(shape, Started) else shape.original) is not None


def refuse_unmarked(shape: Started) -> None:
    """Refuse an entry that starts the sidecar, but not as `wrap` writes it.

    Raises:
        UnfitError: With `DAMAGED` if `wrap` did it once, else with `BY_HAND`.
    """
    if shape.mark is not None or "mcp-sidecar" not in Path(shape.program).name:
        return
    is_bare = not shape.words and Path(shape.program).stem == "mcp-sidecar"
    if is_bare or (shape.words[:1] == (VERB,) and not OUR_WORDS.isdisjoint(shape.words)):
        raise UnfitError(DAMAGED)
    if shape.words[:1] == (VERB,):
        raise UnfitError(BY_HAND)


def _started(node: Node, client: Client) -> Started:
    command = _member(node, client.command)
    if client.is_argv:
        words = tuple(_words(command.value, client.command))
        if not words:
            raise UnfitError(f"its `{client.command}` is empty")
        return Started(node, command, None, words[1:], mark_of(words[1:]))
    if command.value.kind == "map":  # Zed, before `command` and `args` stood side by side
        node = command.value
        _refuse_twice(node)
        command = _member(node, "path")
    if command.value.text is None or command.value.shared:
        raise UnfitError(f"its `{command.name}` is no plain text")
    args = node.member("args")
    words = tuple(_words(args.value, "args")) if args else ()
    return Started(node, command, args, words, mark_of(words))


def _member(node: Node, name: str) -> Member:
    member = node.member(name)
    if member is None:
        raise UnfitError(f"it has no `{name}`")
    return member


def _words(node: Node, name: str) -> Iterator[str]:
    if node.kind != "list" or node.shared:
        raise UnfitError(f"its `{name}` is no list" + (" of its own" if node.shared else ""))
    for item in node.items:
        if item.text is None:
            raise UnfitError(f"an item of its `{name}` is no text")
        yield item.text


def _remote(node: Node, url: Member, client: Client) -> Remote:
    if url.value.text is None or url.value.shared:
        raise UnfitError(f"its `{url.name}` is no plain text")
    kind = next((node.member(key) for key in KIND_KEYS if node.member(key)), None)
    transport = client.urls[url.name]
    if kind is not None:
        said = kind.value.text or ""
        if said not in KINDS or KINDS[said] == "stdio":
            raise UnfitError(f"its `{kind.name}` is none that is known for a URL")
        transport = _TRANSPORTS.get(said, transport)
    headers = node.member(client.headers)
    return Remote(url, kind, headers, transport, original_url(url.value.text))


def _refuse_twice(node: Node) -> None:
    names = [member.name for member in node.members]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UnfitError(f"it has `{twice}` twice")
