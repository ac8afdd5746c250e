"""Lints: what a valid suite says that its author probably did not mean.

Each has a code of its own; none keeps a suite from running. V5, V8, V9, V10 and V11
are rules of docs/grading.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Final

from sidecar.cassette.arguments import Absent, canonical, matches
from sidecar.suite.loosening import loosened
from sidecar.suite.model import AgentEvalSuite, ExpectedCall, FixtureEntry, Task
from sidecar.suite.model_base import wire_value
from sidecar.suite.validation import Problem
from sidecar.wire.json_pointer import inside
from sidecar.wire.json_text import JsonValue, Number

Unmasked = Callable[[JsonValue], Iterator[tuple[str, str]]]
"""Finds secrets left in a JSON value: pairs of a JSON pointer and what is there, in words."""

_LARGEST_INTEGER: Final = 2**53 - 1
"""Beyond it, JavaScript hosts read another number than the one written."""


def lint_suite(suite: AgentEvalSuite, *, unmasked: Unmasked | None = None) -> tuple[Problem, ...]:
    """List what is unwise in a suite, in document order.

    Args:
        suite: The suite.
        unmasked: Finds secrets that are left (V11); without it none is looked for.
    """
    found = list(_suite_lints(suite))
    for index, task in enumerate(suite.tasks):
        found += _task_lints(task, f"/tasks/{index}")
        if unmasked is not None:
            found += _secrets(task, f"/tasks/{index}", unmasked)
    return tuple(found)


def _suite_lints(suite: AgentEvalSuite) -> Iterator[Problem]:
    if suite.thresholds is None or suite.thresholds.pass_score is None:
        yield Problem(
            "no-pass-score",
            "/thresholds",
            "there is no passScore: the bar is 1",
            "give thresholds.passScore, so that every grader holds the same bar",
        )
    if suite.modes == ("live-shadow",) and any(task.fixtures for task in suite.tasks):
        yield Problem("unused-fixtures", "/modes", "mode live-shadow ignores all fixtures")


def _task_lints(task: Task, at: str) -> Iterator[Problem]:
    expected = task.expected
    for kind, other in (("golden", "rubric"), ("rubric", "match")):
        if expected.kind == kind and getattr(expected, other) is not None:
            yield Problem(
                "V5",
                f"{at}/expected/{other}",
                f"kind {kind!r} does not read {other!r}",
                f"take {other!r} out",
            )
    if expected.kind == "rubric":
        yield from _rubric_lints(task, at)
    if expected.match is not None:
        yield from _value_lints(expected.match.value, f"{at}/expected/match/value")
    yield from _trajectory_lints(task, f"{at}/expected/trajectory")
    yield from _fixture_lints(task, f"{at}/fixtures/toolResponses")


def _rubric_lints(task: Task, at: str) -> Iterator[Problem]:
    total = sum(Fraction(str(item.weight)) for item in task.expected.rubric or ())
    if total == 0:
        yield Problem(
            "rubric-weights",
            f"{at}/expected/rubric",
            "all weights are 0: the score is always 0",
            "give the criteria weights that sum to 1",
        )
    elif total != 1:
        yield Problem(
            "rubric-weights",
            f"{at}/expected/rubric",
            f"the weights sum to {float(total):g}, not 1; the score is normalised",
        )


def _trajectory_lints(task: Task, at: str) -> Iterator[Problem]:
    trajectory = task.expected.trajectory
    if trajectory is None:
        return
    if trajectory.match == "subset" and task.expected.kind != "rubric":
        yield Problem(
            "V10",
            f"{at}/match",
            "an agent that calls nothing satisfies 'subset'",
            "add calls that must happen with 'in-order' or 'any-order', if any must",
        )
    called = {call.tool for call in trajectory.calls}
    for index, tool in enumerate(trajectory.forbidden or ()):
        if tool in called:
            yield Problem(
                "V9",
                f"{at}/forbidden/{index}",
                f"{tool!r} is both expected and forbidden",
                "take it out of one of the two",
            )
    for index, call in enumerate(trajectory.calls):
        yield from _call_lints(call, f"{at}/calls/{index}")
        yield from _mask_lints(call, f"{at}/calls/{index}/args")


def _fixture_lints(task: Task, at: str) -> Iterator[Problem]:
    entries = (task.fixtures and task.fixtures.tool_responses) or ()
    for index, entry in enumerate(entries):
        yield from _call_lints(entry, f"{at}/{index}")
        if _says_error(entry.response) and not entry.is_error:
            yield Problem(
                "response-is-error",
                f"{at}/{index}/response",
                "the response says isError, but the entry does not: it is served as a success",
                'say "isError": true beside the response',
            )
    yield from _shadowed(entries, at)


def _says_error(response: JsonValue) -> bool:
    return isinstance(response, dict) and bool(response.get("isError") is True)


def _call_lints(call: ExpectedCall | FixtureEntry, at: str) -> Iterator[Problem]:
    server, colon, tool = call.tool.partition(":")
    if not (server and colon and tool):
        yield Problem(
            "tool-name",
            f"{at}/tool",
            f"no call has the name {call.tool!r}",
            "write '<server>:<tool>', with the server's name in the agent's config",
        )
    arguments = call.arguments
    if isinstance(arguments, Absent):
        return
    yield from _value_lints(arguments, f"{at}/args")
    if call.args_match is None:
        yield Problem(
            "V8",
            f"{at}/args",
            "the args are not compared: argsMatch is absent",
            'say "argsMatch": "exact" or "subset"',
        )
    if call.matching == "exact" and not isinstance(arguments, dict):
        yield Problem(
            "never-matches",
            f"{at}/args",
            "an MCP call's arguments are always an object",
            "write the arguments as an object",
        )
    if call.matching == "subset":
        yield from _loose(arguments, f"{at}/args")


def _mask_lints(call: ExpectedCall, at: str) -> Iterator[Problem]:
    """Find masks that are compared: a call has the value, which may not be masked there (P02)."""
    arguments = call.arguments
    if call.matching == "ignore" or isinstance(arguments, Absent):
        return
    for pointer in loosened(arguments, ()).masked:
        yield Problem(
            "masked-argument",
            at + pointer,
            "a secret is masked here: a call that has it in clear compares as different",
            "leave it out of the expectation, and say argsMatch subset",
        )


def _loose(arguments: JsonValue, at: str, *, nested: bool = False) -> Iterator[Problem]:
    """Find what hangs on a reading of the RFC that other graders may not share (R5b-d)."""
    if not isinstance(arguments, dict):
        if isinstance(arguments, list) or not nested:
            yield Problem(
                "open-reading",
                at,
                "under 'subset' this is compared whole; other graders may differ",
            )
        return
    if nested and not arguments:
        yield Problem(
            "open-reading", at, "under 'subset' {} matches any object; other graders may differ"
        )
    for name, item in arguments.items():
        yield from _loose(item, inside(at, name), nested=True)


def _value_lints(value: JsonValue, at: str) -> Iterator[Problem]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _value_lints(item, inside(at, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _value_lints(item, f"{at}/{index}")
    elif _is_beyond(value):
        yield Problem(
            "big-integer",
            at,
            f"{value} is beyond 2^53 - 1: some hosts read another number",
            "write it as a string, if the tool takes one",
        )


def _is_beyond(value: JsonValue) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | Number):
        return False
    # As a float: an exponent may be astronomic, and its integer must never be built.
    return (isinstance(value, int) and abs(value) > _LARGEST_INTEGER) or (
        abs(float(value)) > _LARGEST_INTEGER
    )


def _shadowed(entries: tuple[FixtureEntry, ...], at: str) -> Iterator[Problem]:
    """Find entries whose calls an earlier, looser entry takes first (R36, F1)."""
    looser: dict[str, list[tuple[int, FixtureEntry]]] = {}
    for index, entry in enumerate(entries):
        earlier = looser.setdefault(entry.tool, [])
        first = next((other for other, loose in earlier if _takes_all_of(loose, entry)), None)
        if first is not None:
            yield Problem(
                "shadowed-fixture",
                f"{at}/{index}",
                f"the first call that this entry is meant for is answered by entry {first + 1},"
                " which is looser and comes first",
                "put the more exact entry first",
            )
        if entry.matching != "exact":
            earlier.append((index, entry))


def _takes_all_of(loose: FixtureEntry, entry: FixtureEntry) -> bool:
    if loose.matching == "ignore":
        return entry.matching != "ignore"
    if entry.matching == "ignore" or not matches("subset", loose.arguments, entry.arguments):
        return False
    return entry.matching == "exact" or canonical(loose.args) != canonical(entry.args)


def _secrets(task: Task, at: str, unmasked: Unmasked) -> Iterator[Problem]:
    for pointer, what in unmasked(wire_value(task)):
        yield Problem(
            "V11",
            at + pointer,
            f"a secret seems to be left: {what}",
            "record it anew",
        )
