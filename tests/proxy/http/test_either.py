"""Clients of one transport, and servers of the other, at a URL."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.proxy.http.relaying import (
    EVENTS,
    JSON,
    Client,
    Heard,
    Sidecar,
    chunk,
    event,
    head,
    relayed,
    request,
    result,
    whole,
)

BOTH = "Accept: application/json, text/event-stream"
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "serverInfo": {"name": "up", "version": "1"},
}
INITIALIZE = request(
    1,
    "initialize",
    protocolVersion="2025-11-25",
    capabilities={},
    clientInfo={"name": "me", "version": "1"},
)
CALL = request(2, name="who")


def answer_to(heard: Heard) -> bytes | None:
    """What answers a message; None if it asks nothing."""
    said = json.loads(heard.body)
    if "id" not in said:
        return None
    return result(said["id"], **(HELLO if said["method"] == "initialize" else {"text": "me"}))


class OlderServer:
    """A server of the older transport alone: it answers on its stream."""

    def __init__(self) -> None:
        self._stream: asyncio.StreamWriter | None = None

    async def __call__(self, heard: Heard, writer: asyncio.StreamWriter) -> None:
        if heard.method == "GET":
            self._stream = writer
            writer.write(head(EVENTS, "Transfer-Encoding: chunked"))
            writer.write(chunk(b"event: endpoint\ndata: /post\n\n"))
            await writer.drain()
            await asyncio.Event().wait()
        elif heard.path != "/post":
            writer.write(whole(b"no", status="405 Method Not Allowed"))
        else:
            answer = answer_to(heard)
            if answer and self._stream:
                self._stream.write(chunk(event(answer)))
            writer.write(whole(b"Accepted", status="202 Accepted"))


async def newer(heard: Heard, writer: asyncio.StreamWriter) -> None:
    """A server of Streamable HTTP alone, without sessions."""
    answer = answer_to(heard) if heard.method == "POST" else None
    if heard.method != "POST":
        writer.write(whole(b"no", status="400 Bad Request"))
    elif answer is None:
        writer.write(whole(b"", status="202 Accepted"))
    else:
        writer.write(whole(answer, JSON))


async def opened(sidecar: Sidecar) -> tuple[Client, str]:
    """Open a stream; return it, and where it says to post."""
    client = await sidecar.send(None, "Accept: text/event-stream", method="GET", path="/up/sse")
    assert (await client.head()).status == 200
    first = await client.until(b"\n\n")
    return client, first.decode().partition("data: ")[2].strip()


async def test_h13_a_server_of_the_older_transport_answers_clients_of_the_newer(
    tmp_path: Path,
) -> None:
    async with relayed(tmp_path, OlderServer(), transport="sse") as (_, sidecar):
        first = await sidecar.ask(INITIALIZE, BOTH)
        session = f"Mcp-Session-Id: {first.header('Mcp-Session-Id')}"
        second = await sidecar.ask(CALL, BOTH, session)

        assert (first.status, json.loads(first.body)["result"]) == (200, HELLO)
        assert (second.status, json.loads(second.body)["result"]) == (200, {"text": "me"})
        assert [row.state for row in sidecar.rows()] == ["answered", "answered"]


async def test_h13_and_those_of_its_own_at_both_places(tmp_path: Path) -> None:
    async with relayed(tmp_path, OlderServer(), transport="sse") as (up, sidecar):
        for path in ("/up/sse", "/up/mcp"):
            client = await sidecar.send(None, method="GET", path=path)
            await client.head()
            place = (await client.until(b"\n\n")).decode().partition("data: ")[2].strip()
            assert (await sidecar.ask(INITIALIZE, path=place)).status == 202
            assert b'"result"' in await client.until(b'"result"')
        assert [heard.method for heard in up.heard] == ["GET", "POST"] * 2


@pytest.mark.parametrize("transport", ["http", None])
async def test_h13_a_server_of_the_newer_transport_answers_clients_of_the_older(
    tmp_path: Path, transport: str | None
) -> None:
    async with relayed(tmp_path, newer, transport=transport) as (_, sidecar):
        client, place = await opened(sidecar)
        assert (await sidecar.ask(INITIALIZE, path=place)).status == 202
        assert b"protocolVersion" in await client.until(b"\n\n")
        assert (await sidecar.ask(CALL, path=place)).status == 202
        assert b'"text": "me"' in await client.until(b"\n\n")

        assert [row.state for row in sidecar.rows()] == ["answered", "answered"]
        assert (await sidecar.ask(CALL, path="/up/messages?session_id=x")).status == 404


async def test_a_refusal_that_is_no_lack_of_a_stream_passes_as_it_came(tmp_path: Path) -> None:
    async def script(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(b"who?", status="401 Unauthorized"))

    async with relayed(tmp_path, script) as (_, sidecar):
        got = await sidecar.ask(None, method="GET", path="/up/sse")

        assert (got.status, got.body) == (401, b"who?")
