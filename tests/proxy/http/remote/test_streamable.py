"""Streamable HTTP in both eras: what is sent, what comes back, and what if nothing does."""

import asyncio
import gzip
import json
from typing import Any

import pytest
from aiohttp import web

from sidecar.proxy.link import Remark
from tests.proxy.http.odd_server import (
    INITIALIZE,
    INITIALIZED,
    MODERN,
    SESSION,
    VERSION,
    OddServer,
    Talk,
    accepted,
    answered,
    answering,
    call,
    cut,
    event,
    initialized,
    modern,
    notice,
    request,
    result_of,
    stream,
)

QUICK_RETRY_MS = 10


def note(number: int) -> dict[str, object]:
    """A notification of the server's."""
    return {"jsonrpc": "2.0", "method": "notifications/message", "params": {"number": number}}


# --- what is sent


def test_h16_the_version_that_the_server_chose_and_its_session_are_named_from_then_on() -> None:
    async def older(_: web.Request, message: Any) -> web.Response:
        result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {}}
        return answered(message, result, headers={"Mcp-Session-Id": "abc"})

    with OddServer({"initialize": older}) as server, Talk(server.url).begun() as talk:
        talk.send(call(1))
        talk.message()
        talk.rest()

    named = [
        (seen.method, seen.headers.get("mcp-protocol-version"), seen.headers.get("mcp-session-id"))
        for seen in server.seen
    ]
    assert named == [
        ("POST", None, None),
        ("POST", "2025-06-18", "abc"),
        ("GET", "2025-06-18", "abc"),
        ("POST", "2025-06-18", "abc"),
        ("DELETE", "2025-06-18", "abc"),
    ]


def test_a_message_is_sent_byte_for_byte_with_the_headers_of_the_protocol() -> None:
    line = '{"id":1e0, "method":"tools/call","params":{"name":"\\u00e9é","n":1.50},"jsonrpc":"2.0"}'
    with OddServer() as server, Talk(server.url, headers=(("X-Team", "blue"),)) as talk:
        talk.send(line.encode() + b"\n")
        answer = talk.line()

    (seen,) = server.seen
    assert seen.body == line.encode()
    assert answer.startswith(b'{"jsonrpc": "2.0", "id": 1.0, "result": ')
    names = ("accept", "content-type", "accept-encoding", "x-team", "user-agent")
    assert [seen.headers[name] for name in names] == [
        "application/json, text/event-stream",
        "application/json",
        "identity",
        "blue",
        "mcp-sidecar",
    ]
    assert "mcp-method" not in seen.headers


def test_n02_a_request_of_2026_07_28_says_in_headers_what_it_is_about() -> None:
    schema = {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}

    async def tools(_: web.Request, message: Any) -> web.Response:
        return answered(message, {"tools": [{"name": "größe", "inputSchema": schema}]})

    with OddServer({"tools/list": tools}) as server, Talk(server.url) as talk:
        talk.send(modern(1, "tools/call", name="größe", arguments={"region": "eu"}))
        talk.message()
        talk.send(modern(2, "tools/list"))
        talk.message()
        talk.send(modern(3, "tools/call", name="größe", arguments={"region": "eu"}))
        talk.message()
        talk.rest()

    names = ("mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-region")
    assert [tuple(map(seen.headers.get, names)) for seen in server.seen] == [
        (MODERN, "tools/call", "=?base64?Z3LDtsOfZQ==?=", None),
        (MODERN, "tools/list", None, None),
        (MODERN, "tools/call", "=?base64?Z3LDtsOfZQ==?=", "eu"),
    ]
    assert not any("mcp-session-id" in seen.headers for seen in server.seen)


