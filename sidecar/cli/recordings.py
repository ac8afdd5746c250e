"""Finds the recordings that `promote` is given: runs of the journal, and cassettes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sidecar.cassette.arguments import ABSENT, Absent
from sidecar.cassette.interaction import Cassette
from sidecar.cli.options import Places, present_journal, say
from sidecar.cli.sources import LAST, find_run, saved_cassette
from sidecar.errors import UsageError
from sidecar.store import cassettes, ids, recorded, runs
from sidecar.store.folders import CASSETTE_SUFFIX
from sidecar.store.journal import Journal
from sidecar.store.recorded import Recorded
from sidecar.store.runs import RunLine
from sidecar.suite.additions import task_id_of
from sidecar.suite.calls import Span
from sidecar.suite.wanted import Recording
from sidecar.wire.json_text import JsonValue, NotJsonError, parse


class Source(NamedTuple):
    """A recording, and the task's id where none is given.

    Attributes:
        recording: What is promoted.
        task_id: Derived from the cassette's name, or that of a trial; empty if neither is known.
    """

    recording: Recording
    task_id: str


def find_source(where: Places, spec: str) -> Source:
    """Find a recording by a run's id or its beginning, `last`, or a cassette's name or path.

    Args:
        where: The project, and the home of the journal.
        spec: What the user wrote.

    Raises:
        SidecarError: If it means no recording, or one that cannot be read.
    """
    if spec != LAST and not spec.startswith(ids.TENANT):
        path = _cassette_file(where, spec)
        if path is not None:
            return _of_cassette(where, spec, path)
    with present_journal(where) as journal:
        try:
            run_id = _last(journal) if spec == LAST else find_run(journal, spec)
        except UsageError as error:
            raise _neither(spec, error) from None
        return _of_run(journal, spec, run_id)


def _cassette_file(where: Places, spec: str) -> str | None:
    """Find a cassette's file; None where the word is no cassette, and so may be a run."""
    try:
        path = saved_cassette(where, spec)
    except UsageError:
        return None
    return path if spec.endswith(CASSETTE_SUFFIX) or os.path.lexists(path) else None


def _neither(spec: str, error: UsageError) -> UsageError:
    if spec == LAST or "begin with" in error.problem:
        return error
    return UsageError(
        f"{spec!r} is neither a run nor a cassette", place=error.place, hint=error.hint
    )


def _last(journal: Journal) -> str:
    run_id = runs.last_recorded(journal)
    if run_id is None:
        raise UsageError(
            "nothing was recorded here yet", place=journal.path, hint="record a run first"
        )
    return run_id


def _of_cassette(where: Places, spec: str, path: str) -> Source:
    loaded = cassettes.load(path)
    for warning in loaded.warnings:
        say(warning)
    task_id = _task_id(path)
    recording = Recording(loaded.cassette, spec)
    if loaded.cassette.run is None or not os.path.lexists(where.journal):
        return Source(recording, task_id)
    with present_journal(where) as journal:
        try:
            line = runs.one_run(journal, loaded.cassette.run)
        except UsageError:  # recorded elsewhere; the cassette is what there is
            return Source(recording, task_id)
        return Source(_told(journal, line, loaded.cassette, spec), task_id)


def _of_run(journal: Journal, spec: str, run_id: str) -> Source:
    line = runs.one_run(journal, run_id)
    if line.mode == runs.EVAL_MODE:
        raise UsageError(
            f"{run_id} is an evaluation, and no run of an agent",
            hint="promote one of its trials, or a recorded run",
        )
    cassette = cassettes.of_run(journal, run_id)
    # A trial that is promoted becomes, unless told otherwise, its own task anew.
    task_id = _task_id(line.cassette) if line.cassette else line.task_id or ""
    return Source(_told(journal, line, cassette, spec), task_id)


def _told(journal: Journal, line: RunLine, cassette: Cassette, name: str) -> Recording:
    """Add what only the journal knows of a run."""
    output = _value(line.output)
    rows = recorded.of_run(journal.connection, line.run_id)
    return Recording(
        cassette,
        name,
        input=_value(line.input),
        output=output if isinstance(output, str) else None,
        doubts=tuple(_doubts(rows, line)),
        spans=_spans(rows, cassette),
    )


def _spans(rows: Sequence[Recorded], cassette: Cassette) -> tuple[Span | None, ...]:
    """When each interaction began and ended; a cassette that was added to holds others too."""
    if [row.interaction[:2] for row in rows] != [item[:2] for item in cassette.interactions]:
        return ()
    return tuple(row.span for row in rows)


def _doubts(rows: Sequence[Recorded], line: RunLine) -> Iterator[str]:
    if line.state == "running":
        yield "it is still going on"
    elif line.state == "interrupted":
        yield "it was interrupted"
    elif line.state == "failed" and line.exit_code:
        yield f"the agent ended with exit code {line.exit_code}"
    elif line.state == "failed":
        yield "the agent or one of its servers failed"
    if any(row.missed and row.replayed for row in rows):
        yield "some of its requests were answered by no recording"


def _value(text: str | None) -> JsonValue | Absent:
    """Read what the journal keeps as JSON text; `ABSENT` where it keeps nothing."""
    if text is None:
        return ABSENT
    try:
        return parse(text)
    except NotJsonError:
        return text


def _task_id(path: str) -> str:
    return task_id_of(os.path.basename(path).removesuffix(CASSETTE_SUFFIX))
