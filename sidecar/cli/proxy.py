"""`mcp-sidecar proxy`: one server behind the sidecar, over stdio."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from sidecar.errors import UsageError
from sidecar.proxy.options import MODES, TRANSPORTS, Mode, OnMiss, ProxyOptions, Transport
from sidecar.proxy.tape import agent_id_of
from sidecar.store import folders, ids
from sidecar.store.environment import RUN_VARIABLE
from sidecar.store.settings import Rules, load_settings, project_of
from sidecar.wire.framing import MAX_MESSAGE_BYTES
from sidecar.wire.typed import TypeVar

_N = TypeVar("_N", int, float)

USAGE = """\
Usage: mcp-sidecar proxy --server NAME [OPTIONS] COMMAND...
       mcp-sidecar proxy --server NAME [OPTIONS] --url URL

Puts the sidecar between an agent and one MCP server, over stdio. Options end at the
first word that is not one; from there all goes to the server, word for word.

  --server NAME         the server's name in the agent's config (required)
  --mode MODE           record (default), replay, auto, or passthrough
  --cassette C          a name, or a path that ends in .jsonl; without it only the journal
  --run ID              the run that this belongs to; default MCP_SIDECAR_RUN, else the
                        run of the agent process that started this one, be it by a shell
                        or a launcher
  --agent-id ID         the agent's id in events; default the client's own name
  --on-miss fail|live   in replay: refuse what is not recorded (default), or ask the server
  --overwrite           replace a cassette of another run
  --home DIR            the folder of the journal; default MCP_SIDECAR_HOME, else .sidecar
  --project DIR         the folder that names and .sidecar are in; default this one
  --url URL             the server is at this URL; there is no command then
  --transport http|sse  how it speaks there; default Streamable HTTP, else the older SSE
  --header 'NAME: VALUE'
                        a header of every request to it; may be given again
  --header-env NAME=VARIABLE
                        the same, its value taken from the environment: no process list
                        and no history shows it
  --connect-seconds S   how long a connection may take; default 10
  --answer-seconds S    how long an answer may take to begin; default 600, 0 is for ever
  --mask-key NAME       values of this name are secrets; may be given again
  --mask-pattern RE     what this regular expression matches is a secret; may be given again
  --mask-env NAME       the value of this variable is a secret; may be given again
  --config-entry ID     which config's entry this is; `wrap` writes it, for `clients`
  --wrapped HOW         what the config's entry was; `wrap` writes it, for `unwrap`
  --max-message-bytes N ceiling of one message; default 268435456
  --drain-seconds S     how long to wait for one more answer once the input has ended; default 5
