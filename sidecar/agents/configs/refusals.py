"""Entries that stay as they are, since the sidecar could not do what the client does."""

from __future__ import annotations

from collections.abc import Sequence

from sidecar.agents.configs.clients import KIND_KEYS, LOGIN_KEYS, MADE_HEADER_KEYS, Client
from sidecar.agents.configs.credentials import secret_in_url, secret_inputs, telling_member
from sidecar.agents.configs.document import Document, Entry
from sidecar.agents.configs.filling import holds_clients_own
from sidecar.agents.configs.nodes import Node
from sidecar.agents.configs.shapes import Remote, Shape, UnfitError, refuse_unmarked


def refuse_unwrappable(entry: Entry, shape: Shape) -> None:
    """Refuse what could be read, but must not be put behind the sidecar.

    Raises:
        UnfitError: With the reason.
    """
    if not entry.name:
        raise UnfitError("it has no name")
    if isinstance(shape, Remote):
        _refuse_login(entry.node)
        return
    program = shape.program
    if not program.strip():
        raise UnfitError("its command is empty")
    if program.startswith("-"):
        raise UnfitError("its command begins with a dash, as an option does")
    refuse_unmarked(shape)


def refuse_remote(document: Document, entry: Entry, shape: Remote) -> None:
    """Refuse an entry with a URL that `proxy --url` could not serve as the client does.

    Raises:
        UnfitError: With the reason.
    """
    client = document.client
    _refuse_members(client, entry.node)
    refuse_other_schemes(shape)
    url = shape.url.value.text or ""
    secret = secret_in_url(url, secret_inputs(document.root))
    if secret is not None:
        raise UnfitError(f"its URL holds {secret}")
    _refuse_headers(client, shape)
    if client.variables and client.variables.pattern.search(url) and not client.variables.words:
        raise UnfitError("its URL holds a variable, which is not replaced in arguments")


def _refuse_members(client: Client, node: Node) -> None:
    unfit = next((key for key in LOGIN_KEYS if node.member(key)), None)
    if client.is_strict and unfit is not None:
        raise UnfitError(f"its `{unfit}` must not be in an entry that is started: use --via-serve")
    made = next((key for key in MADE_HEADER_KEYS if node.member(key)), None)
    if made is not None:
        raise UnfitError(f"the client makes headers of its `{made}`: use --via-serve")
    env = node.get(client.env)
    is_empty = env is not None and not env.members and not client.is_strict
    for name in ("args", client.env):
        if node.member(name) is not None and not (name == client.env and is_empty):
            raise UnfitError(f"it has a URL, and `{name}` as well")
    known = (*client.urls, *KIND_KEYS, client.headers, *LOGIN_KEYS)
    telling = telling_member(node, known)
    if telling is not None:
        raise UnfitError(
            f"its `{telling}` may say how to authenticate, and would be lost: use --via-serve"
        )


def _refuse_headers(client: Client, shape: Remote) -> None:
    if shape.headers is None:
        return
    node = shape.headers.value
    if node.kind != "map" or node.shared or shape.headers.parts > 1:
        raise UnfitError(f"its `{shape.headers.name}` cannot be moved: use --via-serve")
    for header in node.members:
        value = header.value.text
        if value is None or "=" in header.name:
            raise UnfitError(f"its header {header.name!r} is no text: use --via-serve")
        variables = client.variables
        if variables and variables.headers != variables.env and variables.pattern.search(value):
            raise UnfitError(
                f"its header {header.name!r} holds a variable, which {client.title} may not "
                f"replace in `{client.env}`: use --via-serve"
            )


def refuse_other_schemes(shape: Remote) -> None:
    """Refuse a URL that is none of HTTP, such as a socket's (VS Code).

    Raises:
        UnfitError: With the reason.
    """
    if not (shape.url.value.text or "").startswith(("http://", "https://", "$", "{")):
        raise UnfitError("its URL is none of http or https")


def refuse_clients_own(client: Client, shape: Remote) -> None:
    """Refuse a URL of which `serve`, which asks the server itself, cannot know all.

    A header is no such thing: the client fills it in, and `serve` passes it on.

    Raises:
        UnfitError: With the reason.
    """
    if holds_clients_own(shape.url.value.text or "", client):
        raise UnfitError(
            f"its URL holds a variable that only {client.title} fills in, and `serve` has to know "
            "the server's URL: write `${NAME}`, a variable of the environment, or the URL itself"
        )


def refuse_variables(client: Client, words: Sequence[str]) -> None:
    """Refuse words of ours that the client would take for variables.

    Raises:
        UnfitError: With the reason.
    """
    if client.variables is None or (client.is_known and not client.variables.words):
        return
    found = next((word for word in words if client.variables.pattern.search(word)), None)
    if found is not None:
        raise UnfitError(f"{client.title} would take a part of {found!r} for a variable")


def _refuse_login(node: Node) -> None:
    for key in LOGIN_KEYS:
        found = node.get(key)
        if found is not None and not (found.kind == "other" and found.value in (False, None)):
            raise UnfitError(f"the client logs in to it by itself (`{key}`)")
