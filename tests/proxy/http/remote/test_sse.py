"""The older HTTP with SSE transport: where messages go, and what if its stream breaks."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from tests.proxy.http.odd_server import (
    INITIALIZE,
    OddServer,
    Talk,
    answering,
    call,
    cut,
    event,
    notice,
    result_of,
    stream,
)
from tests.proxy.place import WAIT_SECONDS


def endpoint(place: str) -> bytes:
    """The event that names where messages go."""
    return f"event: endpoint\ndata: {place}\n\n".encode()


def open_at(place: str) -> dict[str, Any]:
    """Answers with a stream that names this endpoint, and then each request by its method."""
    streams: list[web.StreamResponse] = []

    async def listened(request: web.Request, _message: Any) -> web.StreamResponse:
        named = place.replace("ORIGIN", f"http://{request.host}")
        streams.append(await stream(request, endpoint(named)))
        await asyncio.Event().wait()
        return streams[-1]

    async def posted(request: web.Request, message: Any) -> web.Response:
        if "id" in message:
            await streams[-1].write(event(result_of(message, request.path_qs)))
        return web.Response(status=202)

    return {"GET": listened, "initialize": posted, "POST": posted, "tools/call": posted}


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("/v1/messages/?session_id=x", "/v1/messages/?session_id=x"),
        ("messages?s=1", "/v1/messages?s=1"),
        ("?s=1", "/v1/sse?s=1"),
        ("ORIGIN/elsewhere", "/elsewhere"),
    ],
)
def test_h13_messages_go_where_the_server_says_on_its_own_origin(place: str, path: str) -> None:
    with (
        OddServer(open_at(place), path="/v1/sse") as server,
        Talk(server.url, transport="sse", headers=(("Key", "abc-secret"),)) as talk,
    ):
        talk.send(INITIALIZE)
        assert talk.message()["result"] == path

    assert [seen.headers["key"] for seen in server.seen] == ["abc-secret", "abc-secret"]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (
            "http://127.0.0.1:1/messages",
            "messages at http://127.0.0.1:1/messages, which is another",
        ),
        ("//127.0.0.1:1/messages", "which is another origin: refused"),
        ("https://ORIGIN_HOST/", "which is another origin: refused"),
        ("file:///etc/passwd", "which is another origin: refused"),
        ("http://[::1/", "messages at what is no URL: refused"),
    ],
)
def test_h13_an_endpoint_on_another_origin_is_refused(place: str, words: str) -> None:
    with (
        OddServer(open_at(place)) as server,
        Talk(server.url, transport="sse") as talk,
    ):
        talk.send(INITIALIZE)
        assert words in talk.failure()
        assert talk.rest() == []
        assert talk.remote.stop(WAIT_SECONDS) == 127

    assert [seen.method for seen in server.seen] == ["GET"]


@pytest.mark.parametrize(
    ("response", "words"),
    [
        ({"status": 401}, "--header-env Authorization=VARIABLE"),
        ({"status": 404}, "HTTP 404 Not Found"),
        ({"status": 200, "text": "hello"}, "HTTP 200 OK"),
    ],
)
def test_what_is_no_stream_is_an_error(response: dict[str, Any], words: str) -> None:
    answers = {"GET": answering(**response)}
    with OddServer(answers) as server, Talk(server.url, transport="sse") as talk:
        talk.send(INITIALIZE)
        assert words in talk.failure()


def test_a_message_that_is_refused_is_an_error_of_its_request() -> None:
    refused = answering(status=400, text="Could not parse message")
    answers = {**open_at("/messages"), "POST /messages": refused}
    with OddServer(answers) as server, Talk(server.url, transport="sse") as talk:
        talk.send(call(1))
        text = talk.failure()

    assert text == "server 'odd': HTTP 400 Bad Request: Could not parse message"


def test_j09_no_error_is_made_up_for_what_the_client_took_back() -> None:
    async def refused(_request: web.Request, _message: Any) -> web.Response:
        await told.wait()
        return web.Response(status=400)

    async def taken_back(_request: web.Request, _message: Any) -> web.Response:
        told.set()
        return web.Response(status=202)

    told = asyncio.Event()
    answers = {**open_at("/messages"), "tools/call": refused, "notification": taken_back}
    with OddServer(answers) as server, Talk(server.url, transport="sse") as talk:
        talk.send(INITIALIZE)
        talk.message()
        talk.send(call(1))
        server.until(lambda seen: seen[-1].what == "tools/call")
        talk.send(notice("cancelled", requestId=1))
        server.until(lambda seen: seen[-1].what == "notifications/cancelled")
        talk.send(call(2))
        assert talk.message()["id"] == 2
        assert talk.rest() == []


def test_h06_the_end_of_the_stream_is_the_end_of_the_server(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async def listened(request: web.Request, _message: Any) -> web.StreamResponse:
        response = await stream(request, endpoint("/messages"))
        await asked.wait()
        cut(request)
        return response

    async def posted(_request: web.Request, _message: Any) -> web.Response:
        asked.set()
        return web.Response(status=202)

    asked = asyncio.Event()
    answers = {"GET": listened, "initialize": posted}
    with OddServer(answers) as server, Talk(server.url, transport="sse") as talk:
        talk.send(INITIALIZE)
        assert talk.line() == b""
        assert talk.remote.wait(WAIT_SECONDS) is None
        assert talk.remote.stop(WAIT_SECONDS) == 1

    assert capfd.readouterr().err == "mcp-sidecar: server 'odd': its event stream ended\n"
