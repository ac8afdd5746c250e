"""A script over Streamable HTTP of 2026-07-28 is recorded once; run again, it hears the same."""

from pathlib import Path
from typing import Any, TypeAlias

import pytest
from mcp import Client, MCPError

from tests import paths
from tests.end_to_end.serving import CASSETTE, recording, replaying
from tests.servers.listening import Listening

pytestmark = pytest.mark.timeout(300)

Heard: TypeAlias = list[tuple[str, Any]]

SERVER = [paths.PYTHON, str(paths.ROOT / "tests" / "servers" / "http_server.py")]
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("echo", {"text": "z"}),
    ("count", {"steps": 3}),
    ("counter", {"key": "k"}),
    ("counter", {"key": "k"}),
    ("fail", {}),
    ("refuse", {}),
)


async def script(url: str) -> Heard:
    """What is heard, in order: an answer after its progress."""
    heard: Heard = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append(("progress", (progress, total, message)))

    async with Client(url) as client:
        heard.append(("revision", client.protocol_version))
        heard.append(("tools", (await client.list_tools()).model_dump()))
        for tool, arguments in CALLS:
            try:
                answer = await client.call_tool(tool, arguments, progress_callback=note)
                heard.append((tool, answer.model_dump()))
            except MCPError as error:
                heard.append((tool, error.error.model_dump()))
    return heard


async def test_h10_n01_the_same_script_over_modern_http_hears_the_same_again_and_again(
    tmp_path: Path,
) -> None:
    with Listening(SERVER) as server, recording(tmp_path, server.url) as sidecar:
        recorded = await script(sidecar.url)
    kept = (tmp_path / CASSETTE).read_bytes()

    for home in ("first", "second"):
        with replaying(tmp_path, home=home) as sidecar:
            assert await script(sidecar.url) == recorded

    assert (tmp_path / CASSETTE).read_bytes() == kept
    assert [what for what, _ in recorded] == [
        *("revision", "tools", "echo", "progress", "progress", "progress", "count"),
        *("counter", "counter", "fail", "refuse"),
    ]
    said = dict(recorded)
    assert said["revision"] == "2026-07-28"
    assert said["fail"]["is_error"]
    assert said["refuse"] == {"code": -32050, "message": "not now", "data": {"until": "tomorrow"}}
    first, second = [answer["structured_content"] for what, answer in recorded if what == "counter"]
    assert (first, second) == ({"result": 1}, {"result": 2})
