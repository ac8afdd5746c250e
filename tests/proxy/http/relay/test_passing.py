"""How answers pass: byte for byte, at once, and not before they are in the journal."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from pathlib import Path

import pytest

from sidecar.proxy.http.relay.passing import PassedResponse
from tests.proxy.http.relaying import (
    EVENTS,
    JSON,
    QUICK,
    Heard,
    Script,
    always,
    chunk,
    event,
    head,
    later,
    relayed,
    request,
    result,
    streamed,
    until_timers_ran,
    whole,
)

PROGRESS = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}'


async def test_a_body_passes_byte_for_byte_and_is_recorded(tmp_path: Path) -> None:
    body = b' {"result" : {"x":1.0, "\\u0041": 1e2},\r\n "id":1,"jsonrpc":"2.0", "more":[]} '

    async with relayed(tmp_path, always(whole(body, JSON))) as (_, sidecar):
        got = await sidecar.ask(request())

        assert (got.status, got.body) == (200, body)
        assert sidecar.texts() == ['{"x":1.0, "\\u0041": 1e2}']


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
async def test_h07_h08_a_stream_cut_at_every_byte_passes_as_it_came(
    tmp_path: Path, end: bytes
) -> None:
    stream = (b": hi\n\n" + event(PROGRESS) + event(result(1, ok="é"))).replace(b"\n", end)
    script = always(streamed(*[stream[at : at + 1] for at in range(len(stream))]))

    async with relayed(tmp_path, script) as (_, sidecar):
        got = await sidecar.ask(request())

        assert got.body == stream
        (row,) = sidecar.rows()
        assert [passage.method for passage in row.interaction.during] == ["notifications/progress"]
        assert row.state == "answered"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(whole(result(1, ok=True), JSON), id="a body"),
        pytest.param(streamed(event(PROGRESS), event(result(1, ok=True))), id="a stream"),
    ],
)
async def test_what_completes_an_answer_goes_on_only_once_that_is_in_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    seen: list[tuple[bytes, list[str]]] = []

    async with relayed(tmp_path, always(answer)) as (_, sidecar):
        write, write_eof = PassedResponse.write, PassedResponse.write_eof

        async def watched(self: PassedResponse, data: bytes) -> None:
            seen.append((bytes(data), [row.state for row in sidecar.rows()]))
            await write(self, data)

        async def watched_eof(self: PassedResponse, data: bytes = b"") -> None:
            seen.append((bytes(data), [row.state for row in sidecar.rows()]))
            await write_eof(self, data)

        monkeypatch.setattr(PassedResponse, "write", watched)
        monkeypatch.setattr(PassedResponse, "write_eof", watched_eof)
        await sidecar.ask(request())

    with_answer = [states for data, states in seen if b'"ok"' in data]
    assert with_answer == [["answered"]]


async def test_what_comes_of_a_large_body_passes_before_its_end(tmp_path: Path) -> None:
    body = result(1, text="x" * 300_000)
    go_on = asyncio.Event()

    async def script(_heard: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(head(f"Content-Length: {len(body)}", JSON) + body[:200_000])
        await go_on.wait()
        writer.write(body[200_000:])

    async with relayed(tmp_path, script) as (_, sidecar):
        client = await sidecar.send(request())
        await client.head()
        first = await client.reader.readexactly(1)
        assert first == body[:1]

        go_on.set()
        assert await client.reader.read(-1) == body[1:]


async def test_h14_a_stream_that_is_silent_for_hours_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = asyncio.Event()

    async def script(_heard: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(head(EVENTS, "Transfer-Encoding: chunked"))
        await writer.drain()
        await go_on.wait()
        writer.write(chunk(event(result(1, ok=True))) + b"0\r\n\r\n")

    async with relayed(tmp_path, script) as (_, sidecar):
        client = await sidecar.send(request())
        await client.head()
        later(monkeypatch, 10_000)
        await until_timers_ran()
        go_on.set()

        assert await client.until(b"ok") == event(result(1, ok=True))


# --- servers that die


def dying(*pieces: bytes, polite: bool) -> Script:
    async def script(_heard: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(head("Transfer-Encoding: chunked", EVENTS))
        writer.write(b"".join(map(chunk, pieces)) + (b"0\r\n\r\n" if polite else b""))

    return script


@pytest.mark.parametrize("polite", [True, False])
async def test_h06_a_stream_that_ends_without_the_answer_gets_an_error_for_the_id(
    tmp_path: Path, *, polite: bool
) -> None:
    async with relayed(tmp_path, dying(event(PROGRESS), polite=polite)) as (_, sidecar):
        got = await sidecar.ask(request("seven"))

        assert got.whole
        assert got.body.startswith(event(PROGRESS) + b"event: message\n")
        assert b'"id":"seven","error":{"code":-32000,' in got.body
        (row,) = sidecar.rows()
        assert row.state == "unanswered"
        assert [passage.method for passage in row.interaction.during] == ["notifications/progress"]


async def test_h06_what_came_of_an_event_is_made_one_that_no_client_reads(tmp_path: Path) -> None:
    async with relayed(tmp_path, dying(b'id: 5\ndata: {"js', polite=False)) as (_, sidecar):
        got = await sidecar.ask(request())

        assert got.body.startswith(b'id: 5\ndata: {"js\0\nevent: cut\n\nevent: message\ndata: ')
        assert got.whole


async def test_h06_each_request_of_a_batch_that_waits_gets_an_error(tmp_path: Path) -> None:
    batch = b"[" + request(1) + b"," + request(2) + b"]"

    async with relayed(tmp_path, dying(event(result(1, ok=1)), polite=True)) as (_, sidecar):
        got = await sidecar.ask(batch)

        assert got.body.count(b"event: message") == 1
        assert b'"id":2,"error"' in got.body
        assert [row.state for row in sidecar.rows()] == ["answered", "unanswered"]


async def test_h06_a_body_that_breaks_off_is_a_502_with_an_error_for_the_id(tmp_path: Path) -> None:
    answer = head("Content-Length: 100", JSON) + b'{"jsonrpc"'

    async with relayed(tmp_path, always(answer)) as (_, sidecar):
        got = await sidecar.ask(request(3))

        assert got.status == 502
        assert b'"id":3,"error":{"code":-32000' in got.body
        assert sidecar.texts() == ["unanswered"]


async def test_a_body_that_breaks_off_after_a_part_has_passed_breaks_off_for_the_client_too(
    tmp_path: Path,
) -> None:
    answer = head("Content-Length: 900000", JSON) + b" " * 600_000

    async with relayed(tmp_path, always(answer)) as (_, sidecar):
        got = await sidecar.ask(request(3))

        assert not got.whole
        assert sidecar.texts() == ["unanswered"]


# --- encodings


def raw_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


@pytest.mark.parametrize(
    ("name", "encode"),
    [
        pytest.param("gzip", gzip.compress, id="gzip"),
        pytest.param("deflate", zlib.compress, id="deflate"),
        pytest.param("deflate", raw_deflate, id="deflate without its head"),
    ],
)
async def test_h11_what_is_compressed_passes_so_and_is_recorded_plain(
    tmp_path: Path, name: str, encode: object
) -> None:
    assert callable(encode)
    body = encode(result(1, text="plain"))

    async with relayed(tmp_path, always(whole(body, JSON, f"Content-Encoding: {name}"))) as both:
        upstream, sidecar = both
        got = await sidecar.ask(request(), "Accept-Encoding: gzip, br, zstd")

        assert (got.body, got.header("Content-Encoding")) == (body, name)
        assert got.header("Content-Length") == str(len(body))
        assert upstream.heard[0].header("Accept-Encoding") == "identity"
        assert sidecar.texts() == ['{"text": "plain"}']


async def test_h11_a_compressed_stream_passes_so_and_is_recorded_plain(tmp_path: Path) -> None:
    body = gzip.compress(event(result(1, text="plain")))
    answer = streamed(body[:9], body[9:], headers=(EVENTS, "Content-Encoding: gzip"))

    async with relayed(tmp_path, always(answer)) as (_, sidecar):
        assert (await sidecar.ask(request())).body == body
        assert sidecar.texts() == ['{"text": "plain"}']


@pytest.mark.parametrize("kind", [JSON, EVENTS])
async def test_h11_what_cannot_be_decoded_fails_closed(tmp_path: Path, kind: str) -> None:
    answer = whole(b"secret", kind, "Content-Encoding: br")

    async with relayed(tmp_path, always(answer)) as (_, sidecar):
        got = await sidecar.ask(request(4))

        assert got.status == 502
        assert b'"id":4,"error"' in got.body
        assert b"secret" not in got.body
        assert sidecar.texts() == ["unanswered"]


@pytest.mark.parametrize("body", [b"no gzip", gzip.compress(result(4), mtime=0)[:-1]])
async def test_h11_a_body_that_is_not_what_its_encoding_says_fails_closed(
    tmp_path: Path, body: bytes
) -> None:
    answer = whole(body, JSON, "Content-Encoding: gzip")

    async with relayed(tmp_path, always(answer)) as (_, sidecar):
        assert (await sidecar.ask(request(4))).status == 502


async def test_a_body_over_the_ceiling_fails_closed_however_small_it_was_packed(
    tmp_path: Path,
) -> None:
    body = gzip.compress(result(1, text="x" * 100_000))
    limits = QUICK._replace(message_bytes=50_000)

    async with relayed(tmp_path, always(whole(body, JSON, "Content-Encoding: gzip")), limits) as (
        _,
        sidecar,
    ):
        assert (await sidecar.ask(request())).status == 502
        assert sidecar.texts() == ["unanswered"]


async def test_a_body_that_says_that_it_is_over_the_ceiling_is_a_502_and_told(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    limits = QUICK._replace(message_bytes=50_000)
    answer = whole(result(1, text="x" * 1_000_000), JSON)

    async with relayed(tmp_path, always(answer), limits) as (_, sidecar):
        got = await sidecar.ask(request())

        assert got.status == 502
        assert b'"id":1,"error"' in got.body
        assert sidecar.texts() == ["unanswered"]
    assert "--max-message-bytes" in capfd.readouterr().err


async def test_an_event_over_the_ceiling_gets_an_error_for_the_id(tmp_path: Path) -> None:
    limits = QUICK._replace(message_bytes=1000)
    long = event(result(1, text="x" * 5000))

    async with relayed(tmp_path, always(streamed(long)), limits) as (_, sidecar):
        got = await sidecar.ask(request())

        assert b'"id":1,"error"' in got.body
        assert b"over the ceiling" in got.body


# --- headers of answers


async def test_headers_of_an_answer_pass_but_those_of_the_connection(tmp_path: Path) -> None:
    answer = whole(
        b"",
        "Connection: close, X-Hop",
        "X-Hop: 1",
        "Keep-Alive: timeout=5",
        "Set-Cookie: a=1",
        "Set-Cookie: b=2",
        "Mcp-Session-Id: s1",
        "Retry-After: 5",
        status="202 Accepted",
    )

    async with relayed(tmp_path, always(answer)) as (_, sidecar):
        got = await sidecar.ask(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    names = {name.lower() for name, _ in got.headers}
    assert names == {
        "connection", "content-length", "date", "mcp-session-id", "retry-after", "set-cookie",
    }  # fmt: skip
    assert [value for name, value in got.headers if name == "Set-Cookie"] == ["a=1", "b=2"]
    assert got.status == 202


@pytest.mark.parametrize(
    "challenge",
    [
        'Bearer resource_metadata="https://auth.test/.well-known/x"',
        'Bearer resource_metadata="file:///etc/passwd", scope="$(touch /tmp/x)"',
    ],
)
async def test_h21_a_challenge_passes_as_it_came_and_nothing_is_opened_or_recorded(
    tmp_path: Path, challenge: str
) -> None:
    answer = whole(
        b"who?", f"WWW-Authenticate: {challenge}", "Server: up", status="401 Unauthorized"
    )

    async with relayed(tmp_path, always(answer)) as (upstream, sidecar):
        got = await sidecar.ask(request(1, "initialize"))

        assert (got.status, got.body) == (401, b"who?")
        assert got.header("WWW-Authenticate") == challenge
        assert got.header("Server") == "up"
        assert len(upstream.heard) == 1
        assert sidecar.rows() == []


async def test_a_head_without_a_body_has_none(tmp_path: Path) -> None:
    answer = head("Content-Length: 10", JSON)

    async with relayed(tmp_path, always(answer)) as (_, sidecar):
        client = await sidecar.send(None, method="HEAD")
        got = await client.head()

        assert (got.status, got.header("Content-Length")) == (200, "10")
        assert await client.reader.read(-1) == b""
