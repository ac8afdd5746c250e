"""What stands behind sessions: processes, recordings, and going live at a miss."""

from __future__ import annotations

from pathlib import Path

import pytest

from sidecar.proxy.http.bridge.backstage import _proxy_options
from sidecar.proxy.http.endpoint import ServedServer, ServeOptions
from tests.cassette.sessions import call
from tests.paths import PYTHON, ROOT
from tests.proxy.http.entries import (
    INITIALIZE,
    modern,
    text,
)
from tests.proxy.http.fronting import Place, Raw, fronted
from tests.proxy.http.living import gone, lines_received, live, started
from tests.servers.listening import Listening

# The guard is a fork; where tests run in several processes, these have threads of their own.
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]


async def test_e02_a_session_starts_one_server_that_sees_its_clients_messages_alone(
    tmp_path: Path,
) -> None:
    async with fronted(live(tmp_path)) as served:
        client = Raw(served)
        await client.open()
        for number in range(1, 11):
            await client.call(number, "echo", text=str(number))
        received = await lines_received(client, 11)
        (process,) = started(tmp_path)
        async with served.http.delete(served.mcp, headers=client.headers(None)) as ended:
            assert ended.status == 200
        await gone(process["pid"])

    methods = [message["method"] for message in received]
    assert methods == ["initialize", "notifications/initialized", *["tools/call"] * 11]


async def test_sessions_have_a_server_each_and_the_era_without_them_has_one(
    tmp_path: Path,
) -> None:
    async with fronted(live(tmp_path)) as served:
        clients = [Raw(served), Raw(served)]
        for client in clients:
            await client.open()
        for number in (1, 2):
            await Raw(served, modern=True).call(number, "echo", text="x")
        processes = started(tmp_path)

    assert len(processes) == 3
    for process in processes:  # with the front, all have ended
        await gone(process["pid"])


async def test_the_config_gives_a_server_its_variables(tmp_path: Path) -> None:
    place = live(tmp_path)._replace(env=(("OF_THE_CONFIG", "yes"),))
    async with fronted(place) as served:
        answer = await Raw(served, modern=True).call(1, "env", names=["OF_THE_CONFIG", "HOME"])

    found = answer.messages[0]["result"]["structuredContent"]
    assert found["OF_THE_CONFIG"] == "yes"
    assert "HOME" in found


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize("mode", ["auto", "replay"])
async def test_a_miss_goes_live_where_that_is_allowed(tmp_path: Path, era: str, mode: str) -> None:
    known = call("echo", {"text": "a"}, "recorded")
    known = modern(known) if era == "modern" else known
    place = live(tmp_path, mode=mode, on_miss="live", interactions=[INITIALIZE, known])
    async with fronted(place) as served:
        client = Raw(served, modern=era == "modern")
        if era == "handshake":
            await client.open()
        first = await client.call(1, "echo", text="a")
        assert not (tmp_path / "trace").exists()
        second = await client.ask(
            2, "tools/call", {"name": "progress", "_meta": {"progressToken": "t"}}
        )
        third = await client.call(3, "echo", text="live")

    assert text(first.messages[0]) == "recorded"
    assert [message.get("id") for message in second.messages] == [None, None, None, 2]
    assert text(third.messages[0]) == "live"
    assert len(started(tmp_path)) == 1
    assert served.codes == [0]


async def test_a_replay_starts_nothing_even_where_there_is_a_command(tmp_path: Path) -> None:
    place = live(tmp_path, mode="replay", interactions=[INITIALIZE])
    async with fronted(place) as served:
        client = Raw(served)
        await client.open()
        await client.call(1, "echo", text="a")

    assert not (tmp_path / "trace").exists()
    assert served.codes == [1]


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_miss_goes_to_a_server_at_a_url_too(tmp_path: Path, era: str) -> None:
    known = call("echo", {"text": "a"}, "recorded")
    known = modern(known) if era == "modern" else known
    script = ROOT / "tests" / "servers" / "sdk_http_server.py"
    with Listening([PYTHON, script, "http"]) as server:
        place = Place(tmp_path, [INITIALIZE, known], mode="auto", url=server.url)
        async with fronted(place) as served:
            client = Raw(served, modern=era == "modern")
            if era == "handshake":
                await client.open()
            first = await client.call(1, "echo", text="a")
            second = await client.call(2, "echo", text="live")

    assert text(first.messages[0]) == "recorded"
    assert text(second.messages[-1]) == "live"
    assert served.codes == [0]


def test_a_server_is_started_in_the_folder_of_its_config() -> None:
    options = ServeOptions((), "record", "journal.db", "run")
    entry = ServedServer("up", ("srv",), (("A", "b"),), cwd="/w")

    started = _proxy_options(options, entry)
    assert (started.command, started.env, started.cwd) == (("srv",), (("A", "b"),), "/w")
