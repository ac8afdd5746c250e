"""Variables in a config, filled in where the sidecar itself is the client.

As the clients that read such configs do it: `${NAME}`, `${env:NAME}` and `${NAME:-DEFAULT}`,
in commands, arguments, working directories, environments, URLs and headers. Any other `$` stays;
but a URL or a header with a variable that only an agent's client fills in, such as
`${input:ID}`, `${{ secrets.ID }}` or `{file:PATH}`, is refused, or the header left to the client.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from sidecar.agents.config import AgentConfig, ServerEntry
from sidecar.agents.configs.filling import CLIENTS_OWN, FILLED_IN
from sidecar.errors import ConfigError, UsageError
from sidecar.proxy.addresses import checked_url


def filled_in(
    config: AgentConfig, environ: Mapping[str, str], *, passes_headers: bool = False
) -> AgentConfig:
    """Fill in the variables of a config's servers; its document stays as it is.

    Args:
        config: The config.
        environ: Where variables are looked up.
        passes_headers: Whether a client's own headers are passed on: one that only the client
            can fill in is left to it then.

    Raises:
        ConfigError: If a variable is not set and has no default, if only a client can fill
            one in, or if a URL is none once it is filled in. Values of other variables are
            not told.
    """
    filled = (_Filling(one, environ).done(passes_headers=passes_headers) for one in config.servers)
    return replace(config, servers=tuple(filled))


class _Filling:
    """Fills in one server's variables."""

    def __init__(self, server: ServerEntry, environ: Mapping[str, str]) -> None:
        self._server = server
        self._environ = environ

    def done(self, *, passes_headers: bool) -> ServerEntry:
        server = self._server
        headers = server.headers
        if passes_headers:
            headers = {key: text for key, text in headers.items() if not CLIENTS_OWN.search(text)}
        for text in headers.values():
            self._refuse_clients_own("headers", text)
        self._refuse_clients_own("url", server.url or "")
        return replace(
            server,
            command=self._filled("command", server.command),
            args=tuple(self._filled("args", word) for word in server.args),
            env=self._all("env", server.env),
            cwd=None if server.cwd is None else self._filled("cwd", server.cwd),
            url=None if server.url is None else self._url(server.url),
            headers=self._all("headers", headers),
        )

    def _refuse_clients_own(self, member: str, text: str) -> None:
        found = CLIENTS_OWN.search(text)
        if found is not None:
            raise ConfigError(
                f"`{member}` of the server {self._server.name!r} holds {found[0]}, which only an "
                "agent's client fills in",
                place=self._place,
                hint="write ${NAME}, a variable of the environment, or the value",
            )

    def _all(self, member: str, values: Mapping[str, str]) -> dict[str, str]:
        return {name: self._filled(member, text) for name, text in values.items()}

    def _url(self, text: str) -> str:
        try:
            return checked_url(self._filled("url", text))
        except UsageError as error:
            raise ConfigError(error.problem, place=self._place, hint=error.hint) from None

    @property
    def _place(self) -> str | None:
        return self._server.place or None

    def _filled(self, member: str, text: str) -> str:
        def value(found: re.Match[str]) -> str:
            name, default = found.groups()
            known = self._environ.get(name)
            if not known and default is not None:
                return str(default)
            if known is None:
                raise ConfigError(
                    f"`{member}` of the server {self._server.name!r} needs the variable {name}, "
                    "which is not set",
                    place=self._place,
                    hint=f"set it, or write ${{{name}:-DEFAULT}}",
                )
            return known

        return FILLED_IN.sub(value, text)
