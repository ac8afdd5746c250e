"""A client over HTTP gets from the sidecar, byte for byte, what the server itself gives it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from sidecar.store import cassettes
from tests import paths
from tests.end_to_end.serving import CASSETTE, recording
from tests.servers.listening import Listening

pytestmark = pytest.mark.timeout(120)

SERVER = [paths.PYTHON, str(paths.ROOT / "tests" / "servers" / "http_server.py")]
WAIT_SECONDS = 30.0
BOTH = "application/json, text/event-stream"
HANDSHAKE = {"Content-Type": "application/json", "Accept": BOTH}
MODERN = {**HANDSHAKE, "MCP-Protocol-Version": "2026-07-28"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "me", "version": "1"},
    "progressToken": "p",
}
INFO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "me", "version": "1"},
}
SESSION = "Mcp-Session-Id"
# What names one answer or one connection, and the session, whose id is chance.
_NOT_COMPARED = {"date", "connection", "transfer-encoding", "content-length", SESSION.lower()}


class Asked(NamedTuple):
    """One request; `*` in its headers stands for the session's id."""

    method: str
    headers: Mapping[str, str]
    body: bytes | None = None


class Got(NamedTuple):
    """What answered it, without what is never the same twice."""

    status: int
    reason: str
    headers: Sequence[tuple[str, str]]
    body: bytes


def said(method: str, params: object = None, ident: object = 1) -> bytes:
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method}
    if ident is not None:
        message["id"] = ident
    if params is not None:
        message["params"] = params
    return json.dumps(message).encode()


def called(tool: str, arguments: object, meta: Mapping[str, object], ident: object = 1) -> bytes:
    return said("tools/call", {"name": tool, "arguments": arguments, "_meta": meta}, ident)


def routed(method: str, name: str | None = None) -> dict[str, str]:
    return {**MODERN, "Mcp-Method": method} | ({} if name is None else {"Mcp-Name": name})


CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("echo", {"text": "é\u2028\\"}),
    ("count", {"steps": 3}),
    ("fail", {}),
    ("refuse", {}),
    ("none", {}),
    ("echo", {}),
)
IN_SESSION = {**HANDSHAKE, SESSION: "*", "MCP-Protocol-Version": "2025-11-25"}

OF_HANDSHAKE = [
    Asked("POST", HANDSHAKE, said("tools/list")),  # before there is a session
    Asked("POST", HANDSHAKE, said("initialize", INFO, 0)),
    Asked("POST", IN_SESSION, said("notifications/initialized", ident=None)),
    Asked("POST", IN_SESSION, said("tools/list", {}, "a")),
    *[Asked("POST", IN_SESSION, called(*call, {"progressToken": 7}, 7)) for call in CALLS],
    Asked("POST", IN_SESSION, said("no/such/method")),
    Asked("POST", IN_SESSION, b"[" + said("ping") + b"]"),
    Asked("POST", IN_SESSION, b"{"),
    Asked("POST", IN_SESSION, b"5"),
    Asked("POST", {**IN_SESSION, "Accept": "text/html"}, said("ping")),
    Asked("POST", {**IN_SESSION, "Content-Type": "text/plain"}, said("ping")),
    Asked("POST", {**IN_SESSION, "MCP-Protocol-Version": "1999-01-01"}, said("ping")),
    Asked("POST", {**IN_SESSION, SESSION: "nobody"}, said("ping")),
    Asked("GET", {"Accept": "text/html", SESSION: "*"}),
    Asked("GET", {"Accept": "text/event-stream"}),
    Asked("PUT", IN_SESSION, said("ping")),
    Asked("DELETE", {SESSION: "*"}),
    Asked("POST", IN_SESSION, said("ping")),
]
OF_MODERN = [
    Asked("POST", routed("server/discover"), said("server/discover", {"_meta": META})),
    Asked("POST", routed("tools/list"), said("tools/list", {"_meta": META}, "a")),
    *[
        Asked("POST", routed("tools/call", name), called(name, arguments, META, 7))
        for name, arguments in CALLS
    ],
    Asked("POST", routed("tools/call", "fail"), called("echo", {"text": "x"}, META)),
    Asked("POST", routed("no/such/method"), said("no/such/method", {"_meta": META})),
    Asked("POST", MODERN, said("tools/list", {"_meta": META})),
    Asked("POST", routed("tools/list"), said("tools/list", {})),
    Asked("POST", routed("tools/list"), b"{"),
    Asked("POST", {**routed("tools/list"), "MCP-Protocol-Version": "2099-01-01"}, said("x")),
    Asked("GET", MODERN),
    Asked("DELETE", MODERN),
]


def heard(url: str, script: Sequence[Asked]) -> list[Got]:
    """Ask one thing after the other, and say what answered."""
    session = "none yet"
    answers: list[Got] = []
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.netloc, timeout=WAIT_SECONDS)
    try:
        for asked in script:
            headers = {
                name: session if value == "*" else value for name, value in asked.headers.items()
            }
            connection.request(asked.method, where.path, asked.body, headers)
            response = connection.getresponse()
            body = response.read()
            session = response.getheader(SESSION) or session
            kept = [
                (name.lower(), value)
                for name, value in response.getheaders()
                if name.lower() not in _NOT_COMPARED
            ]
            answers.append(Got(response.status, response.reason, sorted(kept), body))
    finally:
        connection.close()
    return answers


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with Listening(SERVER) as listening:
        yield listening.url


@pytest.mark.parametrize(
    ("script", "protocol", "statuses"),
    [
        pytest.param(OF_HANDSHAKE, "2025-11-25", {200, 202, 400, 404, 406}, id="handshake"),
        pytest.param(OF_MODERN, "2026-07-28", {200, 400, 404, 405}, id="2026-07-28"),
    ],
)
def test_every_answer_of_a_server_comes_as_the_server_gave_it(
    tmp_path: Path, server: str, script: Sequence[Asked], protocol: str, statuses: set[int]
) -> None:
    direct = heard(server, script)
    with recording(tmp_path, server) as sidecar:
        passed = heard(sidecar.url, script)

    for asked, one, other in zip(script, direct, passed, strict=True):
        assert other == one, asked
    assert {got.status for got in direct} >= statuses

    cassette = cassettes.load(str(tmp_path / CASSETTE)).cassette
    calls = [item for item in cassette.interactions if item.is_tool_call]
    assert cassette.servers["shared"].protocol == protocol
    assert [item.tool for item in calls][: len(CALLS)] == [name for name, _ in CALLS]
    assert [passage.method for passage in calls[1].during] == ["notifications/progress"] * 3
