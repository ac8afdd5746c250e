"""The three endpoints, and which era a request is of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proxy.http.entries import (
    INITIALIZE,
    META,
)
from tests.proxy.http.fronting import Place, Raw, fronted

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("how", "version", "allowed"),
    [
        pytest.param("GET", "2026-07-28", "POST", id="GET in the modern era"),
        pytest.param("DELETE", "2026-07-28", "POST", id="DELETE in the modern era"),
        pytest.param("PUT", "2025-11-25", "GET, POST, DELETE", id="PUT"),
    ],
)
async def test_what_an_era_has_not_is_405(
    tmp_path: Path, how: str, version: str, allowed: str
) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        headers = {"MCP-Protocol-Version": version}
        async with served.http.request(how, served.mcp, headers=headers) as response:
            assert (response.status, response.headers["Allow"]) == (405, allowed)


async def test_n01_a_modern_request_without_a_header_is_none_of_a_handshake(tmp_path: Path) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        client = Raw(served)
        params = {"_meta": META, "name": "echo"}
        answer = await client.ask(1, "tools/call", params)
        opened = await client.open()

    assert (answer.status, answer.messages[0]["error"]["code"]) == (400, -32020)
    assert opened.status == 200
