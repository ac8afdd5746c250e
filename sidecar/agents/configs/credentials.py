"""What in an entry with a URL is a secret, or may tell its client how to authenticate.

A URL goes to the arguments of a process, which others on the machine may list; and what a
client would do with a member that is not known cannot be done in its stead.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from urllib.parse import SplitResult, parse_qsl, quote, quote_plus, unquote, urlsplit

from sidecar.agents.configs.clients import INPUTS
from sidecar.agents.configs.marks import original_url
from sidecar.agents.configs.nodes import Node
from sidecar.agents.configs.secret_variables import is_secret_name, references_in
from sidecar.cassette.redaction.config_secrets import command_secrets, config_secrets
from sidecar.cassette.redaction.names import is_query_secret, name_kind, words, words_of
from sidecar.cassette.redaction.redactor import Redactor

_TELLING = words_of(
    "header headers auth authorization authentication bearer token tokens key keys apikey "
    "secret secrets password credential credentials cookie cookies oauth login cert certificate "
    "certificates"
)
_ID = re.compile(r"(?:[0-9a-fA-F]-?){32,}\Z")  # a UUID, or longer: who knows it may come in
_VARIABLE = re.compile(r"[${]")
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
    if any(_named_parts(url)):
        return f"a secret, {_SEEN}: use --via-serve"
    if any(_opaque_parts(url)) or _holds_secret(url):
        return f"what may be a secret, {_SEEN}: use --via-serve"
    return None


def secret_parts(url: str) -> tuple[str, ...]:
    """List what in a URL is a secret, or may be one, as it stands there; variables are none."""
    original = original_url(url) or url
    found = [*_named_parts(original), *_opaque_parts(original), *command_secrets(("", original))]
    spelt = [*found, *map(quote, found), *map(quote_plus, found)]
    return tuple(one for one in dict.fromkeys(spelt) if one in url and not _VARIABLE.search(one))


def _named_parts(url: str) -> Iterator[str]:
    """The parts of a URL that are secrets by their name, or by where they stand."""
    parts = _split(url)
    if parts is None:
        return
    for name, value in parse_qsl(parts.query):
        if is_query_secret(name) or words(name)[-1:] == ["key"]:
            yield value
    if parts.password is not None:
        yield parts.password or " "


def _opaque_parts(url: str) -> Iterator[str]:
    """The parts of a URL that look like a token, or an id that lets one in."""
    parts = _split(url)
    if parts is not None:
        values = [value for _, value in parse_qsl(parts.query)]
        for one in (*map(unquote, parts.path.split("/")), *values):
            if _ID.match(one) or config_secrets({"": one}):
                yield one


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
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
