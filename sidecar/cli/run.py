"""`mcp-sidecar run`: every trial of every task of a suite, offline, and graded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click

from sidecar.agents.anchoring import anchored
from sidecar.agents.attempt import new_run
from sidecar.agents.command import Stop, signal_name, stop_on_signals, words_of
from sidecar.agents.config import AgentConfig, ServerEntry, config_of_names, read_config
from sidecar.agents.evaluation import (
    DEFAULT_AGENT_ID,
    Done,
    Evaluation,
    Measures,
    evaluate,
    refuse_unrunnable,
    servers_of,
)
from sidecar.agents.judge import NoJudgement
from sidecar.agents.slips import refuse_slips
from sidecar.agents.trial import Setting
from sidecar.cassette.interaction import Cassette
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cli.baselines import BaselineOptions, baseline_of, baseline_options
from sidecar.cli.execution import masks_of, stopped_code
from sidecar.cli.grade import show_grade, summary_option
from sidecar.cli.judges import JudgeOptions, judge_of, judge_options, key_of
from sidecar.cli.options import (
    FiniteRange,
    Places,
    json_option,
    masking_options,
    places,
    places_options,
    say,
)
from sidecar.cli.suite import few_of_each, lints_of, problem_text, refuse
from sidecar.errors import ConfigError, UsageError
from sidecar.grading.refusal import refusal
from sidecar.grading.regression import check_same_suite
from sidecar.report.grades import Notes
from sidecar.report.progress import TrialProgress
from sidecar.report.text import counted
from sidecar.store import folders, runs, suites
from sidecar.store.journal import Journal
from sidecar.store.settings import Rules, load_settings
from sidecar.suite.capabilities import IMPLEMENTED
from sidecar.suite.fixtures import entries_of
from sidecar.suite.model import AgentEvalSuite
from sidecar.wire.json_text import JsonValue

DEFAULT_TIMEOUT_SECONDS = 600.0

_SHOWN_LAST_LINES = 8


class _Choices(NamedTuple):
    """What the user said.

    Attributes:
        suite: The suite's file.
        agent: The agent's command.
        timeout_seconds: Of a trial.
        cwd: Where the agent works; None: in a fresh folder each time.
        config: A config of live servers, or None.
        judging: Who judges outputs.
        compared: What the run is compared with.
        redaction: What is masked besides what is known to be a secret.
    """

    suite: str
    agent: str
    timeout_seconds: float
    cwd: str | None
    config: str | None
    judging: JudgeOptions
    compared: BaselineOptions
    redaction: Rules


class _Plan(NamedTuple):
    """What is run.

    Attributes:
        choices: What the user said.
        suite: The suite.
        surface: What its servers show; None without a surface file.
        config: The servers that the agent is offered.
        agent: The agent's command, its paths absolute.
        cwd: Where the agent works, absolute; None: in a fresh folder each time.
        measures: Who judges, and what is compared with.
    """

    choices: _Choices
    suite: AgentEvalSuite
    surface: Cassette | None
    config: AgentConfig
    agent: tuple[str, ...]
    cwd: Path | None
    measures: Measures


@click.command("run")
@click.argument("suite")
@click.option("--agent", required=True, metavar="CMD", help="The agent's command, in quotes.")
@click.option(
    "--timeout",
    type=FiniteRange(min=0, min_open=True),
    default=DEFAULT_TIMEOUT_SECONDS,
    show_default=True,
    metavar="S",
    help="Seconds that a trial may take.",
)
@click.option("--cwd", metavar="DIR", help="Where the agent works; default a new folder a trial.")
@click.option("--config", metavar="FILE", help="Live servers, for tasks that say onMiss live.")
@summary_option
@click.option("--events", metavar="FILE", help="Write the event log there, as JSON Lines.")
@judge_options
@baseline_options
@masking_options
@json_option
@places_options
def command(  # noqa: PLR0913  # one parameter an option
    *,
    suite: str,
    agent: str,
    timeout: float,
    cwd: str | None,
    config: str | None,
    summary: str | None,
    events: str | None,
    judging: JudgeOptions,
    compared: BaselineOptions,
    redaction: Rules,
    as_json: bool,
    project: str | None,
    home: str | None,
) -> int:
    """Run every trial of every task of SUITE against its recorded answers, and grade it.

    For example: mcp-sidecar run suites/checkout.json --agent "python agent.py"

    Each trial gets a working directory and fixtures of its own; MCP_SIDECAR_PROJECT tells
    the agent where this was called. Words of its command that name a file from here are
    made absolute. Where it finds its servers, its input and the rest is told by
    {mcp_config}, {input}, {input_file} and {output_file} in the command, and by
    MCP_SIDECAR_CONFIG, _INPUT_FILE, _OUTPUT_FILE, _EVENTS_FILE and _MEMORY_FILE.

    Tasks with a rubric need a judge. A judgement is kept in the log, so that whoever grades
    it again asks nobody; where a judge gives none, the trial is not measured.

    Exit codes: 0 passed; 1 measured, and failed; 2 not measured; 130 stopped by Ctrl-C.
    """
    where = places(project, home)
    rules = load_settings(where.project).redaction + redaction
    choices = _Choices(suite, agent, timeout, cwd, config, judging, compared, rules)
    for target in (summary, events):
        if target is not None:
            suites.check_target(target)
    plan = _plan(choices, where, as_json=as_json)
    with Journal.open(where.journal) as journal:
        with stop_on_signals() as stop:
            done = _evaluated(plan, where, journal, stop)
        if events is not None:
            suites.save_events(events, runs.events(journal, done.run_id))
    if done.is_stopped and stop.sign is not None:
        count = len(plan.suite.tasks) * plan.suite.trial_count
        say(
            f"stopped by {signal_name(stop.sign)}: {len(done.trials)} of "
            f"{counted(count, 'trial')} had ended, so there is no result; run {done.run_id}"
        )
        return stopped_code(stop.sign)
    show_grade(
        done.grade, as_json=as_json, summary=summary, notes=_notes(done), baseline=compared.file
    )
    say(f"run {done.run_id}")
    return done.grade.exit_code


def _plan(choices: _Choices, where: Places, *, as_json: bool) -> _Plan:
    path = choices.suite
    suite = suites.load_suite(path)
    lints = lints_of(suite, choices.redaction)
    for text in few_of_each(lints, lambda lint: problem_text(path, lint)):
        say(text)
    refuse(refusal(suite, IMPLEMENTED), name=path, as_json=as_json)
    loaded = suites.load_surface(path)
    for warning in loaded.warnings if loaded else ():
        say(warning)
    surface = loaded.cassette if loaded else None
    live = None if choices.config is None else _live(choices.config)
    here = Path.cwd()
    measures = _measures(choices, suite, where, here)
    has_judge = measures.judge is not None
    refuse_unrunnable(suite, live_servers=live or (), name=path, has_judge=has_judge)
    names = servers_of(suite, surface)
    folder = None if choices.cwd is None else here / choices.cwd
    if folder is not None and not folder.is_dir():
        raise UsageError("the agent's working directory is no folder", place=str(folder))
    words = words_of([choices.agent])
    refuse_slips(words, [here] if folder is None else [here, folder])
    return _Plan(
        choices,
        suite,
        surface,
        config_of_names(names) if live is None else _config(names, live, choices.config or ""),
        anchored(words, here),
        folder,
        measures,
    )


def _measures(choices: _Choices, suite: AgentEvalSuite, where: Places, here: Path) -> Measures:
    """Find the judge and the baseline, before anything is run that they cannot be used for."""
    baseline = baseline_of(choices.compared, where)
    if baseline is not None:
        check_same_suite((suite.suite_id, suite.version), baseline.summary)
    judge = judge_of(choices.judging, cwd=here, environ=os.environ)
    return Measures(judge, baseline)


def _live(config: str) -> dict[str, ServerEntry]:
    """Read the live servers, which are started from where their config says."""
    folder = folders.project_folder(config, os.getcwd())
    found = {}
    for server in read_config(config).servers:
        cwd = server.entry.get("cwd")
        place = os.path.join(folder, cwd if isinstance(cwd, str) else "")
        entry = {**server.entry, "cwd": os.path.abspath(place)}
        found[server.name] = replace(server, entry=entry)
    return found


def _config(names: tuple[str, ...], live: Mapping[str, ServerEntry], place: str) -> AgentConfig:
    missing = [name for name in names if name not in live]
    if missing:
        raise ConfigError(
            f"the suite uses the server {missing[0]!r}, which the config does not name",
            place=place,
            hint="add it, as the agent's own config has it",
        )
    servers = tuple(live[name] for name in names)
    document: dict[str, JsonValue] = {"mcpServers": {one.name: one.entry for one in servers}}
    return AgentConfig(servers, document)


def _evaluated(plan: _Plan, where: Places, journal: Journal, stop: Stop) -> Evaluation:
    setting = Setting(
        eval_run=new_run(),
        suite_id=plan.suite.suite_id,
        agent=plan.agent,
        agent_id=plan.suite.target_agent_id or DEFAULT_AGENT_ID,
        config=plan.config,
        project=Path.cwd(),
        home=where.home,
        journal=journal,
        masks=_masks(plan, where),
        timeout_seconds=plan.choices.timeout_seconds,
        cwd=plan.cwd,
        stop=stop,
        redaction=plan.choices.redaction,
    )
    with TrialProgress(len(plan.suite.tasks) * plan.suite.trial_count) as progress:
        return evaluate(plan.suite, plan.surface, setting, progress, measures=plan.measures)


def _masks(plan: _Plan, where: Places) -> Redactor:
    key = key_of(plan.choices.judging, os.environ)
    # The key's variable may have any name; the agent inherits it.
    return masks_of(plan.config, where, plan.choices.redaction, more=[key] if key else [])


def _notes(done: Evaluation) -> Notes:
    return {(one.task.task_id, one.index): tuple(_trial_notes(one)) for one in done.trials}


def _trial_notes(done: Done) -> list[str]:
    result = done.result
    notes = [f"a call missed: {miss}" for miss in result.misses]
    if result.leftovers:
        entries = entries_of(done.task)
        names = ", ".join(
            f"entry {place + 1} ({entries[place].tool})" for place in result.leftovers[:5]
        )
        more = ", …" if len(result.leftovers) > 5 else ""  # noqa: PLR2004  # as many as are named
        count = counted(len(result.leftovers), "recorded answer was", "recorded answers were")
        notes.append(f"{count} not asked for: {names}{more}")
    if result.usage.problem:
        notes.append(f"its usage is unknown: {result.usage.problem}")
    notes += _judge_notes(done)
    if result.has_open_sessions:
        notes.append("a server of the agent did not end, so its calls may not all be here")
    if result.failure and result.last_words:
        notes += [f"the agent's last words: {line}" for line in _shown(result.last_words)]
    return notes


def _shown(last_words: str) -> list[str]:
    """The last lines, and what a proxy said before them: a traceback would hide it."""
    lines = last_words.splitlines()
    before, last = lines[:-_SHOWN_LAST_LINES], lines[-_SHOWN_LAST_LINES:]
    return [line for line in before if line.startswith("mcp-sidecar: ")] + last


def _judge_notes(done: Done) -> list[str]:
    answer = done.answer
    if answer is None:
        return []
    if isinstance(answer, NoJudgement):
        told = "\n".join(_shown(answer.detail))
        detail = f" ({told})" if told else ""
        return [f"the judge gave no judgement: {answer.why}{detail}"]
    return [
        f"the judge on criterion {number}: {reason}"
        for number, (reason, met) in enumerate(zip(answer.reasons, answer.met, strict=False), 1)
        if not met
    ]
