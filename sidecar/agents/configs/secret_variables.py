"""Which of an entry's variables its proxy must be told to mask: no name of theirs says so.

A proxy cannot tell the variables that the config gives it from the many others, among which
what only looks like a secret may be anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sidecar.agents.configs.clients import Client
from sidecar.agents.configs.nodes import Node
from sidecar.cassette.redaction.config_secrets import config_secrets
from sidecar.cassette.redaction.names import secret_environment

# `${env:NAME}`, `${NAME:-default}`, `$NAME`, `{env:NAME}`, `${{ secrets.NAME }}`, `${input:ID}`
_REFERENCES = re.compile(
    r"(?:\$\{?|\{)\{?\s*(?P<kind>[a-zA-Z]+[:.])?(?P<name>[A-Za-z_][A-Za-z0-9_-]*)"
)
_SOME_VALUE = "x7Gh29KdmQ41zVbN"  # for a question about a name alone


def secret_variables(entry: Node, client: Client) -> tuple[str, ...]:
    """List the variables whose values are secrets by what the config says of them.

    Such is a value that looks random, and one that the client fills in: from a variable
    whose name is a secret's, or from an input, which is how VS Code asks for secrets.

    Args:
        entry: What has the member of variables.
        client: Who reads the config.
    """
    env = entry.get(client.env)
    given = {member.name: member.value.text for member in env.members} if env else {}
    values = {name: text for name, text in given.items() if text is not None}
    random = config_secrets(values)
    return tuple(name for name, text in values.items() if name in random or _is_filled_in(text))


def references_in(text: str) -> Iterator[tuple[str, str]]:
    """List the variables that a client would fill in: each one's kind, and its name.

    Args:
        text: A value, an argument or a URL, as the config has it.

    Yields:
        The kind as it is written, such as `input:`, empty if there is none; the name.
    """
    for found in _REFERENCES.finditer(text):
        yield found["kind"] or "", found["name"]


def is_secret_name(name: str) -> bool:
    """Whether a variable's name is that of a secret."""
    return bool(secret_environment({name: _SOME_VALUE}))


def _is_filled_in(value: str) -> bool:
    found = references_in(value)
    return any(kind == "input:" or is_secret_name(name) for kind, name in found)
