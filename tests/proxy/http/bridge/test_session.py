"""Which POST or stream a message belongs to, in recordings and with live servers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from sidecar.proxy.http.endpoint import Limits
from tests.cassette.sessions import call, surface
from tests.proxy.http.entries import (
    ASK,
    CHANGED,
    INITIALIZE,
    rows,
    text,
)
from tests.proxy.http.fronting import Place, Raw, events, fronted
from tests.proxy.http.living import lines_received, live
from tests.proxy.http.relaying import until as until_async
from tests.proxy.place import WAIT_SECONDS, until

# The guard is a fork; where tests run in several processes, these have threads of their own.
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]


async def test_j11_a_question_comes_on_the_post_that_is_worked_on_and_a_reply_continues_it(
    tmp_path: Path,
) -> None:
    asking = call("book", None, "booked", during=(ASK,))
    async with fronted(Place(tmp_path, [INITIALIZE, asking])) as served:
        client = Raw(served)
        await client.open()
        called = {"id": 1, "method": "tools/call", "params": {"name": "book"}}
        async with client.posting(called) as response, asyncio.timeout(WAIT_SECONDS):
            (asked,) = await events(response, 1)
            replied = await client.post({"id": asked["id"], "result": {"action": "accept"}})
            (answer,) = await events(response, 1)
            ended = await response.content.read()

    assert (asked["method"], asked["params"]) == ("elicitation/create", {"message": "Sure?"})
    assert (replied.status, replied.messages) == (202, [])
    assert (answer["id"], text(answer)) == (1, "booked")
    assert ended == b""


async def test_j05_one_id_in_flight_twice_gets_each_its_own_answer(tmp_path: Path) -> None:
    slow, quick = call("slow", None, "slow", during=(ASK,)), call("quick", None, "quick")
    async with fronted(Place(tmp_path, [INITIALIZE, slow, quick])) as served:
        client = Raw(served)
        await client.open()
        called = {"id": 1, "method": "tools/call", "params": {"name": "slow"}}
        async with client.posting(called) as response, asyncio.timeout(WAIT_SECONDS):
            (asked,) = await events(response, 1)
            other = await client.call(1, "quick")
            await client.post({"id": asked["id"], "result": {"action": "accept"}})
            (answer,) = await events(response, 1)

    assert [(message["id"], text(message)) for message in other.messages] == [(1, "quick")]
    assert (answer["id"], text(answer)) == (1, "slow")


async def test_what_belongs_to_no_request_waits_for_the_sessions_stream(tmp_path: Path) -> None:
    entries = [INITIALIZE, call("a", None, "a", after=(CHANGED,)), call("b", after=(CHANGED,))]
    async with fronted(Place(tmp_path, entries)) as served:
        client = Raw(served)
        await client.open()
        answer = await client.call(1, "a")
        headers = client.headers(None)
        async with (
            served.http.get(served.mcp, headers=headers) as first,
            asyncio.timeout(WAIT_SECONDS),
        ):
            early = await events(first, 1)
            async with served.http.get(served.mcp, headers=headers) as newest:
                await client.call(2, "b")
                late = await events(newest, 1)

    assert not answer.streamed
    assert [early[0]["method"], late[0]["method"]] == ["notifications/tools/list_changed"] * 2


async def test_e03_a_changed_list_is_told_of_before_the_second_listing(tmp_path: Path) -> None:
    listings = [surface("tools/list", {"tools": [{"name": name}]}) for name in ("old", "new")]
    adding = call("add", None, "added", during=(CHANGED,))
    async with fronted(Place(tmp_path, [INITIALIZE, listings[0], adding, listings[1]])) as served:
        client = Raw(served)
        await client.open()
        before = await client.ask(1, "tools/list")
        added = await client.call(2, "add")
        after = await client.ask(3, "tools/list")

    assert before.messages[0]["result"]["tools"] == [{"name": "old"}]
    assert [message.get("method") for message in added.messages] == [
        "notifications/tools/list_changed", None,
    ]  # fmt: skip
    assert after.messages[0]["result"]["tools"] == [{"name": "new"}]


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_j05_one_id_in_flight_twice_reaches_the_server_as_two(
    tmp_path: Path, era: str
) -> None:
    async with fronted(live(tmp_path)) as served:
        client = Raw(served, modern=era == "modern")
        if era == "handshake":
            await client.open()
        params = client.params({"name": "slow", "arguments": {"key": "k"}})
        params["params"].setdefault("_meta", {})["progressToken"] = 1
        slow = {"id": 1, "method": "tools/call", **params}
        async with client.posting(slow) as response, asyncio.timeout(WAIT_SECONDS):
            (waiting,) = await events(response, 1)
            quick = await client.ask(
                1, "tools/call", {"name": "progress", "_meta": {"progressToken": 1}}
            )
            received = await lines_received(client, 2)
            await client.call(3, "release", key="k")
            (answer,) = await events(response, 1)

    assert waiting["params"]["progressToken"] == 1
    assert [message.get("id") for message in quick.messages] == [None, None, None, 1]
    assert {message["params"]["progressToken"] for message in quick.messages[:3]} == {1}
    assert text(quick.messages[3]) == "done"
    assert (answer["id"], text(answer)) == (1, "k: released")
    sent = [message["id"] for message in received if message["method"] == "tools/call"]
    assert len(sent) == len(set(sent)) == 3
    assert sent[0] == 1
    assert sent[2] == 2  # an id that is free passes as it is


async def test_j09_a_client_that_closes_its_post_takes_it_back(tmp_path: Path) -> None:
    async with fronted(live(tmp_path)) as served:
        client = Raw(served, modern=True)
        params = client.params({"name": "slow", "arguments": {"key": "k"}})
        params["params"]["_meta"]["progressToken"] = "t"
        async with (
            client.posting({"id": 7, "method": "tools/call", **params}) as response,
            asyncio.timeout(WAIT_SECONDS),
        ):
            await events(response, 1)
        async with asyncio.timeout(WAIT_SECONDS):
            while (received := await lines_received(client, 8))[-2]["method"] == "tools/call":
                pass

    cancelled = next(item for item in received if item["method"] == "notifications/cancelled")
    assert cancelled["params"]["requestId"] == 7
    kept = [row for row in rows(tmp_path) if row.interaction.tool == "slow"]
    assert [row.state for row in kept] == ["cancelled"]


async def test_h05_a_handshake_client_that_goes_leaves_its_call_running(tmp_path: Path) -> None:
    async with fronted(live(tmp_path)) as served:
        client = Raw(served)
        await client.open()
        params = {"name": "slow", "arguments": {"key": "k"}, "_meta": {"progressToken": "t"}}
        slow = {"id": 7, "method": "tools/call", "params": params}
        async with client.posting(slow) as response, asyncio.timeout(WAIT_SECONDS):
            await events(response, 1)
        released = await client.call(8, "release", key="k")
        received = await lines_received(client, 9)

    assert text(released.messages[0]) == "released"
    assert "notifications/cancelled" not in [message["method"] for message in received]
    kept = [row for row in rows(tmp_path) if row.interaction.tool == "slow"]
    assert [row.state for row in kept] == ["answered"]


async def test_j11_a_servers_question_under_an_id_of_the_clients_is_its_own(
    tmp_path: Path,
) -> None:
    async with fronted(live(tmp_path)) as served:
        client = Raw(served)
        await client.open()
        asking = {"id": 1, "method": "tools/call", "params": {"name": "ask_roots"}}
        async with client.posting(asking) as response, asyncio.timeout(WAIT_SECONDS):
            (asked,) = await events(response, 1)
            await client.post({"id": asked["id"], "result": {"roots": []}})
            (answer,) = await events(response, 1)

    assert (asked["id"], asked["method"]) == (1, "roots/list")
    assert answer["id"] == 1
    assert answer["result"]["structuredContent"]["answer"]["result"] == {"roots": []}


async def test_h17_a_log_message_that_names_nobody_goes_to_no_other_client(
    tmp_path: Path,
) -> None:
    async with fronted(live(tmp_path)) as served:
        client, other = Raw(served, modern=True), Raw(served, modern=True)
        params = client.params({"name": "slow", "arguments": {"key": "k"}})
        params["params"]["_meta"]["progressToken"] = "t"
        async with (
            client.posting({"id": 1, "method": "tools/call", **params}) as response,
            asyncio.timeout(WAIT_SECONDS),
        ):
            await events(response, 1)
            logged = await other.call(1, "log", text="of the other")
            await other.call(2, "release", key="k")
            (answer,) = await events(response, 1)
        alone = await other.call(3, "log", text="of its own")

    assert [message.get("method") for message in logged.messages] == [None]
    assert answer["id"] == 1
    assert [message.get("method") for message in alone.messages] == [
        "notifications/message", None,
    ]  # fmt: skip


async def test_a_server_that_reads_nothing_does_not_hold_up_the_end(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    # It takes a part of the line, so the rest is being written, for more than a pipe holds.
    script = 'head -c 65536 > /dev/null; : > "$0"; exec sleep 60'
    command = ("sh", "-c", script, str(begun))
    place = live(tmp_path)._replace(command=command, limits=Limits(grace_seconds=0.1))
    async with (
        fronted(place) as served,
        asyncio.timeout(WAIT_SECONDS),
        asyncio.TaskGroup() as tasks,
    ):
        client = Raw(served, modern=True)
        params = client.params({"name": "echo", "arguments": {"text": "x" * (1 << 19)}})
        asked = {"id": 1, "method": "tools/call", **params}
        asking = tasks.create_task(client.post(asked))
        await asyncio.to_thread(until, begun.exists)
        await served.front.close(patient=True)
        answer = await asking

    assert answer.messages[0]["error"]["code"] == -32000


async def test_a_server_that_dies_in_a_call_is_an_error_for_who_waits(tmp_path: Path) -> None:
    async with fronted(live(tmp_path)) as served:
        client = Raw(served, modern=True)
        answer = await client.call(1, "crash")

    assert answer.messages[0]["error"]["code"] == -32000


async def test_a_question_is_forgotten_once_its_post_is_left(tmp_path: Path) -> None:
    asking = call("book", None, "booked", during=(ASK,))
    async with fronted(Place(tmp_path, [INITIALIZE, asking])) as served:
        client = Raw(served)
        await client.open()
        (session,) = served.front._handshake._sessions.values()
        called = {"id": 1, "method": "tools/call", "params": {"name": "book"}}
        async with client.posting(called) as response, asyncio.timeout(WAIT_SECONDS):
            await events(response, 1)
            assert len(session._questions) == 1
        await until_async(lambda: not session._questions)


async def test_a_question_that_is_taken_back_is_so_on_the_post_that_it_came_on(
    tmp_path: Path,
) -> None:
    asking = call("book", None, "booked", during=(ASK,))
    async with fronted(Place(tmp_path, [INITIALIZE, asking])) as served:
        client = Raw(served)
        await client.open()
        (session,) = served.front._handshake._sessions.values()
        called = {"id": 1, "method": "tools/call", "params": {"name": "book"}}
        async with client.posting(called) as response, asyncio.timeout(WAIT_SECONDS):
            (asked,) = await events(response, 1)
            line = json.dumps(
                {"jsonrpc": "2.0", "method": "notifications/cancelled",
                 "params": {"requestId": asked["id"]}}
            )  # fmt: skip
            session.send(line.encode() + b"\n")
            (told,) = await events(response, 1)

            assert told["params"] == {"requestId": asked["id"]}
            assert session._questions == {}