def test_a_client_that_falls_back_to_a_handshake_leaves_the_other_era_behind() -> None:
    refused = answering(status=400, text="Bad Request: Missing session ID")
    with OddServer({"server/discover": refused}) as server, Talk(server.url) as talk:
        talk.send(modern(1, "server/discover"))
        assert "HTTP 400 Bad Request: Bad Request: Missing session ID" in talk.failure()
        talk.begun()
        talk.send(call(2))
        talk.message()

    sent = server.last("tools/call").headers
    assert (sent["mcp-protocol-version"], sent["mcp-session-id"]) == (VERSION, SESSION)
    assert "mcp-method" not in sent


def test_nothing_overtakes_the_beginning_of_its_session() -> None:
    async def slow(request: web.Request, message: Any) -> web.Response:
        held.append(asyncio.Event())
        await held[-1].wait()
        return await (initialized if "id" in message else accepted)(request, message)

    async def release(_: web.Request, message: Any) -> web.Response:
        held[-1].set()
        return answered(message, {})

    held: list[asyncio.Event] = []
    answers = {"initialize": slow, "notification": slow, "release": release}
    first = ["initialize", "notifications/initialized", "notifications/progress"]
    with OddServer(answers) as server, Talk(server.url) as talk, Talk(server.url) as other:
        talk.send(INITIALIZE, INITIALIZED, notice("progress"), call(1))
        for what in first:
            server.until(lambda _: {*server.whats()[-1:]} - {"ping", "release"})
            assert server.whats()[-1] == what
            # Whole exchanges of another client's: in that time something could overtake.
            for _ in range(3):
                other.send(modern(1, "ping"))
                other.message()
            other.send(modern(2, "release"))
            other.message()
        assert [talk.message()["id"], talk.message()["id"]] == ["init", 1]

    ours = [seen for seen in server.seen if "mcp-method" not in seen.headers]
    pause = ["ping"] * 3 + ["release"]
    assert server.whats() == [*(x for what in first for x in (what, *pause)), "tools/call"]
    assert all(seen.headers.get("mcp-session-id") == SESSION for seen in ours[1:])


def test_a_stream_that_a_server_leaves_open_holds_nothing_up() -> None:
    async def left_open(request: web.Request, message: Any) -> web.StreamResponse:
        said = [event(result_of(message, {"protocolVersion": VERSION}))] if "id" in message else []
        response = await stream(request, *said)
        await asyncio.Event().wait()
        return response

    answers = dict.fromkeys(("initialize", "notification", "GET", "response"), left_open)
    with OddServer(answers) as server, Talk(server.url) as talk:
        talk.send(INITIALIZE, INITIALIZED, notice("progress"))
        talk.send(b'{"jsonrpc":"2.0","id":1,"result":{}}\n', call(1))
        assert [talk.message()["id"], talk.message()["id"]] == ["init", 1]


def test_requests_run_side_by_side_and_each_gets_its_own_answer() -> None:
    count = 50
    arrived = 0
    all_there = asyncio.Event()

    async def together(_: web.Request, message: Any) -> web.Response:
        nonlocal arrived
        arrived += 1
        if arrived == count:
            all_there.set()
        await all_there.wait()
        return answered(message, message["params"]["arguments"])

    with OddServer({"tools/call": together}) as server, Talk(server.url).begun() as talk:
        talk.send(*[call(number, number=number) for number in range(count)])
        answers = [talk.message() for _ in range(count)]

    assert sorted((one["id"], one["result"]["number"]) for one in answers) == [
        (number, number) for number in range(count)
    ]


# --- what comes back


def test_a_body_in_many_lines_becomes_one_line() -> None:
    body = '{\r\n  "jsonrpc": "2.0",\n  "id": 1,\n  "result": {"a": 1.50}\n}\n'
    pretty = answering(text=body, content_type="application/json")
    with OddServer({"tools/call": pretty}) as server, Talk(server.url) as talk:
        talk.send(call(1))
        line = talk.line()

    assert line.count(b"\n") == 1
    assert line == body.strip().replace("\r", " ").replace("\n", " ").encode() + b"\n"


