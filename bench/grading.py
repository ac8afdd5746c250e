"""How long a grade takes, and how much memory: a long log, and a hard matching.

There is no peer: each value has a limit instead.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.client import ContestantError
from bench.contestants import OURS, ROOT, environment
from bench.frame import Bench
from bench.measures import MEGA, Line
from sidecar.grading.candidates import ObservedCall
from sidecar.grading.trajectory import TrajectoryGrader
from sidecar.suite.model import ExpectedCall, Trajectory

TRIALS, CALLS = 5, 50
"""Of each task, and of each trial."""
MATCHED = 1000
"""Expected calls, and as many observed ones."""

SECONDS, BYTES, MATCH_SECONDS, FLAT = 60.0, 1024**3, 1.0, 1.2
"""The limits: of the whole log, and of the matching; up to `FLAT` time is linear."""

_SECTION = "Grading"
_SUITE = {"suiteId": "bench.evals.grading", "version": "1.0.0", "modes": ["golden"]}
_RUN = "local/01J00000000000000000000000"
_KILO_BYTES = 1024 if sys.platform == "linux" else 1  # the unit of ru_maxrss


class Took(NamedTuple):
    """What a grade took.

    Attributes:
        seconds: By the wall clock.
        cpu_seconds: Processor time.
        peak_bytes: The most memory it held.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def measure(bench: Bench) -> list[Line]:
    """Grade the log of a whole suite and of a quarter of it, and match call by call."""
    tasks = bench.scale.graded_tasks
    whole = _graded(bench.new_folder(), tasks)
    quarter = _graded(bench.new_folder(), max(tasks // 4, 1))
    count = tasks * TRIALS * CALLS
    growth = whole.cpu_seconds / quarter.cpu_seconds * max(tasks // 4, 1) / tasks
    return [
        _line(f"a log of {count:,} calls", "s", whole.seconds, SECONDS),
        _line("peak memory", "MB", whole.peak_bytes * MEGA, BYTES * MEGA),
        _line("CPU a call, all / a quarter", "x", growth, FLAT),
        _line(f"{MATCHED:,} calls against {MATCHED:,}", "s", _matching(), MATCH_SECONDS),
    ]


def events(tasks: int) -> Iterator[dict[str, Any]]:
    """Give the events of a suite's log, in order."""
    for sequence, (kind, payload) in enumerate(_payloads(tasks)):
        yield {
            "eventId": f"{_RUN.removeprefix('local/')}.{sequence:08d}",
            "runId": _RUN,
            "sequence": sequence,
            "type": kind,
            "timestamp": "2026-01-01T00:00:00.000Z",
            "schemaVersion": 1,
            "payload": payload,
        }


def suite(tasks: int) -> dict[str, Any]:
    """Give the suite: a golden output, and every call expected in order with its arguments."""
    calls = [{"tool": f"shop:{_tool(n)}", "args": _inputs(n), "argsMatch": "exact"} for n in _CALLS]
    path = {"match": "in-order", "calls": calls, "forbidden": ["shop:refund-all"]}
    match = {"strategy": "contains", "value": "done"}
    expected = {"kind": "golden", "match": match, "trajectory": path}
    entries = [
        {"taskId": f"t{number}", "input": "?", "expected": expected} for number in range(tasks)
    ]
    return {**_SUITE, "trials": {"count": TRIALS}, "thresholds": {"passScore": 1}, "tasks": entries}


_CALLS = range(CALLS)


def _tool(number: int) -> str:
    return ("lookup", "update", "list")[number % 3]


def _inputs(number: int) -> dict[str, Any]:
    return {"order": f"o-{number}", "limit": number, "filter": {"state": ["open", "paid"]}}


def _payloads(tasks: int) -> Iterator[tuple[str, Any]]:
    of = {"suiteId": _SUITE["suiteId"], "suiteVersion": "1.0.0", "taskCount": tasks}
    yield "eval.started", {**of, "modes": ["golden"], "trialCount": TRIALS}
    for task in range(tasks):
        for trial in range(TRIALS):
            yield from _trial(f"t{task}", trial)
    end = {"aggregateScore": 1, "passed": True, "taskCount": tasks, "passedCount": tasks}
    yield "eval.completed", end


def _trial(task: str, trial: int) -> Iterator[tuple[str, Any]]:
    bracket = {"invocationId": f"{task}.{trial}", "agentId": "agent"}
    yield "agent.invocation-started", {**bracket, "source": "run-api"}
    for number in _CALLS:
        call = {"agentId": "agent", "toolName": f"shop:{_tool(number)}", "callId": f"c{number}"}
        answer = {"content": [{"type": "text", "text": "an order with its lines " * 3}]}
        yield "agent.tool-called", {**call, "inputs": _inputs(number), "transport": "mcp"}
        yield "agent.tool-returned", {**call, "durationMs": 3, "outcome": answer}
    yield (
        "agent.invocation-completed",
        {**bracket, "outcome": "completed", "x-sidecar-output": "done"},
    )
    score = {"taskId": task, "trialIndex": trial, "score": 1, "passed": True}
    yield "eval.scored", {**score, "evaluatorType": "deterministic"}


def _graded(folder: Path, tasks: int) -> Took:
    """Grade such a log in a process of its own.

    Raises:
        ContestantError: If it does not pass, as it has to.
    """
    (folder / "suite.json").write_text(json.dumps(suite(tasks)), encoding="utf-8")
    with (folder / "events.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(event) + "\n" for event in events(tasks))
    command = [sys.executable, "-m", "sidecar", "grade", "suite.json", "events.jsonl", "--json"]
    env = {**environment(), "PYTHONPATH": str(ROOT)}
    begun = time.perf_counter()
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=out, stderr=err)
        # wait4 is the one that tells what a process used; the grade itself has an end.
        _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        said = (folder / "err").read_text("utf-8", "replace")[-500:]
        raise ContestantError(f"grade ended with {process.returncode}: {said}")
    return Took(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * _KILO_BYTES)


def _matching() -> float:
    """Match loose expectations that are listed before the exact ones they must make way for."""
    half = MATCHED // 2
    loose = [ExpectedCall(tool="shop:lookup")] * half
    exact = [
        ExpectedCall(tool="shop:lookup", args=_inputs(number), args_match="exact")
        for number in range(half)
    ]
    grader = TrajectoryGrader(Trajectory(match="any-order", calls=(*loose, *exact)))
    observed = [ObservedCall("shop:lookup", _inputs(number)) for number in range(MATCHED)]
    begun = time.perf_counter()
    found = grader.grade(observed)
    seconds = time.perf_counter() - begun
    if found.counts.matched_count != MATCHED:
        raise ContestantError(f"{found.counts.matched_count} of {MATCHED} calls were matched")
    return seconds


def _line(name: str, unit: str, value: float, limit: float) -> Line:
    return Line(_SECTION, name, unit, {OURS: value}, limit=limit)
