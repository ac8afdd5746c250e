"""The socket that clients connect to; what it refuses is in test_hostile_clients.py."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from sidecar.errors import UsageError
from tests.proxy.http.relaying import (
    JSON,
    QUICK,
    always,
    closed,
    later,
    relayed,
    request,
    result,
    until_timers_ran,
    whole,
)

FINE = always(whole(result(1), JSON))


async def test_a_port_that_is_taken_is_told_with_the_next_step(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=r"^127.0.0.1:\d+: .*; choose another --port"):
            async with relayed(tmp_path, FINE, port=port):
                pass


async def test_an_address_that_is_not_ours_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not possible to listen there"):
        async with relayed(tmp_path, FINE, host="203.0.113.1"):
            pass


async def test_a_name_that_cannot_be_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not possible to listen there"):
        async with relayed(tmp_path, FINE, host="ü..", token="secret"):
            pass


async def test_all_addresses_of_a_name_are_listened_at_on_the_port_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = ("127.0.0.1", "127.0.0.2")
    loop = asyncio.get_running_loop()

    async def resolved(_host: str, port: int, **_: object) -> list[object]:
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, (address, port)) for address in addresses]

    with monkeypatch.context() as patched:
        patched.setattr(loop, "getaddrinfo", resolved)
        async with relayed(tmp_path, FINE, host="localhost") as (_, sidecar):
            patched.undo()
            for address in addresses:
                _, writer = await asyncio.open_connection(address, sidecar.server.port)
                await closed(writer)


async def test_a_connection_that_has_asked_may_be_silent_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with relayed(tmp_path, FINE) as (_, sidecar):
        client = await sidecar.connect()
        for _ in range(2):
            client.writer.write(
                f"POST /up/mcp HTTP/1.1\r\nHost: {sidecar.host}\r\n{JSON}\r\n"
                f"Content-Length: {len(request())}\r\n\r\n".encode()
                + request()
            )
            assert (await client.answer()).status == 200
            later(monkeypatch, QUICK.header_seconds + 1)
            await until_timers_ran()
