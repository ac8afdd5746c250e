"""The listener's life: what is where, and how it ends."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from sidecar.errors import ConfigError, UsageError
from sidecar.proxy.http.endpoint import ServeOptions, ServerEntry
from sidecar.proxy.http.server import Server, check
from sidecar.store.journal import Journal
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
    until,
    whole,
)

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
        servers = tuple(ServerEntry(name, url=up.url) for name in names)
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


async def test_what_fails_inside_is_one_requests_fate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("oops")

    async with relayed(tmp_path, FINE) as (_, stage):
        with monkeypatch.context() as patched:
            patched.setattr("sidecar.proxy.http.relay.asked", broken)
            assert (await stage.ask(request())).status == 500
        assert (await stage.ask(request())).status == 200

    assert "a request failed: RuntimeError: oops" in capfd.readouterr().err


def test_secrets_of_the_config_are_kept_nowhere(tmp_path: Path) -> None:
    key = "k-1234567890abcdef"
    entry = ServerEntry("up", url="http://x.test/", headers=(("Authorization", f"Bearer {key}"),))
    options = ServeOptions((entry,), "record", str(tmp_path / "journal.db"), RUN, token="tok-en-x")

    with Journal.open(options.journal) as journal:
        server = Server(options, journal, None)

    assert server.masks.leaks(f"{key} and tok-en-x") == 2
