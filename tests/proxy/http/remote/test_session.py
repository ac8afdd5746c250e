"""What is learned of a server is said in the headers of later requests."""

import json

import pytest

from sidecar.proxy.http.remote.errands import Errand
from sidecar.proxy.http.remote.session import RemoteSession
from sidecar.wire.jsonrpc import Message
from tests.proxy.http.odd_server import INITIALIZE, INITIALIZED, MODERN, call, modern, notice


def asked(line: bytes) -> Message:
    return Errand(line).messages[0]


def answered(result: object) -> Message:
    return Message("response", "", "1", result=json.dumps(result))


def begun(version: str = "2025-06-18") -> RemoteSession:
    session = RemoteSession()
    assert session.sending(Errand(INITIALIZE)) == {}
    session.learn(asked(INITIALIZE), answered({"protocolVersion": version}))
    session.id = "abc"
    return session


NAMED = {"Mcp-Session-Id": "abc", "MCP-Protocol-Version": "2025-06-18"}


def test_h16_a_session_names_itself_and_the_version_that_was_agreed_on() -> None:
    session = begun()

    assert session.sending(Errand(INITIALIZED)) == NAMED
    assert session.sending(Errand(call(1))) == NAMED
    assert session.headers() == NAMED
    assert not session.is_modern


@pytest.mark.parametrize("result", [{}, {"protocolVersion": 7}, None])
def test_a_server_that_names_no_version_is_told_none(result: object) -> None:
    session = begun()
    session.learn(asked(INITIALIZE), answered(result))

    assert session.sending(Errand(call(1))) == {"Mcp-Session-Id": "abc"}


def test_a_new_handshake_forgets_the_last_one() -> None:
    session = begun()

    assert session.sending(Errand(INITIALIZE)) == {}
    assert session.headers() == {}


def test_each_request_is_of_its_own_era() -> None:
    session = begun()

    assert session.sending(Errand(modern(1, "tools/list"))) == {
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/list",
    }
    assert session.is_modern
    assert session.sending(Errand(notice("progress"))) == {
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "notifications/progress",
    }


TOOL = {
    "name": "book",
    "inputSchema": {"properties": {"city": {"type": "string", "x-mcp-header": "City"}}},
}


@pytest.mark.parametrize("tools", [[TOOL], [{}, 7, {"name": 7}, {"name": "x"}, TOOL]])
def test_n02_a_tool_that_was_listed_has_its_arguments_in_headers(tools: list[object]) -> None:
    session = RemoteSession()
    line = modern(1, "tools/call", name="book", arguments={"city": "Köln"})
    assert "Mcp-Param-City" not in session.sending(Errand(line))

    session.learn(asked(modern(0, "tools/list")), answered({"tools": tools}))
    session.learn(asked(modern(0, "tools/list")), answered({"tools": []}))

    assert session.sending(Errand(line)) == {
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "book",
        "Mcp-Param-City": "=?base64?S8O2bG4=?=",
    }


@pytest.mark.parametrize("result", [None, {}, {"tools": 7}, {"tools": None}, []])
def test_a_list_that_is_none_teaches_nothing(result: object) -> None:
    session = RemoteSession()

    session.learn(asked(modern(0, "tools/list")), answered(result))

    line = modern(1, "tools/call", name="book", arguments={"city": "x"})
    assert "Mcp-Param-City" not in session.sending(Errand(line))
