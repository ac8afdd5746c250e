"""The listener's life: what is where, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from pathlib import Path

import pytest

from sidecar.cassette.redaction.redactor import Redactor
from sidecar.errors import ConfigError, UsageError
from sidecar.proxy import open_files
from sidecar.proxy.http import server
from sidecar.proxy.http.answers import RefusedError
from sidecar.proxy.http.endpoint import ServedServer, ServeOptions
from sidecar.proxy.http.relay.relay import Relay
from sidecar.proxy.http.server import Server, check, serve
from tests.paths import ROOT
from tests.proxy.http.living import SERVER
from tests.proxy.http.relaying import (
    EVENTS,
    JSON,
    QUICK,
    RUN,
    WAIT_SECONDS,
    Heard,
    always,
    chunk,
    event,
    head,
    relayed,
    request,
    result,
    scripted,
    sidecar,
    streamed,
    until,
    whole,
)

GRACE_OF_COMPOSE = 60  # seconds
FINE = always(whole(result(1), JSON))


async def test_health_is_told_without_a_token_and_tells_nothing_else(tmp_path: Path) -> None:
    async with relayed(tmp_path, FINE, token="secret") as (up, stage):
        got = await stage.ask(None, method="GET", path="/health")

        assert (got.status, json.loads(got.body)) == (200, {"status": "ok"})
        assert got.header("Server") is None
        assert up.heard == []


async def test_each_server_has_a_place_of_its_own_whatever_its_name_is(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    names = ("plain", "a b/c:d?", "ünïcode", "health", "..", "mcp")

    async with scripted(FINE) as up:
        servers = tuple(ServedServer(name, url=up.url) for name in names)
        async with sidecar(tmp_path, up.url, servers=servers) as stage:
            said = capfd.readouterr().err.splitlines()
            for name, line in zip(names, said, strict=True):
                shown, url = line.removeprefix("mcp-sidecar: ").split(" at ")
                assert shown == name
                path = url.removeprefix(f"http://{stage.host}")
                assert (await stage.ask(request(), path=path)).status == 200
            rows = stage.rows()
            assert [row.interaction.server for row in rows] == list(names)


def test_h20_other_machines_need_a_token() -> None:
    options = ServeOptions((), "record", "/journal.db", RUN, host="0.0.0.0")

    with pytest.raises(UsageError, match=r"--host 0.0.0.0: .* set MCP_SIDECAR_TOKEN"):
        check(options)
    check(options._replace(token="secret"))
    check(options._replace(host="::1"))


async def test_a_url_that_cannot_be_used_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        async with sidecar(tmp_path, "ftp://x/"):
            pass


async def test_an_answer_that_is_under_way_at_the_end_is_waited_for(tmp_path: Path) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def script(_heard: Heard, writer: asyncio.StreamWriter) -> None:
        begun.set()
        await go_on.wait()
        writer.write(whole(result(1, ok=True), JSON))

    async with relayed(tmp_path, script, QUICK._replace(drain_seconds=WAIT_SECONDS)) as both:
        _, stage = both
        client = await stage.send(request())
        await begun.wait()
        stopping = asyncio.ensure_future(stage.server.stop())
        await until(lambda: stage.server.stopping)
        go_on.set()

        assert (await client.answer()).body == result(1, ok=True)
        assert await stopping == 0
        assert stage.texts() == ['{"ok": true}']
        assert stage.sessions() == ["ended"]


async def test_streams_without_an_end_do_not_hold_the_end_up(tmp_path: Path) -> None:
    async def script(heard: Heard, writer: asyncio.StreamWriter) -> None:
        if b"initialize" in heard.body:
            writer.write(whole(result(1), JSON, "Mcp-Session-Id: s"))
            return
        writer.write(head(EVENTS, "Transfer-Encoding: chunked") + chunk(b": hi\n\n"))
        await writer.drain()
        await asyncio.Event().wait()

    limits = QUICK._replace(drain_seconds=1000)
    async with relayed(tmp_path, script, limits) as (_, stage):
        await stage.ask(request(1, "initialize"))
        stream = await stage.send(None, "Mcp-Session-Id: s", method="GET")
        listen = await stage.send(
            request(1, "subscriptions/listen"), "MCP-Protocol-Version: 2026-07-28"
        )
        for client in (stream, listen):
            await client.head()
            await client.until(b"hi")

        async with asyncio.timeout(WAIT_SECONDS):
            assert await stage.server.stop() == 0
        assert stage.sessions() == ["ended", "ended"]


async def test_an_answer_that_never_ends_is_given_up_after_a_time(tmp_path: Path) -> None:
    async def script(_heard: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(head(EVENTS, "Transfer-Encoding: chunked") + chunk(event(b"{}")))
        await writer.drain()
        await asyncio.Event().wait()

    async with relayed(tmp_path, script) as (_, stage):
        client = await stage.send(request())
        await client.head()

        async with asyncio.timeout(WAIT_SECONDS):
            await stage.server.stop()
        assert not (await client.reader.read()).endswith(b"0\r\n\r\n")
        assert stage.texts() == ["unanswered"]


@pytest.mark.parametrize("error", [RuntimeError("oops"), RefusedError(502, "oops")])
async def test_what_fails_in_the_midst_of_an_answer_breaks_it_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr("sidecar.proxy.http.relay.exchange.Exchange.streamed", broken)
    async with relayed(tmp_path, always(streamed(event(result(1))))) as (_, stage):
        client = await stage.send(request())
        assert (await client.head()).status == 200
        rest = b""
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(WAIT_SECONDS):
                while data := await client.reader.read(1000):
                    rest += data

    assert rest == b""  # no second head, which would be read as an event


async def test_what_fails_inside_is_one_requests_fate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("oops")

    async with relayed(tmp_path, FINE) as (_, stage):
        with monkeypatch.context() as patched:
            patched.setattr("sidecar.proxy.http.relay.relay.asked", broken)
            assert (await stage.ask(request())).status == 500
        assert (await stage.ask(request())).status == 200

    assert "a request failed: RuntimeError: oops" in capfd.readouterr().err


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")  # the guard is a fork
async def test_the_older_transport_finds_a_server_whatever_its_name_is(tmp_path: Path) -> None:
    servers = (ServedServer("io.github.x/y", command=SERVER),)
    async with sidecar(tmp_path, "", servers=servers) as stage:
        stream = await stage.send(None, method="GET", path="/io.github.x%2Fy/sse")
        await stream.head()
        first = (await stream.until(b"\n\n")).decode()
        path = first.removeprefix("event: endpoint\ndata: ").strip()
        posted = await stage.ask(request(1, "ping"), path=path)
        answer = await stream.until(b"\n\n")

    assert path.startswith("/io.github.x%2Fy/messages?session_id=")
    assert posted.status == 202
    assert b'"id":1' in answer.replace(b" ", b"")


async def test_one_server_that_does_not_end_in_order_leaves_the_others_their_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    close = Relay.close

    async def closed(self: Relay, *, patient: bool) -> int:
        if self._entry.name == "bad":
            raise OSError("oops")
        return await close(self, patient=patient)

    monkeypatch.setattr(Relay, "close", closed)
    async with scripted(FINE) as up:
        servers = tuple(ServedServer(name, url=up.url) for name in ("bad", "up"))
        async with sidecar(tmp_path, up.url, servers=servers) as stage:
            await stage.ask(request())
            code = await stage.server.stop()

            assert (code, stage.server.hangs) == (2, False)
            assert stage.sessions() == ["ended"]
    assert "server 'bad' did not end in order: OSError: oops" in capfd.readouterr().err


async def test_a_server_that_never_ends_is_given_up_after_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    async def closed(_: Relay, *, patient: bool) -> int:  # noqa: ARG001  # as it is called
        await asyncio.Event().wait()
        return 0

    monkeypatch.setattr(server, "_CLOSING_SECONDS", 0.0)
    with monkeypatch.context() as patched:
        patched.setattr(Relay, "close", closed)
        limits = QUICK._replace(grace_seconds=0.0)
        async with relayed(tmp_path, FINE, limits) as (_, stage), asyncio.timeout(WAIT_SECONDS):
            assert await stage.server.stop() == 2
            assert stage.server.hangs
            patched.undo()
    assert "server 'up' does not end" in capfd.readouterr().err


def test_nothing_ends_it_while_it_saves_its_cassette(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[object] = []
    start = Server.start

    async def started(self: Server) -> None:
        await start(self)
        os.kill(os.getpid(), signal.SIGTERM)

    def saved(_options: object, _journal: object, masks: Redactor) -> None:
        done.append(masks.leaks("tok-en-x"))

    monkeypatch.setattr(Server, "start", started)
    monkeypatch.setattr(signal, "alarm", done.append)
    monkeypatch.setattr(server, "save", saved)
    monkeypatch.setattr(open_files, "allow_many", lambda: None)
    options = ServeOptions((), "record", str(tmp_path / "j.db"), RUN, port=0, token="tok-en-x")

    assert serve(options) == 0
    limits = options.limits
    assert done[1:] == [0, 1]
    assert isinstance(done[0], int)
    assert done[0] > limits.drain_seconds + limits.patient_seconds + server._CLOSING_SECONDS
    assert done[0] < GRACE_OF_COMPOSE


def test_what_hangs_at_the_end_does_not_keep_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exits: list[int] = []
    start, stop = Server.start, Server.stop

    async def started(self: Server) -> None:
        await start(self)
        os.kill(os.getpid(), signal.SIGTERM)

    async def stopped(self: Server) -> int:
        await stop(self)
        self.hangs = True
        return 2

    monkeypatch.setattr(Server, "start", started)
    monkeypatch.setattr(Server, "stop", stopped)
    monkeypatch.setattr(signal, "alarm", lambda _: 0)
    monkeypatch.setattr(os, "_exit", exits.append)
    monkeypatch.setattr(open_files, "allow_many", lambda: None)
    serve(ServeOptions((), "record", str(tmp_path / "j.db"), RUN, port=0))

    assert exits == [2]


def test_the_grace_of_the_composition_is_longer_than_it_takes_to_stop() -> None:
    text = (ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8")

    assert f"stop_grace_period: {GRACE_OF_COMPOSE}s" in text
