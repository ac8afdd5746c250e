"""`mcp-sidecar promote`: turns a recorded run into a task of a suite."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import click

from sidecar.cassette.interaction import Cassette
from sidecar.cassette.recorder import Masks
from sidecar.cli.execution import read_input
from sidecar.cli.options import places, places_options, say
from sidecar.cli.recordings import Source, find_source
from sidecar.cli.suite import few_of_each, finding_masks
from sidecar.errors import PromotionError, UsageError
from sidecar.report.text import counted, escaped
from sidecar.store import suites
from sidecar.store.settings import load_settings
from sidecar.suite.additions import Addition, Change, suite_id_of, with_task
from sidecar.suite.fixtures import entries_of
from sidecar.suite.leaks import first_leak, unmasked_by
from sidecar.suite.lints import lint_suite
from sidecar.suite.loosening import read_ignored_argument
from sidecar.suite.model import AgentEvalSuite, Strategy, Task, TrajectoryMode
from sidecar.suite.promotion import Promoted, promoted
from sidecar.suite.surface import listed_tools, merged, surface_of
from sidecar.suite.validation import Problem
from sidecar.suite.wanted import Golden, Wanted

_NO_PATH = "none"
_MODES = (*get_args(TrajectoryMode), _NO_PATH)
_CONTAINS = "contains:"


class _Target(NamedTuple):
    """The suite that is written.

    Attributes:
        path: Its file.
        suite: What is there; None if nothing is.
        surface: The surface beside it; None if there is none.
    """

    path: str
    suite: AgentEvalSuite | None
    surface: Cassette | None


class _Choices(NamedTuple):
    """What the user chose for all sources alike."""

    suite_id: str | None
    replaces: bool
    input: str | None
    masks: Masks


class _Outcome(NamedTuple):
    """A source that became a task.

    Attributes:
        target: The suite with it.
        made: The task, and remarks on it.
        change: What became of the suite.
        problems: What is unwise in the task.
        differing: What the servers showed otherwise before.
    """

    target: _Target
    made: Promoted
    change: Change
    problems: tuple[Problem, ...]
    differing: tuple[str, ...]


@click.command("promote")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("--suite", required=True, metavar="FILE", help="The suite; made if it is not there.")
@click.option("--task", "task_id", metavar="ID", help="The task's id; default the cassette's name.")
@click.option(
    "--trajectory",
    type=click.Choice(_MODES),
    default="in-order",
    show_default=True,
    help="How the calls are compared with the recorded ones.",
)
@click.option("--forbid", multiple=True, metavar="TOOL", help="Any call of SERVER:TOOL fails.")
@click.option(
    "--ignore-arg",
    multiple=True,
    metavar="TOOL:/POINTER",
    help="Do not compare this member of the tool's arguments.",
)
@click.option(
    "--match",
    metavar="STRATEGY",
    help="exact (default), contains or json-match the recorded output; contains:TEXT; or none.",
)
@click.option("--input", "text", metavar="TEXT|@FILE", help="The input; default the run's own.")
@click.option("--suite-id", metavar="ID", help="Of a new suite; default local.evals.NAME.")
@click.option("--replace", is_flag=True, help="Replace another task of the same id.")
@click.option("--drop-retried", is_flag=True, help="Leave failed calls that worked later out.")
@click.option("--allow-incomplete", is_flag=True, help="Take a run that did not end in order.")
@places_options
def command(  # noqa: PLR0913  # one parameter an option
    *,
    sources: tuple[str, ...],
    suite: str,
    task_id: str | None,
    trajectory: TrajectoryMode | Literal["none"],
    forbid: tuple[str, ...],
    ignore_arg: tuple[str, ...],
    match: str | None,
    text: str | None,
    suite_id: str | None,
    replace: bool,
    drop_retried: bool,
    allow_incomplete: bool,
    project: str | None,
    home: str | None,
) -> int:
    """Turn recorded runs into tasks of a suite, which is made if it is not there.

    SOURCE is a run's id, the beginning of it that no other run has, `last`, or a
    cassette's name or path. Several become a task each, named after their cassettes.

    The recorded answers become the task's fixtures, the calls its expected path, the
    output what the agent should say. Beside the suite, NAME.surface.jsonl holds what the
    servers show. Promoting the same again changes nothing.
    """
    golden, looked_for = _golden(match)
    wanted = Wanted(
        task_id or "",
        trajectory=None if trajectory == "none" else trajectory,
        forbidden=forbid,
        ignored=tuple(map(read_ignored_argument, ignore_arg)),
        golden=golden,
        text=looked_for,
        drops_retried=drop_retried,
        allows_incomplete=allow_incomplete,
    )
    where = places(project, home)
    settings = load_settings(where.project)
    usual = tuple(map(read_ignored_argument, settings.ignored_arguments))
    wanted = wanted._replace(usually_ignored=usual)
    found = _named([find_source(where, spec) for spec in sources], task_id)
    before = _target(suite)
    choices = _Choices(suite_id, replace, read_input(text), finding_masks(settings.redaction))
    target, outcomes = before, []
    for source in found:
        outcomes.append(_promote(source, target, wanted, choices))
        target = outcomes[-1].target
    _write(before, target, changed=any(one.change != "unchanged" for one in outcomes))
    for outcome in outcomes:
        _tell(outcome)
    say(f"next: mcp-sidecar run {shlex.quote(suite)} --agent 'YOUR AGENT'")
    return 0


def _golden(match: str | None) -> tuple[Golden, str | None]:
    """Read `--match`: a strategy and the text to look for, if one is given.

    Raises:
        UsageError: If it is none.
    """
    if match is None:
        return "auto", None
    if match.startswith(_CONTAINS):
        return "contains", match.removeprefix(_CONTAINS)
    if match == "none":
        return "none", None
    for known in get_args(Strategy):
        if match == known:
            return known, None
    raise UsageError(
        f"--match {match!r} is no way to compare outputs",
        hint=f"choose one of {', '.join(get_args(Strategy))}, contains:TEXT, none",
    )


def _named(sources: Sequence[Source], task_id: str | None) -> list[Source]:
    """Give each source its task's id.

    Raises:
        UsageError: If one has none, or two have the same (P02).
    """
    if task_id is not None:
        if len(sources) > 1:
            raise UsageError(
                "--task names one task, and there are several sources",
                hint="promote them one by one, or leave --task out",
            )
        return [sources[0]._replace(task_id=task_id)]
    seen: dict[str, str] = {}
    for source in sources:
        name = source.recording.name
        if not source.task_id:
            raise UsageError(f"{name}: no name is known for its task", hint="give one with --task")
        if source.task_id in seen:
            raise UsageError(
                f"{seen[source.task_id]} and {name} would both be task {source.task_id!r}",
                hint="promote them one by one, each with --task",
            )
        seen[source.task_id] = name
    return list(sources)


def _target(path: str) -> _Target:
    if path.endswith(".jsonl"):
        raise UsageError(f"{path} is no suite's name", hint="name a .json file with --suite")
    suites.check_target(path)
    suite = suites.load_suite(path) if os.path.lexists(path) else None
    surface = suites.load_surface(path)
    return _Target(path, suite, surface.cassette if surface else None)


def _promote(source: Source, target: _Target, wanted: Wanted, choices: _Choices) -> _Outcome:
    """Make one task, and look it over; nothing is written yet.

    Raises:
        PromotionError: If the run must not become a task, or a secret is left.
    """
    recording = source.recording
    if choices.input is not None:
        recording = recording._replace(input=choices.input)
    made = promoted(recording, wanted._replace(task_id=source.task_id))
    addition = with_task(
        target.suite,
        made.task,
        suite_id=choices.suite_id or suite_id_of(_stem(target.path)),
        replaces=choices.replaces,
        place=target.path,
    )
    # Where the task is the same, the suite's surface is the newer one, for all that is known.
    changes = addition.change != "unchanged"
    shown = merged(target.surface, surface_of(recording.cassette), replaces=changes)
    problems = _problems(addition, made.task, choices.masks)
    _refuse_leaks(shown.surface, choices.masks)
    return _Outcome(
        _Target(target.path, addition.suite, shown.surface),
        made,
        addition.change,
        (*problems, *_unlisted(made.task, shown.surface)),
        shown.differing if changes else (),
    )


def _write(before: _Target, after: _Target, *, changed: bool) -> None:
    # The surface first: a suite without it would be offered less than was recorded.
    if after.surface is not None and after.surface != before.surface:
        suites.save_surface(after.path, after.surface)
    if after.suite is not None and changed:
        suites.save_suite(after.path, after.suite)


def _problems(addition: Addition, task: Task, masks: Masks) -> list[Problem]:
    """Look the new task over (V8-V11).

    Raises:
        PromotionError: If a secret is left in it (V11).
    """
    place = next(n for n, one in enumerate(addition.suite.tasks) if one.task_id == task.task_id)
    at = f"/tasks/{place}"
    found = [
        problem
        for problem in lint_suite(addition.suite, unmasked=unmasked_by(masks))
        if problem.pointer == at or problem.pointer.startswith(at + "/")
    ]
    secret = next((problem for problem in found if problem.code == "V11"), None)
    if secret is not None:
        raise PromotionError(
            f"a secret seems to be left in task {task.task_id!r}, so nothing was written",
            place=secret.pointer,
            hint="record it again, or take the secret out of the input or the output",
        )
    return found


def _refuse_leaks(surface: Cassette, masks: Masks) -> None:
    leak = first_leak(surface, masks)
    if leak is not None:
        raise PromotionError(
            f"a secret seems to be left in what {leak.server} answered to {leak.method}, so "
            "nothing was written",
            hint="record it again",
        )


def _unlisted(task: Task, surface: Cassette) -> list[Problem]:
    """Find entries of tools that their servers do not list: no agent will call those."""
    return [
        Problem(
            "unlisted-tool",
            f"/fixtures/toolResponses/{index}",
            f"the server does not list the tool {entry.tool}, so an agent may never call it",
        )
        for index, entry in enumerate(entries_of(task))
        if _is_unlisted(entry.tool, surface)
    ]


def _is_unlisted(name: str, surface: Cassette) -> bool:
    server, _, tool = name.partition(":")
    listed = listed_tools(surface, server)
    return listed is not None and tool not in listed


def _tell(outcome: _Outcome) -> None:
    task = outcome.made.task
    trajectory = task.expected.trajectory
    forbidden = (trajectory and trajectory.forbidden) or ()
    entries = [entry for entry in entries_of(task) if entry.tool not in forbidden]
    failed = sum(1 for entry in entries if entry.is_error)
    calls = counted(len(entries), "call") + (f", {failed} of them failed" if failed else "")
    word = {
        "created": "new suite, with task",
        "added": "added task",
        "replaced": "replaced task",
        "unchanged": "nothing changed, it has task",
    }[outcome.change]
    click.echo(escaped(f"{outcome.target.path}: {word} {task.task_id} ({calls})"))
    for remark in outcome.made.remarks:
        _note(remark.text)
    for text in few_of_each(outcome.problems, _problem_text):
        _note(text)
    for what in outcome.differing:
        _note(f"what the servers show differs from before, and is kept as it is now: {what}")


def _problem_text(problem: Problem) -> str:
    hint = f"; {problem.hint}" if problem.hint else ""
    return f"{problem.pointer}: {problem.message}{hint}"


def _note(text: str) -> None:
    click.echo(escaped(f"note: {text}"))


def _stem(path: str) -> str:
    return os.path.basename(path).removesuffix(".json")
