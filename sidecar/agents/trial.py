"""One trial: an agent, alone with a task's fixtures.

It gets a working directory, a process group, a run in the journal and a fixture cursor of
its own, so that nothing of one trial is seen in another (RFC 0244 §B). Its servers are
replay proxies: unless the task says `onMiss: live`, nothing live is started.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from sidecar.agents.attempt import new_run, private_folder, proxies_left
from sidecar.agents.command import AgentOrder, AgentResult, Stop, run_agent, write_files
from sidecar.agents.config import AgentConfig, ProxyArguments, wrapped
from sidecar.agents.usage import NO_USAGE, USAGE, Usage, read_usage
from sidecar.cassette.interaction import Cassette
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cassette.texts import Change
from sidecar.proxy.options import OnMiss
from sidecar.store import cassettes, ids, recorded, runs
from sidecar.store.clock import SYSTEM_CLOCK, Clock
from sidecar.store.environment import PROJECT_VARIABLE
from sidecar.store.journal import Journal
from sidecar.store.looked_over_rows import look_over
from sidecar.store.settings import NO_RULES, Rules
from sidecar.suite.fixtures import entries_of
from sidecar.suite.model import Task
from sidecar.suite.payloads import FAILURE, OUTPUT
from sidecar.wire.json_text import JsonValue, dump, parse


@dataclass(frozen=True, slots=True)
class Setting:
    """What all trials of an evaluation share.

    Attributes:
        eval_run: The evaluation's run id.
        suite_id: The suite's id.
        agent: The agent's command, its paths absolute.
        agent_id: Of the agent's events.
        config: The servers that the agent is offered.
        project: The folder where `run` was called, absolute.
        home: The sidecar's home, absolute.
        journal: The journal, open.
        masks: Takes secrets out of what is kept.
        timeout_seconds: How long a trial may take.
        cwd: Where the agent works; None: in a fresh folder each.
        stop: The order to end early.
        clock: Where time comes from.
        redaction: What is masked besides what is known to be a secret.
    """

    eval_run: str
    suite_id: str
    agent: tuple[str, ...]
    agent_id: str
    config: AgentConfig
    project: Path
    home: str
    journal: Journal
    masks: Redactor
    timeout_seconds: float
    cwd: Path | None = None
    stop: Stop = field(default_factory=Stop)
    clock: Clock = SYSTEM_CLOCK
    redaction: Rules = NO_RULES


@dataclass(frozen=True, slots=True)
class Trial:
    """One attempt at a task.

    Attributes:
        task: The task.
        index: Which of the task's trials it is, from 0.
        cassette: What the agent's servers are served from: fixtures, then surface.
    """

    task: Task
    index: int
    cassette: Cassette

    @property
    def on_miss(self) -> OnMiss:
        """What happens to a call that no entry answers; absent acts as `fail` (R39)."""
        return (self.task.fixtures and self.task.fixtures.on_miss) or "fail"

    @property
    def input_text(self) -> str:
        """The task's input as the agent gets it: a string as it is, other JSON as JSON."""
        value = self.task.input
        return str(value) if isinstance(value, str) else dump(value)


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What came of a trial; how good it was is the grader's to say.

    Attributes:
        run_id: The run that holds its calls.
        output: What the agent said, secrets masked.
        failure: Why it did not do its work, in a few words; None if it did.
        latency_ms: How long the agent took, milliseconds.
        usage: The model calls that it reported.
        misses: Why calls were not answered by a fixture, in words.
        leftovers: Fixture entries that nothing asked for, by their place in the task; those
            of forbidden tools are meant not to be.
        last_words: The end of the agent's standard error, secrets masked.
        is_stopped: Whether the user ended it.
        has_open_sessions: Whether a proxy of it still ran when it was waited for enough.
    """

    run_id: str
    output: str
    failure: str | None
    latency_ms: int
    usage: Usage = NO_USAGE
    misses: tuple[str, ...] = ()
    leftovers: tuple[int, ...] = ()
    last_words: str = ""
    is_stopped: bool = False
    has_open_sessions: bool = False


def run_trial(setting: Setting, trial: Trial) -> TrialResult:
    """Run the agent once; its run's event log then holds the trial's bracket, whole.

    Raises:
        AgentError: If the agent cannot be started.
        SidecarError: If the journal or a file of the trial cannot be written.
    """
    run_id = new_run(setting.clock)
    with private_folder("trial") as folder:
        order = _order(setting, trial, run_id, folder)
        _begin(setting, trial, run_id)
        try:
            result = run_agent(order, stop=setting.stop, clock=setting.clock)
        except BaseException:
            setting.journal.finish_run(run_id, state="failed")
            raise
        left = proxies_left(setting.journal, run_id, setting.stop, clock=setting.clock)
        usage = read_usage(order.files.events)
    output = _masked(result.output, setting.masks.json_text)
    _end(setting, run_id, result, output, usage)
    look = look_over(setting.journal, run_id, setting.masks)  # before anything is graded
    rows = recorded.of_run(setting.journal.connection, run_id)
    return TrialResult(
        run_id=run_id,
        output=_masked(output, look),
        failure=result.failure,
        latency_ms=round(result.seconds * 1000),
        usage=usage,
        misses=tuple(row.missed for row in rows if row.missed),
        leftovers=_leftovers(trial, {row.entry for row in rows}),
        last_words=_masked(_masked(result.last_words, setting.masks.json_text), look),
        is_stopped=result.stopped is not None,
        has_open_sessions=left > 0,
    )


def _order(setting: Setting, trial: Trial, run_id: str, folder: Path) -> AgentOrder:
    cassette = folder / "fixtures.jsonl"
    cassettes.save(str(cassette), trial.cassette)
    arguments = ProxyArguments(
        mode="replay",
        run=run_id,
        home=setting.home,
        cassette=str(cassette),
        agent_id=setting.agent_id,
        on_miss=trial.on_miss,
        redaction=setting.redaction,
    )
    config = wrapped(setting.config, arguments)
    seed = trial.task.fixtures and trial.task.fixtures.memory_seed
    memory: JsonValue = None if seed is None else list(seed)
    cwd = setting.cwd
    if cwd is None:
        cwd = folder / "work"
        cwd.mkdir()
    return AgentOrder(
        command=setting.agent,
        files=write_files(folder, config, input_text=trial.input_text, memory=memory),
        run=run_id,
        cwd=cwd,
        input=trial.input_text,
        timeout_seconds=setting.timeout_seconds,
        environ={**os.environ, PROJECT_VARIABLE: str(setting.project)},
    )


def _begin(setting: Setting, trial: Trial, run_id: str) -> None:
    setting.journal.start_run(
        run_id,
        mode="replay",
        agent_id=setting.agent_id,
        cassette="",  # or its proxies would name the temporary file that they serve
        command=setting.masks.json_text(dump(list(setting.agent))),
        input=setting.masks.json_text(dump(trial.task.input)),
        suite_id=setting.suite_id,
        task_id=trial.task.task_id,
        trial_index=trial.index,
        eval_run_id=setting.eval_run,
    )
    payload = {**_bracket(setting, run_id), "source": "run-api"}
    runs.add_event(setting.journal, run_id, "agent.invocation-started", payload)


def _end(setting: Setting, run_id: str, result: AgentResult, output: str, usage: Usage) -> None:
    for payload in usage.payloads:
        runs.add_event(setting.journal, run_id, USAGE, payload)
    completed = _bracket(setting, run_id)
    if result.failure is None:
        completed.update({"outcome": "completed", OUTPUT: output})
    else:
        completed.update({"outcome": "failed", FAILURE: result.failure})
    runs.add_event(setting.journal, run_id, "agent.invocation-completed", completed)
    setting.journal.finish_run(
        run_id, state=result.state, exit_code=result.exit_code, output=dump(output)
    )


def _bracket(setting: Setting, run_id: str) -> dict[str, JsonValue]:
    return {"invocationId": ids.ulid_of(run_id), "agentId": setting.agent_id}


def _leftovers(trial: Trial, served: set[int | None]) -> tuple[int, ...]:
    trajectory = trial.task.expected.trajectory
    forbidden = (trajectory and trajectory.forbidden) or ()
    return tuple(
        place
        for place, entry in enumerate(entries_of(trial.task))
        if place not in served and entry.tool not in forbidden
    )


def _masked(text: str, mask: Change) -> str:
    found = parse(mask(dump(text)))
    return found if isinstance(found, str) else text
