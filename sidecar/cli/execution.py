"""Runs an agent with its servers behind the sidecar, and journals how it went."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from sidecar.agents.attempt import private_folder, proxies_left
from sidecar.agents.command import (
    SIGNALLED,
    AgentOrder,
    AgentResult,
    Stop,
    run_agent,
    words_of,
    write_files,
)
from sidecar.agents.config import AgentConfig, ProxyArguments, ServerEntry, wrapped
from sidecar.agents.slips import refuse_slips
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cli.options import Places, say
from sidecar.errors import ConfigError, SidecarError, UsageError
from sidecar.proxy.link import START_FAILED
from sidecar.proxy.masking import masks_of_servers
from sidecar.report.text import counted
from sidecar.store import runs
from sidecar.store.journal import Journal
from sidecar.store.looked_over_rows import look_over
from sidecar.store.settings import Rules
from sidecar.wire.json_text import dump


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


def masks_of(
    config: AgentConfig, where: Places, rules: Rules, *, more: Iterable[str] = ()
) -> Redactor:
    """Make what masks a run's secrets, as they are in the environment and in its config.

    Args:
        config: The servers; the proxies know these secrets, since the agent gives them to
            the servers.
        where: The home whose key masks.
        rules: What else is masked.
        more: Further values to mask.

    Raises:
        JournalError: If the key can be neither read nor made.
    """
    return masks_of_servers(where.home, rules, [_configured(one) for one in config.servers], more)


class _Configured(NamedTuple):
    """What a config says of a server, in the form in which proxies have it."""

    command: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]


def _configured(server: ServerEntry) -> _Configured:
    words = (server.command, *server.args)
    return _Configured(words, tuple(server.env.items()), tuple(server.headers.items()))


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
    masks = masks_of(plan.config, where, plan.arguments.redaction)
    words = words_of(plan.command)
    refuse_slips(words, [Path.cwd()])
    journal.start_run(
        run,
        mode=plan.arguments.mode,
        agent_id=plan.arguments.agent_id,
        cassette=plan.arguments.cassette,
        command=masks.json_text(dump(list(words))),
        input=None if plan.input is None else masks.json_text(dump(plan.input)),
    )
    try:
        with private_folder() as folder:  # a config may hold secrets
            files = write_files(folder, wrapped(plan.config, plan.arguments), input_text=plan.input)
            order = AgentOrder(words, files, run, Path.cwd(), input=plan.input, attached=True)
            result = run_agent(order, stop=stop)
            left = proxies_left(journal, run, stop)
    except SidecarError:
        journal.finish_run(run, state="failed")
        raise
    if left:
        say(f"{counted(left, 'server')} of the run did not end; the run is incomplete")
    journal.finish_run(
        run,
        state=result.state,
        exit_code=result.exit_code,
        output=masks.json_text(dump(result.output)),
    )
    look_over(journal, run, masks)  # the run's proxies know more by now
    return result


def exit_code_of(result: AgentResult) -> int:
    """The agent's own exit code; that of the signal where the user stopped it."""
    return result.exit_code if result.stopped is None else stopped_code(result.stopped)


def stopped_code(sign: int) -> int:
    """The exit code of what a signal ended, as shells have it: 130 for Ctrl-C."""
    return SIGNALLED + sign


def tell_failure(result: AgentResult) -> None:
    """Say why the agent did not do its work, if it did not."""
    if result.stopped is not None:
        say(f"the agent was {result.failure}")
    elif result.failure is not None:
        say(f"the agent failed: {result.failure}")


def not_started(plan: Plan, journal: Journal) -> list[ConfigError]:
    """Say which servers of a run could not be started, and where their commands stand."""
    run = runs.one_run(journal, plan.arguments.run)
    failed = {one.server for one in run.sessions if one.exit_code == START_FAILED}
    servers = [one for one in plan.config.servers if one.name in failed and one.place]
    return [_not_started(server) for server in servers]


def _not_started(server: ServerEntry) -> ConfigError:
    what, check = "started", f"the command {server.command!r}"
    if server.url is not None:
        what, check = "reached", "its `url` and its `headers`"
    return ConfigError(
        f"the server {server.name!r} could not be {what}",
        place=server.place,
        hint=f"check {check}",
    )
