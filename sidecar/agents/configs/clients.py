"""The clients whose configs are known: where servers stand in them, and what entries mean.

Each is told from its documentation. A client that is not here, but keeps servers in an
object `mcpServers`, is read as `generic`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Transport: TypeAlias = Literal["http", "sse"]
Where: TypeAlias = Literal["words", "env", "headers"]

_SERVERS = (("mcpServers",),)
_URL: Mapping[str, Transport | None] = {"url": None}


@dataclass(frozen=True, slots=True)
class Variables:
    """What a client replaces in an entry before it uses it.

    Attributes:
        pattern: What it takes for a variable.
        words: Whether it does so in commands, arguments and URLs.
        env: Whether it does so in the values of an entry's environment.
        headers: Whether it does so in the values of headers.
    """

    pattern: re.Pattern[str]
    words: bool = True
    env: bool = True
    headers: bool = True

    def replaces_in(self, where: Where) -> bool:
        """Whether it does so in texts of one of the three places."""
        return {"words": self.words, "env": self.env, "headers": self.headers}[where]


_DOLLAR_BRACE = Variables(re.compile(r"\$\{"))
_DOLLAR = Variables(re.compile(r"\$[{A-Za-z_]"))
_UNKNOWN = re.compile(r"\$[{A-Za-z_]|\{(?:env|file):")


@dataclass(frozen=True, slots=True)
class Client:
    """How one client writes its servers.

    Attributes:
        id: What `--client` calls it.
        title: What people call it.
        sections: Where its servers stand: paths of names, `*` for each of a map's.
        then: What the client must do for a change to count, a sentence.
        first_only: Whether only the first section that is there is read.
        command: The member that names the program.
        is_argv: Whether that member is the whole command line, a list.
        env: The member of variables.
        headers: The member of HTTP headers.
        urls: The members that hold a URL, with the transport that each one means, if it
            says so by itself.
        stdio: What its member `type` says of a server that is started.
        variables: What it replaces; None where nothing is.
        is_strict: Whether it refuses a whole config for a member that does not fit the kind
            of an entry.
        is_layered: Whether a server of a project takes the place of the user's of that name.
        is_known: Whether it is a certain client, and no mere shape of a file.
    """

    id: str
    title: str
    then: str
    sections: tuple[tuple[str, ...], ...] = _SERVERS
    first_only: bool = False
    command: str = "command"
    is_argv: bool = False
    env: str = "env"
    headers: str = "headers"
    urls: Mapping[str, Transport | None] = field(default_factory=lambda: _URL)
    stdio: str = "stdio"
    variables: Variables | None = None
    is_strict: bool = False
    is_layered: bool = False
    is_known: bool = True


CLIENTS = (
    Client(
        "claude-desktop",
        "Claude Desktop",
        "quit it altogether, and start it again",
    ),
    Client(
        "claude-code",
        "Claude Code",
        "start a new session; it asks again before it runs the changed servers of a project",
        sections=(("projects", "*", "mcpServers"), ("mcpServers",)),
        variables=_DOLLAR_BRACE,
        is_layered=True,
    ),
    Client(
        "vscode",
        "VS Code",
        "restart the servers (`MCP: List Servers`), and trust them again when it asks",
        sections=(("servers",), ("mcp", "servers")),
        variables=_DOLLAR_BRACE,
    ),
    Client(
        "copilot",
        "GitHub Copilot",
        "start a new session",
        variables=_DOLLAR,
    ),
    Client(
        "cursor",
        "Cursor",
        "turn the servers off and on in its MCP settings, and approve them again if it asks",
        variables=_DOLLAR_BRACE,
        is_layered=True,
    ),
    Client(
        "windsurf",
        "Windsurf",
        "refresh the servers in its MCP panel",
        urls={"serverUrl": None, "url": None},
        variables=_DOLLAR_BRACE,
    ),
    Client(
        "cline",
        "Cline",
        "restart the servers in its MCP panel",
    ),
    Client(
        "zed",
        "Zed",
        "it restarts the servers by itself; look at the Agent panel's settings",
        sections=(("context_servers",),),
        is_layered=True,
    ),
    Client(
        "codex",
        "Codex",
        "start a new session",
        sections=(("mcp_servers",),),
        headers="http_headers",
        is_strict=True,
        is_layered=True,
    ),
    Client(
        "gemini",
        "Gemini CLI",
        "start it again",
        urls={"httpUrl": "http", "url": "sse"},
        is_layered=True,
        variables=_DOLLAR,
    ),
    Client(
        "goose",
        "Goose",
        "start a new session",
        sections=(("extensions",),),
        command="cmd",
        env="envs",
        urls={"uri": None, "url": None},
        variables=Variables(_DOLLAR.pattern, words=False, env=False, headers=True),
    ),
    Client(
        "opencode",
        "OpenCode",
        "start it again",
        sections=(("mcp", "servers"), ("mcp",)),
        first_only=True,
        is_argv=True,
        env="environment",
        stdio="local",
        is_strict=True,
        is_layered=True,
        variables=Variables(re.compile(r"\{(?:env|file):")),
    ),
    Client(
        "continue",
        "Continue",
        "reload its config",
        variables=Variables(re.compile(r"\$\{\{")),
    ),
    Client(
        "generic",
        "an MCP client",
        "start the client again",
        urls={"url": None, "serverUrl": None, "httpUrl": "http"},
        # Which client reads it is not known, nor what it replaces where.
        variables=Variables(_UNKNOWN, words=False, env=False, headers=True),
        is_known=False,
    ),
)

_BY_ID = {client.id: client for client in CLIENTS}

SECTIONS = tuple({section for client in CLIENTS for section in client.sections})
"""Where servers may stand, whichever client it is."""

INPUTS = "inputs"
"""What VS Code asks the user for, beside its servers, which refer to it."""

SECTION_KEYS = ("mcpServers", "servers", "context_servers", "mcp_servers")
"""Names that only ever hold servers, whichever client reads them."""

KINDS: Mapping[str, Transport | Literal["stdio"] | None] = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
    "sse": "sse",
    "remote": None,
}
"""What an entry's `type` may say, and the transport that it means."""

KIND_KEYS = ("type", "transport")

LOGIN_KEYS = ("oauth", "auth", "authProviderType", "oauth_resource", "scopes")
"""Members of an entry whose server the client logs in to by itself."""

MADE_HEADER_KEYS = ("bearer_token_env_var", "env_http_headers", "headersHelper")
"""Members of an entry from which the client makes headers that are not in the file."""


def client_of(client_id: str) -> Client:
    """Find a client by its id.

    Raises:
        KeyError: If there is none.
    """
    return _BY_ID[client_id]


def known_sections() -> str:
    """Name what is known, for an error: which clients keep their servers where."""
    titles: dict[str, list[str]] = {}
    for client in CLIENTS:
        section = next(path for path in client.sections if "*" not in path)
        titles.setdefault(".".join(section), []).append(client.title)
    return ", ".join(f"`{section}` ({', '.join(names)})" for section, names in titles.items())
