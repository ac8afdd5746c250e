import json

import pytest

from sidecar.cassette.interaction import Cassette, Interaction, Response, Server
from sidecar.cassette.matcher import Hit, Matcher
from sidecar.cassette.redacting import redacted
from sidecar.cassette.redaction.message_data import in_data, is_identifier
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.wire.json_text import JsonValue


def marked(value: JsonValue) -> JsonValue:
    return "*" if value != {} else value


@pytest.mark.parametrize(
    ("message", "changed"),
    [
        pytest.param(
            {"name": "t", "arguments": {"a": 1}}, {"name": "t", "arguments": "*"}, id="a call"
        ),
        pytest.param({"name": "t"}, {"name": "t"}, id="a call without arguments"),
        pytest.param({"uri": "x://a", "_meta": {}}, {"uri": "x://a", "_meta": {}}, id="a read"),
        pytest.param(
            {"code": 1, "message": "m", "data": [2]},
            {"code": 1, "message": "*", "data": "*"},
            id="an error",
        ),
        pytest.param(
            {"content": [{"type": "text", "text": "a", "annotations": {"x": 1}}], "isError": True},
            {"content": [{"type": "text", "text": "*", "annotations": {"x": 1}}], "isError": True},
            id="a result",
        ),
        pytest.param(
            {"content": [{"type": "resource", "resource": {"uri": "x", "text": "a"}}]},
            {"content": [{"type": "resource", "resource": {"uri": "x", "text": "*"}}]},
            id="an embedded resource",
        ),
        pytest.param(
            {"content": [], "more": 1}, {"content": [], "more": "*"}, id="an unknown member"
        ),
        pytest.param({"structuredContent": {"a": 1}}, {"structuredContent": "*"}, id="structured"),
        pytest.param(
            {"contents": [{"uri": "x", "text": "a"}]},
            {"contents": [{"uri": "x", "text": "*"}]},
            id="resources",
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": {"type": "text", "text": "a"}}]},
            {"messages": [{"role": "user", "content": {"type": "text", "text": "*"}}]},
            id="a prompt",
        ),
        pytest.param({"messages": ["x"]}, "*", id="none of the protocol's"),
        pytest.param(
            {"tools": [{"name": "t", "description": "d", "inputSchema": {"title": "x"}}]},
            {"tools": [{"name": "t", "description": "*", "inputSchema": {"title": "x"}}]},
            id="a list of tools",
        ),
        pytest.param(
            {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "v"}},
            {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "*"}},
            id="a completion",
        ),
        pytest.param(
            {"completion": {"values": ["a"], "total": 1}},
            {"completion": {"values": "*", "total": 1}},
            id="its values",
        ),
        pytest.param(
            {"action": "accept", "content": {"a": 1}},
            {"action": "accept", "content": "*"},
            id="what a user filled in",
        ),
        pytest.param({"level": "info", "data": "x"}, {"level": "info", "data": "*"}, id="a log"),
        pytest.param(
            {
                "inputRequests": {
                    "k": {
                        "method": "elicitation/create",
                        "params": {"message": "m", "requestedSchema": {}},
                    }
                }
            },
            {
                "inputRequests": {
                    "k": {
                        "method": "elicitation/create",
                        "params": {"message": "*", "requestedSchema": {}},
                    }
                }
            },
            id="what is asked for",
        ),
        pytest.param(
            {"inputResponses": {"k": {"action": "accept", "content": {"a": 1}}}},
            {"inputResponses": {"k": {"action": "accept", "content": "*"}}},
            id="what is answered",
        ),
        pytest.param({"ward": "7b"}, "*", id="an object of anybody's"),
        pytest.param(["a"], "*", id="a list"),
    ],
)
def test_only_data_is_changed(message: JsonValue, changed: JsonValue) -> None:
    assert in_data(message, marked) == changed


def test_what_stays_is_the_same_object() -> None:
    message: JsonValue = {"content": [{"type": "text", "text": "a"}], "structuredContent": {}}

    assert in_data(message, lambda value: value) is message


def test_identifiers_are_what_programs_call_things() -> None:
    assert all(map(is_identifier, ("query", "line_2", "due-date", "$ref", "maxItems")))
    assert not any(map(is_identifier, ("ACME-17", "MRN123456", "a b", "ann@x.test", "1")))


TOOLS = {"tools": [{"name": "text_find", "inputSchema": {"properties": {"name": {}}}}]}
CALL = {"name": "text_find", "arguments": {"name": "bob", "q": "some text"}}
RESULT = {
    "content": [{"type": "text", "text": "name=bob77 text=hidden77"}],
    "structuredContent": {"name": "b"},
}


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(Redactor(b"", key_names=["name"]), id="the name `name`"),
        pytest.param(Redactor(b"", key_names=["text"]), id="the name `text`"),
        pytest.param(Redactor(b"", patterns=["tex"]), id="the pattern `tex`"),
        pytest.param(Redactor(b"", patterns=[".*"]), id="every text"),
    ],
)
def test_x13_no_rule_of_a_users_masks_what_the_protocol_owns(rule: Redactor) -> None:
    cassette = Cassette(
        (
            Interaction("s", "tools/list", "{}", Response("result", json.dumps(TOOLS))),
            Interaction(
                "s", "tools/call", json.dumps(CALL), Response("result", json.dumps(RESULT))
            ),
        ),
        {"s": Server("2025-11-25")},
    )

    listed, called = redacted(cassette, {"rule": rule}).cassette.interactions

    assert rule.masked > 0
    assert listed.response
    assert json.loads(listed.response.text) == TOOLS
    params = json.loads(called.params or "")
    assert (params["name"], set(params["arguments"])) == ("text_find", {"name", "q"})
    result = json.loads(called.response.text if called.response else "")
    (block,) = result["content"]
    assert (set(result), set(block), block["type"]) == (set(RESULT), {"type", "text"}, "text")


class Unmasked:
    """Masks nothing: a replay without the rule that the cassette was masked by."""

    def json_text(self, text: str) -> str:
        return text


@pytest.mark.parametrize("rule", ["name", "text"])
@pytest.mark.parametrize("pattern", ["tex", ".*"])
def test_x13_a_call_is_found_again_that_a_rule_of_a_users_masked(rule: str, pattern: str) -> None:
    asked = json.dumps(CALL)
    entry = Interaction("s", "tools/call", asked, Response("result", json.dumps(RESULT)))
    rules = Redactor(b"", key_names=[rule], patterns=[pattern])
    cassette = redacted(Cassette((entry,), {"s": Server("2025-11-25")}), {"rule": rules}).cassette

    assert cassette.interactions[0].params != asked
    for masks in (Unmasked(), rules):
        found = Matcher(cassette.interactions, masks).take("s", "tools/call", asked)
        assert isinstance(found, Hit)
