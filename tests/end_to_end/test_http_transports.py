"""A session recorded over stdio, over Streamable HTTP and over SSE is one and the same cassette."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client

from sidecar.store import cassettes
from tests import paths
from tests.end_to_end.serving import CASSETTE, recording, replaying
from tests.servers.listening import Listening

pytestmark = pytest.mark.timeout(120)

# The one server of tests/servers/http_server.py, over whichever transport.
PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from tests.servers.http_server import *; "
STDIO = [paths.PYTHON, "-c", PROGRAM + "server.run('stdio')", str(paths.ROOT)]
HTTP = [paths.PYTHON, "-c", PROGRAM + "serve(server.streamable_http_app())", str(paths.ROOT)]
SSE = [paths.PYTHON, "-c", PROGRAM + "serve(server.sse_app())", str(paths.ROOT)]
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("echo", {"text": "z"}),
    ("count", {"steps": 2}),
    ("fail", {}),
)


async def script(transport: Any) -> list[Any]:
    """What a client of the handshake era hears."""
    heard: list[Any] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with Client(transport, mode="legacy") as client:
        heard.append((await client.list_tools()).model_dump())
        for tool, arguments in CALLS:
            answer = await client.call_tool(tool, arguments, progress_callback=note)
            heard.append(answer.model_dump())
    return heard


def over_sse(url: str) -> AbstractAsyncContextManager[Any]:
    return sse_client(url.replace("/mcp", "/sse"))


@contextmanager
def sse_server() -> Iterator[str]:
    with Listening(SSE) as server:
        yield server.url.replace("/mcp", "/sse")


def kept(folder: Path) -> list[str]:
    """The cassette but for the name of its run."""
    cassette = cassettes.load(str(folder / CASSETTE)).cassette
    assert cassette.complete
    return (folder / CASSETTE).read_text("utf-8").replace(str(cassette.run), "RUN").splitlines()


async def test_r27_one_session_is_one_cassette_whichever_transport_recorded_it(
    tmp_path: Path,
) -> None:
    folders = {name: tmp_path / name for name in ("stdio", "http", "sse")}
    for folder in folders.values():
        folder.mkdir()
    proxy = [
        *("proxy", "--server", "shared", "--home", str(folders["stdio"] / "home")),
        *("--cassette", str(folders["stdio"] / CASSETTE), *STDIO),
    ]

    heard = [await script(StdioServerParameters(command=paths.MCP_SIDECAR, args=proxy))]
    with Listening(HTTP) as server, recording(folders["http"], server.url) as sidecar:
        heard.append(await script(sidecar.url))
    with sse_server() as url, recording(folders["sse"], url) as sidecar:
        heard.append(await script(over_sse(sidecar.url)))

    assert heard[1:] == heard[:1] * 2
    tapes = {name: kept(folder) for name, folder in folders.items()}
    assert tapes["http"] == tapes["stdio"]
    assert tapes["sse"] == tapes["stdio"]

    with replaying(folders["sse"]) as sidecar:
        assert await script(sidecar.url) == heard[0]
        assert await script(over_sse(sidecar.url)) == heard[0]
