"""Runs of the journal, for the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sidecar.report.interactions import COLUMNS, answer_text, arguments_text, cells
from sidecar.report.tables import Column, table
from sidecar.report.text import counted, escaped
from sidecar.store.recorded import Recorded
from sidecar.store.runs import RunLine
from sidecar.wire.json_text import JsonValue, NotJsonError, parse_plain
from sidecar.wire.shortening import shortened

_SHORT_INPUT = 200  # characters; the output and the input of a run may be pages
_MINUTE = 60  # seconds
_LIST = (
    Column("run", whole=True),
    Column("started", whole=True),
    Column("time", right=True, whole=True),
    Column("agent"),
    Column("mode"),
    Column("state"),
    Column("servers"),
    Column("calls", right=True),
    Column("errors", right=True),
    Column("misses", right=True),
)


def listed(runs: Sequence[RunLine], *, width: int | None) -> str:
    """Lay out a list of runs; `width` as in `tables.table`."""
    rows = [
        (
            run.run_id,
            _time(run.started_at),
            _lasted(run),
            run.agent_id or "",
            run.mode,
            run.state,
            ", ".join(run.servers),
            run.calls,
            run.errors,
            run.misses,
        )
        for run in runs
    ]
    return table(_LIST, rows, width=width)


def shown(run: RunLine, seen: Sequence[Recorded], *, whole: bool, width: int | None) -> str:
    """Lay out one run: facts, what was seen in order, and why requests missed.

    Args:
        run: The run.
        seen: What its proxies saw.
        whole: Whether texts are shown whole.
        width: As in `tables.table`.
    """
    limit = None if whole else _SHORT_INPUT
    facts = [f"{name}: {_cut(text, limit)}" for name, text in _facts(run) if text]
    parts = ["\n".join(escaped(fact) for fact in facts) + "\n"]
    if seen:
        rows = [
            (*cells(number, item.interaction, whole=whole), _took(item))
            for number, item in enumerate(seen, 1)
        ]
        parts.append(table((*COLUMNS, Column("ms", right=True)), rows, width=width))
    misses = [
        f"{number}: {escaped(item.missed)}" + ("" if item.replayed else " (answered live)")
        for number, item in enumerate(seen, 1)
        if item.missed
    ]
    if misses:
        parts.append("Misses:\n" + "".join(f"  {miss}\n" for miss in misses))
    return "\n".join(parts)


def as_json(run: RunLine, seen: Sequence[Recorded] | None = None) -> JsonValue:
    """Make the JSON of a run: of a list, or with what its proxies saw."""
    found: dict[str, JsonValue] = {
        "runId": run.run_id,
        "mode": run.mode,
        "state": run.state,
        "agentId": run.agent_id,
        "startedAt": run.started_at,
        "endedAt": run.ended_at,
        "exitCode": run.exit_code,
        "cassette": run.cassette,
        "command": _value(run.command),
        "input": _value(run.input),
        "output": _value(run.output),
        "suiteId": run.suite_id,
        "taskId": run.task_id,
        "trialIndex": run.trial_index,
        "servers": list(run.servers),
        "calls": run.calls,
        "errors": run.errors,
        "misses": run.misses,
    }
    if seen is not None:
        found["interactions"] = [_interaction(number, item) for number, item in enumerate(seen, 1)]
    return found


def _facts(run: RunLine) -> list[tuple[str, str]]:
    ended = f", ended {_time(run.ended_at)}" if run.ended_at else ""
    code = "" if run.exit_code is None else f", exit code {run.exit_code}"
    trial = ""
    if run.trial_index is not None:
        trial = f"{run.trial_index + 1}, of task {run.task_id} of {run.suite_id}"
    servers = [f"{one.server} ({one.state})" for one in run.sessions]
    return [
        ("run", run.run_id),
        ("state", f"{run.state}{code}"),
        ("mode", run.mode),
        ("started", f"{_time(run.started_at)}{ended}"),
        ("agent", run.agent_id or ""),
        ("command", _text(run.command)),
        ("trial", trial),
        ("cassette", run.cassette or ""),
        ("servers", ", ".join(servers)),
        (
            "calls",
            f"{counted(run.calls, 'call')}, {counted(run.errors, 'error')}, "
            f"{counted(run.misses, 'miss', 'misses')}",
        ),
        ("input", _text(run.input)),
        ("output", _text(run.output)),
    ]


def _interaction(number: int, item: Recorded) -> JsonValue:
    return {
        "number": number,
        "server": item.interaction.server,
        "method": item.interaction.method,
        "tool": item.interaction.tool if item.interaction.is_tool_call else None,
        "arguments": arguments_text(item.interaction),
        "answer": answer_text(item.interaction),
        "state": item.state,
        "isError": item.interaction.is_error,
        "missed": item.missed,
        "startedAt": item.started_at,
        "durationMs": item.duration_ms,
    }


def _time(text: str) -> str:
    """Shorten an ISO 8601 time to seconds."""
    return text[:19].replace("T", " ")


def _lasted(run: RunLine) -> str:
    """How long a run took; empty if it runs, or nobody saw the end."""
    if run.ended_at is None:
        return ""
    ended, started = map(datetime.fromisoformat, (run.ended_at, run.started_at))
    seconds = (ended - started).total_seconds()
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(round(seconds), _MINUTE)
    return f"{minutes} min {seconds:02} s"


def _took(item: Recorded) -> str:
    return "" if item.duration_ms is None else str(item.duration_ms)


def _value(text: str | None) -> JsonValue:
    """Read JSON text of the journal; what is none stands for itself."""
    try:
        return None if text is None else parse_plain(text)
    except NotJsonError:
        return text


def _text(text: str | None) -> str:
    value = _value(text)
    if isinstance(value, list):
        return " ".join(str(word) for word in value)
    return value if isinstance(value, str) else (text or "")


def _cut(text: str, limit: int | None) -> str:
    return text if limit is None else shortened(text, limit)