def test_j10_what_a_stream_says_comes_in_its_order_before_the_answer() -> None:
    async def told(request: web.Request, message: Any) -> web.StreamResponse:
        parts = [event(note(number)) for number in range(3)]
        return await stream(request, b": ping\r\n\r\n", *parts, event(result_of(message, "done")))

    with OddServer({"tools/call": told}) as server, Talk(server.url) as talk:
        talk.send(call(1))
        got = [talk.message() for _ in range(4)]

    assert got == [note(0), note(1), note(2), {"jsonrpc": "2.0", "id": 1, "result": "done"}]
    assert talk.remarks == {}


def test_a_request_of_the_servers_is_answered_by_a_post() -> None:
    replied = asyncio.Event()

    async def asks(request: web.Request, message: Any) -> web.StreamResponse:
        asked = {"jsonrpc": "2.0", "id": 1, "method": "roots/list"}
        response = await stream(request, event(asked))
        await replied.wait()
        await response.write(event(result_of(message, "done")))
        return response

    async def reply(_request: web.Request, _message: Any) -> web.Response:
        replied.set()
        return web.Response(status=202)

    answers = {"tools/call": asks, "response": reply}
    with OddServer(answers) as server, Talk(server.url).begun() as talk:
        talk.send(call(1))
        assert talk.message()["method"] == "roots/list"
        talk.send(b'{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}\n')
        assert talk.message()["result"] == "done"

    assert server.last("response").headers["mcp-session-id"] == SESSION


def test_the_stream_for_what_is_unasked_is_opened_and_opened_again_where_it_was_cut() -> None:
    opened = 0

    async def listened(request: web.Request, _message: Any) -> web.StreamResponse:
        nonlocal opened
        opened += 1
        response = await stream(request, event(note(opened), f"e{opened}", QUICK_RETRY_MS))
        if opened == 1:
            cut(request)
        else:
            await asyncio.Event().wait()
        return response

    with OddServer({"GET": listened}) as server, Talk(server.url).begun() as talk:
        assert [talk.message(), talk.message()] == [note(1), note(2)]

    gets = [seen.headers.get("last-event-id") for seen in server.seen if seen.method == "GET"]
    assert gets == [None, "e1"]
    assert server.last("GET").headers["accept"] == "text/event-stream"


def test_a_stream_that_ends_at_once_is_opened_again_less_and_less_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        waits.append(seconds)
        await sleep(0)

    async def ends(request: web.Request, _message: Any) -> web.StreamResponse:
        return await stream(request, event(None, f"e{len(waits)}", 0))

    monkeypatch.setattr(asyncio, "sleep", noted)
    with OddServer({"GET": ends}) as server, Talk(server.url).begun():
        server.until(lambda seen: [one.method for one in seen].count("GET") >= 5)

    assert [seconds for seconds in waits if seconds][:4] == [0.1, 0.2, 0.4, 0.8]


def test_a_new_session_leaves_the_stream_of_the_last_one() -> None:
    closed: list[bool] = []

    async def listened(request: web.Request, _message: Any) -> web.StreamResponse:
        response = await stream(request)
        try:
            await asyncio.Event().wait()
        finally:
            closed.append(True)
        return response

    with OddServer({"GET": listened}) as server, Talk(server.url).begun() as talk:
        server.until(lambda seen: seen[-1].method == "GET")
        talk.send(INITIALIZE)
        talk.message()
        server.until(lambda _: closed == [True])


def test_a_batch_is_one_post_and_all_of_it_is_answered() -> None:
    async def both(_: web.Request, message: Any) -> web.Response:
        return web.json_response([result_of(one, one["id"]) for one in message])

    line = b"[" + call(1).strip() + b"," + call(2).strip() + b"]\n"
    with OddServer({"batch": both}) as server, Talk(server.url) as talk:
        talk.send(line)
        got = talk.message()

    assert [one["result"] for one in got] == [1, 2]
    assert server.seen[0].body == line.strip()


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_h11_a_server_that_compresses_all_the_same_is_understood(kind: str) -> None:
    async def packed(_: web.Request, message: Any) -> web.Response:
        found = result_of(message, "x" * 1000)
        text = json.dumps(found).encode() if kind == "application/json" else event(found)
        headers = {"Content-Encoding": "gzip", "Content-Type": kind}
        return web.Response(body=gzip.compress(text), headers=headers)

    with OddServer({"tools/call": packed}) as server, Talk(server.url) as talk:
        talk.send(call(1))
        assert talk.message()["result"] == "x" * 1000


