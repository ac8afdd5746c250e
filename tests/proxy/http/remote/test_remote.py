"""A server at a URL is a link like a process: reached when asked, ended when told."""

import asyncio
import json
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from sidecar.proxy.http.remote.session import RemoteSession
from tests.paths import ROOT
from tests.proxy.http.odd_server import (
    INITIALIZE,
    INITIALIZED,
    SESSION,
    OddServer,
    Talk,
    answered,
    answering,
    call,
    event,
    initialized,
    modern,
    notice,
    request,
    result_of,
    stream,
)
from tests.proxy.place import WAIT_SECONDS
from tests.servers.listening import Listening

SDK_SERVER = ROOT / "tests" / "servers" / "sdk_http_server.py"


def older(server_events: list[bytes] | None = None) -> dict[str, Any]:
    """Answers as a server of the older transport, whose stream and endpoint have one path."""
    streams: list[web.StreamResponse] = []

    async def listened(request: web.Request, _message: Any) -> web.StreamResponse:
        first = server_events or [b"event: endpoint\ndata: /messages?session=1\n\n"]
        streams.append(await stream(request, *first))
        await asyncio.Event().wait()
        return streams[-1]

    async def posted(request: web.Request, message: Any) -> web.Response:
        if message["method"] == "initialize":
            body = (await initialized(request, message)).body
            assert isinstance(body, bytes)
            await streams[-1].write(b"data: " + body + b"\n\n")
        elif "id" in message:
            await streams[-1].write(event(result_of(message, message["method"])))
        return web.Response(status=202, text="Accepted")

    return {"GET": listened, "POST /messages": posted, "POST /mcp": answering(status=405)}


@pytest.fixture(scope="module")
def sse_url() -> Iterator[str]:
    """The stream of the SDK's own server of the older transport."""
    with Listening([sys.executable, SDK_SERVER, "sse"]) as server:
        yield server.url.replace("/mcp", "/sse")


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port at which nobody listens, and nobody can: it is taken."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def test_s12_a_server_that_is_not_there_is_an_error_and_an_exit_code(
    capfd: pytest.CaptureFixture[str], closed_port: int
) -> None:
    url = f"http://127.0.0.1:{closed_port}/mcp?key=abc-secret"
    with Talk(url) as talk:
        talk.send(INITIALIZE)
        text = talk.failure()
        talk.send(call(1))
        assert talk.failure() == text
        assert talk.rest() == []
        assert talk.remote.stop(WAIT_SECONDS) == 127

    place = url.partition("?")[0]
    assert text.startswith(f"server 'odd': {place} cannot be reached: ")
    assert "secret" not in text
    assert capfd.readouterr().err == f"mcp-sidecar: {text}\n"


def test_what_is_left_of_remotes_that_were_stopped_is_nothing(closed_port: int) -> None:
    threads = threading.active_count()
    before = sorted(Path("/dev/fd").iterdir())
    for _ in range(3):
        with Talk(f"http://127.0.0.1:{closed_port}/mcp") as talk:
            talk.send(INITIALIZE)
            talk.failure()
            talk.rest()

    assert sorted(Path("/dev/fd").iterdir()) == before
    assert threading.active_count() == threads


