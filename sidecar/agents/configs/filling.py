"""Variables in a config, as the sidecar fills them in where it asks a server by itself.

`${NAME}`, `${env:NAME}` and `${NAME:-DEFAULT}` stand for variables of the environment. What
else a client replaces, such as `${input:ID}`, only that client knows.
"""

from __future__ import annotations

import re

from sidecar.agents.configs.clients import Client

FILLED_IN = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
"""The name, and the default if one is given."""

CLIENTS_OWN = re.compile(r"\$\{(?!env:)[A-Za-z]+:(?!-)[^}]*\}")
"""What a client asks its user for, or takes from its own settings."""


def holds_clients_own(text: str, client: Client) -> bool:
    """Tell whether a client fills in more of a text than the sidecar would.

    Args:
        text: As the config has it.
        client: Who reads it.
    """
    left = FILLED_IN.sub("", text)
    return client.variables is not None and client.variables.pattern.search(left) is not None
