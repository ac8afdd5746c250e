"""What in an entry with a URL is a secret, or may tell its client how to authenticate.

A URL goes to the arguments of a process, which others on the machine may list; and what a
client would do with a member that is not known cannot be done in its stead.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

from sidecar.agents.configs.clients import INPUTS
from sidecar.agents.configs.nodes import Node
from sidecar.agents.configs.secret_variables import is_secret_name, references_in
from sidecar.cassette.redaction.config_secrets import config_secrets
from sidecar.cassette.redaction.names import is_query_secret, name_kind, words, words_of
from sidecar.cassette.redaction.redactor import Redactor

_TELLING = words_of(
    "header headers auth authorization authentication bearer token tokens key keys apikey "
    "secret secrets password credential credentials cookie cookies oauth login cert certificate "
    "certificates"
)
_ID = re.compile(r"(?:[0-9a-fA-F]-?){32,}\Z")  # a UUID, or longer: who knows it may come in
_SEEN = "which lists of processes would show"
_NO_SALT = bytes(16)  # what is masked is not kept


def telling_member(node: Node, known: Collection[str]) -> str | None:
    """Find a member that may tell a client how to authenticate.

    Args:
        node: The entry.
        known: Names of its members that are known, and taken care of.

    Returns:
        The member's name, those that it lies in before it; None if there is none.
    """
    for member in node.members:
        if member.name in known or _is_nothing(member.value):
            continue
        if _is_telling(member.name) or _holds_secret(member.value.text or ""):
            return member.name
        inner = _telling_within(member.value)
        if inner is not None:
            return f"{member.name}.{inner}"
    return None


def _telling_within(node: Node) -> str | None:
    within = (telling_member(one, ()) for one in (node, *node.items))
    return next((name for name in within if name is not None), None)


def secret_in_url(url: str, inputs: Collection[str]) -> str | None:
    """Tell, in words, what in a URL is a secret, or may be one, and the way out; else None.

    Args:
        url: As a config has it, variables and all.
        inputs: Ids of the inputs that the config asks for as passwords.
    """
    for kind, name in references_in(url):
        if is_secret_name(name) or (kind == "input:" and name in inputs):
            return f"the variable `{name}`, a secret, {_SEEN}: move it to a header"
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    pairs = parse_qsl(parts.query)
    is_named = any(is_query_secret(name) or words(name)[-1:] == ["key"] for name, _ in pairs)
    if is_named or parts.password is not None:
        return f"a secret, {_SEEN}: use --via-serve"
    pieces = [*map(unquote, parts.path.split("/")), *(value for _, value in pairs)]
    is_opaque = any(_ID.match(one) or config_secrets({"": one}) for one in pieces)
    if is_opaque or _holds_secret(url):
        return f"what may be a secret, {_SEEN}: use --via-serve"
    return None


def secret_inputs(root: Node) -> frozenset[str]:
    """List the ids of the inputs that a config asks for as passwords (VS Code)."""
    return frozenset(_passwords(root)) | frozenset(_passwords(root.get("mcp")))


def _passwords(node: Node | None) -> Iterator[str]:
    inputs = node.get(INPUTS) if node else None
    for one in inputs.items if inputs else ():
        name, password = one.get("id"), one.get("password")
        if name is not None and password is not None and password.value is True:
            yield name.text or ""


def _is_telling(name: str) -> bool:
    return bool(name_kind(name)) or not _TELLING.isdisjoint(words(name))


def _holds_secret(text: str) -> bool:
    return bool(config_secrets({"": text})) or Redactor(_NO_SALT).plain(text) != text


def _is_nothing(node: Node) -> bool:
    """Whether a member says nothing: an empty map, list or text, false, or null."""
    if node.kind in ("map", "list"):
        return not node.members and not node.items
    return not node.text and node.value in (None, False, "")
