"""A recorded run becomes a task: its answers fixtures, its calls the expected path (R43).

What is kept of a call: `args` with `argsMatch: exact`, the answer, whether it failed. A
run that did not end as it should is refused with the reason (P01); what a live agent can
never send again, a masked secret, is not expected of it (P02).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sidecar.cassette.arguments import Absent
from sidecar.cassette.interaction import Cassette
from sidecar.errors import PromotionError, UsageError
from sidecar.suite.calls import RecordedCall, recorded_calls
from sidecar.suite.golden import golden_of
from sidecar.suite.loosening import (
    IgnoredArgument,
    Loosened,
    is_masked,
    loosened,
    points_into,
)
from sidecar.suite.masked_remarks import masked_remarks
from sidecar.suite.model import Task
from sidecar.suite.overlaps import overlap_remarks
from sidecar.suite.validation import validated
from sidecar.suite.wanted import Recording, Remark, Wanted
from sidecar.wire.json_text import JsonValue, NotJsonError, parse

UNANSWERED_TEXT = "This call was never answered when it was recorded."
CANCELLED_TEXT = "This call was cancelled when it was recorded."
FORBIDDEN_TEXT = "This tool must not be called for this task."


class Promoted(NamedTuple):
    """A task, and what the user should know of it."""

    task: Task
    remarks: tuple[Remark, ...]


def promoted(recording: Recording, wanted: Wanted) -> Promoted:
    """Make a task of a recorded run.

    Raises:
        PromotionError: If the run must not become a task, with the reasons.
        UsageError: If what is wanted does not fit the run.
    """
    calls = recorded_calls(recording.cassette.interactions, recording.spans)
    _refuse_unfit(recording, calls, wanted)
    _refuse_misfit(calls, wanted)
    remarks = [*_call_remarks(calls, wanted), *_forbidden_remarks(recording.cassette, wanted)]
    expectations = [loosened(call.arguments, _ignored(call, wanted)) for call in calls]
    remarks += masked_remarks(calls, expectations)
    remarks += overlap_remarks(calls, expectations, wanted)
    expected = {**golden_of(recording, wanted, remarks), **_trajectory(calls, expectations, wanted)}
    if len(expected) == 1:  # the kind alone
        raise UsageError(
            "with --trajectory none and no output to compare, the task would grade nothing",
            hint="choose a trajectory, or give --match contains:TEXT",
        )
    value = {
        "taskId": wanted.task_id,
        "input": _input(recording, remarks),
        "expected": expected,
        "fixtures": {
            "toolResponses": [*map(_entry, calls, expectations), *_forbidden_entries(wanted)],
            "onMiss": "fail",
        },
    }
    task = validated(Task, value, name=f"task {wanted.task_id!r}")
    return Promoted(task, tuple(remarks))


def _refuse_unfit(recording: Recording, calls: Sequence[RecordedCall], wanted: Wanted) -> None:
    if not calls:
        raise PromotionError(
            "the run called no tool, so there is nothing to replay",
            place=recording.name,
            hint="record a run in which the agent uses its tools",
        )
    _refuse_colons(recording, calls)
    reasons = _unfit(recording, calls)
    if reasons and not wanted.allows_incomplete:
        raise PromotionError(
            "the run is not fit to become a task: " + "; ".join(reasons),
            place=recording.name,
            hint="record it again, or give --allow-incomplete to take it as it is",
        )


def _refuse_colons(recording: Recording, calls: Sequence[RecordedCall]) -> None:
    """A suite says `<server>:<tool>`: the first colon must be the one between them."""
    called = {call.tool for call in calls}
    for server in recording.cassette.servers:
        if ":" in server and any(tool.startswith(f"{server}:") for tool in called):
            raise PromotionError(
                f"the server's name {server!r} holds a colon, so a suite cannot name its tools",
                place=recording.name,
                hint="give the server a name without one in the config, and record again",
            )


def _unfit(recording: Recording, calls: Sequence[RecordedCall]) -> list[str]:
    reasons = list(recording.doubts)
    if not recording.cassette.complete and not reasons:
        reasons.append("its recording is not complete: the agent or a server did not end in order")
    for call in calls:
        if call.is_unfinished:
            reasons.append(f"{call.name} {_how_unfinished(call)}")
    return reasons


def _how_unfinished(call: RecordedCall) -> str:
    if call.response is not None:
        return "asked for input and never got it"
    return "was cancelled" if call.cancelled else "was never answered"


def _refuse_misfit(calls: Sequence[RecordedCall], wanted: Wanted) -> None:
    called = {call.tool for call in calls}
    for tool in wanted.forbidden:
        if ":" not in tool:
            raise UsageError(
                f"--forbid {tool!r} names no server",
                hint="write SERVER:TOOL, such as git:git_reset",
            )
        if tool in called:
            raise PromotionError(
                f"the run itself calls {tool}, which --forbid forbids",
                hint="record a run that does without it, or do not forbid it",
            )
    for one in wanted.ignored:
        if not any(call.tool == one.tool and points_into(call.arguments, one) for call in calls):
            raise UsageError(
                f"--ignore-arg {one.tool}:{one.pointer} is in no call of the run",
                hint=_ignorable(calls, one.tool),
            )


def _ignorable(calls: Sequence[RecordedCall], tool: str) -> str:
    names = {
        name: None
        for call in calls
        if call.tool == tool and isinstance(call.arguments, dict)
        for name in call.arguments
    }
    if names:
        return f"arguments of {tool}: {', '.join(names)}"
    return f"the run calls {', '.join(dict.fromkeys(call.tool for call in calls))}"


def _ignored(call: RecordedCall, wanted: Wanted) -> list[IgnoredArgument]:
    return [one for one in wanted.ignored + wanted.usually_ignored if one.tool == call.tool]


def _is_retried(call: RecordedCall, calls: Iterable[RecordedCall]) -> bool:
    return call.is_error and any(
        other.number > call.number
        and other.tool == call.tool
        and not other.is_error
        and not other.is_unfinished
        for other in calls
    )


def _call_remarks(calls: Sequence[RecordedCall], wanted: Wanted) -> list[Remark]:
    found: list[Remark] = []
    for call in calls:
        if _is_retried(call, calls):
            rest = (
                "it left the expected path, and its fixture stays"
                if wanted.drops_retried
                else "it stays in the expected path; --drop-retried leaves such calls out"
            )
            found.append(Remark("retried", f"{call.name} failed, and worked later: {rest}"))
        if call.is_unfinished:
            how = _how_unfinished(call)
            found.append(Remark("unfinished", f"{call.name} {how}; it is served as a tool error"))
        elif call.response is not None and call.response.member == "error":
            found.append(
                Remark(
                    "rpc-error",
                    f"{call.name} was answered by a JSON-RPC error; a fixture can only serve it "
                    "as a tool error",
                )
            )
        if call.asked:
            found.append(
                Remark(
                    "asked",
                    f"{call.name} asked the client for something while it ran; a fixture only "
                    "gives its result",
                )
            )
    return found


def _forbidden_remarks(cassette: Cassette, wanted: Wanted) -> list[Remark]:
    return [
        Remark("forbidden", f"--forbid {tool}: the recording has no server of that name")
        for tool in wanted.forbidden
        if tool.partition(":")[0] not in cassette.servers
    ]


def _entry(call: RecordedCall, expected: Loosened) -> dict[str, JsonValue]:
    entry: dict[str, JsonValue] = {"tool": call.tool}
    if not isinstance(expected.arguments, Absent):
        entry["args"] = expected.arguments
    entry["argsMatch"] = expected.args_match
    entry["response"] = _response(call)
    if call.is_error or call.is_unfinished:
        entry["isError"] = True
    return entry


def _forbidden_entries(wanted: Wanted) -> list[JsonValue]:
    """Answer a forbidden call with an error.

    Unanswered it would be a miss, which makes the score 0 (RFC 0244 §D); answered, the
    score stays what the output is worth, and the path alone shuts the gate (RFC 0246).
    """
    return [
        {"tool": tool, "argsMatch": "ignore", "response": FORBIDDEN_TEXT, "isError": True}
        for tool in dict.fromkeys(wanted.forbidden)
    ]


def _response(call: RecordedCall) -> JsonValue:
    """Give what the entry serves: the result as recorded, or an error's payload as text."""
    response = call.response
    if call.is_unfinished or response is None:
        return CANCELLED_TEXT if call.cancelled else UNANSWERED_TEXT
    if response.member == "error":
        return response.text
    try:
        return _with_content(parse(response.text))
    except NotJsonError:
        raise PromotionError(
            f"the result of {call.name} nests too deep to be read",
            hint="leave that call out of what you record",
        ) from None


