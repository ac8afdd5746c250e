"""What masks the secrets of the servers behind the sidecar. On the start-up path."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from sidecar.cassette.redaction.config_secrets import command_secrets, config_secrets
from sidecar.cassette.redaction.names import secret_environment
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.store.environment import not_ambient
from sidecar.store.masking import masks_for
from sidecar.store.settings import Rules
from sidecar.wire.json_text import dump
from sidecar.wire.typed import Protocol


class Configured(Protocol):
    """What a config says of a server; `ProxyOptions` and `ServedServer` are such."""

    @property
    def command(self) -> tuple[str, ...]:
        """Program and arguments; empty where there is none."""

    @property
    def env(self) -> tuple[tuple[str, str], ...]:
        """Variables that the program gets beside our own."""

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """What every request to the server's URL has; the values are secrets."""


def masks_of_servers(
    home: str, rules: Rules, servers: Sequence[Configured], more: Iterable[str] = ()
) -> Redactor:
    """Make what masks the secrets of this process's environment and of some servers.

    Args:
        home: The folder of the journal, whose key masks.
        rules: What else is masked.
        servers: Their variables, headers and command words are looked through.
        more: Further values that are secrets.

    Raises:
        JournalError: If the key can be neither read nor made.
        UsageError: If a pattern is no regular expression.
    """
    # A config's `env` may have got a secret since it was wrapped, under whatever name.
    values = [*more, *config_secrets(not_ambient(os.environ)).values()]
    for server in servers:
        env = dict(server.env)
        values += (*secret_environment(env), *config_secrets(env).values())
        values += command_secrets(server.command)
        if server.headers:
            from sidecar.proxy.addresses import secrets_of  # noqa: PLC0415  # a command has none

            values += secrets_of(server.headers)
    masks = masks_for(home, os.environ, rules, values)
    for server in servers:
        if len(server.command) > 1:  # what is a secret there is one everywhere (X08)
            masks.json_text(dump(list(server.command)))
    return masks