# --- errors of the server's


@pytest.mark.parametrize("ident", ["null", '"server-error"', "1"])
def test_an_error_of_the_servers_passes_as_it_is_under_the_requests_id(ident: str) -> None:
    error = '{"code":-32602,"message":"no","data":{"a":1.50}}'
    body = f'{{"jsonrpc":"2.0","id":{ident},"error":{error}}}'
    refused = answering(status=400, text=body, content_type="application/json")
    with OddServer({"tools/call": refused}) as server, Talk(server.url) as talk:
        talk.send(call(1))
        line = talk.line()

    assert line.decode() == f'{{"jsonrpc":"2.0","id":1,"error":{error}}}\n'
    assert talk.remarks == {line: Remark(is_ours=False, http_status=400)}


def test_the_status_that_a_modern_error_prescribes_is_not_remarked_on() -> None:
    body = '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}'
    refused = answering(status=400, text=body, content_type="application/json")
    with OddServer({"tools/call": refused}) as server, Talk(server.url) as talk:
        talk.send(modern(1, "tools/call", name="t"))
        assert talk.line().decode() == f"{body}\n"

    assert talk.remarks == {}


def test_h01_a_session_that_has_ended_fails_each_request_and_none_is_begun_unasked() -> None:
    gone = answering(status=404, text="Session not found")
    with OddServer({"tools/call": gone}) as server, Talk(server.url).begun() as talk:
        talk.send(call(1))
        first = talk.failure()
        talk.send(call(2))
        second = talk.failure()
        talk.begun()
        talk.rest()

    assert first == second
    assert first.startswith("server 'odd': HTTP 404 Not Found: the server has ended the session")
    assert [remark.http_status for remark in talk.remarks.values()] == [404, 404]
    begun = ["initialize", "notifications/initialized"]
    assert server.whats() == [*begun, "tools/call", "tools/call", *begun]


