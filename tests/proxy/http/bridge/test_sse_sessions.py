"""The older transport: a session for each stream."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.cassette.sessions import call
from tests.proxy.http.entries import (
    HELLO,
    INITIALIZE,
    STEP,
    text,
)
from tests.proxy.http.fronting import Place, Raw, answer_of, events, fronted
from tests.proxy.place import WAIT_SECONDS

pytestmark = pytest.mark.anyio


class Older:
    """A client of HTTP with SSE."""

    def __init__(self, served: Any, response: Any, place: str) -> None:
        self._served = served
        self._response = response
        self.place = place

    async def ask(self, ident: int, method: str, params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}
        async with self._served.http.post(self.place, json=message) as accepted:
            assert accepted.status == 202
        (answer,) = await events(self._response, 1)
        return answer


async def older(served: Any, response: Any) -> Older:
    head = await response.content.readuntil(b"\n\n")
    kind, data = head.decode().split("\n")[:2]
    assert kind == "event: endpoint"
    root = served.url.removesuffix("/srv")
    return Older(served, response, root + data.removeprefix("data: "))


async def test_h03_the_older_transport_has_a_session_for_each_stream(tmp_path: Path) -> None:
    entries = [INITIALIZE, call("echo", None, "a", during=(STEP,)), call("echo", None, "b")]
    async with fronted(Place(tmp_path, entries)) as served, asyncio.timeout(WAIT_SECONDS):
        stream = f"{served.url}/sse"
        async with served.http.get(stream) as first:
            async with served.http.get(stream) as second:
                one, other = await older(served, first), await older(served, second)
                assert (await one.ask(0, "initialize", {}))["result"] == HELLO
                assert (await other.ask(0, "initialize", {}))["result"] == HELLO
                assert text(await other.ask(1, "tools/call", {"name": "echo"})) == "a"
            assert text(await one.ask(1, "tools/call", {"name": "echo"})) == "a"
            async with served.http.get(stream) as third:
                again = await older(served, third)
                assert (await again.ask(0, "initialize", {}))["result"] == HELLO
            assert text(await one.ask(2, "tools/call", {"name": "echo"})) == "b"

    assert one.place != other.place


async def test_h17_sessions_of_both_transports_take_turns_at_the_recorded_ones(
    tmp_path: Path,
) -> None:
    entries = [call("counter", None, str(number), session=number) for number in range(3)]
    said = []
    async with (
        fronted(Place(tmp_path, [INITIALIZE, *entries])) as served,
        asyncio.timeout(WAIT_SECONDS),
    ):
        for transport in ("sse", "http", "sse"):
            if transport == "http":
                client = Raw(served)
                await client.open()
                said += (await client.call(1, "counter")).messages
                continue
            async with served.http.get(f"{served.url}/sse") as response:
                old = await older(served, response)
                await old.ask(0, "initialize", {})
                said.append(await old.ask(1, "tools/call", {"name": "counter"}))

    assert [text(message) for message in said] == ["0", "1", "2"]


@pytest.mark.parametrize(("query", "status"), [("?session_id=guessed", 404), ("", 400)])
async def test_h02_the_older_transport_knows_no_other_sessions(
    tmp_path: Path, query: str, status: int
) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        async with served.http.post(f"{served.url}/messages{query}", json=asked) as response:
            answer = await answer_of(response)

    assert answer.status == status
    assert "error" in answer.messages[0]


@pytest.mark.parametrize(("how", "path"), [("POST", "sse"), ("GET", "messages")])
async def test_the_older_transport_takes_each_request_in_its_own_way(
    tmp_path: Path, how: str, path: str
) -> None:
    async with (
        fronted(Place(tmp_path, [INITIALIZE])) as served,
        served.http.request(how, f"{served.url}/{path}") as response,
    ):
        assert response.status == 405
