"""The older HTTP with SSE transport: the client posts to us, and we to where the server said."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.proxy.http.relaying import (
    EVENTS,
    JSON,
    Client,
    Heard,
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


class Older:
    """A server of the older transport: what is posted is answered on the stream."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.stream: asyncio.StreamWriter | None = None
        self.ended = asyncio.Event()

    async def __call__(self, heard: Heard, writer: asyncio.StreamWriter) -> None:
        if heard.method == "GET":
            self.stream = writer
            first = f": hi\n\nevent: endpoint\ndata: {self.endpoint}\n\n".encode()
            writer.write(head(EVENTS, "Transfer-Encoding: chunked") + chunk(first))
            await writer.drain()
            await self.ended.wait()
        else:
            writer.write(whole(b"Accepted", status="202 Accepted"))

    def say(self, data: bytes) -> None:
        assert self.stream is not None
        self.stream.write(chunk(data))

    def end(self) -> None:
        assert self.stream is not None
        self.stream.write(b"0\r\n\r\n")
        self.ended.set()


async def opened(sidecar: Sidecar, path: str = "/up/sse") -> tuple[Client, str]:
    """Open a stream; return it, and where it says to post."""
    client = await sidecar.send(None, method="GET", path=path)
    assert (await client.head()).status == 200
    text = (await client.until(b"\n\n")).decode()
    assert text.startswith("event: endpoint\ndata: /up/messages?session_id=")
    return client, text.removeprefix("event: endpoint\ndata: ").strip()


@pytest.mark.parametrize(
    ("endpoint", "path"),
    [
        pytest.param("/v1/messages/?session_id=x", "/v1/messages/?session_id=x", id="a path"),
        pytest.param("messages?s=x%2Fy", "/messages?s=x%2Fy", id="relative"),
        pytest.param("?s=x", "/up?s=x", id="a query"),
        pytest.param("{origin}/deep/m?s=x", "/deep/m?s=x", id="absolute"),
    ],
)
@pytest.mark.parametrize("ours", ["/up/sse", "/up/mcp"])
async def test_h13_messages_go_to_us_and_from_us_to_where_the_server_said(
    tmp_path: Path, endpoint: str, path: str, ours: str
) -> None:
    older = Older("")

    async with relayed(tmp_path, older) as (up, sidecar):
        older.endpoint = endpoint.replace("{origin}", up.url.removesuffix("/up"))
        client, where = await opened(sidecar, ours)
        got = await sidecar.ask(request(1, name="a"), path=where)
        assert (got.status, got.body) == (202, b"Accepted")

        older.say(event(result(1, said="a")))
        assert await client.until(b"\n\n") == event(result(1, said="a"))
        assert sidecar.texts() == ['{"said": "a"}']
        assert [(heard.method, heard.path) for heard in up.heard] == [
            ("GET", "/up"),
            ("POST", path),
        ]
        older.end()


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://evil.test/messages",
        "//evil.test/messages",
        "https://127.0.0.1/x",
        "file:///x",
        "http://[",
    ],
)
async def test_h13_an_endpoint_of_another_origin_is_refused(tmp_path: Path, endpoint: str) -> None:
    async with relayed(tmp_path, Older(endpoint)) as (up, sidecar):
        got = await sidecar.ask(None, method="GET", path="/up/sse")

        assert (got.whole, got.body) == (False, b"")
        assert len(up.heard) == 1
        assert sidecar.sessions() == []


@pytest.mark.parametrize("cut", [1, 5])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
async def test_h08_h13_the_endpoint_is_found_however_its_event_is_cut(
    tmp_path: Path, cut: int, end: bytes
) -> None:
    stream = b"event: endpoint\ndata: /m\n\n".replace(b"\n", end) + event(result(9))
    pieces = [stream[at : at + cut] for at in range(0, len(stream), cut)]

    async with relayed(tmp_path, always(streamed(*pieces))) as (_, sidecar):
        got = await sidecar.ask(None, method="GET", path="/up/sse")

        first, rest = got.body.split(b"\n\n", 1)
        assert first.startswith(b"event: endpoint\ndata: /up/messages?session_id=")
        assert rest.lstrip(b"\n") == event(result(9))


