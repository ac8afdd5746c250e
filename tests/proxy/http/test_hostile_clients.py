"""Clients that mean harm, or make mistakes: refused, with nothing forwarded and nothing kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sidecar.proxy.http.endpoint import Limits
from tests.proxy.http.relaying import (
    JSON,
    QUICK,
    WAIT_SECONDS,
    Answer,
    Client,
    Sidecar,
    always,
    relayed,
    request,
    result,
    until,
    whole,
)

FINE = always(whole(result(1), JSON))
BODY = request(1)


async def raw(sidecar: Sidecar, data: bytes) -> Client:
    client = await sidecar.connect()
    client.writer.write(data)
    return client


def post(*headers: str, path: str = "/up/mcp", version: str = "1.1", body: bytes = BODY) -> bytes:
    lines = [f"POST {path} HTTP/{version}", *headers, "Connection: close"]
    if not any(line.lower().startswith(("content-length", "transfer")) for line in lines):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


async def refused(tmp_path: Path, data: bytes, limits: Limits = QUICK, **more: object) -> Answer:
    """Send bytes; see that nothing of them is forwarded or kept; return the answer."""
    async with relayed(tmp_path, FINE, limits, **more) as (up, sidecar):
        client = await raw(sidecar, data.replace(b"{port}", str(sidecar.server.port).encode()))
        got = await client.answer()
        assert up.heard == []
        assert (sidecar.rows(), sidecar.sessions()) == ([], [])
        return got


# --- who was called, and who asks


@pytest.mark.parametrize(
    "host",
    [
        "evil.test", "evil.test:{port}", "127.0.0.1.evil.test", "localhost.evil.test", "0.0.0.0",
        "127.0.0.2", "localhost:80:80", "user@localhost", "localhost,evil.test", "[::2]", "::1",
        "127.1", "2130706433", "localhost.", "[::1", "[::ffff:127.0.0.1]", "localhost/evil", "",
        "lócalhost", "localhost:", "localhost:x",
    ],
)  # fmt: skip
async def test_h18_a_host_that_is_not_ours_is_refused(tmp_path: Path, host: str) -> None:
    got = await refused(tmp_path, post(f"Host: {host}"))

    assert got.status in (400, 403)


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST", "127.0.0.1", "127.0.0.1:{port}", "[::1]:{port}", "localhost:8765"],
)
async def test_h18_the_loopback_names_are_ours(tmp_path: Path, host: str) -> None:
    async with relayed(tmp_path, FINE) as (up, sidecar):
        port = str(sidecar.server.port)
        client = await raw(sidecar, post(f"Host: {host}".replace("{port}", port)))

        assert (await client.answer()).status == 200
        assert len(up.heard) == 1


async def test_h18_a_client_that_names_no_host_is_none_that_was_lured_here(tmp_path: Path) -> None:
    async with relayed(tmp_path, FINE) as (_, sidecar):
        client = await raw(sidecar, post(version="1.0"))

        assert (await client.answer()).status == 200


async def test_h18_a_second_host_header_is_refused(tmp_path: Path) -> None:
    got = await refused(tmp_path, post("Host: localhost", "Host: evil.test"))

    assert got.status == 400


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.test", "null", "http://localhost.evil.test", "http://evil.test/localhost",
        "http://localhost@evil.test", "file://", "", "http://127.0.0.1:x", "https://",
        "chrome-extension://abc", "http://[::1", "http://localhost http://evil.test",
    ],
)  # fmt: skip
async def test_h18_a_page_of_another_origin_is_refused(tmp_path: Path, origin: str) -> None:
    got = await refused(tmp_path, post("Host: localhost", f"Origin: {origin}"))

    assert got.status == 403


async def test_h18_one_good_origin_does_not_hide_a_bad_one(tmp_path: Path) -> None:
    headers = ("Host: localhost", "Origin: http://localhost:3000", "Origin: http://evil.test")

    assert (await refused(tmp_path, post(*headers))).status == 403


@pytest.mark.parametrize("origin", ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"])
async def test_h18_pages_of_this_machine_may_ask(tmp_path: Path, origin: str) -> None:
    async with relayed(tmp_path, FINE) as (_, sidecar):
        assert (await sidecar.ask(BODY, f"Origin: {origin}")).status == 200


async def test_h18_names_and_origins_can_be_allowed_one_by_one(tmp_path: Path) -> None:
    async with relayed(
        tmp_path, FINE, allowed_hosts=("sidecar",), allowed_origins=("https://app.test",)
    ) as (up, sidecar):
        good = ("Host: sidecar:8765", "Origin: https://app.test")
        assert (await (await raw(sidecar, post(*good))).answer()).status == 200
        for bad in (("Host: sidecar.test",), ("Host: sidecar", "Origin: http://app.test")):
            assert (await (await raw(sidecar, post(*bad))).answer()).status == 403
        assert len(up.heard) == 1


# --- the token


@pytest.mark.parametrize(
    "header",
    [
        "X-Y: z", "X-MCP-Sidecar-Token: wrong", "X-MCP-Sidecar-Token:", "Authorization: secret",
        "Authorization: Bearer secretive", "Authorization: Bearer secre",
        "Authorization: Basic secret",
        "X-MCP-Sidecar-Token: sécret", "Authorization: Bearer  secret",
    ],
)  # fmt: skip
async def test_h20_without_the_token_nothing_is_answered(tmp_path: Path, header: str) -> None:
    got = await refused(tmp_path, post("Host: localhost", header), token="secret")

    assert got.status == 401
    assert got.header("WWW-Authenticate") == 'Bearer realm="mcp-sidecar"'


@pytest.mark.parametrize("header", ["X-MCP-Sidecar-Token: secret", "Authorization: Bearer secret"])
async def test_h20_the_token_opens_and_goes_nowhere(tmp_path: Path, header: str) -> None:
    async with relayed(tmp_path, FINE, token="secret") as (up, sidecar):
        assert (await sidecar.ask(BODY, header)).status == 200

    assert "secret" not in str(up.heard)


async def test_h20_the_token_alone_does_not_open_to_a_page(tmp_path: Path) -> None:
    headers = ("Host: localhost", "Origin: http://evil.test", "X-MCP-Sidecar-Token: secret")

    assert (await refused(tmp_path, post(*headers), token="secret")).status == 403


# --- bodies and heads that are too large, or too slow


async def test_a_body_over_the_ceiling_is_refused_before_it_is_read(tmp_path: Path) -> None:
    data = post("Host: localhost", "Content-Length: 1000000000000", body=b"")

    assert (await refused(tmp_path, data, limits=QUICK._replace(body_bytes=1000))).status == 413


async def test_a_body_that_does_not_say_how_large_it_is_is_refused_at_the_ceiling(
    tmp_path: Path,
) -> None:
    data = post("Host: localhost", "Transfer-Encoding: chunked", body=b"400\r\n" + b"x" * 1024)

    assert (await refused(tmp_path, data, limits=QUICK._replace(body_bytes=1000))).status == 413


async def test_a_small_body_that_unpacks_to_a_large_one_is_refused(tmp_path: Path) -> None:
    import gzip  # noqa: PLC0415  # for this one

    body = gzip.compress(b" " * 100_000)
    data = post("Host: localhost", "Content-Encoding: gzip", body=body)

    assert (await refused(tmp_path, data, limits=QUICK._replace(body_bytes=10_000))).status == 413


@pytest.mark.parametrize("encoding", ["br", "gzip", "gzip, gzip"])
async def test_a_body_that_cannot_be_read_is_refused(tmp_path: Path, encoding: str) -> None:
    data = post("Host: localhost", f"Content-Encoding: {encoding}", body=b"\x1f\x8bnonsense")

    assert (await refused(tmp_path, data)).status == 415


async def test_h15_a_body_that_comes_too_slowly_is_refused(tmp_path: Path) -> None:
    data = post("Host: localhost", "Content-Length: 1000", body=b"{")

    assert (await refused(tmp_path, data, limits=QUICK._replace(upload_seconds=0.05))).status == 408


@pytest.mark.parametrize("data", [b"", b"POST /up/mcp HTTP/1.1\r\nHost: local"])
async def test_h15_a_connection_that_asks_nothing_is_closed(tmp_path: Path, data: bytes) -> None:
    limits = QUICK._replace(header_seconds=0.05)

    async with relayed(tmp_path, FINE, limits) as (up, sidecar):
        client = await raw(sidecar, data)
        async with asyncio.timeout(WAIT_SECONDS):
            assert await client.reader.read() == b""
        assert up.heard == []


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("X: " + "x" * 70_000, id="long"),
        pytest.param("X: y\r\n" * 500 + "X: z", id="many"),
    ],
)
async def test_a_head_over_the_ceiling_is_refused(tmp_path: Path, header: str) -> None:
    got = await refused(tmp_path, post("Host: localhost", header))

    assert got.status in (400, 431)


async def test_connections_over_the_limit_are_refused_and_others_go_on(tmp_path: Path) -> None:
    limits = QUICK._replace(connections=2)

    async with relayed(tmp_path, FINE, limits) as (_, sidecar):
        first = await raw(sidecar, post("Host: localhost", "Content-Length: 100", body=b"{"))
        second = await raw(sidecar, b"POST")
        await until(lambda: sidecar.server.connections == 2)
        third = await raw(sidecar, post("Host: localhost"))
        assert (await third.head()).status == 503

        second.leave()
        await until(lambda: sidecar.server.connections == 1)
        assert (await sidecar.ask(BODY)).status == 200
        first.leave()


# --- smuggling


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(("Content-Length: 5", "Content-Length: 6"), id="two lengths"),
        pytest.param(("Content-Length: 5", "Transfer-Encoding: chunked"), id="length and chunks"),
        pytest.param(("Transfer-Encoding: chunked, identity",), id="chunked not last"),
        pytest.param(("Transfer-Encoding: xchunked",), id="an unknown coding"),
        pytest.param(("Transfer-Encoding : chunked",), id="a space before the colon"),
        pytest.param(("Content-Length: +5",), id="a sign"),
        pytest.param(("Content-Length: 5, 5",), id="a list"),
        pytest.param(("X-A: b\r\n Content-Length: 5",), id="a folded line"),
        pytest.param(("X\0A: b",), id="a NUL in a name"),
        pytest.param(("X-A: b\0c",), id="a NUL in a value"),
    ],
)
async def test_a_message_whose_length_or_head_can_be_read_in_two_ways_is_refused(
    tmp_path: Path, headers: tuple[str, ...]
) -> None:
    body = b"0\r\n\r\nPOST /up/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
    lines = ["POST /up/mcp HTTP/1.1", "Host: localhost", *headers, "", ""]
    data = "\r\n".join(lines).encode() + body

    assert (await refused(tmp_path, data)).status == 400


async def test_a_second_request_in_a_body_is_a_body(tmp_path: Path) -> None:
    inner = post("Host: localhost", path="/up/mcp", body=b"")

    async with relayed(tmp_path, FINE) as (up, sidecar):
        await (await raw(sidecar, post("Host: localhost", body=inner))).answer()

        assert [heard.body for heard in up.heard] == [inner]


# --- paths


@pytest.mark.parametrize(
    "path",
    [
        "/", "/mcp", "/up", "/up/", "//up/mcp", "/up//mcp", "/up/mcp/", "/up/mcp/..",
        "/up/../up/mcp",
        "/./up/mcp", "/%2e/up/mcp", "/up/%6dcp", "/up%2fmcp", "/up/mcp%00", "/UP/mcp", "/up/MCP",
        "/other/mcp", "/up/messages/x", "/up/mcp;x", "\\up\\mcp", "/..%2f..%2fetc/passwd",
        "/up/mcp#x", "http://evil.test/up/mcp", "http://localhost/up/mcp", "*", "/%ff/mcp",
    ],
)  # fmt: skip
async def test_a_path_is_taken_by_the_letter(tmp_path: Path, path: str) -> None:
    got = await refused(tmp_path, post("Host: localhost", path=path))

    assert got.status in (400, 404)


@pytest.mark.parametrize(
    "path", ["/up/messages", "/up/messages?session_id=", "/up/messages?session_id=1"]
)
async def test_a_message_for_a_session_that_is_none_is_refused(tmp_path: Path, path: str) -> None:
    assert (await refused(tmp_path, post("Host: localhost", path=path))).status == 404


# --- another's session


async def test_another_sessions_id_is_the_servers_to_judge_and_never_mixes_recordings(
    tmp_path: Path,
) -> None:
    async with relayed(tmp_path, FINE) as (up, sidecar):
        up.script = always(whole(result(1), JSON, "Mcp-Session-Id: theirs"))
        await sidecar.ask(request(1, "initialize"))
        up.script = always(whole(b"who?", status="403 Forbidden"))
        got = await sidecar.ask(request(1, name="steal"), "Mcp-Session-Id: thiers")

        assert (got.status, got.body) == (403, b"who?")
        assert [row.interaction.method for row in sidecar.rows()] == ["initialize"]
        assert sidecar.sessions() == ["running"]


async def test_an_error_of_ours_says_nothing_of_what_was_asked(tmp_path: Path) -> None:
    got = await refused(tmp_path, post("Host: <script>", path="/<script>/mcp"))

    assert b"script" not in got.body
    assert got.header("Content-Type") == "application/json"


async def test_standard_error_stays_quiet(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    await refused(tmp_path, b"\x16\x03\x01 nonsense\r\n\r\n")

    assert capfd.readouterr().err.count("\n") == 1
