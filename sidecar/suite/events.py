"""Reading a log of run events, event by event.

Both spellings of an event's type are read, v1's and v2's; v2's is what a reader sees.
Unknown types are carried and ignored. A log is read lazily, and an event keeps what a
grader reads of it and no more: a million events take neither room nor long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from sidecar.cassette.arguments import ABSENT, Absent
from sidecar.cassette.outcome import ANSWERED_LIVE
from sidecar.errors import SuiteError
from sidecar.suite.event_document import RunEventDocument
from sidecar.suite.json_reading import as_text, decode_event, decode_line, parse_json
from sidecar.suite.model_base import RUN_ID_PATTERN, V1, Model
from sidecar.suite.payloads import (
    PAYLOADS,
    EvalCompleted,
    EvalScored,
    EvalStarted,
    InvocationCompleted,
    InvocationStarted,
    ProviderUsage,
    ToolCalled,
    ToolReturned,
    TrialUnjudged,
)
from sidecar.suite.validation import AnyModel, validated
from sidecar.wire.json_text import JsonValue

V2_NAMES: Final[Mapping[str, str]] = {
    "agent.toolCalled": "agent.tool-called",
    "agent.toolReturned": "agent.tool-returned",
    "agent.invocation.started": "agent.invocation-started",
    "agent.invocation.completed": "agent.invocation-completed",
    "agent.promptResolved": "agent.prompt-resolved",
    "agent.reasoning.delta": "agent.reasoning-delta",
}
"""v2's spelling of the event types that v1 spells otherwise."""

_RUN_ID = re.compile(RUN_ID_PATTERN)
_ENVELOPE = frozenset(
    (
        "eventId",
        "runId",
        "type",
        "payload",
        "timestamp",
        "sequence",
        "schemaVersion",
        "nodeId",
        "causationId",
    )
)
_HINT = "give the event log as JSON Lines or as one JSON array of run events"


class ToolCall(NamedTuple):
    """What a grader reads of an `agent.tool-called`.

    Attributes:
        agent_id: The agent that asked.
        tool: `<server>:<tool>`.
        call_id: Pairs the call with its return.
        inputs: The arguments, or `ABSENT` where the log withholds them.
    """

    agent_id: str
    tool: str
    call_id: str
    inputs: JsonValue | Absent


class ToolReturn(NamedTuple):
    """What a grader reads of an `agent.tool-returned`.

    Attributes:
        agent_id: The agent that asked.
        tool: `<server>:<tool>`.
        call_id: That of the call.
        error_code: Code of the failure, or None where the call succeeded.
        answered_live: Whether it was a miss that a live tool answered (`x-sidecar-miss`).
    """

    agent_id: str
    tool: str
    call_id: str
    error_code: str | None
    answered_live: bool


EventPayload: TypeAlias = (
    ToolCall
    | ToolReturn
    | InvocationStarted
    | InvocationCompleted
    | ProviderUsage
    | EvalStarted
    | EvalScored
    | EvalCompleted
    | TrialUnjudged
    | None
)
"""What an event carries; None for a type that no grader reads."""


_Envelope: TypeAlias = tuple[int, str, str, str, str | None]


class RunEvent(NamedTuple):
    """One event of a run's log, as a grader reads it.

    Attributes:
        sequence: From 0, strictly increasing within a run: the only order there is.
        type: The event's type, in v2's spelling.
        run_id: The run.
        event_id: The event's own id.
        causation_id: `eventId` of the event that this one answers, or None.
        payload: What it carries; None for a type that no grader reads.
    """

    sequence: int
    type: str
    run_id: str
    event_id: str
    causation_id: str | None
    payload: EventPayload


def event_from_json(value: JsonValue, *, name: str = "event") -> RunEvent:
    """Read one event, v1 or v2, from its JSON value.

    A v1 event is known by its type's spelling, a missing `schemaVersion`, or a run id
    without a tenant. Its envelope and payload are open, and its ids have no pattern.

    Args:
        value: The event.
        name: What to call it in an error, for example `events.jsonl:17`.

    Raises:
        SuiteError: If it is no event, or a payload that is read breaks its model.
    """
    event = _plain_event(value)
    if event is not None:
        return event
    if not isinstance(value, dict):
        raise SuiteError("an event is a JSON object", place=name, hint=_HINT)
    sequence, kind, run_id, event_id, cause = _plain_envelope(value) or _checked_envelope(
        value, name
    )
    reader = _READERS.get(kind)
    payload = reader(value["payload"], value, name) if reader else None
    return RunEvent(sequence, kind, run_id, event_id, cause, payload)


def _plain_event(value: JsonValue) -> RunEvent | None:
    """Read one of the many events that need no model to look at them.

    Returns:
        The event, or None for one of a rarer type, or with anything odd about it.
    """
    envelope = _plain_envelope(value)
    reader = _PLAIN_READERS.get(envelope[1]) if envelope else None
    payload = reader(value["payload"]) if reader else None
    return RunEvent(*envelope, payload) if envelope and payload else None


def _plain_envelope(value: JsonValue) -> _Envelope | None:
    if type(value) is not dict or "payload" not in value:
        return None
    sequence, event_id, run_id = value.get("sequence"), value.get("eventId"), value.get("runId")
    kind, cause = value.get("type"), value.get("causationId")
    if type(sequence) is not int or sequence < 0 or not event_id or not run_id:
        return None
    # Exactly `str`: neither a number nor a boolean, and no subclass.
    if not (type(event_id) is type(run_id) is type(kind) is str):
        return None
    if cause is not None and type(cause) is not str:
        return None
    return sequence, V2_NAMES.get(kind, kind), run_id, event_id, cause


