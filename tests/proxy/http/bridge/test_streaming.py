"""Responses that are streams: an event for each message, and a sign of life."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sidecar.proxy.http.bridge import streaming
from sidecar.proxy.http.bridge.streaming import event
from tests.proxy.http.entries import INITIALIZE
from tests.proxy.http.fronting import Place, Raw, fronted
from tests.proxy.place import WAIT_SECONDS

pytestmark = pytest.mark.anyio


def test_an_event_has_one_line_of_data_without_its_end() -> None:
    assert event(b'{"a":1}\n') == b'event: message\ndata: {"a":1}\n\n'


async def test_a_silent_stream_says_that_it_is_still_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "KEEP_ALIVE_SECONDS", 0.01)
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        client = Raw(served)
        await client.open()
        headers = client.headers(None)
        async with (
            served.http.get(served.mcp, headers=headers) as stream,
            asyncio.timeout(WAIT_SECONDS),
        ):
            assert (await stream.content.readline()).startswith(b":")
