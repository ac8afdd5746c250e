"""`mcp-sidecar proxy`: one server behind the sidecar, over stdio."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from sidecar.errors import UsageError
from sidecar.proxy.options import MODES, Mode, OnMiss, ProxyOptions
from sidecar.proxy.tape import agent_id_of
from sidecar.store import folders, ids
from sidecar.wire.framing import MAX_MESSAGE_BYTES

_N = TypeVar("_N", int, float)

RUN_VARIABLE = "MCP_SIDECAR_RUN"

USAGE = """\
Usage: mcp-sidecar proxy --server NAME [OPTIONS] COMMAND...

Puts the sidecar between an agent and one MCP server, over stdio. Options end at the
first word that is not one; from there all goes to the server, word for word.

  --server NAME         the server's name in the agent's config (required)
  --mode MODE           record (default), replay, auto, or passthrough
  --cassette C          a name, or a path that ends in .jsonl; without it only the journal
  --run ID              the run that this belongs to; default MCP_SIDECAR_RUN, else the
                        run of the agent process that started this one
  --agent-id ID         the agent's id in events; default the client's own name
  --on-miss fail|live   in replay: refuse what is not recorded (default), or ask the server
  --overwrite           replace a cassette of another run
  --home DIR            the folder of the journal; default MCP_SIDECAR_HOME, else .sidecar
  --project DIR         the folder that names and .sidecar are in; default this one
  --max-message-bytes N ceiling of one message; default 268435456
  --drain-seconds S     how long to wait for one more answer once the input has ended; default 5
"""

_LONGEST_SECONDS = 1e6  # "for ever", as waits understand it
_FLAGS = ("--overwrite",)
_VALUES = (
    "--server", "--mode", "--cassette", "--run", "--agent-id", "--on-miss", "--home",
    "--project", "--max-message-bytes", "--drain-seconds",
)  # fmt: skip


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
    given, command = _split(arguments)
    if not given.get("--server"):
        raise UsageError("proxy needs --server NAME", hint="see `mcp-sidecar proxy --help`")
    mode = _mode(given.get("--mode", "record"))
    on_miss = _on_miss(given.get("--on-miss", "fail"))
    if not command and (mode != "replay" or on_miss == "live"):
        raise UsageError(
            f"mode {mode} needs the server's command after the options",
            hint="see `mcp-sidecar proxy --help`",
        )
    project = folders.project_folder(None, os.path.join(cwd, given.get("--project", "")))
    home = folders.home(os.environ, given.get("--home"), project)
    cassette = given.get("--cassette")
    if cassette is None and mode in ("replay", "auto"):
        raise UsageError(f"mode {mode} needs --cassette", hint="name the cassette to replay")
    return ProxyOptions(
        server=given["--server"],
        mode=mode,
        command=command,
        cassette=None if cassette is None else folders.cassette_path(cassette, project),
        journal=folders.journal_path(home),
        run=_run(given),
        agent_id=_agent_id(given.get("--agent-id")),
        on_miss=on_miss,
        overwrite="--overwrite" in given,
        max_message_bytes=_number(given, "--max-message-bytes", MAX_MESSAGE_BYTES, int),
        drain_seconds=min(_number(given, "--drain-seconds", 5.0, float), _LONGEST_SECONDS),
    )


def _split(arguments: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Tell the options from the command, which begins at the first word that is none."""
    given: dict[str, str] = {}
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        word = arguments[at]
        at += 1
        if word == "--":  # typed by hand; `wrap` writes none
            break
        name, equals, value = word.partition("=")
        if word in _FLAGS:
            given[word] = ""
        elif name not in _VALUES:
            raise UsageError(f"unknown option {word!r}", hint="see `mcp-sidecar proxy --help`")
        elif equals:
            given[name] = value
        elif at == len(arguments):
            raise UsageError(f"{name} needs a value", hint="see `mcp-sidecar proxy --help`")
        else:
            given[name] = arguments[at]
            at += 1
    return given, tuple(arguments[at:])


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
    parent = os.getppid()
    return ids.run_id_of_process(parent, ids.process_start(parent))


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
