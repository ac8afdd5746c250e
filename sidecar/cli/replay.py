"""`mcp-sidecar replay`: runs an agent again, its servers answered from a cassette."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import click

from sidecar.agents.attempt import new_run
from sidecar.agents.command import AgentResult, stop_on_signals
from sidecar.agents.config import AgentConfig, ProxyArguments, config_of_names, read_config
from sidecar.cassette.interaction import Cassette
from sidecar.cli.execution import (
    Plan,
    execute,
    exit_code_of,
    not_started,
    read_input,
    tell_failure,
)
from sidecar.cli.options import (
    AGENT_WORDS,
    agent_id_option,
    masking_options,
    places,
    places_options,
    say,
)
from sidecar.cli.sources import saved_cassette
from sidecar.errors import CassetteError, UsageError
from sidecar.proxy.options import OnMiss
from sidecar.report.interactions import request_text
from sidecar.report.text import counted
from sidecar.store import cassettes, recorded, runs
from sidecar.store.journal import Journal
from sidecar.store.recorded import Recorded
from sidecar.store.settings import Rules, load_settings

_FAILED = 1
_NOT_MEASURED = 2


class Tally(NamedTuple):
    """What a replay came to.

    Attributes:
        served: How many tool calls a recording answered.
        refused: Why requests were not answered, in words.
        live: Why requests were answered by a live server, in words.
        leftover: Recorded calls that nobody asked for, by name and place.
        by_name: Calls that were served whatever their arguments were, by name and place.
        expected: How many calls the cassette holds.
    """

    served: int
    refused: tuple[str, ...]
    live: tuple[str, ...]
    leftover: tuple[str, ...]
    by_name: tuple[str, ...]
    expected: int


@click.command(
    "replay",
    context_settings=AGENT_WORDS,
)
@click.option("--cassette", required=True, metavar="C", help="The cassette: a name or a path.")
@click.option(
    "--config",
    metavar="FILE",
    help="The agent's MCP config; default the servers that the cassette names.",
)
@click.option("--input", "text", metavar="TEXT|@FILE", help="The agent's input.")
@click.option("--require-all", is_flag=True, help="Fail if a recorded call was not asked for.")
@click.option(
    "--on-miss",
    type=click.Choice(["fail", "live"]),
    help="Whether what is not recorded fails (default), or goes to the live server of --config.",
)
@agent_id_option
@masking_options
@places_options
@click.argument("agent", nargs=-1, type=click.UNPROCESSED)
def command(  # noqa: PLR0913  # one parameter an option
    *,
    cassette: str,
    config: str | None,
    text: str | None,
    require_all: bool,
    on_miss: OnMiss | None,
    agent_id: str | None,
    redaction: Rules,
    project: str | None,
    home: str | None,
    agent: tuple[str, ...],
) -> int:
    """Run AGENT, a command, with its MCP servers answered from a cassette.

    For example: mcp-sidecar replay --cassette checkout -- python agent.py {mcp_config}

    No server is started, and nothing is contacted. The exit code is 1 if a request missed,
    if no recorded call was served though there are some, or if with --require-all one was
    left over; else it is the agent's own.
    """
    where = places(project, home)
    path = saved_cassette(where, cassette)
    loaded = cassettes.load(path)
    for warning in loaded.warnings:
        say(warning)
    settings = load_settings(where.project)
    arguments = ProxyArguments(
        mode="replay",
        redaction=settings.redaction + redaction,
        run=new_run(),
        home=where.home,
        cassette=path,
        agent_id=agent_id,
        on_miss=on_miss or settings.on_miss or "fail",
    )
    servers = _config(config, loaded.cassette, path, arguments.on_miss)
    plan = Plan(agent, servers, arguments, read_input(text))
    with Journal.open(where.journal) as journal, stop_on_signals() as stop:
        result = execute(plan, journal, where, stop)
        rows = recorded.of_run(journal.connection, arguments.run)
        tally = _tally(rows, loaded.cassette)
        _tell(arguments.run, result, tally)
        if result.stopped is None and not _is_measured(plan, journal):
            return _NOT_MEASURED
    return _exit_code(result, tally, require_all=require_all)


def _config(config: str | None, cassette: Cassette, path: str, on_miss: OnMiss) -> AgentConfig:
    if config is not None:
        return read_config(config)
    if on_miss == "live":
        raise UsageError(
            "--on-miss live needs --config: a cassette does not say how servers are started",
            hint="name the agent's MCP config",
        )
    names = dict.fromkeys([*cassette.servers, *(item.server for item in cassette.interactions)])
    if not names:
        raise CassetteError(
            "the cassette names no server", place=path, hint="record it again, or give --config"
        )
    return config_of_names(names)


def _tally(rows: Sequence[Recorded], cassette: Cassette) -> Tally:
    claimed = {row.entry for row in rows if row.entry is not None}
    calls = [
        (number, item) for number, item in enumerate(cassette.interactions, 1) if item.is_tool_call
    ]
    named = {number: f"{request_text(item)} (interaction {number})" for number, item in calls}
    return Tally(
        served=sum(
            1
            for row in rows
            if row.interaction.is_tool_call and row.call is None and row.entry is not None
        ),
        refused=tuple(row.missed for row in rows if row.missed and row.replayed),
        live=tuple(row.missed for row in rows if row.missed and not row.replayed),
        leftover=tuple(named[number] for number, _ in calls if number - 1 not in claimed),
        by_name=tuple(
            named[number]
            for number, item in calls
            if number - 1 in claimed and item.args_match == "ignore"
        ),
        expected=len(calls),
    )


def _tell(run: str, result: AgentResult, tally: Tally) -> None:
    tell_failure(result)
    for reason in tally.refused:
        say(f"miss: {reason}")
    for reason in tally.live:
        say(f"miss, answered live: {reason}")
    for name in tally.by_name:
        say(f"matched by name only: {name}")
    for name in tally.leftover:
        say(f"left over: {name}")
    missed = len(tally.refused) + len(tally.live)
    say(
        f"run {run}: {counted(tally.served, 'call')} served, {missed} missed, "
        f"{len(tally.leftover)} left over"
    )
    if tally.expected and not tally.served and not missed:
        say("no recorded call was served: this replay shows nothing")


def _is_measured(plan: Plan, journal: Journal) -> bool:
    """Tell whether what the journal has of a replay is all of it, and say if it is not."""
    unusable = not_started(plan, journal)
    for error in unusable:
        say(str(error))
    states = {one.state for one in runs.one_run(journal, plan.arguments.run).sessions}
    if plan.arguments.is_offline and "failed" in states:
        say("a part of the replay could not be journalled: it is not measured")
        return False
    return not unusable


def _exit_code(result: AgentResult, tally: Tally, *, require_all: bool) -> int:
    if result.stopped is not None:
        return exit_code_of(result)
    nothing_served = tally.expected > 0 and tally.served == 0
    if tally.refused or nothing_served or (require_all and tally.leftover):
        return _FAILED
    return result.exit_code
