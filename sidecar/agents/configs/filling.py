"""Variables in a config, as the sidecar fills them in where it asks a server by itself.

`${NAME}`, `${env:NAME}` and `${NAME:-DEFAULT}` stand for variables of the environment, and so do
`$NAME` and `{env:NAME}` in the configs of clients that take them for such. What else a client
replaces, such as `${input:ID}`, `${{ secrets.ID }}` or `{file:PATH}`, only that client knows.
"""

from __future__ import annotations

import re

from sidecar.agents.configs.clients import Client, Where

FILLED_IN = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
"""The name, and the default if one is given."""

CLIENTS_OWN = re.compile(
    r"\$\{(?!env:)[A-Za-z]+:(?!-)[^}]*\}|\$\{\{[^}]*\}\}|(?<!\$)\{file:[^}]*\}"
)
"""What a client asks its user for, or takes from its own settings, secrets or files."""

# What other clients write for `${NAME}`: OpenCode, and those that take `$NAME` as well.
_BRACED = re.compile(r"(?<!\$)\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_BARE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


def as_ours(text: str, client: Client, where: Where) -> str:
    """Write what a client fills in as the sidecar does: `${NAME}`.

    Args:
        text: As the config has it.
        client: Who reads it.
        where: Where it stands; it stays as it is where the client replaces nothing.
    """
    variables = client.variables
    if variables is None or not variables.replaces_in(where):
        return text
    bare = _BARE.sub(r"${\1}", text) if variables.pattern.match("$A") else text
    return _BRACED.sub(r"${\1}", bare) if variables.pattern.match("{env:") else bare


def holds_clients_own(text: str, client: Client) -> bool:
    """Tell whether a client fills in more of a URL than the sidecar would.

    Args:
        text: As the config has it.
        client: Who reads it; one that is not known may replace whatever any client does.
    """
    if client.variables is None:
        return False
    if not client.is_known:
        return client.variables.pattern.search(FILLED_IN.sub("", text)) is not None
    return CLIENTS_OWN.search(as_ours(text, client, "words")) is not None