def _checked_envelope(value: dict[str, JsonValue], name: str) -> _Envelope:
    if _is_v1(value):
        kept = {key: item for key, item in value.items() if key in _ENVELOPE}
        kept["schemaVersion"] = value.get("schemaVersion") or 1
        event = validated(RunEventDocument, kept, name=name, context={V1: True})
    else:
        event = validated(RunEventDocument, value, name=name)
    kind = V2_NAMES.get(event.type, event.type)
    return event.sequence, kind, event.run_id, event.event_id, event.causation_id


def _is_v1(value: Mapping[str, JsonValue]) -> bool:
    run_id = value.get("runId")
    return (
        value.get("type") in V2_NAMES
        or not value.get("schemaVersion")
        or (isinstance(run_id, str) and not _RUN_ID.fullmatch(run_id))
    )


def _payload(kind: type[AnyModel], payload: JsonValue, value: JsonValue, name: str) -> AnyModel:
    context = {V1: True} if _is_v1(value) else None
    return validated(kind, payload, name=f"{name} /payload", context=context)


def _read_model(kind: type[Model]) -> Callable[[JsonValue, JsonValue, str], Any]:
    return lambda payload, value, name: _payload(kind, payload, value, name)


def _read_called(payload: JsonValue, value: JsonValue, name: str) -> ToolCall:
    model = _payload(ToolCalled, payload, value, name)
    inputs = model.inputs if model.has("inputs") else ABSENT
    return ToolCall(model.agent_id, model.tool_name, model.call_id, inputs)


def _read_returned(payload: JsonValue, value: JsonValue, name: str) -> ToolReturn:
    model = _payload(ToolReturned, payload, value, name)
    code = model.error.code if model.error else None
    live = model.extension(ANSWERED_LIVE) is True
    return ToolReturn(model.agent_id, model.tool_name, model.call_id, code, live)


def _plain_called(payload: JsonValue) -> ToolCall | None:
    if type(payload) is not dict:
        return None
    agent, tool, call = payload.get("agentId"), payload.get("toolName"), payload.get("callId")
    if not (type(agent) is type(tool) is type(call) is str and tool and call):
        return None
    return ToolCall(agent, tool, call, payload.get("inputs", ABSENT))


def _plain_returned(payload: JsonValue) -> ToolReturn | None:
    if type(payload) is not dict or "error" in payload:
        return None
    agent, tool, call = payload.get("agentId"), payload.get("toolName"), payload.get("callId")
    if not (type(agent) is type(tool) is type(call) is str and tool and call):
        return None
    return ToolReturn(agent, tool, call, None, payload.get(ANSWERED_LIVE) is True)


_PLAIN_READERS: Final = {
    "agent.tool-called": _plain_called,
    "agent.tool-returned": _plain_returned,
}

_READERS: Final[Mapping[str, Any]] = {
    **{kind: _read_model(model) for kind, model in PAYLOADS.items()},
    "agent.tool-called": _read_called,
    "agent.tool-returned": _read_returned,
}


def read_events(
    lines: Iterable[str | bytes] | str | bytes, *, name: str = "events"
) -> Iterator[RunEvent]:
    """Read a log, event by event: JSON Lines, or one JSON array.

    Args:
        lines: The log's lines, such as an open file; or its whole text.
        name: What to call the log in an error.

    Raises:
        SuiteError: At the first line that is no event, naming it.
    """
    rest = enumerate(_lines(lines), start=1)
    for number, line in rest:
        text = _stripped(line, name, number)
        if text.startswith("["):
            more = (as_text(line, name=name) for _, line in rest)
            yield from _from_array("\n" * (number - 1) + "\n".join((text, *more)), name)
        elif text == "{":  # pretty-printed: a suite, or a summary
            problem = "this is one JSON document over many lines, and no event log"
            raise SuiteError(problem, place=f"{name}:{number}", hint=_HINT)
        elif text:
            yield _event_of(text, name, number)


def _stripped(line: str | bytes, name: str, number: int) -> str:
    try:
        text = line if isinstance(line, str) else line.decode()
    except UnicodeDecodeError:
        place = f"{name}:{number}"
        raise SuiteError("the line is not UTF-8", place=place, hint="save it as UTF-8") from None
    return text.removeprefix("\ufeff").strip()


def _event_of(text: str, name: str, number: int) -> RunEvent:
    try:
        value = decode_line(text)
    except ValueError as error:
        place = f"{name}:{number}"
        raise SuiteError(f"the line is no JSON: {error}", place=place, hint=_HINT) from None
    return _plain_event(value) or event_from_json(value, name=f"{name}:{number}")


def _lines(lines: Iterable[str | bytes] | str | bytes) -> Iterable[str | bytes]:
    # Not splitlines: JSON strings may hold other characters that Python takes for line ends.
    if isinstance(lines, str):
        return lines.split("\n")
    return lines.split(b"\n") if isinstance(lines, bytes) else lines


def _from_array(text: str, name: str) -> Iterator[RunEvent]:
    for index, value in enumerate(parse_json(text, name=name, read=decode_event)):
        yield event_from_json(value, name=f"{name} /{index}")
