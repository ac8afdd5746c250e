"""Sessions of the handshake era: begun, found, ended, bounded."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sidecar.proxy.http.bridge import handshake
from sidecar.proxy.http.endpoint import Limits
from sidecar.wire.jsonrpc import INVALID_REQUEST
from tests.cassette.sessions import call
from tests.proxy.http.entries import (
    HELLO,
    INITIALIZE,
    text,
)
from tests.proxy.http.fronting import Place, Raw, answer_of, fronted

pytestmark = pytest.mark.anyio


async def test_a_session_is_minted_and_its_calls_are_answered_in_json(tmp_path: Path) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE, call("echo", {"text": "a"}, "a")])) as served:
        client, other = Raw(served), Raw(served)
        opened = await client.open("init-a")
        await other.open()
        answer = await client.call("x", "echo", text="a")

    assert opened.status == 200
    assert opened.messages == [{"jsonrpc": "2.0", "id": "init-a", "result": HELLO}]
    assert client.session is not None
    assert other.session is not None
    assert client.session != other.session
    assert len(client.session) >= 32
    assert (answer.status, answer.streamed) == (200, False)
    assert answer.messages[0]["id"] == "x"
    assert text(answer.messages[0]) == "a"
    assert served.codes == [0]


@pytest.mark.parametrize("how", ["POST", "GET", "DELETE"])
@pytest.mark.parametrize(
    ("ident", "status"),
    [
        pytest.param("from-before-a-restart", 404, id="unknown"),
        pytest.param("ended", 404, id="ended"),
        pytest.param(None, 400, id="missing"),
    ],
)
async def test_h02_a_session_that_is_not_there_is_404_and_none_at_all_400(
    tmp_path: Path, how: str, ident: str | None, status: int
) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        client = Raw(served)
        await client.open()
        if ident == "ended":
            headers = client.headers(None)
            async with served.http.delete(served.mcp, headers=headers) as ended:
                assert ended.status == 200
        else:
            client.session = ident
        asked = {"jsonrpc": "2.0", "id": 3, "method": "tools/list"} if how == "POST" else None
        async with served.http.request(
            how, served.mcp, json=asked, headers=client.headers(None)
        ) as response:
            answer = await answer_of(response)

    assert answer.status == status
    assert answer.messages[0]["error"]["code"] == INVALID_REQUEST
    assert answer.messages[0]["id"] == (3 if how == "POST" else None)


async def test_an_initialize_with_an_unknown_session_begins_none(tmp_path: Path) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        client = Raw(served)
        client.session = "guessed"
        answer = await client.ask(1, "initialize", {"protocolVersion": "2025-11-25"})

    assert answer.status == 404
    assert "Mcp-Session-Id" not in answer.headers


async def test_too_many_sessions_are_refused(tmp_path: Path) -> None:
    place = Place(tmp_path, [INITIALIZE], limits=Limits(sessions=1))
    async with fronted(place) as served:
        await Raw(served).open()
        refused = await Raw(served).ask(1, "initialize", {})

    assert refused.status == 503
    assert refused.messages[0]["id"] == 1


async def test_a_session_that_nobody_uses_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "IDLE_SECONDS", 0.0)
    monkeypatch.setattr(handshake, "_LOOK_SECONDS", 0.01)
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        client = Raw(served)
        await client.open()
        async with asyncio.timeout(10):
            while (await client.ask(1, "ping")).status != 404:
                pass


async def test_h17_each_session_has_a_cursor_of_its_own(tmp_path: Path) -> None:
    polls = [call("status", None, "pending"), call("status", None, "done")]
    async with fronted(Place(tmp_path, [INITIALIZE, *polls])) as served:
        one, other = Raw(served), Raw(served)
        await one.open()
        await other.open()
        said = [
            text((await client.call(1, "status")).messages[0])
            for client in (one, other, one, other)
        ]

    assert said == ["pending", "pending", "done", "done"]


async def test_a_miss_of_a_session_that_ended_counts_too(tmp_path: Path) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        client = Raw(served)
        await client.open()
        await client.call(1, "nobody")
        async with served.http.delete(served.mcp, headers=client.headers(None)):
            pass

    assert served.codes == [1]