"""

_LONGEST_SECONDS = 1e6  # "for ever", as waits understand it
_FLAGS = ("--overwrite",)
_VALUES = (
    "--server", "--mode", "--cassette", "--run", "--agent-id", "--on-miss", "--home",
    "--project", "--max-message-bytes", "--drain-seconds", "--url", "--transport",
    "--connect-seconds", "--answer-seconds", "--wrapped", "--config-entry",
)  # fmt: skip
_HEADERS = ("--header", "--header-env")
_MASKS = ("--mask-key", "--mask-pattern", "--mask-env")
_REPEATED = (*_HEADERS, *_MASKS)
_SEE_HELP = "see `mcp-sidecar proxy --help`"


def proxy(arguments: Sequence[str]) -> int:
    """Run the verb; return its exit code.

    Raises:
        SidecarError: If an option, the journal or the cassette cannot be used.
    """
    if arguments[:1] in (["--help"], ["-h"]):
        os.write(1, USAGE.encode())
        return 0
    options = parse(arguments, os.getcwd())
    from sidecar.proxy.stdio import run  # noqa: PLC0415  # after all that can be refused

    return run(options)


def parse(arguments: Sequence[str], cwd: str) -> ProxyOptions:
    """Read the verb's arguments.

    Raises:
        UsageError: With what is wrong and the next step.
    """
    given, repeated, command = _split(arguments)
    if not given.get("--server"):
        raise UsageError("proxy needs --server NAME", hint=_SEE_HELP)
    mode = _mode(given.get("--mode", "record"))
    on_miss = _on_miss(given.get("--on-miss", "fail"))
    is_offline = mode == "replay" and on_miss == "fail"
    url = _url(given, command)
    if not command and url is None and not is_offline:
        raise UsageError(
            f"mode {mode} needs the server's command after the options, or --url", hint=_SEE_HELP
        )
    project = folders.project_folder(None, os.path.join(cwd, given.get("--project", "")))
    home = folders.home(os.environ, given.get("--home"), project)
    cassette = given.get("--cassette")
    if cassette is None and mode in ("replay", "auto"):
        raise UsageError(f"mode {mode} needs --cassette", hint="name the cassette to replay")
    settings = load_settings(project_of(home, project))
    return ProxyOptions(
        server=given["--server"],
        mode=mode,
        command=command,
        cassette=None if cassette is None else folders.cassette_path(cassette, project),
        journal=folders.journal_path(home),
        run=_run(given),
        url=url,
        headers=_headers(repeated, needed=not is_offline),
        transport=_transport(given.get("--transport")),
        agent_id=_agent_id(given.get("--agent-id")),
        on_miss=on_miss,
        overwrite="--overwrite" in given,
        max_message_bytes=_number(given, "--max-message-bytes", MAX_MESSAGE_BYTES, int),
        drain_seconds=_seconds(given, "--drain-seconds", 5.0),
        connect_seconds=_seconds(given, "--connect-seconds", 10.0),
        answer_seconds=_seconds(given, "--answer-seconds", 600.0),
        config_entry=given.get("--config-entry"),
        redaction=settings.redaction + _rules(repeated),
    )


def _split(
    arguments: Sequence[str],
) -> tuple[dict[str, str], list[tuple[str, str]], tuple[str, ...]]:
    """Tell the options, and those that may be given again, from the command after them."""
    given: dict[str, str] = {}
    repeated: list[tuple[str, str]] = []
    words = list(reversed(arguments))
    while words and words[-1].startswith("-"):
        word = words.pop()
        if word == "--":  # typed by hand; `wrap` writes none
            break
        name, equals, value = word.partition("=")
        if word in _FLAGS:
            given[word] = ""
            continue
        if name not in _VALUES and name not in _REPEATED:
            raise UsageError(f"unknown option {word!r}", hint=_SEE_HELP)
        if not equals and not words:
            raise UsageError(f"{name} needs a value", hint=_SEE_HELP)
        value = value if equals else words.pop()
        if name in _REPEATED:
            repeated.append((name, value))
        else:
            given[name] = value
    return given, repeated, tuple(reversed(words))


def _url(given: dict[str, str], command: tuple[str, ...]) -> str | None:
    url = given.get("--url")
    if url is None:
        return None
    if command:
        raise UsageError(
            f"a server has a URL or a command, and {command[0]!r} begins one", hint=_SEE_HELP
        )
    from sidecar.proxy.addresses import checked_url  # noqa: PLC0415  # a command needs none

    return checked_url(url)


def _rules(given: list[tuple[str, str]]) -> Rules:
    return Rules(*(tuple(value for name, value in given if name == mask) for mask in _MASKS))


def _headers(repeated: list[tuple[str, str]], *, needed: bool) -> tuple[tuple[str, str], ...]:
    given = [pair for pair in repeated if pair[0] in _HEADERS]
    if not given:
        return ()
    from sidecar.proxy.addresses import read_headers  # noqa: PLC0415  # a command needs none

    return read_headers(given, os.environ, needed=needed)


def _transport(text: str | None) -> Transport | None:
    for transport in TRANSPORTS:
        if text == transport:
            return transport
    if text is None:
        return None
    raise UsageError(f"unknown --transport {text!r}", hint=f"choose {' or '.join(TRANSPORTS)}")


def _mode(text: str) -> Mode:
    for mode in MODES:
        if text == mode:
            return mode
    raise UsageError(f"unknown mode {text!r}", hint=f"choose one of {', '.join(MODES)}")


def _on_miss(text: str) -> OnMiss:
    if text in ("fail", "live"):
        return "live" if text == "live" else "fail"
    raise UsageError(f"unknown --on-miss {text!r}", hint="choose fail or live")


def _agent_id(text: str | None) -> str | None:
    if text is not None and text != agent_id_of(text):
        raise UsageError(
            f"{text!r} is no agent id", hint="use 1 to 128 letters, digits, `.`, `_`, `~`, `:`, `-`"
        )
    return text


def _run(given: dict[str, str]) -> str:
    run = given.get("--run") or os.environ.get(RUN_VARIABLE)
    if run:
        return ids.checked(run)
    from sidecar.proxy.ancestry import agent_process  # noqa: PLC0415  # a given run needs none

    agent = agent_process()
    return ids.run_id_of_process(agent, ids.process_start(agent))


def _seconds(given: dict[str, str], name: str, default: float) -> float:
    return min(_number(given, name, default, float), _LONGEST_SECONDS)


def _number(given: dict[str, str], name: str, default: _N, read: Callable[[str], _N]) -> _N:
    if name not in given:
        return default
    try:
        value = read(given[name])
    except ValueError:
        value = read("-1")
    if not value >= 0:
        raise UsageError(f"{name} needs a number of 0 or more, not {given[name]!r}")
    return value