def _with_content(result: JsonValue) -> JsonValue:
    # A server may leave `content` out; only with one is a response served as a result (R42).
    if isinstance(result, dict) and not isinstance(result.get("content"), list):
        return {**result, "content": []}
    return result


def _trajectory(
    calls: Sequence[RecordedCall], expected: Sequence[Loosened], wanted: Wanted
) -> dict[str, JsonValue]:
    if wanted.trajectory is None and not wanted.forbidden:
        return {}
    kept = [
        _expected_call(call, one)
        for call, one in zip(calls, expected, strict=True)
        if not (wanted.drops_retried and _is_retried(call, calls))
    ]
    # Without a path to compare, `in-order` without calls is a pure ban list (R9).
    trajectory: dict[str, JsonValue] = {
        "match": wanted.trajectory or "in-order",
        "calls": kept if wanted.trajectory else [],
    }
    if wanted.forbidden:
        trajectory["forbidden"] = list(dict.fromkeys(wanted.forbidden))
    return {"trajectory": trajectory}


def _expected_call(call: RecordedCall, expected: Loosened) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {"tool": call.tool}
    if not isinstance(expected.arguments, Absent):
        found["args"] = expected.arguments
    return {**found, "argsMatch": expected.args_match}


def _input(recording: Recording, remarks: list[Remark]) -> JsonValue:
    if isinstance(recording.input, Absent):
        remarks.append(
            Remark("input", "the agent's input is not known, and is null; give it with --input")
        )
        return None
    if is_masked(recording.input):
        remarks.append(
            Remark("input", "a secret is masked in the input, and the agent will see the mask")
        )
    return recording.input
