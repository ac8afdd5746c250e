"""Runs an agent with its servers behind the sidecar, and journals how it went."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from sidecar.agents.command import (
    AgentOrder,
    AgentResult,
    Stop,
    run_agent,
    words_of,
    write_files,
)
from sidecar.agents.config import AgentConfig, ProxyArguments, wrapped
from sidecar.cassette.redaction import Redactor, secret_environment
from sidecar.cli.options import Places, say
from sidecar.errors import ConfigError, SidecarError, UsageError
from sidecar.proxy.live import START_FAILED
from sidecar.report.text import counted
from sidecar.store import ids, runs
from sidecar.store.clock import SYSTEM_CLOCK
from sidecar.store.journal import Journal
from sidecar.store.salt import masking_salt
from sidecar.wire.json_text import dump

SETTLE_SECONDS = 10.0
"""How long proxies may take to end once their agent has."""

_POLL_SECONDS = 0.02
_SIGNALLED = 128  # added to the signal's number, as shells do


class Plan(NamedTuple):
    """What to run.

    Attributes:
        command: The agent's command, templates not filled in.
        config: The servers.
        arguments: What their proxies are told.
        input: The agent's input; None where it gets none.
    """

    command: tuple[str, ...]
    config: AgentConfig
    arguments: ProxyArguments
    input: str | None = None


def new_run() -> str:
    """Make the id of a run that begins now."""
    return ids.new_run_id(SYSTEM_CLOCK.now(), os.urandom(ids.RANDOMNESS_BYTES))


def read_input(text: str | None) -> str | None:
    """Read what `--input` says: a text, or `@` and the file that holds it.

    Raises:
        UsageError: If the file cannot be read.
    """
    if text is None or not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_bytes().decode()
    except OSError as error:
        problem = f"the input cannot be read ({error.strerror})"
    except UnicodeDecodeError:
        problem = "the input is not UTF-8 text"
    raise UsageError(problem, place=text[1:], hint="give a text file as --input @FILE")


def masks_of(config: AgentConfig, where: Places, *, more: Iterable[str] = ()) -> Redactor:
    """Make what masks a run's secrets, as they are in the environment and in its config.

    Args:
        config: The servers; the proxies know these secrets, since the agent gives them to
            the servers.
        where: The home whose key masks.
        more: Further values to mask.

    Raises:
        JournalError: If the key can be neither read nor made.
    """
    known = dict(os.environ)
    for server in config.servers:
        known.update(server.env)
    values = (*secret_environment(known), *more)
    return Redactor(masking_salt(where.home), known_values=values)


def execute(plan: Plan, journal: Journal, where: Places, stop: Stop) -> AgentResult:
    """Run an agent; when this returns its run is in the journal, whole.

    The command, the input and the output are kept as JSON text, secrets masked.

    Args:
        plan: What to run.
        journal: Where the run is kept.
        where: The project, and the home whose key masks secrets.
        stop: Whether to end it early.

    Raises:
        SidecarError: If the agent could not be started.
    """
    run = plan.arguments.run
    masks = masks_of(plan.config, where)
    words = words_of(plan.command)
    journal.start_run(
        run,
        mode=plan.arguments.mode,
        agent_id=plan.arguments.agent_id,
        cassette=plan.arguments.cassette,
        command=masks.json_text(dump(list(words))),
        input=None if plan.input is None else masks.json_text(dump(plan.input)),
    )
    try:
        with _private_folder() as folder:
            files = write_files(folder, wrapped(plan.config, plan.arguments), input_text=plan.input)
            order = AgentOrder(words, files, run, Path.cwd(), input=plan.input, attached=True)
            result = run_agent(order, stop=stop)
            _settle(journal, run, stop)
    except SidecarError:
        journal.finish_run(run, state="failed")
        raise
    journal.finish_run(
        run,
        state=_state_of(result),
        exit_code=result.exit_code,
        output=masks.json_text(dump(result.output)),
    )
    return result


def exit_code_of(result: AgentResult) -> int:
    """The agent's own exit code, but never 0 for one that the user stopped."""
    if result.stopped is None:
        return result.exit_code
    return result.exit_code or _SIGNALLED + result.stopped


def not_started(plan: Plan, journal: Journal) -> list[ConfigError]:
    """Say which servers of a run could not be started, and where their commands stand."""
    run = runs.one_run(journal, plan.arguments.run)
    failed = {one.server for one in run.sessions if one.exit_code == START_FAILED}
    return [
        ConfigError(
            f"the server {server.name!r} could not be started",
            place=server.place,
            hint=f"check the command {server.command!r}",
        )
        for server in plan.config.servers
        if server.name in failed and server.place
    ]


def _state_of(result: AgentResult) -> str:
    if result.stopped is not None:
        return "interrupted"
    return "ended" if result.failure is None else "failed"


@contextmanager
def _private_folder() -> Iterator[Path]:
    """Make a folder for this user alone: a config may hold secrets."""
    # An agent may have left anything there, also what cannot be removed.
    with tempfile.TemporaryDirectory(prefix="mcp-sidecar-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _settle(journal: Journal, run: str, stop: Stop) -> None:
    """Wait until the run's proxies have ended, which they do once the agent has."""
    until = time.monotonic() + SETTLE_SECONDS
    while running := runs.open_sessions(journal, run):
        if stop.is_urgent or time.monotonic() > until:
            say(f"{counted(running, 'server')} of the run did not end; the run is incomplete")
            return
        time.sleep(_POLL_SECONDS)
