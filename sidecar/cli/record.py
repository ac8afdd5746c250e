"""`mcp-sidecar record`: runs an agent, and records what its MCP servers answer."""

from __future__ import annotations

import os

import click

from sidecar.agents.attempt import new_run
from sidecar.agents.command import stop_on_signals
from sidecar.agents.config import DEFAULT_CONFIG, AgentConfig, ProxyArguments, read_config
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cli.execution import (
    Plan,
    execute,
    exit_code_of,
    masks_of,
    not_started,
    read_input,
    tell_failure,
)
from sidecar.cli.options import (
    AGENT_WORDS,
    Places,
    agent_id_option,
    masking_options,
    places,
    places_options,
    say,
    short_path,
)
from sidecar.errors import SidecarError
from sidecar.proxy.options import Mode
from sidecar.report.text import counted
from sidecar.store import cassettes, recorded, runs
from sidecar.store.journal import Journal
from sidecar.store.settings import Rules, load_settings

_NOT_MEASURED = 2


@click.command(
    "record",
    context_settings=AGENT_WORDS,
)
@click.option(
    "--cassette",
    required=True,
    metavar="C",
    help="A name, which means cassettes/NAME.jsonl, or a path that ends in .jsonl.",
)
@click.option(
    "--config",
    metavar="FILE",
    help=f"The agent's MCP config; default {DEFAULT_CONFIG} in the project.",
)
@click.option("--input", "text", metavar="TEXT|@FILE", help="The agent's input, kept with the run.")
@click.option(
    "--mode",
    type=click.Choice(["record", "auto"]),
    help="record (default); auto serves what the cassette holds, and adds what it does not.",
)
@click.option("--overwrite", is_flag=True, help="Replace the cassette of another run.")
@agent_id_option
@masking_options
@places_options
@click.argument("agent", nargs=-1, type=click.UNPROCESSED)
def command(  # noqa: PLR0913  # one parameter an option
    *,
    cassette: str,
    config: str | None,
    text: str | None,
    mode: Mode | None,
    overwrite: bool,
    redaction: Rules,
    agent_id: str | None,
    project: str | None,
    home: str | None,
    agent: tuple[str, ...],
) -> int:
    """Run AGENT, a command, with its MCP servers behind the sidecar, and record them.

    For example: mcp-sidecar record --cassette checkout -- python agent.py {mcp_config}

    The agent finds a copy of its config, in which each server is started by the sidecar,
    where {mcp_config} or MCP_SIDECAR_CONFIG says. {input}, {input_file} and {output_file},
    and MCP_SIDECAR_INPUT_FILE and MCP_SIDECAR_OUTPUT_FILE, say where its input is and its
    output goes; without an output file its output is what it prints. The exit code is
    the agent's own, or 2 if it, a server or the recording failed to begin.
    """
    where = places(project, home)
    settings = load_settings(where.project)
    arguments = ProxyArguments(
        mode=mode or settings.mode or "record",
        redaction=settings.redaction + redaction,
        run=new_run(),
        home=where.home,
        cassette=where.cassette(cassette),
        agent_id=agent_id,
        overwrite=overwrite,
    )
    plan = Plan(agent, _config(config, where), arguments, read_input(text))
    assert arguments.cassette is not None
    cassettes.in_place(arguments.cassette)  # a broken one is an error before the agent works
    with Journal.open(where.journal) as journal:
        return _record(plan, journal, where)


def _config(config: str | None, where: Places) -> AgentConfig:
    return read_config(config or os.path.join(where.project, DEFAULT_CONFIG))


def _record(plan: Plan, journal: Journal, where: Places) -> int:
    with stop_on_signals() as stop:
        result = execute(plan, journal, where, stop)
        tell_failure(result)
        masks = masks_of(plan.config, where, plan.arguments.redaction)
        is_saved = _saved(plan.arguments, journal, masks)
        unusable = not_started(plan, journal)
        for error in unusable:
            say(str(error))
    went_well = is_saved and not unusable
    return exit_code_of(result) if went_well or result.stopped else _NOT_MEASURED


def _saved(arguments: ProxyArguments, journal: Journal, masks: Redactor) -> bool:
    """Save the run's cassette, and say what is in it; tell whether that went well."""
    run, path = arguments.run, arguments.cassette
    assert path is not None
    try:
        if not recorded.of_run(journal.connection, run):
            say(f"run {run}: nothing was recorded: the agent asked no server of its config")
            return True
        line = runs.one_run(journal, run)
        say(f"run {run}: {counted(line.calls, 'call')}, {counted(line.errors, 'error')}")
        saved = cassettes.save_run(
            journal,
            run,
            path,
            overwrite=arguments.overwrite,
            extend=arguments.mode == "auto",
            masks=masks,
        )
    except SidecarError as error:
        say(f"{error}; the run is in the journal: `mcp-sidecar cassette save {run}` saves it")
        return False
    if saved.refused:
        say(saved.refused)
    elif saved.written:
        complete = cassettes.load(path).cassette.complete
        say(f"cassette {short_path(path)}" + ("" if complete else ", which is not complete"))
    else:
        what = "is as it was" if os.path.lexists(path) else "was not written"
        say(f"cassette {short_path(path)} {what}: nothing else was answered")
    return True
