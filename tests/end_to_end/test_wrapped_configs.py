"""A real client on a config that `wrap` changed in place: recorded, replayed, brought back."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import fastmcp
import pytest

from tests.paths import MCP_SIDECAR, ROOT, TIME_SERVER
from tests.servers.listening import Listening

pytestmark = pytest.mark.timeout(300)  # real servers take seconds of CPU to start

Heard: TypeAlias = list[Any]

SECONDS = 60
SECRET = "wxyz-4c11-secret"  # nothing is behind it


@pytest.fixture(scope="module")
def far() -> Iterator[Listening]:
    """A server of the SDK at a URL; a test may end it."""
    script = ROOT / "tests" / "servers" / "sdk_http_server.py"
    with Listening([sys.executable, script, "http"]) as listening:
        yield listening


def written(folder: Path, url: str) -> Path:
    """A config as FastMCP reads it, written in a way of its own."""
    path = folder / "mcp.json"
    time = json.dumps(TIME_SERVER[0])
    path.write_text(
        f"""{{ "mcpServers": {{
  "far": {{"url": "{url}", "transport": "http",
          "headers": {{"X-Api-Key": "{SECRET}"}}}},
  "time" : {{"command":{time},
     "args": [ "--local-timezone",  "UTC" ], "env": {{}} }}
}} }}""",
        encoding="utf-8",
    )
    return path


def told(folder: Path, *words: str) -> str:
    """Run our command in a folder; give what it printed."""
    return subprocess.run(
        [MCP_SIDECAR, *words],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    ).stdout


async def session(config: bytes) -> Heard:
    """What a client hears that reads this config."""
    async with fastmcp.Client(json.loads(config)) as client:
        tools = sorted(tool.name for tool in await client.list_tools())
        calls = [
            ("far_echo", {"text": "hi"}),
            ("far_divide", {"a": 1, "b": 0}),
            ("time_convert_time", {"source_timezone": "UTC", "time": "12:00"}),
            (
                "time_convert_time",
                {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
            ),
        ]
        heard: Heard = [tools]
        for name, arguments in calls:
            result = await client.call_tool(name, arguments, raise_on_error=False)
            texts = [getattr(block, "text", "") for block in result.content]
            heard.append((name, result.is_error, texts, result.structured_content))
        return heard


async def test_a_clients_own_config_is_wrapped_recorded_replayed_and_brought_back(
    tmp_path: Path, far: Listening
) -> None:
    config = written(tmp_path, far.url)
    before = config.read_bytes()
    live = await session(config.read_bytes())

    told(tmp_path, "wrap", "mcp.json", "--cassette", "checkout")
    recorded = await session(config.read_bytes())
    told(tmp_path, "wrap", "mcp.json", "--cassette", "checkout", "--mode", "replay")
    again = config.read_text(encoding="utf-8").replace(far.url, "http://127.0.0.1:1/mcp")
    config.write_text(again, encoding="utf-8")  # so that nothing could be live
    replayed = await session(config.read_bytes())

    assert len(live) == 5
    assert recorded == live
    assert replayed == live
    # One process is one agent, and one run, however often it starts its servers.
    (run,) = json.loads(told(tmp_path, "runs", "list", "--json"))
    assert (run["mode"], run["calls"], run["misses"]) == ("record", 8, 0)
    assert set(run["servers"]) == {"far", "time"}
    kept = [*(tmp_path / ".sidecar").glob("journal.db*"), tmp_path / "cassettes" / "checkout.jsonl"]
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == []

    config.write_text(again.replace("http://127.0.0.1:1/mcp", far.url), encoding="utf-8")
    told(tmp_path, "unwrap", "mcp.json")
    assert config.read_bytes() == before


async def test_e10_a_server_at_a_url_is_led_to_serve_which_reads_the_same_config(
    tmp_path: Path, far: Listening
) -> None:
    config = written(tmp_path, far.url)
    before = config.read_bytes()
    placeholder = "http://127.0.0.1:1"
    told(tmp_path, "wrap", "mcp.json", "--via-serve", placeholder, "--only", "far")

    serve = [MCP_SIDECAR, "serve", "--config", "mcp.json", "--port", "0", "--cassette", "served"]
    with Listening(serve, servers=2, cwd=tmp_path) as served:
        base = served.urls["far"].removesuffix("/far/mcp")
        told(tmp_path, "wrap", "mcp.json", "--via-serve", base, "--only", "far")
        recorded = await session(config.read_bytes())
        assert served.end() == 0

    assert recorded[1][1:3] == (False, ["hi"])
    entry = json.loads(config.read_bytes())["mcpServers"]["far"]
    assert entry["url"] == f"{base}/far/mcp#mcp-sidecar={far.url}"
    cassette = (tmp_path / "cassettes" / "served.jsonl").read_text(encoding="utf-8")
    assert cassette.count('"server":"far","request":{"method":"tools/call"') == 2
    told(tmp_path, "unwrap", "mcp.json")
    assert config.read_bytes() == before
