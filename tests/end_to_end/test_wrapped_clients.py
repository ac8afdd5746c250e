"""Real clients on a config that `wrap` changed: as if it had not, recorded and replayed.

Models are scripted, so no client needs a key; all else of them is real.
"""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import anyio
import fastmcp
import pytest
from mcp import Client, MCPError, StdioServerParameters

from sidecar.store import runs
from sidecar.store.event_log import TOOL_CALLED
from sidecar.store.journal import Journal
from tests import paths

# Some clients take seconds of CPU to be imported, and the machine may be busy.
pytestmark = pytest.mark.timeout(300)

Call: TypeAlias = tuple[str, str, dict[str, Any]]
# What a client got: the tools that it was offered, and what each call gave.
Heard: TypeAlias = dict[str, Any]
Session: TypeAlias = Callable[[Path], Awaitable[Heard]]

SECONDS = 60
RAW_SERVER = str(paths.ROOT / "tests" / "servers" / "raw_server.py")
TINY_SERVER = str(paths.ROOT / "tests" / "servers" / "tiny_server.py")
CALLS: list[Call] = [
    ("raw", "echo", {"text": "日本語🎉"}),
    ("raw", "add", {"a": 1, "b": 2.5}),
    ("tiny", "echo", {"text": "from the other"}),
    ("raw", "fail", {"variant": "text"}),
    ("raw", "rpc_error", {}),
    ("raw", "echo", {"text": "still here"}),
]
FAILED = [3, 4]


class Project(NamedTuple):
    """A folder with a config of two servers, of which one leaves a trace of its starts."""

    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "mcp.json"

    @property
    def trace(self) -> Path:
        return self.folder / "started.jsonl"

    def write(self) -> None:
        raw = [RAW_SERVER, "--trace", str(self.trace)]
        entries = {
            "raw": {"command": sys.executable, "args": raw, "env": {"NOTED": "in the config"}},
            "tiny": {"command": sys.executable, "args": [TINY_SERVER]},
        }
        self.config.write_text(json.dumps({"mcpServers": entries}, indent=2), encoding="utf-8")

    def wrap(self, *options: str) -> None:
        words = [paths.MCP_SIDECAR, "wrap", "mcp.json", "--cassette", "checkout", *options]
        subprocess.run(words, cwd=self.folder, check=True, capture_output=True, timeout=SECONDS)

    def starts(self) -> int:
        return self.trace.read_bytes().count(b"\n")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.write()
    return project


