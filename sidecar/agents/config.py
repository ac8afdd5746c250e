"""An agent's MCP config: read, and copied with every server behind the sidecar.

The config that all is told in is the one that Claude's programs read: an object `mcpServers`
of entries with `command`, `args` and `env`, or with `url`, `headers` and `type`. Those of other
clients are read as such a one. The user's own file is never written.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sidecar.agents.configs.clients import KIND_KEYS, KINDS, client_of
from sidecar.agents.configs.document import read, read_servers
from sidecar.agents.configs.jsonc import as_plain_json
from sidecar.agents.configs.locations import location_of
from sidecar.agents.configs.marks import HEADER_VARIABLE, url_words
from sidecar.agents.configs.plain_entries import plain_entries, turned_on
from sidecar.agents.configs.wrapping import as_before
from sidecar.cassette.redaction.config_secrets import config_secrets
from sidecar.errors import ConfigError, UsageError
from sidecar.proxy.addresses import checked_url, is_header_name
from sidecar.proxy.options import Mode, OnMiss, Transport
from sidecar.store.settings import NO_RULES, Rules
from sidecar.suite.json_reading import line_of
from sidecar.wire.json_pointer import inside, parts_of
from sidecar.wire.json_text import JsonValue, Number

SERVERS_KEY = "mcpServers"
DEFAULT_CONFIG = ".mcp.json"
"""Where a project's config lies, below the project folder."""

_EXAMPLE = '{"mcpServers": {"NAME": {"command": "...", "args": ["..."]}}}'
_URL_KEYS: Mapping[str, Transport | None] = {"url": None, "serverUrl": None, "httpUrl": "http"}
_OTHER_FORMATS = (".toml", ".yaml", ".yml")
_URL_HINT = 'write "url": "https://HOST/mcp"'
_DECODER = json.JSONDecoder(parse_float=Number)


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """One server: the agent starts it over stdio, or reaches it over HTTP.

    Attributes:
        name: Its name in the config, verbatim.
        command: The program; empty where it has a URL, or only recordings answer for it.
        args: The program's arguments.
        env: The variables that the config gives it.
        entry: The whole entry, keys that are unknown here included; to be read only.
        place: Where its command or URL stands, for errors; empty where there is no config.
        url: Where it is reached, if it is not started; else None.
        headers: What the config gives every request to `url`.
        transport: Which transport it speaks there; None where the config does not tell.
        cwd: The working directory that the config gives it.
    """

    name: str
    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    entry: Mapping[str, JsonValue]
    place: str = ""
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    transport: Transport | None = None
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """A config that can be wrapped.

    Attributes:
        servers: In the config's order; at least one.
        document: The whole document; to be read only.
    """

    servers: tuple[ServerEntry, ...]
    document: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ProxyArguments:
    """What every proxy of one run is told.

    Attributes:
        mode: What is done with the traffic.
        run: The run's id.
        home: The sidecar's home, absolute.
        cassette: The cassette's file, absolute; None where only the journal is written.
        agent_id: Of the events; None takes the client's own name.
        on_miss: In `replay`, whether a miss fails or goes to the live server.
        overwrite: Whether another run's cassette may be replaced.
        redaction: What is masked besides what is known to be a secret.
    """

    mode: Mode
    run: str
    home: str
    cassette: str | None = None
    agent_id: str | None = None
    on_miss: OnMiss = "fail"
    overwrite: bool = False
    redaction: Rules = NO_RULES

    @property
    def is_offline(self) -> bool:
        """Whether nothing live is ever started, so that no command is passed on."""
        return self.mode == "replay" and self.on_miss == "fail"


def read_config(path: str | os.PathLike[str]) -> AgentConfig:
    """Read a config file.

    Raises:
        ConfigError: With the file, the place and the next step, if it is missing, is no
            such config, names no server, or has an entry that cannot be put behind the
            sidecar.
    """
    place = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(
            f"the config cannot be read ({error.strerror})",
            place=place,
            hint=f"name the agent's MCP config with --config, or write one: {_EXAMPLE}",
        ) from None
    # A config that is wrapped is read as it was, so that no proxy gets into another (W11).
    data = as_before(place, data)
    text = _text_of(data, place)
    plain = "" if place.lower().endswith(_OTHER_FORMATS) else as_plain_json(text)
    document = _decoded(plain)
    if document is not None and SERVERS_KEY in document and not _is_read_otherwise(place):
        config = _Reader(place, plain).read(document)
        read(_absolute(place), data, client="generic")  # which refuses a name that is there twice
        return config
    return _of_another_client(place, data)