def test_a_server_whose_words_no_header_can_carry_is_spoken_with_all_the_same(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async def odd(_request: web.Request, message: Any) -> web.Response:
        return answered(message, {"protocolVersion": "2025-11-25\n"})

    with OddServer({"initialize": odd}) as server, Talk(server.url) as talk:
        talk.begun().send(request(7, "caf\u00e9\n"), call(8), modern(9, "caf\u00e9\n"))
        assert {talk.message()["id"] for _ in range(3)} == {7, 8, 9}
        assert "mcp-protocol-version" not in server.last("tools/call").headers
        talk.rest()
        assert talk.remote.stop(WAIT_SECONDS) == 0
    assert capfd.readouterr().err == ""


def test_a_header_that_cannot_be_sent_is_an_error_and_no_secret_told(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with OddServer() as server, Talk(server.url, headers=(("X-Key", "sec\nret"),)) as talk:
        talk.send(INITIALIZE)
        assert "cannot be asked" in talk.failure()
        talk.rest()
    assert "ret" not in capfd.readouterr().err.replace("server", "")


def test_a_line_over_the_ceiling_is_answered_to_whoever_waits(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with OddServer() as server, Talk(server.url, max_message_bytes=300).begun() as talk:
        talk.send(call(1, text="x" * 300), call(2))
        line = talk.line()
        error = json.loads(line)
        assert (error["id"], error["error"]["code"]) == (1, -32011)
        assert talk.remarks[line].is_ours
        assert talk.message()["id"] == 2
        talk.send(b'{"jsonrpc":"2.0","id":3,"result":{"text":"%s"}}\n' % (b"x" * 300))
        server.until(lambda seen: seen[-1].what == "response")

    assert json.loads(server.last("response").body)["error"]["code"] == -32011
    assert capfd.readouterr().err.count("over the ceiling of 300") == 2


def test_a_bug_of_ours_is_told_and_is_no_success(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("a secret")

    monkeypatch.setattr(RemoteSession, "learn", broken)
    with OddServer() as server, Talk(server.url) as talk:
        talk.send(INITIALIZE)
        assert talk.line() == b""
        assert talk.remote.stop(WAIT_SECONDS) == 1
    assert capfd.readouterr().err == "mcp-sidecar: server 'odd': the sidecar failed: KeyError\n"


def test_a_server_that_comes_later_is_reached_then() -> None:
    refused = answering(status=503)
    with OddServer({"initialize": refused}) as server, Talk(server.url) as talk:
        talk.send(INITIALIZE)
        assert "HTTP 503 Service Unavailable" in talk.failure()
        server.answers["initialize"] = initialized
        talk.begun().rest()
        assert talk.remote.stop(WAIT_SECONDS) == 0


def test_nothing_is_contacted_before_the_client_has_said_something() -> None:
    with OddServer() as server, Talk(server.url, transport="sse") as talk:
        talk.send(b"\n", b"  \r\n")
        assert talk.rest() == []
        assert talk.remote.stop(WAIT_SECONDS) == 0
    assert server.seen == []


def test_at_the_end_of_the_input_the_session_is_ended_once() -> None:
    with OddServer() as server, Talk(server.url).begun() as talk:
        assert talk.rest() == []
        assert talk.remote.wait(WAIT_SECONDS) is None
        assert talk.remote.stop(WAIT_SECONDS) == 0
        talk.remote.relay_stderr()
        assert talk.remote.last_words() == ""

    assert [seen.headers["mcp-session-id"] for seen in server.seen[-1:]] == [SESSION]
    assert [seen.method for seen in server.seen].count("DELETE") == 1


def test_a_server_without_sessions_is_told_of_no_end() -> None:
    with OddServer() as server, Talk(server.url) as talk:
        talk.send(modern(1, "tools/list"))
        talk.message()
        talk.rest()
    assert [seen.method for seen in server.seen] == ["POST"]


def test_it_can_be_stopped_while_a_server_takes_nothing() -> None:
    async def never(_request: web.Request, _message: Any) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    with (
        OddServer({"notification": never, "DELETE": never}) as server,
        Talk(server.url, grace_seconds=0.1) as talk,
    ):
        talk.send(INITIALIZE)
        talk.message()
        talk.send(INITIALIZED)
        server.until(lambda seen: len(seen) == 2)
        assert talk.remote.stop(WAIT_SECONDS, patient=False) == 0
        assert talk.line() == b""


def test_a_server_that_does_not_let_a_session_end_does_not_hold_us_up() -> None:
    async def never(_request: web.Request, _message: Any) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    with (
        OddServer({"DELETE": never}) as server,
        Talk(server.url, grace_seconds=0.1).begun() as talk,
    ):
        assert talk.rest() == []


# --- the older transport


@pytest.mark.parametrize("status", [400, 404, 405])
def test_h13_a_server_of_the_older_transport_is_known_by_its_refusal(
    status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    answers = {**older(), "POST /mcp": answering(status=status)}
    with OddServer(answers) as server, Talk(server.url) as talk:
        talk.send(modern(1, "server/discover"))
        assert f"HTTP {status}" in talk.failure()
        talk.send(INITIALIZE)
        assert talk.message()["id"] == "init"
        talk.send(INITIALIZED, call(2))
        assert talk.message()["result"] == "tools/call"
        assert talk.rest() == []
        assert talk.remote.stop(WAIT_SECONDS) == 0

    at = [(seen.method, seen.what) for seen in server.seen]
    assert at == [
        ("POST", "server/discover"),
        ("POST", "initialize"),
        ("GET", ""),
        ("POST", "initialize"),
        ("POST", "notifications/initialized"),
        ("POST", "tools/call"),
    ]
    assert capfd.readouterr().err == ""


def test_a_server_that_is_of_neither_transport_is_told_of_by_its_first_refusal() -> None:
    with OddServer({"initialize": answering(status=404)}) as server, Talk(server.url) as talk:
        talk.send(INITIALIZE)
        assert talk.failure() == "server 'odd': HTTP 404 Not Found"

    assert [seen.method for seen in server.seen] == ["POST", "GET"]


def test_an_error_in_json_is_an_answer_and_no_sign_of_the_older_transport() -> None:
    body = '{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no"}}'
    refused = answering(status=400, text=body, content_type="application/json")
    with OddServer({"initialize": refused}) as server, Talk(server.url) as talk:
        talk.send(INITIALIZE)
        assert talk.message()["error"]["code"] == -32602
        talk.rest()

    assert [seen.method for seen in server.seen] == ["POST"]


def test_e10_the_transport_that_is_named_is_the_only_one_that_is_tried() -> None:
    with OddServer(older()) as server, Talk(server.url, transport="http") as talk:
        talk.send(INITIALIZE)
        assert "HTTP 405" in talk.failure()
    with OddServer(older()) as other, Talk(other.url, transport="sse") as talk:
        talk.send(INITIALIZE)
        assert talk.message()["id"] == "init"

    assert [seen.method for seen in server.seen] == ["POST"]
    assert [seen.method for seen in other.seen] == ["GET", "POST"]


@pytest.mark.parametrize("transport", [None, "sse"])
def test_the_sdks_server_of_the_older_transport_is_spoken_with(
    sse_url: str, transport: str | None
) -> None:
    with Talk(sse_url, transport=transport) as talk:
        talk.send(INITIALIZE)
        assert talk.message()["result"]["serverInfo"]["name"] == "sdk-server"
        talk.send(INITIALIZED, call(1, "echo", text="one"), notice("cancelled", requestId=9))
        assert talk.message()["result"]["structuredContent"] == {"result": "one"}
        talk.send(request(2, "no/such"))
        assert talk.message()["error"]["code"] == -32601
        assert talk.rest() == []