def entries_of(config: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(config.read_bytes())["mcpServers"]
    return found


# --- the clients


async def sdk(config: Path) -> Heard:
    """The SDK's client."""
    async with AsyncExitStack() as stack:
        clients = {
            name: await stack.enter_async_context(Client(StdioServerParameters(**entry)))
            for name, entry in entries_of(config).items()
        }
        return {
            "tools": [dumped(await client.list_tools()) for client in clients.values()],
            "calls": [
                await outcome(clients[server].call_tool(tool, given))
                for server, tool, given in CALLS
            ],
        }


async def fast(config: Path) -> Heard:
    """fastmcp's client, which reads the config itself."""
    async with fastmcp.Client({"mcpServers": entries_of(config)}) as client:
        return {
            "tools": [dumped(tool) for tool in await client.list_tools()],
            "calls": [
                await outcome(client.call_tool_mcp(f"{server}_{tool}", given))
                for server, tool, given in CALLS
            ],
        }


async def outcome(calling: Awaitable[Any]) -> Any:
    try:
        return dumped(await calling)
    except MCPError as error:
        return {"error": dumped(error.error)}


def dumped(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True)


async def openai_agents(config: Path) -> Heard:
    """openai-agents."""
    # Imported here, since it takes seconds.
    from tests.end_to_end.agents.openai_session import session  # noqa: PLC0415

    return await session(entries_of(config), CALLS)


async def pydantic_ai(config: Path) -> Heard:
    """pydantic-ai."""
    from tests.end_to_end.agents.pydantic_ai_session import session  # noqa: PLC0415

    return await session(config, CALLS)


async def typescript(config: Path) -> Heard:
    """The TypeScript SDK's client."""
    script = str(paths.ROOT / "tests" / "node" / "sessions.mjs")
    with anyio.fail_after(SECONDS):
        words = [paths.NODE, script, str(config), json.dumps(CALLS)]
        done = await anyio.run_process(words, check=False)
    assert done.returncode == 0, done
    heard: Heard = json.loads(done.stdout)
    return heard


IN_PROCESS = [sdk, fast, openai_agents, pydantic_ai, typescript]


# --- what must hold of each


def live_and_wrapped(project: Project) -> Iterator[str]:
    """Name the phases, with the config as each has it."""
    yield "direct"
    project.wrap()
    yield "recorded"
    # A home of its own, so that each journal has what it should have and no more.
    project.wrap("--mode", "replay", "--home", "replays")
    yield "replayed"


def events_of(home: Path) -> tuple[runs.RunLine, list[tuple[str, Any]]]:
    """The one run of a journal, and its events without what differs from run to run."""
    with Journal.open(str(home / "journal.db")) as journal:
        (run,) = runs.list_runs(journal)
        events = [json.loads(line) for line in runs.events(journal, run.run_id)]
    for event in events:
        for name in ("callId", "durationMs"):
            event["payload"].pop(name, None)
    return run, [(event["type"], event["payload"]) for event in events]


def check(project: Project, heard: dict[str, Heard], starts: list[int], calls: list[Call]) -> None:
    """All was the same, in one run, and the replay started no server."""
    assert heard["recorded"] == heard["direct"]
    assert heard["replayed"] == heard["direct"]
    assert len(heard["direct"]["calls"]) == len(calls)
    assert starts[1] > starts[0] > 0
    assert starts[2] == starts[1]
    recorded, events = events_of(project.folder / ".sidecar")
    replayed, again = events_of(project.folder / "replays")
    assert again == events
    assert (recorded.mode, replayed.mode) == ("record", "replay")
    errors = len([place for place in FAILED if place < len(calls)])
    for run in (recorded, replayed):
        assert (run.calls, run.errors, run.misses) == (len(calls), errors, 0)
    called = [payload for kind, payload in events if kind == TOOL_CALLED]
    assert [(one["toolName"], one["inputs"]) for one in called] == [
        (f"{server}:{tool}", given) for server, tool, given in calls
    ]
    returned = [payload for kind, payload in events if kind != TOOL_CALLED]
    codes = [one.get("error", {}).get("code") for one in returned]
    assert codes == ["mcp_error" if place in FAILED else None for place in range(len(calls))]


@pytest.mark.parametrize("client", IN_PROCESS)
async def test_a_client_on_a_wrapped_config_hears_the_same_in_one_run(
    project: Project, client: Session
) -> None:
    heard, starts = {}, []
    for phase in live_and_wrapped(project):
        heard[phase] = await client(project.config)
        starts.append(project.starts())

    check(project, heard, starts, CALLS)


def test_langchain_which_starts_a_server_per_call_is_one_run_all_the_same(
    project: Project,
) -> None:
    script = str(paths.ROOT / "tests" / "langchain" / "sessions.py")
    heard, starts = {}, []
    with subprocess.Popen(
        [paths.LANGCHAIN_PYTHON, script, json.dumps(CALLS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        for phase in live_and_wrapped(project):
            agent.stdin.write(f"{project.config}\n")
            agent.stdin.flush()
            heard[phase] = json.loads(agent.stdout.readline())
            starts.append(project.starts())
        agent.stdin.close()
        assert agent.wait(SECONDS) == 0

    check(project, heard, starts, CALLS)
    run, _ = events_of(project.folder / ".sidecar")
    assert len(run.sessions) == 2 + len(CALLS)


async def test_the_inspectors_command_line_is_a_run_a_call(project: Project) -> None:
    server, tool, given = CALLS[1]
    words = [*paths.INSPECTOR, "--cli", "--config", str(project.config), "--server", server]
    words += ["--method", "tools/call", "--tool-name", tool, "--tool-arg"]
    words += [f"{name}={value}" for name, value in given.items()]
    heard, starts = {}, []
    for phase in live_and_wrapped(project):
        with anyio.fail_after(SECONDS):
            done = await anyio.run_process(
                words, check=False, env={**os.environ, "HOME": str(project.folder)}
            )
        assert done.returncode == 0, done
        heard[phase] = {"calls": [json.loads(done.stdout)]}
        starts.append(project.starts())

    check(project, heard, starts, [CALLS[1]])
