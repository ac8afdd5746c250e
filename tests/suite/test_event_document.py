"""The whole event, v2, closed: what a log that we write must satisfy."""

import pytest

from sidecar.suite.event_document import RunEventDocument, event_problems
from sidecar.suite.model_base import wire_value
from sidecar.suite.payloads import ToolCalled
from tests.eval_data import Json, Log


def event(**more: Json) -> Json:
    return {**Log().called("crm:lookup", {"id": 1}), **more}


def test_a_v2_event_is_read_as_it_is_written() -> None:
    value = event(causationId="e" * 16, nodeId="n", engineVersion=2)
    read = RunEventDocument.model_validate(value, by_name=False, by_alias=True)

    assert isinstance(read.payload, ToolCalled)
    assert wire_value(read) == value


def test_an_unknown_type_is_tolerated_with_any_payload() -> None:
    assert event_problems(event(type="acme.thing-happened", payload=["any"])) == ()


@pytest.mark.parametrize(
    ("bad", "pointer"),
    [
        pytest.param(event(eventId="short"), "/eventId", id="event id"),
        pytest.param(event(runId="no-tenant"), "/runId", id="run id"),
        pytest.param(event(sequence=-1), "/sequence", id="sequence"),
        pytest.param(event(schemaVersion=0), "/schemaVersion", id="schema version"),
        pytest.param(event(timestamp="yesterday"), "/timestamp", id="timestamp"),
        pytest.param(event(extra=1), "/extra", id="an extra key"),
        pytest.param(event(payload={"agentId": "a"}), "/payload/toolName", id="payload"),
        pytest.param(event(nodeId=None), "/nodeId", id="null"),
    ],
)
def test_an_event_that_breaks_a_rule_is_told_where(bad: Json, pointer: str) -> None:
    assert pointer in [problem.pointer for problem in event_problems(bad)]


def test_every_event_of_a_log_for_tests_is_a_v2_event() -> None:
    log = Log().begin({"suiteId": "s", "version": "1", "tasks": [1], "modes": ["golden"]})
    log.trial("task", "a:b").usage().end(1, 1, 1, passed=True)

    assert [event_problems(value) for value in log.events] == [()] * len(log.events)
