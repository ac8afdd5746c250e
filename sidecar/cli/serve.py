"""`mcp-sidecar serve`: all servers of a config behind the sidecar, over HTTP."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypedDict, TypeVar, Unpack

import click

from sidecar.agents.attempt import new_run
from sidecar.agents.config import AgentConfig, ServerEntry, config_of_names, read_config
from sidecar.agents.variables import filled_in
from sidecar.cli.options import (
    FiniteRange,
    Places,
    agent_id_option,
    masking_options,
    places,
    places_options,
    say,
    short_path,
)
from sidecar.cli.sources import saved_cassette
from sidecar.errors import CassetteError, SidecarError, UsageError
from sidecar.proxy.http.admission import check_allowed
from sidecar.proxy.http.endpoint import DEFAULT_PORT, Limits, ServedServer, ServeOptions
from sidecar.proxy.options import MODES, Mode, OnMiss
from sidecar.report.text import counted
from sidecar.store import cassettes, folders, ids, runs
from sidecar.store.environment import RUN_VARIABLE, TOKEN_VARIABLE
from sidecar.store.journal import Journal
from sidecar.store.settings import Rules, load_settings

_F = TypeVar("_F", bound=Callable[..., object])

_DEFAULTS = Limits()
_HIGHEST_PORT = 65_535


class _LimitWords(TypedDict):
    """What the options of limits say; as in `Limits`."""

    body_bytes: int
    message_bytes: int
    header_seconds: float
    upload_seconds: float
    connect_seconds: float
    answer_seconds: float
    drain_seconds: float
    connections: int
    sessions: int
    idle_seconds: float


class _Words(_LimitWords):
    """What all options say."""

    config: str | None
    mode: Mode
    cassette: str | None
    on_miss: OnMiss
    overwrite: bool
    host: str
    port: int
    run: str | None
    allow_host: tuple[str, ...]
    allow_origin: tuple[str, ...]
    token_env: str
    agent_id: str | None
    redaction: Rules
    project: str | None
    home: str | None


def _count(name: str, field: str, text: str) -> Callable[[_F], _F]:
    default: int = getattr(_DEFAULTS, field)
    kind = click.IntRange(min=1)
    return click.option(
        name, field, type=kind, metavar="N", default=default, show_default=True, help=text
    )


def _seconds(name: str, field: str, text: str) -> Callable[[_F], _F]:
    default: float = getattr(_DEFAULTS, field)
    kind = FiniteRange(min=0, max=1e6)
    return click.option(
        name, field, type=kind, metavar="S", default=default, show_default=True, help=text
    )


_LIMITS = (
    _count("--max-body-bytes", "body_bytes", "Ceiling of one request."),
    _count("--max-message-bytes", "message_bytes", "Ceiling of one message of a server's."),
    _seconds("--header-seconds", "header_seconds", "For the head of a first request."),
    _seconds("--upload-seconds", "upload_seconds", "For a request's body."),
    _seconds("--connect-seconds", "connect_seconds", "To reach a server by URL."),
    _seconds("--answer-seconds", "answer_seconds", "For a server to begin its answer; 0: ever."),
    _seconds("--drain-seconds", "drain_seconds", "For open answers when told to stop."),
    _count("--max-connections", "connections", "Connections that are open at most."),
    _count("--max-sessions", "sessions", "Sessions of one server that are open at most."),
    _seconds("--idle-seconds", "idle_seconds", "For a session that nobody uses; 0: ever."),
)


def _limit_options(command: _F) -> _F:
    for option in reversed(_LIMITS):
        command = option(command)
    return command


@click.command("serve")
@click.option(
    "--config",
    metavar="FILE",
    help="The MCP config with the servers; in replay, default those that the cassette names.",
)
@click.option("--mode", type=click.Choice(MODES), default="record", show_default=True)
@click.option(
    "--cassette",
    metavar="C",
    help="A name, which means cassettes/NAME.jsonl, or a path that ends in .jsonl.",
)
@click.option(
    "--on-miss",
    type=click.Choice(["fail", "live"]),
    default="fail",
    show_default=True,
    help="In replay: whether what is not recorded fails, or goes to the live server.",
)
@click.option("--overwrite", is_flag=True, help="Replace the cassette of another run.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, _HIGHEST_PORT),
    default=DEFAULT_PORT,
    show_default=True,
    help="0 takes a free one.",
)
@click.option("--run", metavar="ID", help=f"The run; default {RUN_VARIABLE}, else a new one.")
@click.option(
    "--allow-host", metavar="NAME", multiple=True, help="A name that clients may call us by."
)
@click.option(
    "--allow-origin", metavar="ORIGIN", multiple=True, help="An origin whose pages may ask."
)
@click.option(
    "--token-env",
    metavar="NAME",
    default=TOKEN_VARIABLE,
    show_default=True,
    help="The environment variable with the token that clients must send, if it is set.",
)
@_limit_options
@agent_id_option
@masking_options
@places_options
def command(**words: Unpack[_Words]) -> int:
    """Serve the MCP servers of a config over HTTP, recorded or replayed.

    Each server of the config is at http://127.0.0.1:PORT/NAME/mcp, or, for clients of the
    older transport, at /NAME/sse. Standard error says where. It serves until it gets
    SIGTERM or SIGINT, and then saves the cassette.

    Only this machine can connect, unless --host names another address: then a token is
    needed, in MCP_SIDECAR_TOKEN, which clients send as `X-MCP-Sidecar-Token: TOKEN`, or
    as `Authorization: Bearer TOKEN` where the server behind wants no other.
    """
    options = options_of(words, places(words["project"], words["home"]))
    os.environ.pop(words["token_env"], None)  # it is ours: no server that we start may have it
    from sidecar.proxy.http.server import serve  # noqa: PLC0415  # after all that can be refused

    _tell_of_another_run(options)
    code = serve(options)
    _tell_what_is_kept(options)
    return code


def _tell_of_another_run(options: ServeOptions) -> None:
    """Say at once what would be said at the end: that another run's cassette is in the way.

    Raises:
        CassetteError: If what is there is broken: nothing is written over it.
    """
    if options.mode != "record" or options.cassette is None:
        return
    present = cassettes.in_place(options.cassette)
    if present is not None and present.run != options.run and not options.overwrite:
        say(
            f"cassette {short_path(options.cassette)} is of another run and stays as it is: "
            "what is recorded now is in the journal alone; --overwrite replaces the cassette"
        )


def _tell_what_is_kept(options: ServeOptions) -> None:
    try:
        with Journal.open(options.journal) as journal:
            line = runs.one_run(journal, options.run)
        say(f"run {options.run}: {counted(line.calls, 'call')}, {counted(line.errors, 'error')}")
        path = options.cassette
        if options.mode not in ("record", "auto") or path is None or not os.path.exists(path):
            return
        saved = cassettes.load(path).cassette
    except SidecarError as error:
        say(str(error))
        return
    if saved.run == options.run:
        say(f"cassette {short_path(path)}" + ("" if saved.complete else ", which is not complete"))


def options_of(words: _Words, where: Places) -> ServeOptions:
    """Read what the options say.

    Raises:
        SidecarError: With what is wrong and the next step.
    """
    check_allowed(words["allow_host"], words["allow_origin"])
    path = _cassette(words, where)
    config = _config(words, path)
    if words["mode"] != "replay" or words["on_miss"] == "live":
        is_relayed = words["mode"] in ("record", "passthrough")
        config = filled_in(config, os.environ, passes_headers=is_relayed)
    limits: _LimitWords = {name: words[name] for name in _LimitWords.__annotations__}  # type: ignore[literal-required,assignment]
    return ServeOptions(
        servers=tuple(_entry(server, words["config"]) for server in config.servers),
        mode=words["mode"],
        journal=where.journal,
        run=_run(words["run"]),
        cassette=path,
        agent_id=words["agent_id"],
        on_miss=words["on_miss"],
        overwrite=words["overwrite"],
        host=words["host"],
        port=words["port"],
        token=_token(words["token_env"]),
        allowed_hosts=words["allow_host"],
        allowed_origins=words["allow_origin"],
        limits=Limits(**limits),
        redaction=load_settings(where.project).redaction + words["redaction"],
    )


def _cassette(words: _Words, where: Places) -> str | None:
    spec, mode = words["cassette"], words["mode"]
    if spec is None and mode in ("replay", "auto"):
        raise UsageError(f"mode {mode} needs --cassette", hint="name the cassette to replay")
    if spec is None:
        return None
    return saved_cassette(where, spec) if mode == "replay" else where.cassette(spec)


def _config(words: _Words, cassette: str | None) -> AgentConfig:
    """Read the config; a replay does without one (it calls nothing)."""
    if words["config"] is not None:
        return read_config(words["config"])
    if words["mode"] != "replay" or words["on_miss"] == "live" or cassette is None:
        raise UsageError(
            "serve needs --config: what to start, or to call, comes from there",
            hint="name the agent's MCP config",
        )
    recorded = cassettes.load(cassette).cassette
    names = dict.fromkeys([*recorded.servers, *(item.server for item in recorded.interactions)])
    if not names:
        raise CassetteError(
            "the cassette names no server",
            place=cassette,
            hint="record it again, or give --config",
        )
    return config_of_names(names)


def _entry(server: ServerEntry, config: str | None) -> ServedServer:
    if server.name in (".", ".."):
        raise UsageError(
            f"a server cannot be served under the name {server.name!r}: "
            "no client asks for such a path",
            place=config,
            hint="give it another name in the config",
        )
    cwd = server.cwd
    if cwd is not None:  # as the config's own client would have it
        cwd = os.path.join(folders.project_folder(config, os.getcwd()), cwd)
    return ServedServer(
        name=server.name,
        command=(server.command, *server.args) if server.command else (),
        env=tuple(server.env.items()),
        url=server.url,
        headers=tuple(server.headers.items()),
        transport=server.transport,
        cwd=cwd,
    )


def _run(given: str | None) -> str:
    run = given or os.environ.get(RUN_VARIABLE)
    return ids.checked(run) if run else new_run()


def _token(variable: str) -> str | None:
    token = os.environ.get(variable)
    if token is None and variable != TOKEN_VARIABLE:
        raise UsageError(
            f"--token-env names {variable!r}, which is not set", hint="set it to a long secret"
        )
    if token is not None and (not token.isascii() or not token.isprintable() or not token.strip()):
        raise UsageError(
            f"the token in {variable} cannot stand in a header",
            hint="use printable ASCII letters, for example `openssl rand -hex 32`",
        )
    return token