async def test_h03_each_stream_has_a_session_of_its_own_and_ends_alone(tmp_path: Path) -> None:
    async def script(heard: Heard, writer: asyncio.StreamWriter) -> None:
        await streams[len([one for one in up.heard if one.method == "GET"]) - 1](heard, writer)

    streams = [Older("/m?s=1"), Older("/m?s=2")]
    async with relayed(tmp_path, script) as (up, sidecar):
        first, where = await opened(sidecar)
        second, there = await opened(sidecar)
        assert where != there
        await sidecar.ask(request(0, name="first"), path=where)
        await sidecar.ask(request(0, name="second"), path=there)

        streams[1].say(event(result(0, said=2)))
        assert await second.until(b"\n\n") == event(result(0, said=2))
        streams[0].say(event(result(0, said=1)))
        assert await first.until(b"\n\n") == event(result(0, said=1))
        assert sidecar.texts() == ['{"said": 1}', '{"said": 2}']

        streams[0].end()
        assert await first.reader.read() == b"0\r\n\r\n"
        assert sidecar.sessions() == ["ended", "running"]
        assert (await sidecar.ask(request(1), path=where)).status == 404
        streams[1].end()


async def test_h06_a_stream_that_ends_while_a_request_waits_gets_an_error_for_it(
    tmp_path: Path,
) -> None:
    older = Older("/m")

    async with relayed(tmp_path, older) as (_, sidecar):
        client, where = await opened(sidecar)
        await sidecar.ask(request("x"), path=where)
        older.end()

        assert b'"id":"x","error":{"code":-32000' in await client.until(b"\n\n")
        assert sidecar.texts() == ["unanswered"]


@pytest.mark.parametrize("status", ["400 Bad Request", "500 Oops"])
async def test_a_message_that_the_server_refuses_is_not_answered(
    tmp_path: Path, status: str
) -> None:
    older = Older("/m")

    async with relayed(tmp_path, older) as (up, sidecar):
        _, where = await opened(sidecar)
        up.script = always(whole(b"no", status=status))
        assert (await sidecar.ask(request(1), path=where)).body == b"no"
        assert sidecar.texts() == ["unanswered"]


async def test_a_stream_without_an_endpoint_passes_as_it_comes(tmp_path: Path) -> None:
    stream = b": hi\n\n" + event(b'{"jsonrpc":"2.0","method":"x"}', "1") + b"data: cu"

    async with relayed(tmp_path, always(streamed(stream[:9], stream[9:]))) as (_, sidecar):
        assert (await sidecar.ask(None, method="GET")).body == stream


async def test_a_stream_that_says_nothing_yet_passes_what_keeps_it_alive(tmp_path: Path) -> None:
    async def script(_heard: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(head(EVENTS, "Transfer-Encoding: chunked") + chunk(b": ping\n\n"))
        await writer.drain()
        await asyncio.Event().wait()

    async with relayed(tmp_path, script) as (_, sidecar):
        client = await sidecar.send(None, method="GET")
        await client.head()

        assert await client.chunk() == b": ping\n\n"


async def test_a_stream_that_cannot_be_looked_into_is_refused(tmp_path: Path) -> None:
    answer = streamed(b"x", headers=(EVENTS, "Content-Encoding: gzip"))

    async with relayed(tmp_path, always(answer)) as (_, sidecar):
        assert (await sidecar.ask(None, method="GET", path="/up/sse")).status == 502


async def test_a_server_that_opens_no_stream_now_says_so_itself(tmp_path: Path) -> None:
    answer = whole(b"{}", JSON, status="503 Service Unavailable")

    async with relayed(tmp_path, always(answer)) as (_, sidecar):
        assert (await sidecar.ask(None, method="GET", path="/up/sse")).status == 503


async def test_a_client_that_goes_ends_its_stream_upstream(tmp_path: Path) -> None:
    async with relayed(tmp_path, Older("/m")) as (up, sidecar):
        client, _ = await opened(sidecar)
        client.leave()

        await until(up.left.is_set)
        await until(lambda: sidecar.sessions() == ["ended"])
