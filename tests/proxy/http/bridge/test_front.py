"""The three endpoints, and which era a request is of."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from sidecar.store.journal import Journal
from tests.proxy.http.entries import (
    INITIALIZE,
    META,
)
from tests.proxy.http.fronting import Answer, Place, Raw, Served, answer_of, fronted

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


async def begun(served: Served, how: str) -> Answer:
    """Begin a session, or what stands for one."""
    if how == "older":
        async with served.http.get(f"{served.url}/sse") as response:
            return await answer_of(response)
    return await Raw(served, modern=how == "modern").ask(7, "initialize", {})


@pytest.mark.parametrize("how", ["handshake", "modern", "older"])
async def test_a_session_that_cannot_be_journalled_does_not_begin_and_its_client_hears_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(Journal, "open", partial(Journal.open, patience_seconds=0.0))
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        with closing(sqlite3.connect(tmp_path / ".sidecar" / "journal.db")) as other:
            other.execute("BEGIN IMMEDIATE")
            refused = await begun(served, how)
        assert (await Raw(served).open()).status == 200  # once it can be

    (message,) = refused.messages
    assert (refused.status, message["id"]) == (503, None if how == "older" else 7)
    assert "another program has the journal locked" in message["error"]["message"]
