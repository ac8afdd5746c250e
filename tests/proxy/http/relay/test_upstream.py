"""Servers that are reached by URL: redirects, and servers that cannot be reached or are slow."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
from yarl import URL

from sidecar.errors import ConfigError
from sidecar.proxy.http.endpoint import Limits, ServedServer
from sidecar.proxy.http.relay.upstream import Upstream, url_of
from tests.proxy.http.relaying import (
    JSON,
    QUICK,
    Heard,
    Script,
    always,
    head,
    relayed,
    request,
    result,
    scripted,
    sidecar,
    whole,
)
from tests.proxy.place import WAIT_SECONDS


def moved(status: int, to: str, *, times: int = 1) -> Script:
    """Redirect a number of times, then answer."""
    asked = 0

    async def script(_heard: Heard, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        if asked > times:
            writer.write(whole(result(1), JSON))
        else:
            where = (f"Location: {to}", "Connection: close")
            writer.write(whole(b"moved", *where, status=f"{status} Moved"))

    return script


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_within_the_origin_is_followed_with_the_clients_request(
    tmp_path: Path, status: int
) -> None:
    async with relayed(tmp_path, moved(status, "/up/?x=%2F"), headers=(("X-Key", "k"),)) as both:
        up, stage = both
        got = await stage.ask(request(), "X-Own: o")

        assert (got.status, got.body) == (200, result(1))
        assert [(heard.method, heard.path) for heard in up.heard] == [
            ("POST", "/up"),
            ("POST", "/up/?x=%2F"),
        ]
        assert up.heard[1].body == request()
        assert (up.heard[1].header("X-Own"), up.heard[1].header("X-Key")) == ("o", "k")


@pytest.mark.parametrize("status", [301, 302, 303])
async def test_a_redirect_that_would_lose_the_body_is_refused(tmp_path: Path, status: int) -> None:
    async with relayed(tmp_path, moved(status, "/up/")) as (up, stage):
        got = await stage.ask(request(5))

        assert got.status == 502
        assert b'"id":5,"error"' in got.body
        assert len(up.heard) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_another_origin_is_refused_and_not_followed(
    tmp_path: Path, status: int
) -> None:
    async with (
        scripted(always(whole(b""))) as other,
        relayed(tmp_path, moved(status, other.url)) as (up, stage),
    ):
        got = await stage.ask(request(5), "Authorization: Bearer theirs")

        assert got.status == 502
        assert (len(up.heard), other.heard) == (1, [])


@pytest.mark.parametrize(
    "to", ["file:///etc/passwd", "http://[", "//evil.test/up", "ftp://x/", "http://h:x/"]
)
async def test_an_odd_redirect_is_refused(tmp_path: Path, to: str) -> None:
    async with relayed(tmp_path, moved(307, to)) as (_, stage):
        assert (await stage.ask(request())).status == 502


async def test_a_redirect_with_credentials_is_refused(tmp_path: Path) -> None:
    async with relayed(tmp_path, always(b"")) as (up, stage):
        up.script = moved(307, up.url.replace("http://", "http://me:hush@"))
        got = await stage.ask(request(), "Authorization: Bearer theirs")

        assert (got.status, len(up.heard)) == (502, 1)
        assert b"hush" not in got.body


async def test_what_cannot_be_sent_is_a_502_that_tells_no_secret(tmp_path: Path) -> None:
    async with relayed(tmp_path, always(b""), headers=(("X-Key", "hu\nsh"),)) as (up, stage):
        got = await stage.ask(request())

        assert (got.status, up.heard) == (502, [])
        assert b"cannot be asked" in got.body
        assert b"sh" not in got.body.partition(b'"message"')[2]


async def test_a_proxy_of_the_environment_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    async with scripted(always(whole(result(1), JSON))) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        async with sidecar(tmp_path, "http://up.test/mcp") as stage:
            got = await stage.ask(request())

        assert (got.status, [heard.path for heard in proxy.heard]) == (200, ["http://up.test/mcp"])


async def test_a_circle_of_redirects_ends(tmp_path: Path) -> None:
    async with relayed(tmp_path, moved(307, "/up", times=100)) as (up, stage):
        assert (await stage.ask(request())).status == 502
        assert len(up.heard) == 5


async def test_a_server_that_cannot_be_reached_is_a_502_with_an_error_for_the_id(
    tmp_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with sidecar(tmp_path, f"http://127.0.0.1:{port}/x?key=hush") as stage:
        got = await stage.ask(request("a"))

        assert got.status == 502
        assert b'"id":"a","error":{"code":-32000' in got.body
        assert b"hush" not in got.body
        (row,) = stage.rows()
        assert (row.state, row.interaction.http_status) == ("unanswered", 502)
        await stage.server.stop()
        assert stage.sessions() == ["failed"]


async def test_a_server_that_cannot_be_reached_is_told_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with sidecar(tmp_path, f"http://127.0.0.1:{port}/x?key=hush") as stage:
        await stage.ask(request(1))
        await stage.ask(request(2))

    told = capfd.readouterr().err
    assert told.count("Server 'up' cannot be reached: ") == 1
    assert "hush" not in told


async def test_a_server_that_speaks_no_tls_is_told_so(tmp_path: Path) -> None:
    def speak(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(b"no", status="400 Bad Request"))
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, sidecar(tmp_path, f"https://127.0.0.1:{port}/x") as stage:
        got = await stage.ask(request(1))

    assert got.status == 502
    assert b"cannot be reached over TLS" in got.body
    assert b"is its URL one of http://" in got.body


async def test_h15_a_server_that_never_answers_is_a_504_with_an_error_for_the_id(
    tmp_path: Path,
) -> None:
    async def script(_heard: Heard, _writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    limits = QUICK._replace(answer_seconds=0.05)
    async with relayed(tmp_path, script, limits) as (up, stage):
        got = await stage.ask(request(6))

        assert got.status == 504
        assert b'"id":6,"error"' in got.body
        assert b"within 0.05 seconds" in got.body
        async with asyncio.timeout(WAIT_SECONDS):
            await up.left.wait()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"220 mail.test ESMTP\r\n", id="another protocol"),
        pytest.param(head("Content-Length: x"), id="a broken head"),
    ],
)
async def test_what_is_no_answer_is_a_502(tmp_path: Path, answer: bytes) -> None:
    async with relayed(tmp_path, always(answer)) as (_, stage):
        assert (await stage.ask(request())).status == 502


@pytest.mark.parametrize("url", ["", "x", "file:///x", "http://", "ws://x/", "http://[", "//x/y"])
def test_a_url_that_is_none_of_http_is_refused_before_anything_starts(url: str) -> None:
    with pytest.raises(ConfigError, match="none of http or https"):
        url_of(ServedServer("up", url=url))


def test_a_url_is_taken_by_the_letter() -> None:
    url = "https://x.test/a%2fb/./c?d=%20&e=+"

    assert str(url_of(ServedServer("up", url=url))) == url


@pytest.mark.parametrize(
    ("url", "is_ours"),
    [
        ("http://x.test/other", True),
        ("http://x.test:80/", True),
        ("https://x.test/", False),
        ("http://x.test:81/", False),
        ("http://y.test/", False),
        ("/relative", False),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, *, is_ours: bool) -> None:
    upstream = Upstream(ServedServer("up", url="http://x.test/mcp"), Limits())

    assert upstream.is_ours(URL(url)) is is_ours
