"""What a request says of its body in headers is what the SDK's server looks for there."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.inbound import (
    InboundModernRoute,
    classify_inbound_request,
    decode_header_value,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    validate_mcp_param_headers,
    x_mcp_header_map,
)

from sidecar.wire.jsonrpc import read_line
from sidecar.wire.routing_headers import (
    argument_headers,
    coded,
    mirrored_arguments,
    routing_headers,
)

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}


@given(st.text())
def test_n02_a_value_is_coded_as_the_sdk_codes_it(value: str) -> None:
    assert coded(value) == encode_header_value(value)
    assert decode_header_value(coded(value)) == value


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("echo", "echo"),
        ("", ""),
        ("a b", "a b"),
        (" a", "=?base64?IGE=?="),
        ("ü", "=?base64?w7w=?="),
        ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
    ],
)
def test_n02_what_a_header_cannot_carry_is_base64(value: str, header: str) -> None:
    assert coded(value) == header


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "größe \n", "arguments": {}}),
        ("prompts/get", {"name": "review"}),
        ("resources/read", {"uri": "sdk://a b"}),
        ("tools/list", {"name": "not looked at"}),
        ("server/discover", {}),
    ],
)
def test_n02_the_headers_of_a_request_agree_with_its_body(
    method: str, params: dict[str, Any]
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
    [message] = read_line(json.dumps(body).encode()) or []
    sent = {name.lower(): value for name, value in routing_headers(message).items()}

    seen = classify_inbound_request(body, headers={"mcp-protocol-version": VERSION, **sent})

    assert isinstance(seen, InboundModernRoute)
    assert ("mcp-name" in sent) == (method not in ("tools/list", "server/discover"))


STRING = {"type": "string", "x-mcp-header": "Region"}
NESTED = {"type": "object", "properties": {"b": {"type": "integer", "x-mcp-header": "B"}}}
SCHEMAS: list[Any] = [
    {},
    True,
    {"properties": {"a": STRING}},
    {"properties": {"a": NESTED, "c": {"type": "boolean", "x-mcp-header": "C"}}},
    {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}},
    {"properties": {"a": {"type": ["string"], "x-mcp-header": "A"}}},
    {"properties": {"a": {"type": "string", "x-mcp-header": "not a token"}}},
    {"properties": {"a": {"type": "string", "x-mcp-header": ""}}},
    {"properties": {"a": {"type": "string", "x-mcp-header": 7}}},
    {"properties": {"a": STRING, "b": {"type": "string", "x-mcp-header": "region"}}},
    {"x-mcp-header": "Root", "type": "string"},
    {"properties": {"a": {"items": STRING}}},
    {"anyOf": [{"properties": {"a": STRING}}]},
    {"$defs": {"a": STRING}, "properties": {"a": STRING}},
    {"properties": {"a": {"default": STRING, "type": "string"}, "b": STRING}},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_n02_the_mirrored_arguments_are_those_that_the_sdk_finds(schema: Any) -> None:
    expected = {} if find_invalid_x_mcp_header(schema) else x_mcp_header_map(schema)

    assert mirrored_arguments(json.dumps(schema)) == expected


def test_a_schema_that_is_no_json_mirrors_nothing() -> None:
    assert mirrored_arguments('{"x-mcp-header": ') == {}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"a": "eu"},
        {"a": None},
        {"a": ""},
        {"a": "größe"},
        {"a": 5},
        {"a": 1.5},
        {"a": ["eu"]},
        {"n": {"b": 3}, "c": True},
        {"n": {"b": 1e2}, "c": False},
        {"n": {"b": 42.0}, "a": "eu"},
        {"n": 7},
        {"n": {"b": 10**30}},
    ],
    ids=json.dumps,
)
def test_n02_a_call_says_its_mirrored_arguments_as_the_sdk_does(arguments: dict[str, Any]) -> None:
    schema = {"properties": {"a": STRING, "n": NESTED, "c": SCHEMAS[3]["properties"]["c"]}}
    mirrored = mirrored_arguments(json.dumps(schema))

    headers = argument_headers(mirrored, json.dumps(arguments))

    assert headers == mcp_param_headers(x_mcp_header_map(schema), arguments)
    assert validate_mcp_param_headers(schema, arguments, headers) is None


@pytest.mark.parametrize("arguments", [None, "", "[1]", '"x"', "{broken"])
def test_arguments_that_are_no_object_say_nothing(arguments: str | None) -> None:
    assert argument_headers({("a",): "Region"}, arguments) == {}
