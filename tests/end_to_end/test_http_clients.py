"""Real clients over HTTP: as if the sidecar were not there, recorded and replayed."""

import json
import os
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import anyio
import fastmcp
import pytest
from mcp import Client, MCPError

from tests import paths
from tests.end_to_end.serving import recording, replaying
from tests.servers.listening import Listening

# A session takes seconds of CPU in some clients, and the machine may be busy.
pytestmark = pytest.mark.timeout(300)

Mode: TypeAlias = Literal["auto", "legacy"]
Calls: TypeAlias = list[tuple[str, dict[str, Any]]]
Heard: TypeAlias = dict[str, Any]
Session: TypeAlias = Callable[[str, Path], Awaitable[Heard]]

CALLS: Calls = [
    ("begin", {"key": "k"}),
    ("echo", {"text": "日本語🎉"}),
    ("counter", {"key": "k"}),
    ("counter", {"key": "k"}),
    ("count", {"steps": 3}),
    ("fail", {}),
    ("refuse", {}),
    ("counter", {"key": "k"}),
    ("no_such_tool", {}),
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with Listening([paths.PYTHON, paths.ROOT / "tests" / "servers" / "http_server.py"]) as started:
        yield started.url


# --- the clients


def sdk(mode: Mode) -> Session:
    """The SDK's client: in its default, or as older ones are."""

    async def session(url: str, _: Path) -> Heard:
        async with Client(url, mode=mode) as client:
            return {
                "version": client.protocol_version,
                "server": _dumped(client.server_info),
                "instructions": client.instructions,
                "tools": _dumped(await client.list_tools()),
                "calls": [await _outcome(client.call_tool, *call) for call in CALLS],
            }

    return session


async def fast(url: str, _: Path) -> Heard:
    """fastmcp's client."""
    async with fastmcp.Client(url) as client:

        async def call(tool: str, arguments: dict[str, Any], *, progress_callback: Any) -> Any:
            return await client.call_tool_mcp(tool, arguments, progress_handler=progress_callback)

        return {
            "tools": [_dumped(tool) for tool in await client.list_tools()],
            "calls": [await _outcome(call, *called) for called in CALLS],
        }


async def typescript(url: str, _: Path) -> Heard:
    """The TypeScript SDK's client."""
    script = paths.ROOT / "tests" / "node" / "http_client.mjs"
    done = await _run([paths.NODE, str(script), url, json.dumps(CALLS)])
    assert done.returncode == 0, done
    heard: Heard = json.loads(done.stdout)
    return heard


async def inspector(url: str, folder: Path) -> Heard:
    """The Inspector's command line: a process and a session a call, so only some calls."""
    common = [*paths.INSPECTOR, "--cli", url, "--transport", "http", "--method"]
    env = {**os.environ, "HOME": str(folder)}
    heard: Heard = {"tools": _told(await _run([*common, "tools/list"], env)), "calls": []}
    for tool, arguments in (CALLS[place] for place in (0, 1, 2, 3, 5, 6)):
        given = [f"{name}={value}" for name, value in arguments.items()]
        words = [*common, "tools/call", "--tool-name", tool]
        done = await _run([*words, *(["--tool-arg", *given] if given else [])], env)
        heard["calls"].append(_told(done))
    return heard


async def _run(
    words: list[str], env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    with anyio.fail_after(60):
        return await anyio.run_process(words, check=False, env=env)


def _told(done: subprocess.CompletedProcess[bytes]) -> Any:
    return done.returncode, done.stdout.decode(), done.stderr.decode()


async def _outcome(
    call: Callable[..., Awaitable[Any]], tool: str, arguments: dict[str, Any]
) -> Any:
    steps: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    try:
        result = _dumped(await call(tool, arguments, progress_callback=note))
    except MCPError as error:
        result = {"error": _dumped(error.error)}
    return result, steps


def _dumped(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True)


@pytest.mark.parametrize(
    "client",
    [
        pytest.param(sdk("auto"), id="sdk"),
        pytest.param(sdk("legacy"), id="sdk, handshake"),
        pytest.param(fast, id="fastmcp"),
        pytest.param(typescript, id="typescript"),
        pytest.param(inspector, id="inspector"),
    ],
)
async def test_a_client_over_http_sees_no_sidecar_and_the_replay_is_the_recording(
    tmp_path: Path, server: str, client: Session
) -> None:
    direct = await client(server, tmp_path)
    with recording(tmp_path, server) as sidecar:
        recorded = await client(sidecar.url, tmp_path)
    with replaying(tmp_path) as sidecar:
        replayed = await client(sidecar.url, tmp_path)

    assert recorded == direct
    assert replayed == direct
    # The script is worth its name: answers that differ, errors of both kinds, and progress.
    told = json.dumps(direct["calls"], ensure_ascii=False)
    assert [one for one in ("日本語", "it broke", "not now") if one not in told] == []
    assert len({json.dumps(call) for call in direct["calls"]}) == len(direct["calls"])
