"""The whole run event, v2, as a strict model: what a log that we write must satisfy.

Reading a log goes through `events`, which takes less and forgives v1.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import PlainValidator, ValidationInfo

from sidecar.suite.model_base import (
    Count,
    EventId,
    Model,
    NodeId,
    Positive,
    RunId,
    Text,
    Timestamp,
)
from sidecar.suite.payloads import PAYLOADS
from sidecar.suite.validation import Problem, problems_in
from sidecar.wire.json_text import JsonValue


def _typed(value: JsonValue, info: ValidationInfo) -> object:
    kind = PAYLOADS.get(info.data.get("type", ""))
    if kind is None or isinstance(value, kind):
        return value
    return kind.model_validate(value, context=info.context, by_name=False, by_alias=True)


class RunEventDocument(Model):
    """One event of a run's log (RunEventDoc), closed.

    Attributes:
        type: Two dot segments in kebab case, or a vendor's own type.
        payload: The payload model of a type that is known, else any JSON value.
        sequence: From 0, strictly increasing within a run: the only order there is.
        causation_id: `eventId` of the event that this one answers.
    """

    event_id: EventId
    run_id: RunId
    sequence: Count
    type: Text
    timestamp: Timestamp
    schema_version: Positive
    node_id: NodeId | None = None
    engine_version: Count | None = None
    causation_id: EventId | None = None
    payload: Annotated[Any, PlainValidator(_typed)]


def event_problems(value: JsonValue) -> tuple[Problem, ...]:
    """List what keeps a JSON value from being a v2 run event; empty where it is one."""
    return problems_in(RunEventDocument, value)
