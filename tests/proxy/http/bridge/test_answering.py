"""How a POST is answered: in JSON or by a stream, with which status, or not at all."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sidecar.cassette.interaction import Interaction, Response
from sidecar.wire.jsonrpc import METHOD_NOT_FOUND
from tests.cassette.sessions import call
from tests.proxy.http.entries import (
    ASK,
    INITIALIZE,
    STEP,
    modern,
    rows,
    text,
)
from tests.proxy.http.fronting import Place, Raw, events, fronted
from tests.proxy.place import WAIT_SECONDS

pytestmark = pytest.mark.anyio


async def test_j07_the_requests_of_a_batch_are_answered_one_by_one(tmp_path: Path) -> None:
    entries = [INITIALIZE, call("a", None, "first"), call("b", None, "second")]
    async with fronted(Place(tmp_path, entries)) as served:
        client = Raw(served)
        await client.open()
        asked = [
            {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name}}
            for number, name in ((1, "a"), (2, "b"))
        ]
        answer = await client.post([*asked, {"jsonrpc": "2.0", "method": "notifications/x"}])

    assert answer.streamed
    assert [(message["id"], text(message)) for message in answer.messages] == [
        (1, "first"), (2, "second"),
    ]  # fmt: skip


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_j08_a_notification_is_accepted_and_uses_nothing_up(tmp_path: Path, era: str) -> None:
    recorded_call = call("echo", {"text": "a"}, "a")
    recorded_call = modern(recorded_call) if era == "modern" else recorded_call
    async with fronted(Place(tmp_path, [INITIALIZE, recorded_call])) as served:
        client = Raw(served, modern=era == "modern")
        if era == "handshake":
            await client.open()
        params = client.params({"name": "echo", "arguments": {"text": "a"}})
        told = await client.post({"method": "tools/call", **params})
        answer = await client.call(1, "echo", text="a")

    assert (told.status, told.messages) == (202, [])
    assert text(answer.messages[0]) == "a"


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_j10_progress_comes_before_the_answer_under_the_callers_token(
    tmp_path: Path, era: str
) -> None:
    entry = call("echo", {"text": "a"}, "a", during=(STEP, STEP))
    entry = modern(entry) if era == "modern" else entry
    async with fronted(Place(tmp_path, [INITIALIZE, entry, entry])) as served:
        client = Raw(served, modern=era == "modern")
        if era == "handshake":
            await client.open()
        asked = {"name": "echo", "arguments": {"text": "a"}}
        told = await client.ask(1, "tools/call", {**asked, "_meta": {"progressToken": "t9"}})
        untold = await client.ask(2, "tools/call", asked)

    assert told.streamed
    assert [message["params"] for message in told.messages[:2]] == [
        {"progress": 1, "progressToken": "t9"}
    ] * 2
    assert text(told.messages[2]) == "a"
    assert not untold.streamed


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize("recorded_status", [None, 403])
async def test_the_status_is_the_recorded_one_or_that_of_the_era(
    tmp_path: Path, era: str, recorded_status: int | None
) -> None:
    error = Response("error", f'{{"code":{METHOD_NOT_FOUND},"message":"no"}}')
    entry = Interaction("srv", "odd/method", "{}", error, http_status=recorded_status)
    entry = modern(entry) if era == "modern" else entry
    async with fronted(Place(tmp_path, [INITIALIZE, entry])) as served:
        client = Raw(served, modern=era == "modern")
        if era == "handshake":
            await client.open()
        answer = await client.ask(1, "odd/method", {})

    assert answer.status == (recorded_status or (404 if era == "modern" else 200))
    assert answer.messages[0]["error"]["code"] == METHOD_NOT_FOUND


async def test_h05_a_client_that_goes_ends_neither_its_session_nor_anothers(tmp_path: Path) -> None:
    asking = call("book", None, "booked", during=(ASK,))
    entries = [INITIALIZE, asking, call("echo", None, "still here")]
    async with fronted(Place(tmp_path, entries)) as served:
        client = Raw(served)
        await client.open()
        called = {"id": 1, "method": "tools/call", "params": {"name": "book"}}
        async with client.posting(called) as response, asyncio.timeout(WAIT_SECONDS):
            (asked,) = await events(response, 1)
        replied = await client.post({"id": asked["id"], "result": {"action": "accept"}})
        answer = await client.call(1, "echo")

    assert replied.status == 202
    assert text(answer.messages[0]) == "still here"
    (row, _) = [row for row in rows(tmp_path) if row.interaction.is_tool_call]
    assert row.state == "answered"  # though nobody got it


async def test_j09_a_request_that_is_taken_back_is_not_answered(tmp_path: Path) -> None:
    asking = call("book", None, "booked", during=(ASK,))
    async with fronted(Place(tmp_path, [INITIALIZE, asking])) as served:
        client = Raw(served)
        await client.open()
        called = {"id": 1, "method": "tools/call", "params": {"name": "book"}}
        async with client.posting(called) as response, asyncio.timeout(WAIT_SECONDS):
            (asked,) = await events(response, 1)
            await client.post({"method": "notifications/cancelled", "params": {"requestId": 1}})
            ended = await response.content.read()
            late = await client.post({"id": asked["id"], "result": {"action": "accept"}})

    assert ended == b""
    assert late.status == 202
    (row,) = [row for row in rows(tmp_path) if row.interaction.is_tool_call]
    assert row.state == "cancelled"


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_miss_is_a_tool_error_and_fails_the_replay(tmp_path: Path, era: str) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        client = Raw(served, modern=era == "modern")
        if era == "handshake":
            await client.open()
        answer = await client.call(1, "nobody")

    assert answer.messages[0]["result"]["isError"] is True
    assert served.codes == [1]
