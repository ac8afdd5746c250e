"""The relay: what reaches the server, sessions, both eras, and clients that go."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from sidecar.errors import JournalError
from sidecar.proxy.http.relay.exchange import Exchange
from tests.proxy.http.relaying import (
    EVENTS,
    JSON,
    QUICK,
    WAIT_SECONDS,
    Heard,
    Script,
    Sidecar,
    always,
    chunk,
    event,
    head,
    relayed,
    request,
    result,
    streamed,
    until,
    whole,
)

MODERN = "MCP-Protocol-Version: 2026-07-28"
NOTE = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
EMPTY = b'{"jsonrpc":"2.0","id":1,"result":{}}'


def answering(heard: Heard, writer: asyncio.StreamWriter) -> None:
    """Answer as a server with sessions does."""
    asked = json.loads(heard.body) if heard.body else {}
    if heard.method == "DELETE":
        writer.write(whole(b""))
    elif "id" not in asked:
        writer.write(whole(b"", status="202 Accepted"))
    elif asked["method"] == "initialize":
        session = f"Mcp-Session-Id: s{heard.header('X-Client') or ''}"
        writer.write(whole(result(asked["id"]), JSON, session))
    else:
        writer.write(whole(result(asked["id"]), JSON))


def scripted_sessions() -> Script:
    async def script(heard: Heard, writer: asyncio.StreamWriter) -> None:
        answering(heard, writer)

    return script


async def test_all_that_a_client_sends_reaches_the_server_but_what_is_the_connections(
    tmp_path: Path,
) -> None:
    body = b' {"method":"tools/call","id":1, "params" : {"x":1.0}} '

    async with relayed(tmp_path, always(whole(EMPTY, JSON)), token="secret") as (up, sidecar):
        await sidecar.ask(
            body,
            "Accept: application/json, text/event-stream",
            "Authorization: Bearer theirs",
            "Connection: keep-alive, X-Hop",
            "X-Hop: 1",
            "TE: trailers",
            "User-Agent: me/1",
            "X-MCP-Sidecar-Token: secret",
            "X-Twice: a",
            "X-Twice: b",
            "Origin: http://localhost:6274",
        )

    heard = up.heard[0]
    assert (heard.method, heard.path, heard.body) == ("POST", "/up", body)
    assert sorted(heard.headers) == [
        ("Accept", "application/json, text/event-stream"),
        ("Accept-Encoding", "identity"),
        ("Authorization", "Bearer theirs"),
        ("Content-Length", str(len(body))),
        ("Content-Type", "application/json"),
        ("Host", up.url.removeprefix("http://").removesuffix("/up")),
        ("Origin", "http://localhost:6274"),
        ("User-Agent", "me/1"),
        ("X-Twice", "a"),
        ("X-Twice", "b"),
    ]


async def test_the_sidecars_own_bearer_goes_nowhere_and_the_configs_headers_come_in_its_place(
    tmp_path: Path,
) -> None:
    headers = (("Authorization", "Bearer config"), ("X-Key", "k"))

    async with relayed(tmp_path, always(whole(EMPTY, JSON)), token="secret", headers=headers) as (
        up,
        sidecar,
    ):
        await sidecar.ask(request(), "Authorization: Bearer secret", "x-key: own")

    assert up.heard[0].header("Authorization") == "Bearer config"
    assert up.heard[0].header("X-Key") == "own"


async def test_n02_routing_headers_pass_untouched_and_secrets_in_them_are_kept_nowhere(
    tmp_path: Path,
) -> None:
    secret = "hush-hush-9f8e7d"
    body = request(1, name="login", arguments={"password": secret})

    async with relayed(tmp_path, always(whole(EMPTY, JSON))) as (up, sidecar):
        await sidecar.ask(
            body, MODERN, "Mcp-Method: tools/call", "Mcp-Name: login",
            f"Mcp-Param-Password: {secret}",
        )  # fmt: skip

    heard = up.heard[0]
    assert heard.header("Mcp-Method") == "tools/call"
    assert heard.header("Mcp-Name") == "login"
    assert heard.header("Mcp-Param-Password") == secret
    assert secret not in kept_in(tmp_path)


@pytest.mark.parametrize(
    "header", ["X-Api-Key: {}", "Cookie: theme=dark; sid={}", "Authorization: Token {}"]
)
async def test_x08_credentials_of_a_client_that_a_server_says_again_are_kept_nowhere(
    tmp_path: Path, header: str
) -> None:
    secret = "hush-hush-9f8e7d"
    echo = whole(result(1, text=f"you are {secret}, are you?"), JSON)

    async with relayed(tmp_path, always(echo)) as (_, sidecar):
        got = await sidecar.ask(request(1, name="who"), header.format(secret))

        assert secret.encode() in got.body
        assert len(sidecar.rows()) == 1
    assert secret not in kept_in(tmp_path)


@pytest.mark.parametrize("method", ["initialize", "tools/call"])
async def test_requests_that_a_server_only_turns_away_are_recorded_as_not_answered(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], method: str
) -> None:
    refusal = whole(b"no", "Content-Type: text/plain", status="401 Unauthorized")

    async with relayed(tmp_path, always(refusal)) as (_, sidecar):
        for number in range(2):
            assert (await sidecar.ask(request(number, method))).status == 401
        await sidecar.server.stop()

        assert [
            (row.state, row.interaction.method, row.interaction.http_status)
            for row in sidecar.rows()
        ] == [("unanswered", method, 401)] * 2
        assert sidecar.sessions() == ["failed"]
    told = capfd.readouterr().err
    assert told.count(f"server 'up' turned {method} away with HTTP status 401") == 1


async def test_requests_that_were_turned_away_until_one_was_taken_are_not_recorded(
    tmp_path: Path,
) -> None:
    async def script(heard: Heard, writer: asyncio.StreamWriter) -> None:
        if heard.header("Authorization") is None:
            writer.write(whole(b"no", status="401 Unauthorized"))
        else:
            answering(heard, writer)

    async with relayed(tmp_path, script) as (_, sidecar):
        await sidecar.ask(request(1, "initialize"))
        await sidecar.ask(request(1, "initialize"), "Authorization: Bearer x")
        await sidecar.server.stop()

        assert [row.state for row in sidecar.rows()] == ["answered"]


def kept_in(folder: Path) -> str:
    return "".join(file.read_text("latin-1") for file in folder.iterdir())


async def test_h16_the_version_that_a_client_names_passes_as_it_is(tmp_path: Path) -> None:
    async with relayed(tmp_path, always(whole(EMPTY, JSON))) as (up, sidecar):
        await sidecar.ask(request(), "MCP-Protocol-Version: 2025-06-18")

    assert up.heard[0].header("MCP-Protocol-Version") == "2025-06-18"


async def test_h20_a_query_steers_nothing(tmp_path: Path) -> None:
    async with relayed(tmp_path, always(whole(EMPTY, JSON))) as (up, sidecar):
        await sidecar.ask(request(), path="/up/mcp?command=sh&url=http://evil.test")

    assert up.heard[0].path == "/up"


# --- sessions


async def test_each_session_is_recorded_by_itself_and_ends_in_order(tmp_path: Path) -> None:
    async with relayed(tmp_path, scripted_sessions()) as (_, sidecar):
        for name in ("a", "b"):
            await sidecar.ask(request(0, "initialize"), f"X-Client: {name}")
            await sidecar.ask(NOTE, f"Mcp-Session-Id: s{name}")
            await sidecar.ask(request(1), f"Mcp-Session-Id: s{name}")
        assert sidecar.sessions() == ["running", "running"]

        await sidecar.ask(None, "Mcp-Session-Id: sa", method="DELETE")
        assert sidecar.sessions() == ["ended", "running"]

        await sidecar.server.stop()
        assert sidecar.sessions() == ["ended", "ended"]
        assert [row.interaction.method for row in sidecar.rows()] == [
            "initialize",
            "tools/call",
        ] * 2


async def test_the_agent_has_its_clients_own_name(tmp_path: Path) -> None:
    info = {"name": "my agent", "version": "1"}
    meta = {"io.modelcontextprotocol/clientInfo": {"name": "other", "version": "1"}}

    async with relayed(tmp_path, scripted_sessions()) as (_, sidecar):
        await sidecar.ask(request(0, "initialize", clientInfo=info))
        await sidecar.ask(request(0, _meta=meta), MODERN)

        rows = sidecar.journal.connection.rows("SELECT agent_id FROM sessions ORDER BY id")
        assert rows == [("my-agent",), ("other",)]


async def test_what_has_no_session_shares_one_recording(tmp_path: Path) -> None:
    async with relayed(tmp_path, always(whole(EMPTY, JSON))) as (_, sidecar):
        await sidecar.ask(request(1, "server/discover"), MODERN)
        await sidecar.ask(request(1), MODERN)
        await sidecar.ask(request(1, "initialize"))  # of a server that gives no session
        await sidecar.ask(request(2))

        assert len(sidecar.rows()) == 4
        assert sidecar.sessions() == ["running"]


@pytest.mark.parametrize("known", [True, False])
async def test_h01_h02_a_session_that_is_gone_is_a_404_as_it_came(
    tmp_path: Path, *, known: bool
) -> None:
    gone = b'{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"gone"}}'

    async with relayed(tmp_path, scripted_sessions()) as (up, sidecar):
        if known:
            await sidecar.ask(request(0, "initialize"))
        up.script = always(whole(gone, JSON, status="404 Not Found"))
        got = await sidecar.ask(request(3), "Mcp-Session-Id: s")

        assert (got.status, got.body) == (404, gone)
        last = sidecar.rows()[-1].interaction
        assert last.response is not None
        assert (last.response.member, last.http_status) == ("error", 404)
        assert sidecar.sessions() == (["ended"] if known else ["running"])


async def test_n01_the_era_is_told_by_each_request(tmp_path: Path) -> None:
    async with relayed(tmp_path, scripted_sessions()) as (_, sidecar):
        await sidecar.ask(request(1), MODERN)
        await sidecar.ask(request(2, "server/discover"), MODERN)
        await sidecar.ask(request(3, "initialize"), "X-Client: a")
        await sidecar.ask(request(4), "Mcp-Session-Id: sa")
        await sidecar.ask(request(5), MODERN, "Mcp-Session-Id: sa")

        sessions = sidecar.journal.connection.rows(
            "SELECT session_id, count(*) FROM interactions GROUP BY session_id ORDER BY 1"
        )
        assert [count for _, count in sessions] == [3, 2]


async def test_e02_the_server_gets_the_clients_messages_and_none_of_ours(tmp_path: Path) -> None:
    bodies = [request(0, "initialize"), NOTE, *[request(n) for n in range(1, 51)]]

    async with relayed(tmp_path, scripted_sessions()) as (up, sidecar):
        for body in bodies:
            await sidecar.ask(body, "Mcp-Session-Id: s" if body != bodies[0] else "X-Y: z")
        await sidecar.server.stop()

    assert [heard.body for heard in up.heard] == bodies


async def test_the_oldest_session_gives_way_to_one_too_many(tmp_path: Path) -> None:
    limits = QUICK._replace(sessions=2)

    async with relayed(tmp_path, scripted_sessions(), limits) as (_, sidecar):
        for name in ("a", "b"):
            await sidecar.ask(request(0, "initialize"), f"X-Client: {name}")
        await sidecar.ask(request(1), "Mcp-Session-Id: sa")
        await sidecar.ask(request(0, "initialize"), "X-Client: c")

        assert sidecar.sessions() == ["running", "ended", "running"]


# --- pairing


def slow_first(release: asyncio.Event) -> Script:
    async def script(heard: Heard, writer: asyncio.StreamWriter) -> None:
        if b'"slow"' in heard.body:
            writer.write(head(EVENTS, "Transfer-Encoding: chunked"))
            await writer.drain()
            await release.wait()
            writer.write(chunk(event(result(1, said="slow"))) + b"0\r\n\r\n")
        else:
            writer.write(whole(result(1, said="fast"), JSON))

    return script


@pytest.mark.parametrize("headers", [("Mcp-Session-Id: s",), (MODERN,)])
async def test_j05_h17_one_id_twice_in_flight_gets_two_answers_each_its_own(
    tmp_path: Path, headers: tuple[str, ...]
) -> None:
    release = asyncio.Event()

    async with relayed(tmp_path, slow_first(release)) as (_, sidecar):
        await sidecar.ask(request(0, "ping"), *headers)
        slow = await sidecar.send(request(1, name="slow"), *headers)
        await slow.head()
        fast = await sidecar.ask(request(1, name="fast"), *headers)
        release.set()
        said = await slow.until(b"slow")

        assert fast.body == result(1, said="fast")
        assert said == event(result(1, said="slow"))
        pairs = [
            (str(row.interaction.params), row.interaction.response.text)
            for row in sidecar.rows()[1:]
            if row.interaction.response is not None
        ]
        assert pairs == [
            ('{"name": "slow"}', '{"said": "slow"}'),
            ('{"name": "fast"}', '{"said": "fast"}'),
        ]


async def test_j07_each_message_of_a_batch_is_recorded(tmp_path: Path) -> None:
    batch = b"[" + request(1, name="a") + b"," + NOTE + b"," + request(2, name="b") + b"]"
    answers = b"[" + result(2, said="b") + b"," + result(1, said="a") + b"]"

    async with relayed(tmp_path, always(whole(answers, JSON))) as (_, sidecar):
        assert (await sidecar.ask(batch)).body == answers
        assert sidecar.texts() == ['{"said": "a"}', '{"said": "b"}']


@pytest.mark.parametrize(
    "body", [b"[]", b"null", b"5", b'"x"', b"{}", b'{"jsonrpc":"2.0","id":1}', b"{", b"\xff"]
)
async def test_j07_odd_json_passes_and_the_servers_refusal_comes_back(
    tmp_path: Path, body: bytes
) -> None:
    refusal = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"odd"}}'

    async with relayed(tmp_path, always(whole(refusal, JSON, status="400 Bad Request"))) as (
        up,
        sidecar,
    ):
        got = await sidecar.ask(body)

        assert (got.status, got.body) == (400, refusal)
        assert up.heard[0].body == body


# --- clients that go


async def has_left(up_left: asyncio.Event) -> bool:
    async with asyncio.timeout(WAIT_SECONDS):
        return await up_left.wait()


def silent_stream(first: bytes) -> Script:
    async def script(heard: Heard, writer: asyncio.StreamWriter) -> None:
        if b'"slow"' not in heard.body:
            answering(heard, writer)
            return
        writer.write(head(EVENTS, "Transfer-Encoding: chunked") + chunk(first))
        await writer.drain()
        await asyncio.Event().wait()

    return script


async def gone(sidecar: Sidecar) -> None:
    """Wait until what the relay had to note of a client that went is noted."""
    await until(lambda: not sidecar.server.is_answering)


async def test_h05_a_client_that_goes_ends_its_own_call_upstream_and_no_other(
    tmp_path: Path,
) -> None:
    async with relayed(tmp_path, silent_stream(b": hi\n\n")) as (up, sidecar):
        await sidecar.ask(request(0), MODERN)
        client = await sidecar.send(request(1, name="slow"), MODERN)
        await client.head()
        await client.until(b"hi")
        client.leave()

        assert await has_left(up.left)
        await gone(sidecar)
        assert (await sidecar.ask(request(2), MODERN)).body == result(2)
        assert [row.state for row in sidecar.rows()] == ["answered", "cancelled", "answered"]


async def test_h05_a_client_that_goes_before_anything_came_ends_its_call_upstream(
    tmp_path: Path,
) -> None:
    reached = asyncio.Event()

    async def script(heard: Heard, writer: asyncio.StreamWriter) -> None:
        if b'"slow"' not in heard.body:
            answering(heard, writer)
            return
        reached.set()
        await asyncio.Event().wait()

    async with relayed(tmp_path, script) as (up, sidecar):
        await sidecar.ask(request(0), MODERN)
        client = await sidecar.send(request(1, name="slow"), MODERN)
        await has_left(reached)
        client.leave()

        assert await has_left(up.left)
        await gone(sidecar)
        assert [row.state for row in sidecar.rows()] == ["answered", "cancelled"]


async def test_in_a_session_a_client_that_goes_takes_nothing_back(tmp_path: Path) -> None:
    async with relayed(tmp_path, silent_stream(b": hi\n\n")) as (up, sidecar):
        await sidecar.ask(request(0, "initialize"))
        client = await sidecar.send(request(1, name="slow"), "Mcp-Session-Id: s")
        await client.head()
        await client.until(b"hi")
        client.leave()
        assert await has_left(up.left)
        await gone(sidecar)
        assert [row.state for row in sidecar.rows()] == ["answered", "open"]

        await sidecar.server.stop()
        assert [row.state for row in sidecar.rows()] == ["answered", "unanswered"]


# --- coming back


async def test_h10_a_client_that_comes_back_gets_its_answer_and_it_is_recorded_once(
    tmp_path: Path,
) -> None:
    log = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"n":1}}'
    stream = [b"id: e1\nretry: 10\ndata:\n\n", event(log, "e2")]
    again = [event(log, "e2"), event(result(1, ok=True), "e3")]

    async def script(heard: Heard, writer: asyncio.StreamWriter) -> None:
        last = heard.header("Last-Event-ID")
        if heard.method == "GET" and last == "e1":
            writer.write(head("Transfer-Encoding: chunked", EVENTS) + chunk(again[0]))
        elif heard.method == "GET":
            writer.write(streamed(*again))
        elif b'"slow"' in heard.body:  # the stream breaks off in the middle
            writer.write(head("Transfer-Encoding: chunked", EVENTS) + b"".join(map(chunk, stream)))
        else:
            answering(heard, writer)

    async with relayed(tmp_path, script) as (up, sidecar):
        await sidecar.ask(request(0, "initialize"))
        headers = ("Mcp-Session-Id: s",)
        cut = await sidecar.ask(request(1, name="slow"), *headers)
        assert (cut.whole, cut.body) == (False, b"".join(stream))

        cut = await sidecar.ask(None, *headers, "Last-Event-ID: e1", method="GET")
        assert (cut.whole, cut.body) == (False, again[0])
        got = await sidecar.ask(None, *headers, "Last-Event-ID: e2", method="GET")
        assert (got.whole, got.body) == (True, b"".join(again))

        assert [heard.header("Last-Event-ID") for heard in up.heard][2:] == ["e1", "e2"]
        row = sidecar.rows()[1]
        assert row.state == "answered"
        assert [passage.params for passage in row.interaction.during] == ['{"n":1}']


async def test_a_stream_of_a_session_passes_what_comes_and_it_is_recorded(tmp_path: Path) -> None:
    changed = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'

    async def script(heard: Heard, writer: asyncio.StreamWriter) -> None:
        if heard.method == "GET":
            writer.write(streamed(event(changed)))
        else:
            answering(heard, writer)

    async with relayed(tmp_path, script) as (_, sidecar):
        await sidecar.ask(request(0, "initialize"))
        got = await sidecar.ask(None, "Mcp-Session-Id: s", method="GET")

        assert got.body == event(changed)
        (row,) = sidecar.rows()
        assert [passage.method for passage in row.interaction.after] == [
            "notifications/tools/list_changed"
        ]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a_session_that_nobody_saw_leaves_nothing_unless_it_says_something(
    tmp_path: Path, method: str
) -> None:
    async with relayed(tmp_path, always(streamed(b": nothing\n\n"))) as (up, sidecar):
        await sidecar.ask(None, "Mcp-Session-Id: other", method=method)
        assert sidecar.sessions() == []

        up.script = always(streamed(event(result("asked before"))))
        await sidecar.ask(None, "Mcp-Session-Id: other", method=method)
        assert len(sidecar.sessions()) == 1


async def test_a_journal_that_takes_nothing_costs_no_traffic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise JournalError("the disk is full")

    async with relayed(tmp_path, scripted_sessions()) as (_, sidecar):
        monkeypatch.setattr(sidecar.journal, "start_session", full)
        begun = await sidecar.ask(request(0, "initialize"), "X-Client: a")
        called = await sidecar.ask(request(1), "Mcp-Session-Id: sa")
        loose = await sidecar.ask(request(2))

    assert [got.status for got in (begun, called, loose)] == [200, 200, 200]
    assert "the disk is full; sessions are not recorded" in capfd.readouterr().err


async def test_an_answer_that_cannot_be_noted_is_not_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError

    async def script(_heard: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(head("Transfer-Encoding: chunked", EVENTS))
        await asyncio.Event().wait()

    monkeypatch.setattr(Exchange, "begun", broken)
    async with relayed(tmp_path, script) as (up, sidecar):
        for method, body in (("POST", request()), ("GET", None)):
            got = await sidecar.ask(body, "Mcp-Session-Id: s", method=method)
            assert got.status == 500
            await asyncio.wait_for(up.left.wait(), WAIT_SECONDS)
            up.left.clear()


async def test_other_methods_and_statuses_pass_as_they_come(tmp_path: Path) -> None:
    answer = whole(b"no", "Allow: POST", status="405 Not Here")

    async with relayed(tmp_path, always(answer)) as (up, sidecar):
        for method in ("GET", "DELETE", "OPTIONS", "PUT"):
            got = await sidecar.ask(None, method=method)
            assert (got.status, got.body, got.header("Allow")) == (405, b"no", "POST")
        assert [heard.method for heard in up.heard] == ["GET", "DELETE", "OPTIONS", "PUT"]


@pytest.mark.parametrize(
    ("how", "path", "allowed"),
    [("POST", "sse", "GET"), ("DELETE", "sse", "GET"), ("GET", "messages", "POST")],
)
async def test_the_older_transport_takes_each_request_in_its_own_way(
    tmp_path: Path, how: str, path: str, allowed: str
) -> None:
    async with relayed(tmp_path, always(whole(result(1), JSON))) as (up, stage):
        got = await stage.ask(request(), method=how, path=f"/up/{path}?session_id=x")

        assert (got.status, got.header("Allow")) == (405, allowed)
        assert up.heard == []
