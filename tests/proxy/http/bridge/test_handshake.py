"""Sessions of the handshake era: begun, found, ended, bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from sidecar.cassette.interaction import Interaction
from sidecar.proxy.http.bridge import handshake
from sidecar.proxy.http.endpoint import Limits
from sidecar.wire.jsonrpc import INVALID_REQUEST
from tests.cassette.sessions import call
from tests.proxy.http.entries import (
    HELLO,
    INITIALIZE,
    modern,
    text,
)
from tests.proxy.http.fronting import Place, Raw, Served, answer_of, fronted
from tests.proxy.http.relaying import until

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


async def test_a_session_ends_that_nobody_uses_or_listens_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "_LOOK_SECONDS", 0.01)
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        used, listening, unused = await opened(served, 3)  # looked at in this order
        found = served.front._handshake._sessions
        async with served.http.get(served.mcp, headers=listening.headers(None)) as response:
            for client in (listening, unused):
                found[client.session or ""].used_at -= Limits().idle_seconds + 1
            await until(lambda: unused.session not in found)
            said = [(await client.ask(1, "ping")).status for client in (used, listening, unused)]

    assert response.status == 200
    assert said == [200, 200, 404]


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


def counted(*sessions: int) -> list[Interaction]:
    """Equal calls of these sessions; the answers are 0, 1, 2, and so on."""
    return [
        call("counter", None, str(number), session=session)
        for number, session in enumerate(sessions)
    ]


async def opened(served: Served, count: int) -> list[Raw]:
    clients = [Raw(served) for _ in range(count)]
    for client in clients:
        await client.open()
    return clients


async def heard(client: Raw, tool: str = "counter") -> str:
    """What a call is answered, in a word."""
    (message,) = (await client.call(1, tool)).messages
    return "miss" if message["result"].get("isError") else text(message)


@pytest.mark.parametrize(
    ("sessions", "callers", "said"),
    [
        pytest.param([0, 1, 2], [0, 1, 2], "0 1 2", id="a session for each call"),
        pytest.param([0, 1, 2], [0, 0, 0, 0], "0 1 2 miss", id="one session now"),
        pytest.param([0, 0, 0], [0, 1, 2], "0 0 0", id="a session for each call now"),
        pytest.param([0, 1], [0, 1, 2], "0 1 0", id="more sessions than were recorded"),
        pytest.param([0, 1, 0, 1], [0, 1, 0, 1], "0 1 2 3", id="two at once, taking turns"),
        pytest.param([0, 1, 0, 1], [0, 0, 1, 1], "0 2 1 3", id="two, one after the other"),
        pytest.param([0, 0, 1, 1], [0, 0, 1, 1], "0 1 2 3", id="reconnected in the middle"),
        pytest.param([0, 0, 1, 1], [0, 1, 1, 1, 1], "0 2 3 1 miss", id="reconnected sooner"),
    ],
)
async def test_h17_a_session_hears_what_the_recorded_one_heard(
    tmp_path: Path, sessions: list[int], callers: list[int], said: str
) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE, *counted(*sessions)])) as served:
        clients = await opened(served, 3)
        assert [await heard(clients[caller]) for caller in callers] == said.split()


async def test_h17_sessions_that_come_in_another_order_are_known_by_their_first_calls(
    tmp_path: Path,
) -> None:
    entries = [
        call("login", None, "alice", session=0),
        call("poll", None, "0", session=1),
        *(call("poll", None, str(number), session=number % 2) for number in (1, 2)),
    ]
    async with fronted(Place(tmp_path, [INITIALIZE, *entries])) as served:
        poller, alice = await opened(served, 2)
        said = [await heard(poller, "poll"), await heard(alice, "login")]
        said += [await heard(poller, "poll"), await heard(alice, "poll")]

    assert said == ["0", "alice", "1", "2"]


async def test_h17_clients_of_the_era_without_sessions_share_one_cursor(tmp_path: Path) -> None:
    entries = [modern(item) for item in counted(1, 0, 1, 0)]
    async with fronted(Place(tmp_path, entries)) as served:
        said = [await heard(Raw(served, modern=True)) for _ in range(5)]

    assert said == ["0", "1", "2", "3", "miss"]


async def test_a_miss_of_a_session_that_ended_counts_too(tmp_path: Path) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        client = Raw(served)
        await client.open()
        await client.call(1, "nobody")
        async with served.http.delete(served.mcp, headers=client.headers(None)):
            pass

    assert served.codes == [1]
