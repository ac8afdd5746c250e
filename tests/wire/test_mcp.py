"""What is read of MCP, in both eras."""

import json

import pytest

from sidecar.wire.mcp import (
    META_CLIENT,
    META_VERSION,
    Rounds,
    ToolCall,
    client_name,
    is_finished,
    is_tool_error,
    members_of,
    modern_version,
    progress_token,
    read_tool_call,
    rounds,
    without_meta,
)

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("params", "call"),
    [
        pytest.param(
            '{"name":"e\\u0063ho","arguments":{"a": 1e2},"_meta":{"progressToken":"t1"}}',
            ToolCall("echo", '{"a": 1e2}', '"t1"'),
            id="whole",
        ),
        pytest.param('{"name":"echo"}', ToolCall("echo", "{}", None), id="J19 absent arguments"),
        pytest.param(
            '{"name":"echo","arguments":null}', ToolCall("echo", "null", None), id="J19 null"
        ),
        pytest.param(
            '{"name":"echo","arguments":[]}', ToolCall("echo", "[]", None), id="J19 no object"
        ),
        pytest.param('{"name":5}', ToolCall("", "{}", None), id="the name is no string"),
        pytest.param("[1]", ToolCall("", "{}", None), id="params are no object"),
        pytest.param(None, ToolCall("", "{}", None), id="no params"),
        pytest.param('{"name":', ToolCall("", "{}", None), id="no JSON"),
        pytest.param(
            f'{{"name":"echo","arguments":{DEEP}}}',
            ToolCall("echo", DEEP, None),
            id="100,000 levels",
        ),
    ],
)
def test_a_tool_call_is_read(params: str | None, call: ToolCall) -> None:
    assert read_tool_call(params) == call


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(
            '{"resultType":"input_required","requestState":"s1","inputRequests":{}}',
            Rounds(asks_input=True, state='"s1"', responses=None),
            id="asks",
        ),
        pytest.param(
            '{"resultType":"input_required","inputRequests":{}}',
            Rounds(asks_input=True, state=None, responses=None),
            id="asks without a state",
        ),
        pytest.param(
            '{"name":"book","inputResponses":{"a": 1},"requestState":"s1"}',
            Rounds(asks_input=False, state='"s1"', responses='{"a": 1}'),
            id="goes on",
        ),
        pytest.param(
            '{"requestState":"a\\u002Bb\\/c"}',
            Rounds(asks_input=False, state='"a+b/c"', responses=None),
            id="a state is the same in any spelling",
        ),
        pytest.param(
            '{"requestState":{"a": 1}}',
            Rounds(asks_input=False, state='{"a": 1}', responses=None),
            id="a state that is no string",
        ),
        pytest.param(
            '{"resultType":"complete","content":["input"]}',
            Rounds(asks_input=False, state=None, responses=None),
            id="complete",
        ),
        pytest.param(
            '{"resultType":"later","content":["input_required"]}',
            Rounds(asks_input=False, state=None, responses=None),
            id="N05 an unknown result type",
        ),
        pytest.param(None, Rounds(asks_input=False, state=None, responses=None), id="nothing"),
        pytest.param(
            '["requestState"]', Rounds(asks_input=False, state=None, responses=None), id="no object"
        ),
    ],
)
def test_n04_the_rounds_of_a_call_are_told_by_state_and_responses(
    text: str | None, found: Rounds
) -> None:
    assert rounds(text) == found