def test_h21_a_server_that_wants_a_login_is_told_of_and_what_it_names_is_not_opened(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with OddServer({"POST": answering(status=401), "initialize": answering(status=401)}) as server:
        place = server.url.replace("/mcp", "/metadata")
        challenge = f'Bearer resource_metadata="{place}", authorization_uri="file:///$(id)"'
        server.answers["initialize"] = answering(
            status=401, headers={"WWW-Authenticate": challenge}
        )
        with Talk(server.url) as talk:
            talk.send(INITIALIZE)
            text = talk.failure()
            assert talk.rest() == []
            assert talk.remote.stop(1.0) == 127

    assert "--header-env Authorization=VARIABLE" in text
    assert "HTTP 401 Unauthorized" in text
    assert [(seen.method, seen.what) for seen in server.seen] == [("POST", "initialize")]
    said = capfd.readouterr().err
    assert said == f"mcp-sidecar: {text}\n"
    assert "file:" not in said


def test_a_refusal_is_quoted_without_the_secrets_that_were_sent() -> None:
    refused = answering(status=403, text="token abc-secret is no good")
    headers = (("Authorization", "Bearer abc-secret"),)
    with OddServer({"tools/call": refused}) as server, Talk(server.url, headers=headers) as talk:
        talk.send(call(1))
        text = talk.failure()

    assert text == "server 'odd': HTTP 403 Forbidden: token *** is no good"
    assert server.seen[0].headers["authorization"] == "Bearer abc-secret"


@pytest.mark.parametrize(
    ("response", "words"),
    [
        ({"status": 202}, "took the request, but did not answer it (HTTP 202"),
        ({"status": 200}, "did not answer it (HTTP 200"),
        ({"text": "<html>", "content_type": "text/html"}, "(HTTP 200, text/html"),
        ({"text": "{", "content_type": "application/json"}, "did not answer it"),
        ({"text": "{}", "content_type": "application/json"}, "did not answer it"),
        ({"status": 500, "text": "<p>", "content_type": "text/html"}, "Internal Server Error"),
        ({"status": 599}, "HTTP 599"),
        ({"status": 302, "headers": {"Location": "/other"}}, "it redirects a POST with 302 to"),
        ({"status": 307}, "it redirects, and does not say where to"),
    ],
)
def test_what_is_no_answer_becomes_an_error_in_words(response: dict[str, Any], words: str) -> None:
    with OddServer({"tools/call": answering(**response)}) as server, Talk(server.url) as talk:
        talk.send(call(1))
        assert words in talk.failure()
        talk.send(request(2, "ping"))
        assert talk.message()["id"] == 2


def test_a_content_coding_that_nobody_asked_for_and_we_cannot_read_is_an_error() -> None:
    headers = {"Content-Encoding": "x-odd", "Content-Type": "application/json"}
    packed = answering(body=b"\x00\x01", headers=headers)
    with OddServer({"tools/call": packed}) as server, Talk(server.url) as talk:
        talk.send(call(1))
        assert "did not answer it" in talk.failure()


def test_an_answer_over_the_ceiling_is_an_error() -> None:
    async def large(_: web.Request, message: Any) -> web.Response:
        return answered(message, "x" * 500_000)

    async def large_event(request: web.Request, message: Any) -> web.StreamResponse:
        return await stream(request, event(result_of(message, "x" * 500_000)))

    answers = {"tools/call": large, "prompts/get": large_event}
    with OddServer(answers) as server, Talk(server.url, max_message_bytes=4000) as talk:
        for ident, method in enumerate(answers):
            talk.send(request(ident, method))
            assert "over the ceiling; raise it with --max-message-bytes" in talk.failure()


# --- streams that break


def test_h06_a_stream_that_is_cut_before_the_answer_is_an_error_at_once() -> None:
    async def dies(request: web.Request, _message: Any) -> web.StreamResponse:
        response = await stream(request, event(note(1)))
        cut(request)
        return response

    with OddServer({"tools/call": dies}) as server, Talk(server.url).begun() as talk:
        talk.send(call(1))
        assert talk.message() == note(1)
        assert talk.failure() == "server 'odd': its stream ended before the answer"


def test_s11_a_server_that_dies_fails_all_that_wait_for_it() -> None:
    async def never(_request: web.Request, _message: Any) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    with OddServer({"tools/call": never}) as server, Talk(server.url).begun() as talk:
        talk.send(call(1), call(2))
        server.until(lambda seen: len(seen) == 5)
        server.stop()
        texts = {talk.failure(), talk.failure()}

    assert len(texts) == 1
    assert "ended the connection before it answered" in texts.pop()


def resuming(*parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Answers a call in parts: after each the connection is cut, and the next GET goes on."""
    left = list(enumerate(parts))

    async def go_on(request: web.Request, _message: Any) -> web.StreamResponse:
        number, messages = left.pop(0)
        prime = event(None, f"p{number}", QUICK_RETRY_MS)
        events = [event(one, f"e{number}-{at}") for at, one in enumerate(messages)]
        response = await stream(request, prime, *events)
        if left:
            cut(request)
        return response

    async def listened(request: web.Request, message: Any) -> web.StreamResponse:
        if "Last-Event-ID" in request.headers:
            return await go_on(request, message)
        return web.Response(status=405)

    return {"tools/call": go_on, "GET": listened}


def test_h10_a_stream_that_is_cut_again_and_again_is_taken_up_each_time_where_it_was() -> None:
    done = {"jsonrpc": "2.0", "id": 1, "result": "done"}
    answers = resuming([note(1)], [], [note(2), note(3)], [], [], [done])
    with OddServer(answers) as server, Talk(server.url).begun() as talk:
        talk.send(call(1))
        got = [talk.message() for _ in range(4)]
        assert talk.rest() == []

    assert got == [note(1), note(2), note(3), done]
    ids = [seen.headers.get("last-event-id") for seen in server.seen if seen.method == "GET"]
    assert ids == [None, "e0-0", "p1", "e2-1", "p3", "p4"]
    assert {seen.headers["mcp-session-id"] for seen in server.seen[1:]} == {SESSION}


def test_h10_a_stream_that_cannot_be_taken_up_again_is_an_error() -> None:
    answers = {**resuming([note(1)], []), "GET": answering(status=404)}
    with OddServer(answers) as server, Talk(server.url).begun() as talk:
        talk.send(call(1))
        talk.message()
        assert talk.failure() == "server 'odd': its stream ended before the answer"

    assert [seen.method for seen in server.seen].count("GET") == 2


def test_h10_a_stream_that_says_no_more_is_given_up_after_a_few_times() -> None:
    async def empty(request: web.Request, _message: Any) -> web.StreamResponse:
        return await stream(request)

    answers = {**resuming([note(1)], []), "GET": empty}
    with OddServer(answers) as server, Talk(server.url) as talk:
        talk.send(call(1))
        talk.message()
        assert talk.failure() == "server 'odd': its stream ended before the answer"

    assert [seen.method for seen in server.seen].count("GET") == 3


# --- waiting


def test_h14_a_stream_may_be_silent_for_longer_than_an_answer_may_take_to_begin() -> None:
    async def slow(request: web.Request, message: Any) -> web.StreamResponse:
        response = await stream(request, event(note(1)))
        await go_on.wait()
        await response.write(event(result_of(message, "done")))
        return response

    async def release(_: web.Request, message: Any) -> web.Response:
        go_on.set()
        return answered(message, {})

    go_on = asyncio.Event()
    answers = {"tools/call": slow, "release": release}
    with OddServer(answers) as server, Talk(server.url, answer_seconds=60.0) as talk:
        talk.send(call(1))
        assert talk.message() == note(1)
        talk.later(100.0)
        talk.send(modern(2, "release"))
        said = {one["id"]: one.get("result") for one in (talk.message(), talk.message())}

    assert said == {1: "done", 2: {}}


def test_h15_a_server_that_does_not_begin_to_answer_is_given_up() -> None:
    async def silent(_request: web.Request, _message: Any) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async def half(request: web.Request, _message: Any) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"jsonrpc":')
        begun.append(True)
        await asyncio.Event().wait()
        return response

    begun: list[bool] = []
    answers = {"tools/call": silent, "prompts/get": half}
    with OddServer(answers) as server, Talk(server.url, answer_seconds=60.0) as talk:
        talk.send(call(1))
        server.until(lambda seen: seen)
        talk.later(61.0)
        assert talk.failure().endswith("/mcp did not begin to answer within 60 seconds")
        talk.send(request(2, "prompts/get"))
        server.until(lambda _: begun)
        talk.later(61.0)
        assert talk.failure() == "server 'odd': its answer was cut off (TimeoutError)"


# --- taking back


def waiting_calls(closed: list[Any]) -> dict[str, Any]:
    """Answers a call only if its argument says so; notes those whose connection is closed."""

    async def waits(_: web.Request, message: Any) -> web.Response:
        if message["params"]["arguments"].get("quick"):
            return answered(message, "quick")
        try:
            await asyncio.Event().wait()
        finally:
            closed.append(message["id"])
        raise AssertionError

    return {"tools/call": waits}


def test_j09_in_the_modern_era_to_take_a_request_back_is_to_close_its_post() -> None:
    closed: list[Any] = []
    with OddServer(waiting_calls(closed)) as server, Talk(server.url) as talk:
        talk.send(modern(1, "tools/call", name="t", arguments={}))
        server.until(lambda seen: len(seen) == 1)
        talk.send(notice("cancelled", requestId=1), notice("cancelled", requestId=77))
        talk.send(modern(2, "tools/call", name="t", arguments={"quick": True}))
        assert talk.message()["id"] == 2
        server.until(lambda _: closed == [1])
        assert talk.rest() == []

    assert server.whats() == ["tools/call", "tools/call"]


def test_j09_in_the_handshake_era_the_server_is_told_and_no_error_is_made_up() -> None:
    told = asyncio.Event()

    async def ends(request: web.Request, _message: Any) -> web.StreamResponse:
        response = await stream(request)
        await told.wait()
        return response

    async def cancelled(_request: web.Request, _message: Any) -> web.Response:
        told.set()
        return web.Response(status=202)

    answers = {"tools/call": ends, "notifications/cancelled": cancelled}
    with OddServer(answers) as server, Talk(server.url).begun() as talk:
        talk.send(call(1))
        server.until(lambda seen: seen[-1].what == "tools/call")
        talk.send(notice("cancelled", requestId=1, reason="late"), request(2, "ping"))
        assert talk.message()["id"] == 2
        assert talk.rest() == []

    assert server.last("notifications/cancelled").headers["mcp-session-id"] == SESSION
    assert talk.remarks == {}


def test_a_subscription_stays_open_until_it_is_taken_back() -> None:
    closed = []

    async def listens(request: web.Request, _message: Any) -> web.StreamResponse:
        response = await stream(request, event(note(1)))
        try:
            await asyncio.Event().wait()
        finally:
            closed.append(True)
        return response

    answers = {"subscriptions/listen": listens}
    with OddServer(answers) as server, Talk(server.url, answer_seconds=60.0) as talk:
        talk.send(modern("listen-1", "subscriptions/listen"))
        assert talk.message() == note(1)
        talk.later(100.0)
        talk.send(modern(2, "ping"))
        assert talk.message()["id"] == 2
        talk.send(notice("cancelled", requestId="listen-1"))
        server.until(lambda _: closed)
        assert talk.rest() == []


def test_a_subscription_that_the_server_drops_is_told_of() -> None:
    async def drops(request: web.Request, _message: Any) -> web.StreamResponse:
        return await stream(request, event(note(1), "ids-mean-nothing-here"))

    with OddServer({"subscriptions/listen": drops}) as server, Talk(server.url) as talk:
        talk.send(modern("listen-1", "subscriptions/listen"))
        assert talk.message() == note(1)
        assert talk.failure() == "server 'odd': its stream ended before the answer"

    assert [seen.method for seen in server.seen] == ["POST"]


# --- redirects


def test_a_redirect_within_the_origin_is_followed_with_all_that_was_sent() -> None:
    moved = answering(status=307, headers={"Location": "/mcp/"})
    headers = (("Authorization", "Bearer abc-secret"),)
    with (
        OddServer({"POST /mcp": moved}) as server,
        Talk(server.url, headers=headers) as talk,
    ):
        talk.send(call(1, a=1))
        assert talk.message()["result"]["params"]["arguments"] == {"a": 1}

    first, second = server.seen
    assert first.body == second.body
    assert second.headers["authorization"] == "Bearer abc-secret"


def test_a_redirect_elsewhere_is_not_followed_and_no_secret_goes_there() -> None:
    with OddServer() as other:
        away = answering(status=307, headers={"Location": f"{other.url}?token=abc"})
        with OddServer({"POST": away, "tools/call": away}) as server, Talk(server.url) as talk:
            talk.send(call(1))
            text = talk.failure()

    assert (
        text
        == f"server 'odd': it redirects to {other.url}, which is not followed; is that its URL?"
    )
    assert other.seen == []


def test_a_redirect_without_end_is_given_up() -> None:
    around = answering(status=308, headers={"Location": "/mcp"})
    with OddServer({"tools/call": around}) as server, Talk(server.url) as talk:
        talk.send(call(1))
        assert talk.failure() == "server 'odd': it redirects again and again"
