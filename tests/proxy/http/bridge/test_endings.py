"""Sessions that are ending, while who asked for that goes, and while others use the front."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from sidecar.proxy.http.bridge import backstage, handshake
from sidecar.proxy.http.bridge.backstage import Backstage, Running
from sidecar.proxy.http.endpoint import Limits
from sidecar.proxy.playback import Playback
from tests.cassette.sessions import call
from tests.proxy.http.entries import INITIALIZE
from tests.proxy.http.fronting import Place, Raw, fronted
from tests.proxy.http.living import sessions
from tests.proxy.http.relaying import until

pytestmark = pytest.mark.anyio

WAIT_SECONDS = 30.0


class Held:
    """Holds the ends of sessions up until it lets them go.

    Attributes:
        begun: Of each end that began, whether it was patient.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[bool] = []
        self._free = threading.Event()
        finish = Running.finish

        def held(running: Running, *, patient: bool) -> int:
            self.begun.append(patient)
            assert self._free.wait(WAIT_SECONDS)
            return finish(running, patient=patient)

        monkeypatch.setattr(Running, "finish", held)

    def let_go(self) -> None:
        self._free.set()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    return Held(monkeypatch)


async def test_a_miss_counts_though_the_client_goes_while_it_ends_its_session(
    tmp_path: Path, held: Held
) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        client = Raw(served)
        await client.open()
        await client.call(1, "nobody")
        headers = client.headers(None)
        deleting = asyncio.ensure_future(served.http.delete(served.mcp, headers=headers))
        await until(lambda: bool(held.begun))
        deleting.cancel()
        closing = asyncio.ensure_future(served.front.close(patient=False))
        for _ in range(10):
            await asyncio.sleep(0)
        held.let_go()

        assert await closing == 1
    assert sessions(tmp_path) == [("ended",)]


async def test_h03_a_session_that_ends_with_its_stream_has_ended_before_the_front_has(
    tmp_path: Path, held: Held
) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        async with served.http.get(f"{served.url}/sse") as response:
            await response.content.readuntil(b"\n\n")
        await until(lambda: bool(held.begun))
        closing = asyncio.ensure_future(served.front.close(patient=False))
        for _ in range(10):
            await asyncio.sleep(0)
        assert not closing.done()
        held.let_go()
        await closing
    assert sessions(tmp_path) == [("ended",)]


async def test_one_session_that_cannot_be_ended_leaves_the_others_their_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    finish = Running.finish
    failing = [True]

    def broken(running: Running, *, patient: bool) -> int:
        code = finish(running, patient=patient)
        if failing:
            failing.pop()
            raise RuntimeError("oops")
        return code

    monkeypatch.setattr(Running, "finish", broken)
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        for _ in range(2):
            await Raw(served).open()

    assert served.codes == [2]
    assert sessions(tmp_path) == [("ended",), ("ended",)]
    assert "a session did not end in order: RuntimeError: oops" in capfd.readouterr().err


async def test_a_slow_end_of_an_idle_session_holds_up_no_others(
    tmp_path: Path, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "_LOOK_SECONDS", 0.01)
    place = Place(tmp_path, [INITIALIZE], limits=Limits(idle_seconds=1e-9))
    async with fronted(place) as served:
        await Raw(served).open()
        await until(lambda: bool(held.begun))
        await Raw(served).open()
        await until(lambda: len(held.begun) == 2)
        held.let_go()


async def test_at_the_end_servers_may_take_their_time_for_a_while_only(
    tmp_path: Path, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backstage, "_CLOSING", 1)
    hurry = Backstage.hurry

    def hurried(backstage: Backstage) -> None:
        hurry(backstage)
        held.let_go()

    monkeypatch.setattr(Backstage, "hurry", hurried)
    limits = Limits(grace_seconds=0.0)
    async with fronted(Place(tmp_path, [INITIALIZE], limits=limits)) as served:
        for _ in range(2):
            await Raw(served).open()
        await served.front.close(patient=True)

    assert held.begun[1] is False  # the first has held it up until then


async def test_servers_that_read_nothing_do_not_hold_up_their_own_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backstage, "_WORKING", 1)
    reached, ended = threading.Event(), threading.Event()
    take, finish = Playback.take, Running.finish

    def deaf(playback: Playback, lines: Sequence[bytes]) -> None:
        if b"tools/call" in lines[0]:
            reached.set()
            assert ended.wait(WAIT_SECONDS)
        take(playback, lines)

    def ending(running: Running, *, patient: bool) -> int:
        ended.set()
        return finish(running, patient=patient)

    monkeypatch.setattr(Playback, "take", deaf)
    monkeypatch.setattr(Running, "finish", ending)
    limits = Limits(grace_seconds=0.01)
    place = Place(tmp_path, [INITIALIZE, call("a")], on_miss="live", limits=limits)
    async with fronted(place) as served, asyncio.timeout(WAIT_SECONDS / 2):
        client = Raw(served)
        await client.open()
        calling = asyncio.ensure_future(client.call(1, "a"))
        await until(reached.is_set)
        async with served.http.delete(served.mcp, headers=client.headers(None)) as response:
            assert response.status == 200
        await calling
