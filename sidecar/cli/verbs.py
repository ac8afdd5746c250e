"""All verbs but `proxy`; each is imported when it is called."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple

import click

from sidecar.errors import SidecarError
from sidecar.proxy.streams import say
from sidecar.store.environment import unknown_variables

_USAGE = 2


class _Verb(NamedTuple):
    """Where a verb is, and what it does in a few words; so that `--help` imports none."""

    module: str
    does: str


_VERBS = {
    "record": _Verb("sidecar.cli.record", "Run an agent, and record its MCP servers' answers."),
    "replay": _Verb("sidecar.cli.replay", "Run an agent again, offline, from a cassette."),
    "proxy": _Verb("sidecar.cli.proxy", "Put the sidecar before one server (agents start this)."),
    "serve": _Verb(
        "sidecar.cli.serve", "Serve a config's servers over HTTP, recorded or replayed."
    ),
    "wrap": _Verb("sidecar.cli.wrap", "Put the servers of agents' MCP configs behind the sidecar."),
    "unwrap": _Verb("sidecar.cli.unwrap", "Take them away from the sidecar again."),
    "clients": _Verb("sidecar.cli.clients", "List agents' MCP configs, and who connected."),
    "runs": _Verb("sidecar.cli.runs", "List, show and export recorded runs."),
    "cassette": _Verb("sidecar.cli.cassette", "Show, validate and save cassettes."),
    "promote": _Verb("sidecar.cli.promote", "Turn a recorded run into a task of a suite."),
    "run": _Verb("sidecar.cli.run", "Run every trial of a suite, offline, and grade it."),
    "grade": _Verb("sidecar.cli.grade", "Recompute a summary from an event log."),
    "gate": _Verb("sidecar.cli.gate", "Decide by a summary whether an agent may go on."),
    "suite": _Verb("sidecar.cli.suite", "Check suites."),
    "capabilities": _Verb("sidecar.cli.capabilities", "Show what this grader implements."),
}


class _Verbs(click.Group):
    """The verbs whose modules are there; each exposes a `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's own
        return [name for name, verb in _VERBS.items() if _is_there(verb)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = getattr(importlib.import_module(_VERBS[cmd_name].module), "command", None)
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(name, _VERBS[name].does) for name in self.list_commands(ctx)])


def verbs(arguments: Sequence[str]) -> int:
    """Run the verb that the arguments name; return the exit code.

    Raises:
        SidecarError: If the verb refuses.
    """
    for stream in (sys.stdout, sys.stderr):
        # What a terminal of another encoding cannot show is shown escaped (S05).
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    misspelt = unknown_variables(os.environ)
    if misspelt:
        say(misspelt)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        return _without_reader()
    except OSError as error:
        raise SidecarError(
            f"the system refused: {error.strerror}",
            place=error.filename or "standard output",
            hint="make room there, or give yourself the right to use it",
        ) from error
    return code


def _run(arguments: Sequence[str]) -> int:
    try:
        with _group.make_context("mcp-sidecar", list(arguments)) as context:
            code = _group.invoke(context)
    except click.exceptions.Exit as end:  # of --help and --version
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return _USAGE  # also for those that click would end with 1, which is a failed measurement
    return code if isinstance(code, int) else 0


def _without_reader() -> int:
    """End quietly where nobody reads the output any more, as in `runs list | head`."""
    # Or Python would complain when it flushes at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _is_there(verb: _Verb) -> bool:
    return importlib.util.find_spec(verb.module) is not None


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mcp-sidecar", message="%(package)s %(version)s")
def _group() -> None:
    """Record and replay what an agent's MCP servers answer, and grade the agent.

    Exit codes: 0 passed; 1 measured, and failed; 2 not measured, such as bad usage.
    record and replay give the agent's own.
    """
