"""What a config file is: the format by its name, the client by its path and its content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sidecar.agents.configs.clients import Client, client_of, known_sections
from sidecar.agents.configs.jsonc import Jsonc
from sidecar.agents.configs.locations import Location
from sidecar.agents.configs.nodes import Format, Node
from sidecar.agents.configs.toml_text import Toml
from sidecar.agents.configs.yaml_text import Yaml
from sidecar.errors import ConfigError

_FORMATS: dict[str, Format] = {
    ".json": Jsonc(),
    ".jsonc": Jsonc(),
    ".json5": Jsonc(),
    ".toml": Toml(),
    ".yaml": Yaml(),
    ".yml": Yaml(),
}


def format_of(path: str, text: str) -> Format:
    """Tell how a config is written, by its name's ending, else by how it begins.

    Raises:
        ConfigError: If it is of no known format.
    """
    form = _FORMATS.get(Path(path).suffix.lower())
    if form is None and text.lstrip()[:1] in ("{", "/"):
        form = _FORMATS[".json"]
    if form is None:
        suffixes = ", ".join(_FORMATS)
        raise ConfigError(
            "the config's format is not known",
            place=path,
            hint=f"known are {suffixes}; among them {known_sections()}",
        )
    return form


def client_that_reads(path: str, root: Node, form: Format, location: Location | None) -> Client:
    """Tell which client reads a config.

    Raises:
        ConfigError: If it could be several, or none.
    """
    if location is not None:
        return client_of(location.client)
    found = dict(_candidates(root, form))
    if len(found) == 1:
        return client_of(next(iter(found)))
    if not found:
        raise ConfigError(
            "the config has no section of MCP servers",
            place=path,
            hint=f"known are {known_sections()}; --client says whose it is",
        )
    names = " or ".join(f"{one} (`{section}`)" for one, section in found.items())
    raise ConfigError(
        f"the config could be that of {names}", place=path, hint="say with --client which it is"
    )


def _candidates(root: Node, form: Format) -> Iterator[tuple[str, str]]:
    """List the clients that would find servers in a text, with the section of each."""
    servers = root.get("mcpServers")
    if servers is not None:
        yield "continue" if servers.kind == "list" else "generic", "mcpServers"
    # The last two are everyday words, which mean servers only in their client's own format.
    sections = [
        ("vscode", "servers", form.name),
        ("zed", "context_servers", form.name),
        ("codex", "mcp_servers", "TOML"),
        ("goose", "extensions", "YAML"),
    ]
    for client, section, format_name in sections:
        if root.member(section) and form.name == format_name:
            yield client, section
    mcp = root.get("mcp")
    if mcp is not None and (_is_opencode(mcp) or mcp.member("servers")):
        yield ("opencode", "mcp") if _is_opencode(mcp) else ("vscode", "mcp.servers")


def _is_opencode(mcp: Node) -> bool:
    servers = mcp.get("servers") or mcp
    for entry in (member.value for member in servers.members):
        command, kind = entry.get("command"), entry.get("type")
        if command is not None and command.kind == "list":
            return True
        if kind is not None and kind.text in ("local", "remote"):
            return True
    return False