def _is_read_otherwise(place: str) -> bool:
    """Whether its client takes URLs and variables for something else than Claude's programs."""
    location = location_of(_absolute(place))
    client = client_of(location.client if location else "claude-code")
    takes_bare = client.variables is not None and client.variables.pattern.match("$A")
    return bool(takes_bare) or dict(client.urls) != {"url": None}


def _decoded(text: str) -> dict[str, JsonValue] | None:
    """Decode a config; None if it is no JSON object."""
    try:
        document: JsonValue = _DECODER.decode(text)
    except (RecursionError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def _absolute(path: str) -> str:
    return str(Path(path).absolute())


def _of_another_client(place: str, data: bytes) -> AgentConfig:
    """Read a config that has its servers elsewhere, or written in another way."""
    found = plain_entries(read_servers(_absolute(place), data))
    document: dict[str, JsonValue] = {SERVERS_KEY: {one.name: one.entry for one in found}}
    return _Reader(place, "", {one.name: one.line for one in found}).read(document)


def config_of_names(names: Iterable[str]) -> AgentConfig:
    """Make a config of servers that only recordings answer for.

    Args:
        names: The servers' names, as in `<server>:<tool>`.
    """
    servers = tuple(ServerEntry(name, "", (), {}, {}) for name in names)
    return AgentConfig(servers, {SERVERS_KEY: {server.name: {} for server in servers}})


def wrapped(config: AgentConfig, arguments: ProxyArguments) -> dict[str, JsonValue]:
    """Copy a config, each server started by `mcp-sidecar proxy`.

    Only `command` and `args` change; other keys, and their order, stay (W10). The child's
    environment and working directory are thus what the agent gives the proxy. An entry with
    a URL becomes one that is started, too (E10); its headers go into its environment, which
    no list of processes shows.
    """
    program, *first = sidecar_command()
    servers: dict[str, JsonValue] = {}
    for server in config.servers:
        words = [*first, *_proxy_words(server, arguments)]
        entry = server.entry if server.url is None else _started(server)
        servers[server.name] = {**entry, "command": program, "args": list(words)}
    return {**config.document, SERVERS_KEY: servers}


def _started(server: ServerEntry) -> dict[str, JsonValue]:
    """Make an entry with a URL one that is started; its command is still to be filled in."""
    kinds = {key: "stdio" for key in KIND_KEYS if key in server.entry}
    gone = (*_URL_KEYS, "headers")
    entry = {key: value for key, value in server.entry.items() if key not in gone}
    values = enumerate(server.headers.values(), 1)
    headers = {f"{HEADER_VARIABLE}{number}": value for number, value in values}
    return {**entry, **kinds, **({"env": {**server.env, **headers}} if headers else {})}


def sidecar_command() -> tuple[str, ...]:
    """The words that start this very program, absolute: a GUI's PATH is small (W15)."""
    suffix = ".exe" if os.name == "nt" else ""
    script = Path(sysconfig.get_path("scripts")) / f"mcp-sidecar{suffix}"
    if os.access(script, os.X_OK):
        return (str(script.absolute()),)
    return (sys.executable, "-m", "sidecar")


def _proxy_words(server: ServerEntry, arguments: ProxyArguments) -> list[str]:
    words = ["proxy", "--server", server.name, "--mode", arguments.mode]
    options = {
        "--cassette": arguments.cassette,
        "--run": arguments.run,
        "--home": arguments.home,
        "--agent-id": arguments.agent_id,
        "--on-miss": arguments.on_miss if arguments.mode == "replay" else None,
    }
    for name, value in options.items():
        if value is not None:
            words += [name, value]
    if arguments.overwrite:
        words.append("--overwrite")
    words += _mask_words(server, arguments.redaction)
    if server.url is not None:
        *more, flag = url_words(server.transport, list(server.headers))
        return [*words, *more] if arguments.is_offline else [*words, *more, flag, server.url]
    return words if arguments.is_offline else [*words, server.command, *server.args]


def _mask_words(server: ServerEntry, rules: Rules) -> list[str]:
    # A proxy cannot tell the variables that the config gives it from others.
    own = Rules(environment=tuple(config_secrets(server.env)))
    options = zip(("--mask-key", "--mask-pattern", "--mask-env"), rules + own, strict=True)
    return [word for option, values in options for value in values for word in (option, value)]


def _text_of(data: bytes, place: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            "the config is not UTF-8", place=f"{place}:{line}", hint="save it as UTF-8"
        ) from None


class _Reader:
    """Reads one config's text; knows where in it something is wrong."""

    def __init__(self, place: str, text: str, lines: Mapping[str, int] | None = None) -> None:
        """Make a reader.

        Args:
            place: The config.
            text: Its JSON text.
            lines: The line of each server, where the config is no such text.
        """
        self._place = place
        self._text = text
        self._lines = lines

    def read(self, document: Mapping[str, JsonValue]) -> AgentConfig:
        servers = turned_on(self._servers(document), self._place_of(f"/{SERVERS_KEY}"))
        return AgentConfig(tuple(self._entry(*item) for item in servers.items()), document)

    def _servers(self, document: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        servers = document[SERVERS_KEY]
        if not isinstance(servers, dict):
            raise self._error(
                f"/{SERVERS_KEY}", f"`{SERVERS_KEY}` is no object", f"write {_EXAMPLE}"
            )
        if not servers:
            raise self._error(
                f"/{SERVERS_KEY}", "the config names no server", f"add one: {_EXAMPLE}"
            )
        return servers

    def _entry(self, name: str, entry: JsonValue) -> ServerEntry:
        pointer = inside(f"/{SERVERS_KEY}", name)
        if not isinstance(entry, dict):
            raise self._error(pointer, f"the entry {name!r} is no object", f"write {_EXAMPLE}")
        command, args = entry.get("command"), entry.get("args", [])
        url_key = next((key for key in _URL_KEYS if key in entry), None)
        if command is None and url_key is not None:
            return self._remote(pointer, name, entry, url_key)
        if not isinstance(command, str) or not command.strip():
            raise self._error(
                pointer, f"the entry {name!r} has no `command`", "name the program that starts it"
            )
        if command.startswith("-"):
            raise self._error(
                f"{pointer}/command",
                f"the command of {name!r} begins with a dash, as an option does",
                "give the program's path",
            )
        place = self._place_of(f"{pointer}/command")
        env = _strings(entry.get("env"))
        words = self._words(pointer, args)
        return ServerEntry(name, command, words, env, entry, place, cwd=_string(entry.get("cwd")))

    def _remote(
        self, pointer: str, name: str, entry: Mapping[str, JsonValue], key: str
    ) -> ServerEntry:
        url = entry[key]
        if not isinstance(url, str):
            raise self._error(
                f"{pointer}/{key}", f"the `{key}` of {name!r} is no string", _URL_HINT
            )
        if "$" not in url:  # else it is whole only once the client has filled it in
            try:
                checked_url(url)
            except UsageError as error:
                raise self._error(f"{pointer}/{key}", error.problem, error.hint or "") from None
        return ServerEntry(
            name,
            "",
            (),
            _strings(entry.get("env")),
            entry,
            self._place_of(f"{pointer}/{key}"),
            url,
            self._headers(pointer, entry.get("headers", {})),
            self._transport(pointer, entry) or _URL_KEYS[key],
        )

    def _transport(self, pointer: str, entry: Mapping[str, JsonValue]) -> Transport | None:
        key = next((key for key in KIND_KEYS if key in entry), None)
        if key is None:
            return None
        kind = entry[key]
        transport = KINDS.get(kind, "stdio") if isinstance(kind, str) else "stdio"
        if transport == "stdio":
            raise self._error(
                f"{pointer}/{key}",
                f"`{key}` says {kind!r}, which is no kind of server that has a URL",
                'write "http" or "sse"',
            )
        return transport

    def _headers(self, pointer: str, headers: JsonValue) -> dict[str, str]:
        found = _strings(headers)
        if not isinstance(headers, dict) or len(found) < len(headers):
            raise self._error(
                f"{pointer}/headers",
                "`headers` is no object of strings",
                'write "headers": {"NAME": "VALUE"}',
            )
        wrong = next((name for name in found if not is_header_name(name)), None)
        if wrong is not None:
            raise self._error(f"{pointer}/headers", f"{wrong!r} is no header's name", "mend it")
        return found

    def _words(self, pointer: str, args: JsonValue) -> tuple[str, ...]:
        if not isinstance(args, list):
            raise self._error(f"{pointer}/args", "`args` is no array", 'write "args": ["..."]')
        words = tuple(word for word in args if isinstance(word, str))
        if len(words) < len(args):
            raise self._error(
                f"{pointer}/args", "an item of `args` is no string", "put it in quotes"
            )
        return words

    def _error(self, pointer: str, problem: str, hint: str) -> ConfigError:
        return ConfigError(problem, place=self._place_of(pointer), hint=hint)

    def _place_of(self, pointer: str) -> str:
        if self._lines is not None:
            name = "".join(parts_of(pointer)[1:2])
            return f"{self._place}:{self._lines[name]}" if name in self._lines else self._place
        line = line_of(self._text, pointer)
        return f"{self._place}:{line}" + (f" {pointer}" if pointer else "")


def _string(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _strings(value: JsonValue) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {name: item for name, item in value.items() if isinstance(item, str)}