@pytest.mark.parametrize(
    ("params", "token"),
    [
        ('{"_meta":{"progressToken":"t1"}}', '"t1"'),
        ('{"_meta":{"progressToken": 7}}', "7"),
        ('{"_meta":{}}', None),
        ('{"progressToken":7}', None),
        ('{"_meta":"progressToken"}', None),
        ("[]", None),
        (None, None),
    ],
)
def test_j10_a_progress_token_stands_in_the_meta(params: str | None, token: str | None) -> None:
    assert progress_token(params) == token


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        pytest.param('{"isError": true,"content":[]}', True, id="J13 true"),
        pytest.param('{"isError":true,"structuredContent":{"code":1}}', True, id="J14 no content"),
        pytest.param('{"content":[]}', False, id="J13 absent"),
        pytest.param('{"isError":false}', False, id="J13 false"),
        pytest.param('{"isError":"true"}', False, id="no boolean"),
        pytest.param('{"structuredContent":{"isError":true}}', False, id="nested"),
        pytest.param('["isError"]', False, id="no object"),
    ],
)
def test_a_tool_error_says_so_in_its_result(result: str, *, failed: bool) -> None:
    assert is_tool_error(result) is failed


@pytest.mark.parametrize(
    ("result", "finished"),
    [
        pytest.param('{"content":[]}', True, id="the handshake era has no types"),
        pytest.param('{"resultType":"complete"}', True, id="N05 complete"),
        pytest.param('{"resultType":"later"}', False, id="N05 unknown"),
        pytest.param('{"resultType":"input_required"}', False, id="N04 another round follows"),
        pytest.param('{"structuredContent":{"resultType":"later"}}', True, id="nested"),
        pytest.param('{"resultType": "complete"}', True, id="spaced"),
        pytest.param('{"resultType": "later"}', False, id="spaced, unknown"),
        pytest.param(
            '{"resultType":"later","structuredContent":{"resultType":"complete"}}',
            False,
            id="a nested one does not count",
        ),
    ],
)
def test_a_result_ends_its_request_unless_its_type_says_otherwise(
    result: str, *, finished: bool
) -> None:
    assert is_finished(result) is finished


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        pytest.param("initialize", {"clientInfo": {"name": "a"}}, "a", id="handshake"),
        pytest.param("tools/call", {"_meta": {META_CLIENT: {"name": "b"}}}, "b", id="modern"),
        pytest.param("tools/call", {"clientInfo": {"name": "a"}}, None, id="not in other requests"),
        pytest.param("initialize", {"clientInfo": {"name": 5}}, None, id="no string"),
        pytest.param("initialize", {"clientInfo": "a"}, None, id="no object"),
        pytest.param("initialize", [], None, id="params are no object"),
    ],
)
def test_a_client_names_itself(method: str, params: object, name: str | None) -> None:
    assert client_name(method, json.dumps(params)) == name


@pytest.mark.parametrize(
    ("params", "version"),
    [
        ({"_meta": {META_VERSION: "2026-07-28"}}, "2026-07-28"),
        ({"_meta": {META_VERSION: 2026}}, None),
        ({"protocolVersion": "2025-11-25"}, None),
        ([], None),
    ],
)
def test_n01_a_modern_request_carries_its_version(params: object, version: str | None) -> None:
    assert modern_version(json.dumps(params)) == version


@pytest.mark.parametrize("text", [None, "", "[1]", "5", '{"a":', "nonsense"])
def test_what_is_no_object_has_no_members_here(text: str | None) -> None:
    assert members_of(text) == {}


@pytest.mark.parametrize(
    "params",
    [
        pytest.param('{"a": 1e2, "_meta": {"x": 1.0}}', id="nothing to take out"),
        pytest.param('{"a": "_meta"}', id="no meta"),
        pytest.param('{"_meta": [1]}', id="meta is no object"),
        pytest.param('["_meta"]', id="no object"),
        pytest.param('{"_meta"', id="no JSON"),
    ],
)
def test_params_without_anything_to_take_out_stay_the_same(params: str) -> None:
    assert without_meta(params, ("progressToken",)) == params


def test_the_rest_of_the_params_keeps_its_spelling() -> None:
    params = '{"a": 1e2, "_meta":{"progressToken":1,"x": 1.0}, "b":"\\u00e9"}'

    assert without_meta(params, ("progressToken",)) == '{"a":1e2,"_meta":{"x":1.0},"b":"\\u00e9"}'
