"""The routing headers of a request, held to what the SDK's own server says of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.shared.inbound import (
    InboundLadderRejection,
    classify_inbound_request,
    decode_header_value,
    find_duplicated_routing_header,
    validate_mcp_param_headers,
)

from sidecar.wire.jsonrpc import Message, read_line
from sidecar.wire.mcp import META_VERSION
from sidecar.wire.routing_check import RoutingError, check_arguments, check_routing, decoded
from sidecar.wire.routing_headers import mirrored_arguments

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META = {META_VERSION: "2026-07-28", CAPABILITIES: {}}
VERSION = ("mcp-protocol-version", "2026-07-28")
CALL = ("mcp-method", "tools/call")


def body(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}


def message(value: dict[str, Any]) -> Message:
    messages = read_line(json.dumps(value).encode())
    assert messages is not None
    return messages[0]


def code_of_ours(value: dict[str, Any], headers: list[tuple[str, str]]) -> int | None:
    try:
        check_routing(message(value), headers)
    except RoutingError as error:
        return error.code
    return None


def code_of_theirs(value: dict[str, Any], headers: list[tuple[str, str]]) -> int | None:
    if find_duplicated_routing_header(headers):
        return -32020
    verdict = classify_inbound_request(value, headers=dict(headers))
    return verdict.code if isinstance(verdict, InboundLadderRejection) else None


@pytest.mark.parametrize(
    ("value", "headers", "refused"),
    [
        pytest.param(body("tools/list"), [VERSION, ("mcp-method", "tools/list")], None, id="right"),
        pytest.param(
            body("tools/call", name="a"), [VERSION, CALL, ("mcp-name", "a")], None, id="named"
        ),
        pytest.param(
            body("tools/call", name="é"), [VERSION, CALL, ("mcp-name", "=?base64?w6k=?=")], None,
            id="coded",
        ),
        pytest.param(
            body("resources/read", uri="x:y"),
            [VERSION, ("mcp-method", "resources/read"), ("mcp-name", "x:y")], None, id="a resource",
        ),
        pytest.param(body("tools/call"), [VERSION, CALL], None, id="no name, no header"),
        pytest.param(body("tools/call", name="a"), [VERSION, CALL], -32020, id="no name's header"),
        pytest.param(
            body("tools/call", name="a"), [VERSION, CALL, ("mcp-name", "b")], -32020, id="other"
        ),
        pytest.param(
            body("tools/call", name="a"), [VERSION, CALL, ("mcp-name", "=?base64?!?=")], -32020,
            id="coded badly",
        ),
        pytest.param(body("tools/list"), [VERSION, CALL], -32020, id="another method"),
        pytest.param(body("tools/list"), [VERSION], -32020, id="no method's header"),
        pytest.param(body("tools/list"), [("mcp-method", "tools/list")], -32020, id="no revision"),
        pytest.param(
            body("tools/list"),
            [("mcp-protocol-version", "2027-01-01"), ("mcp-method", "tools/list")],
            -32020, id="another revision",
        ),
        pytest.param(
            body("tools/list"), [VERSION, VERSION, ("mcp-method", "tools/list")], -32020, id="twice"
        ),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            [VERSION, ("mcp-method", "tools/list")], -32602, id="no revision in the body",
        ),
    ],
)  # fmt: skip
def test_n02_headers_are_refused_as_the_sdk_refuses_them(
    value: dict[str, Any], headers: list[tuple[str, str]], refused: int | None
) -> None:
    assert code_of_ours(value, headers) == code_of_theirs(value, headers) == refused


def test_names_of_headers_come_in_any_case() -> None:
    headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")]

    assert code_of_ours(body("tools/list"), headers) is None


@pytest.mark.parametrize(
    "value",
    [
        "plain", "", "=?base64?", "=?base64?w6k=?=", "=?base64??=", "=?base64?w6k?=",
        "=?base64?w6l=?=", "=?base64?/w==?=", "=?base64?w6 k=?=",
    ],
)  # fmt: skip
def test_coded_values_are_read_as_the_sdk_reads_them(value: str) -> None:
    assert decoded(value) == decode_header_value(value)


def test_no_value_is_none_and_neither_is_one_that_is_no_base64() -> None:
    assert decoded(None) is None
    assert decoded("=?base64?é?=") is None


SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "size": {"type": "integer", "x-mcp-header": "Size"},
        "deep": {
            "type": "object",
            "properties": {"dry": {"type": "boolean", "x-mcp-header": "Dry"}},
        },
        "plain": {"type": "string"},
    },
}
REGION, SIZE, DRY = "mcp-param-region", "mcp-param-size", "mcp-param-dry"


@pytest.mark.parametrize(
    ("arguments", "headers", "is_right"),
    [
        pytest.param({}, {}, True, id="none, none"),
        pytest.param({"plain": "x"}, {}, True, id="one that is not said"),
        pytest.param({"region": "eu"}, {REGION: "eu"}, True, id="equal"),
        pytest.param({"region": "é"}, {REGION: "=?base64?w6k=?="}, True, id="coded"),
        pytest.param({"region": None}, {}, True, id="null is none"),
        pytest.param({"size": 42}, {SIZE: "42"}, True, id="a number"),
        pytest.param({"size": 42}, {SIZE: "42.0"}, True, id="an equal number"),
        pytest.param({"deep": {"dry": True}}, {DRY: "true"}, True, id="nested"),
        pytest.param({"region": ["x"]}, {}, True, id="what no header says"),
        pytest.param({"region": "eu"}, {}, False, id="not said"),
        pytest.param({}, {REGION: "eu"}, False, id="said only"),
        pytest.param({"region": None}, {REGION: "null"}, False, id="null is not said"),
        pytest.param({"region": "eu"}, {REGION: "us"}, False, id="other"),
        pytest.param({"region": "42"}, {REGION: "42.0"}, False, id="no number"),
        pytest.param({"region": "eu"}, {REGION: "=?base64?!?="}, False, id="coded badly"),
        pytest.param({"deep": {"dry": True}}, {DRY: "1"}, False, id="another truth"),
        pytest.param({"region": ["x"]}, {REGION: "x"}, False, id="said of what none says"),
        pytest.param({"deep": 5}, {DRY: "true"}, False, id="said of what is not there"),
    ],
)
def test_n02_headers_of_arguments_are_refused_as_the_sdk_refuses_them(
    arguments: dict[str, Any],
    headers: dict[str, str],
    is_right: bool,  # noqa: FBT001
) -> None:
    mirrored = mirrored_arguments(json.dumps(SCHEMA))
    asked = message(body("tools/call", name="t", arguments=arguments))

    try:
        check_arguments(mirrored, asked, headers.items())
        ours = True
    except RoutingError:
        ours = False

    theirs = validate_mcp_param_headers(SCHEMA, arguments, headers) is None
    assert ours == theirs == is_right


def test_an_arguments_header_comes_once() -> None:
    mirrored = mirrored_arguments(json.dumps(SCHEMA))
    asked = message(body("tools/call", name="t", arguments={"region": "eu"}))

    with pytest.raises(RoutingError):
        check_arguments(mirrored, asked, [(REGION, "eu"), ("Mcp-Param-Region", "eu")])


def test_arguments_that_nobody_can_read_are_left_to_the_server() -> None:
    mirrored = mirrored_arguments(json.dumps(SCHEMA))
    deep = "[" * 100_000 + "]" * 100_000
    line = f'{{"id":1,"method":"tools/call","params":{{"arguments":{deep}}}}}'
    messages = read_line(line.encode())
    assert messages is not None

    check_arguments(mirrored, messages[0], [])
