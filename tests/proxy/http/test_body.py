"""Bodies of requests; what a listener refuses of them is in test_hostile_clients.py."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from sidecar.proxy.http.answers import RefusedError
from sidecar.proxy.http.body import plain_body
from sidecar.proxy.http.endpoint import Limits
from tests.proxy.http.relaying import JSON, always, relayed, request, result, whole

LIMITS = Limits(body_bytes=100)


@pytest.mark.parametrize(
    ("body", "encoding"),
    [(b"text", ""), (gzip.compress(b"text", mtime=0), "gzip"), (b"text", "identity")],
)
def test_a_copy_of_a_body_is_decoded(body: bytes, encoding: str) -> None:
    assert plain_body(body, encoding, LIMITS) == b"text"


@pytest.mark.parametrize(
    ("body", "encoding", "status"),
    [
        (b"x", "br", 415),
        (b"x", "gzip", 415),
        (gzip.compress(b"x" * 101, mtime=0), "gzip", 413),
    ],
)
def test_what_cannot_be_decoded_is_refused(body: bytes, encoding: str, status: int) -> None:
    with pytest.raises(RefusedError) as caught:
        plain_body(body, encoding, LIMITS)

    assert caught.value.status == status


async def test_a_compressed_request_passes_as_it_came_and_is_recorded_plain(
    tmp_path: Path,
) -> None:
    body = gzip.compress(request(1, name="a"))

    async with relayed(tmp_path, always(whole(result(1), JSON))) as (up, sidecar):
        await sidecar.ask(body, "Content-Encoding: gzip")

        assert (up.heard[0].body, up.heard[0].header("Content-Encoding")) == (body, "gzip")
        assert sidecar.rows()[0].interaction.params == '{"name": "a"}'


async def test_a_request_in_chunks_reaches_the_server_whole(tmp_path: Path) -> None:
    body = request(1, name="a")

    async with relayed(tmp_path, always(whole(result(1), JSON))) as (up, sidecar):
        client = await sidecar.send(None, "Transfer-Encoding: chunked", JSON)
        for at in range(len(body)):
            client.writer.write(b"1\r\n" + body[at : at + 1] + b"\r\n")
        client.writer.write(b"0\r\n\r\n")

        assert (await client.answer()).status == 200
        assert up.heard[0].body == body
