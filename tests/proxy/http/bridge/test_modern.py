"""The era without sessions: headers, revisions, listens, one server for all."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from sidecar.proxy.http.bridge.backstage import Backstage, Running
from sidecar.proxy.http.bridge.modern import Modern
from sidecar.wire.jsonrpc import INVALID_REQUEST
from sidecar.wire.mcp import META_SUBSCRIPTION, META_VERSION
from tests.cassette.sessions import call, notice, surface
from tests.proxy.http.entries import (
    listen,
    modern,
    text,
)
from tests.proxy.http.fronting import Place, Raw, events, fronted
from tests.proxy.http.living import gone, live, sessions, started
from tests.proxy.http.relaying import until
from tests.proxy.place import WAIT_SECONDS

# The guard is a fork; where tests run in several processes, these have threads of their own.
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]


async def test_clients_of_the_era_without_sessions_share_the_runs_cursor(tmp_path: Path) -> None:
    polls = [modern(call("status", None, word)) for word in ("pending", "done")]
    async with fronted(Place(tmp_path, polls)) as served:
        one, other = Raw(served, modern=True), Raw(served, modern=True)
        said = [text((await client.call(1, "status")).messages[0]) for client in (one, other)]

    assert said == ["pending", "done"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', id="a batch"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"result":{}}', id="a response"),
    ],
)
async def test_the_modern_era_knows_neither_batches_nor_replies(
    tmp_path: Path, body: bytes
) -> None:
    async with fronted(Place(tmp_path, [])) as served:
        answer = await Raw(served, modern=True).post(body)

    assert answer.status == 400
    assert answer.messages[0]["error"]["code"] == INVALID_REQUEST


async def test_a_listen_is_a_stream_under_its_own_id_until_its_client_goes(tmp_path: Path) -> None:
    entries = [listen("notifications/tools/list_changed")]
    async with fronted(Place(tmp_path, entries)) as served:
        client = Raw(served, modern=True)
        asked = {
            "id": "mine",
            "method": "subscriptions/listen",
            **client.params({"notifications": {}}),
        }
        async with asyncio.timeout(WAIT_SECONDS):
            async with client.posting(asked) as one, client.posting(asked) as other:
                seen = await events(one, 2)
                (again,) = await events(other, 1)

    assert [message["params"]["_meta"] for message in seen] == [{META_SUBSCRIPTION: "mine"}] * 2
    assert again["params"]["_meta"] == {META_SUBSCRIPTION: "mine"}
    assert [message["method"] for message in seen] == [
        "notifications/subscriptions/acknowledged", "notifications/tools/list_changed",
    ]  # fmt: skip


async def test_n02_headers_that_do_not_say_what_the_body_says_are_refused(tmp_path: Path) -> None:
    async with fronted(Place(tmp_path, [modern(call("echo", {}, "a"))])) as served:
        client = Raw(served, modern=True)
        asked = {"id": 1, "method": "tools/call", **client.params({"name": "echo"})}
        refused = await client.post(asked, headers={"Mcp-Name": "other"})
        coded = await client.post(asked, headers={"Mcp-Name": "=?base64?ZWNobw==?="})

    assert refused.status == 400
    assert refused.messages[0]["id"] == 1
    assert refused.messages[0]["error"]["code"] == -32020
    assert text(coded.messages[0]) == "a"


async def test_h16_a_revision_that_nobody_knows_is_refused_with_those_that_are(
    tmp_path: Path,
) -> None:
    async with fronted(Place(tmp_path, [modern(call("echo", {}, "a"))])) as served:
        client = Raw(served, modern=True)
        params = client.params({"name": "echo"})
        params["params"]["_meta"][META_VERSION] = "1999-01-01"
        asked = {"id": 1, "method": "tools/call", **params}
        answer = await client.post(asked, headers={"MCP-Protocol-Version": "1999-01-01"})

    assert answer.status == 400
    assert answer.messages[0]["error"]["code"] == -32022
    assert answer.messages[0]["error"]["data"] == {
        "supported": ["2026-07-28"], "requested": "1999-01-01",
    }  # fmt: skip


async def test_nobody_takes_back_anothers_request_by_its_id(tmp_path: Path) -> None:
    changed = notice("notifications/tools/list_changed", _meta={META_SUBSCRIPTION: "0"})
    adding = modern(call("add", {}, "added", during=(changed,)))
    async with fronted(Place(tmp_path, [listen(), adding])) as served:
        client, other = Raw(served, modern=True), Raw(served, modern=True)
        asked = {"id": 1, "method": "subscriptions/listen", **client.params({"notifications": {}})}
        async with client.posting(asked) as response, asyncio.timeout(WAIT_SECONDS):
            await events(response, 1)
            params = other.params({"requestId": 1})
            told = await other.post({"method": "notifications/cancelled", **params})
            added = await other.call(1, "add")
            (still_told,) = await events(response, 1)

    assert told.status == 202
    assert [message.get("method") for message in added.messages] == [None]
    assert still_told["method"] == "notifications/tools/list_changed"
    assert still_told["params"]["_meta"] == {META_SUBSCRIPTION: 1}


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_e04_after_a_servers_end_the_next_call_is_an_error(tmp_path: Path, era: str) -> None:
    async with fronted(live(tmp_path)) as served:
        client = Raw(served, modern=era == "modern")
        if era == "handshake":
            await client.open()
        bye = await client.call(1, "exit_after_answer", code=3)
        (process,) = started(tmp_path)
        await gone(process["pid"])
        told = await client.call(2, "echo", text="x")
        again = await client.call(3, "echo", text="x")

    assert text(bye.messages[0]) == "bye"
    assert told.messages[0]["error"]["code"] == -32000
    assert "exited with code 3" in told.messages[0]["error"]["message"]
    assert told.status == 502
    # Without sessions, no client could ever get another one; with them it begins anew (H01).
    assert again.status == (404 if era == "handshake" else 200)
    assert len(started(tmp_path)) == (1 if era == "handshake" else 2)


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_s11_a_server_that_cannot_be_started_is_a_502_with_an_error_for_the_id(
    tmp_path: Path, era: str
) -> None:
    place = Place(tmp_path, command=(str(tmp_path / "none"),), mode="record")
    async with fronted(place) as served:
        client = Raw(served, modern=era == "modern")
        told = await client.ask(7, "initialize" if era == "handshake" else "tools/list", {})

    assert told.status == 502
    assert told.messages[0]["id"] == 7
    assert "could not be started" in told.messages[0]["error"]["message"]
    assert "Mcp-Session-Id" not in told.headers


async def test_n02_headers_of_recorded_arguments_are_checked_like_a_servers(
    tmp_path: Path,
) -> None:
    schema = {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    listing = surface("tools/list", {"tools": [{"name": "scale", "inputSchema": schema}]})
    entries = [modern(listing), modern(call("scale", {"region": "eu"}, "scaled"))]
    async with fronted(Place(tmp_path, entries)) as served:
        client = Raw(served, modern=True)
        params = client.params({"name": "scale", "arguments": {"region": "eu"}})
        asked = {"id": 1, "method": "tools/call", **params}
        unsaid = await client.post(asked)
        other = await client.post(asked, headers={"Mcp-Param-Region": "us"})
        said = await client.post(asked, headers={"Mcp-Param-Region": "eu"})

    for refused in (unsaid, other):
        assert refused.status == 400
        assert refused.messages[0]["error"]["code"] == -32020
    assert text(said.messages[0]) == "scaled"
    assert served.codes == [0]


async def test_what_a_server_listed_last_counts_not_what_was_recorded(tmp_path: Path) -> None:
    region = {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    listings = [
        modern(surface("tools/list", {"tools": [{"name": "scale", "inputSchema": schema}]}))
        for schema in ({"type": "object"}, region)
    ]
    entries = [*listings, modern(call("scale", {"region": "eu"}, "scaled"))]
    async with fronted(Place(tmp_path, entries)) as served:
        client = Raw(served, modern=True)
        await client.ask(1, "tools/list")
        answer = await client.call(2, "scale", region="eu")

    assert text(answer.messages[0]) == "scaled"


async def test_a_client_that_goes_while_the_server_starts_leaves_none_that_nobody_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting, go_on, left = threading.Event(), threading.Event(), asyncio.Event()
    start, post = Backstage.start, Modern.post

    def held(backstage: Backstage, *args: Any, **more: Any) -> Running:
        starting.set()
        assert go_on.wait(WAIT_SECONDS)
        return start(backstage, *args, **more)

    async def posted(self: Modern, request: web.Request, body: Any) -> web.StreamResponse:
        try:
            return await post(self, request, body)
        finally:
            left.set()

    monkeypatch.setattr(Backstage, "start", held)
    monkeypatch.setattr(Modern, "post", posted)
    async with fronted(Place(tmp_path, [modern(call("echo", {}, "a"))])) as served:
        client = Raw(served, modern=True)
        first = asyncio.ensure_future(client.call(1, "echo"))
        await until(starting.is_set)
        first.cancel()
        async with asyncio.timeout(WAIT_SECONDS):
            await left.wait()
        go_on.set()
        answer = await client.call(2, "echo")

    assert text(answer.messages[0]) == "a"
    assert sessions(tmp_path) == [("ended",)]
