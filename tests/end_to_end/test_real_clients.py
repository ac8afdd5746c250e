"""Real clients with real servers through the proxy: as if it were not there, live and replayed."""

import json
import os
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import fastmcp
import pytest
from fastmcp.client.transports import StdioTransport
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.context import ClientRequestContext
from mcp.types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    ListRootsResult,
    TextContent,
)

from tests import paths
from tests.proxy.place import Place, ProxyClient, ended
from tests.servers.raw_client import RawClient

pytestmark = pytest.mark.timeout(120)

Mode: TypeAlias = Literal["auto", "legacy"]
Calls: TypeAlias = list[tuple[str, dict[str, Any]]]
# What a client got: its server's name and lists, and what each call gave.
Heard: TypeAlias = dict[str, Any]
Session: TypeAlias = Callable[[list[str], Calls, dict[str, str]], Awaitable[Heard]]


class Real(NamedTuple):
    """A real server, and what is asked of it.

    Attributes:
        command: How it is started.
        calls: Calls that work, that fail, and of a tool that is not there.
        env: What it needs in its environment.
    """

    command: list[str]
    calls: Calls
    env: dict[str, str]


def git(folder: Path) -> Real:
    repo = folder / "repo"
    script = paths.ROOT / "examples" / "release_notes" / "repository.py"
    subprocess.run([paths.PYTHON, script, repo], check=True, timeout=50)
    (repo / "new.txt").write_text("new\n", "utf-8")
    where = {"repo_path": str(repo)}
    return Real(
        [*paths.GIT_SERVER, "--repository", str(repo)],
        [
            ("git_status", where),
            ("git_log", {**where, "max_count": 2}),
            ("git_diff", {**where, "target": "release-1.0"}),
            ("git_show", {**where, "revision": "no-such-revision"}),
            ("git_status", {"repo_path": "/"}),
            ("no_such_tool", {}),
        ],
        {},
    )


def time(_: Path) -> Real:
    there = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    return Real(
        [*paths.TIME_SERVER, "--local-timezone", "UTC"],
        [
            ("convert_time", there),
            ("convert_time", {**there, "target_timezone": "Mars/Olympus"}),
            ("get_current_time", {"timezone": "Mars/Olympus"}),
            ("convert_time", there),
            ("no_such_tool", {}),
        ],
        {},
    )


def everything(_: Path) -> Real:
    return Real(
        paths.EVERYTHING_SERVER,
        [
            ("echo", {"message": "日本語🎉"}),
            ("get-sum", {"a": 1, "b": 2.5}),
            ("get-sum", {"a": "x"}),
            ("get-tiny-image", {}),
            ("get-structured-content", {"location": "Chicago"}),
            ("get-resource-links", {"count": 2}),
            ("get-annotated-message", {"messageType": "error", "includeImage": True}),
            ("trigger-long-running-operation", {"duration": 0.1, "steps": 2}),
            ("no_such_tool", {}),
        ],
        {},
    )


def filesystem(folder: Path) -> Real:
    files = folder / "files"
    files.mkdir()
    (files / "a.txt").write_text("one\ntwo é\n", "utf-8")
    return Real(
        [*paths.FILESYSTEM_SERVER, str(files)],
        [
            ("list_directory", {"path": str(files)}),
            ("read_text_file", {"path": str(files / "a.txt")}),
            ("read_text_file", {"path": str(files / "a.txt"), "head": 1}),
            ("read_text_file", {"path": "/etc/passwd"}),
            ("read_text_file", {"path": str(files / "none.txt")}),
            ("search_files", {"path": str(files), "pattern": "*.txt"}),
            ("no_such_tool", {}),
        ],
        {},
    )


def memory(folder: Path) -> Real:
    person = {"name": "Ada", "entityType": "person", "observations": ["wrote a program"]}
    unknown = {"entityName": "Bob", "contents": ["is not there"]}
    return Real(
        paths.MEMORY_SERVER,
        [
            ("read_graph", {}),
            ("create_entities", {"entities": [person]}),
            ("read_graph", {}),
            ("search_nodes", {"query": "program"}),
            ("add_observations", {"observations": [unknown]}),
            ("no_such_tool", {}),
        ],
        {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")},
    )


SERVERS = [git, time, everything, filesystem, memory]


# --- the clients


def sdk(mode: Mode) -> Session:
    """The SDK's client: in its default, or as older ones are."""

    async def session(command: list[str], calls: Calls, env: dict[str, str]) -> Heard:
        server = StdioServerParameters(command=command[0], args=command[1:], env=env)
        async with Client(server, mode=mode) as client:
            info = client.server_info
            heard = {"version": client.protocol_version, "server": info and info.name}
            return heard | {
                "tools": _dumped(await client.list_tools()),
                "calls": [await _outcome(client.call_tool(*call)) for call in calls],
            }

    return session


async def fast(command: list[str], calls: Calls, env: dict[str, str]) -> Heard:
    """fastmcp's client."""
    transport = StdioTransport(command[0], command[1:], env=env, keep_alive=False)
    async with fastmcp.Client(transport) as client:
        return {
            "tools": [_dumped(tool) for tool in await client.list_tools()],
            "calls": [await _outcome(client.call_tool_mcp(*call)) for call in calls],
        }


async def _outcome(calling: Awaitable[Any]) -> Any:
    try:
        return _dumped(await calling)
    except MCPError as error:
        return {"error": _dumped(error.error)}


def _dumped(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True)


CLIENTS = [
    pytest.param(sdk("auto"), id="sdk"),
    pytest.param(sdk("legacy"), id="sdk, handshake"),
    pytest.param(fast, id="fastmcp"),
]


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("client", CLIENTS)
async def test_a_client_sees_no_proxy_and_the_replay_is_the_recording(
    tmp_path: Path, client: Session, server: Callable[[Path], Real]
) -> None:
    real = server(tmp_path)
    place = Place(tmp_path / "project")
    env = {**os.environ, **real.env}

    direct = await client(real.command, real.calls, env)
    _forget(real)
    recorded = await client(place.words(real.command), real.calls, env)
    _take_away(tmp_path)
    replayed = await client(place.words((), mode="replay"), real.calls, env)

    assert recorded == direct
    assert replayed == direct
    assert place.recorded().complete
    assert [state for state, _ in place.sessions()] == ["ended"] * 2
    assert {row.missed for row in place.rows()} == {None}
    assert len([row for row in place.calls() if row.state == "answered"]) == 2 * len(real.calls)


def _forget(real: Real) -> None:
    """Let a server that remembers start from nothing again."""
    if "MEMORY_FILE_PATH" in real.env:
        Path(real.env["MEMORY_FILE_PATH"]).unlink()


def _take_away(folder: Path) -> None:
    """Take away what the server had worked on: a replay needs none of it."""
    for name in ("repo", "files"):
        shutil.rmtree(folder / name, ignore_errors=True)
    with suppress(FileNotFoundError):
        (folder / "memory.jsonl").unlink()


# --- byte for byte


def converse(client: RawClient, calls: Calls, *, modern: bool) -> list[bytes]:
    """Begin, list, call: the lines that answered."""
    replies = [client.discover() if modern else client.initialize()]
    replies.append(client.request("tools/list"))
    replies += [client.call(*call) for call in calls]
    assert ended(client) == 0
    return [reply.line for reply in replies]


@pytest.mark.parametrize(
    ("server", "modern"),
    [*((server, False) for server in SERVERS), (git, True), (time, True)],
)
def test_bytes_are_the_same_direct_recorded_and_replayed(
    tmp_path: Path, server: Callable[[Path], Real], *, modern: bool
) -> None:
    real = server(tmp_path)
    place = Place(tmp_path / "project")
    env = {**os.environ, **real.env}

    with ProxyClient(real.command, env=env, timeout=30) as client:
        direct = converse(client, real.calls, modern=modern)
    _forget(real)
    with place.client(real.command, env=env, timeout=30) as client:
        recorded = converse(client, real.calls, modern=modern)
    _take_away(tmp_path)
    with place.replay() as client:
        replayed = converse(client, real.calls, modern=modern)

    assert recorded == direct
    assert list(map(_content, replayed)) == list(map(_content, recorded))


def _content(line: bytes) -> bytes:
    """The bytes of `result` or `error`, wherever the line has it."""
    text = line.decode()
    name = "result" if "result" in json.loads(line) else "error"
    at = text.index(f'"{name}":') + len(name) + 3
    _, end = json.JSONDecoder().raw_decode(text, at)
    return text[at:end].encode()


# --- a cassette of one era, a client of the other


@pytest.mark.parametrize(
    ("server", "recorder", "player"),
    [
        pytest.param(time, "auto", "legacy", id="N01-of 2026-07-28, for a handshake"),
        pytest.param(time, "legacy", "auto", id="N01-of a handshake, for 2026-07-28"),
    ],
)
async def test_n01_a_recording_of_one_era_serves_a_client_of_the_other(
    tmp_path: Path, server: Callable[[Path], Real], recorder: Mode, player: Mode
) -> None:
    real = server(tmp_path)
    place = Place(tmp_path / "project")
    env = dict(os.environ)

    recorded = await sdk(recorder)(place.words(real.command), real.calls, env)
    replayed = await sdk(player)(place.words((), mode="replay"), real.calls, env)

    assert _without_meta(replayed["calls"]) == _without_meta(recorded["calls"])
    assert _names(replayed) == _names(recorded)
    assert (recorded["version"] == "2026-07-28") == (recorder == "auto")
    assert replayed["version"] == "2025-11-25"


def _without_meta(calls: list[Any]) -> list[Any]:
    """Leave out what only one era says of a result: which server gave it."""
    return [{name: value for name, value in call.items() if name != "_meta"} for call in calls]


def _names(heard: Heard) -> list[str]:
    return [tool["name"] for tool in heard["tools"]["tools"]]


# --- what a real server asks of its client


class Answers:
    """A client's answers to what servers ask; it counts the questions."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def sample(
        self,
        context: ClientRequestContext,  # noqa: ARG002 - the name is part of the protocol
        params: CreateMessageRequestParams,
    ) -> CreateMessageResult:
        assert params.messages
        self.asked.append("sampling")
        content = TextContent(type="text", text="a word")
        return CreateMessageResult(role="assistant", content=content, model="none")

    async def elicit(
        self,
        context: ClientRequestContext,  # noqa: ARG002 - the name is part of the protocol
        params: ElicitRequestParams,
    ) -> ElicitResult:
        self.asked.append(f"elicitation: {params.message}")
        return ElicitResult(action="decline")

    async def roots(
        self,
        context: ClientRequestContext,  # noqa: ARG002 - the name is part of the protocol
    ) -> ListRootsResult:
        self.asked.append("roots")
        return ListRootsResult(roots=[])


async def ask_back(command: list[str]) -> tuple[list[Any], list[str]]:
    answers = Answers()
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with Client(
        server,
        mode="legacy",
        sampling_callback=answers.sample,
        elicitation_callback=answers.elicit,
        list_roots_callback=answers.roots,
    ) as client:
        found = [
            _dumped(await client.call_tool("trigger-sampling-request", {"prompt": "One word?"})),
            _dumped(await client.call_tool("trigger-elicitation-request", {})),
            _dumped(await client.call_tool("echo", {"message": "still here"})),
        ]
    return found, [question for question in answers.asked if question != "roots"]


async def test_j11_what_a_real_server_asks_is_asked_again_and_awaited(tmp_path: Path) -> None:
    place = Place(tmp_path)

    direct = await ask_back(paths.EVERYTHING_SERVER)
    recorded = await ask_back(place.words(paths.EVERYTHING_SERVER))
    replayed = await ask_back(place.words((), mode="replay"))

    assert recorded == direct
    assert replayed == direct
    assert [question.partition(":")[0] for question in direct[1]] == ["sampling", "elicitation"]
    during = [[one.method for one in item.during if one.asked] for item in _calls_of(place)]
    assert "sampling/createMessage" in during[0]
    assert "elicitation/create" in during[1]


def _calls_of(place: Place) -> list[Any]:
    return [item for item in place.recorded().interactions if item.is_tool_call]


SDK_SERVER = [paths.PYTHON, str(paths.ROOT / "tests" / "servers" / "sdk_server.py")]


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_an_sdk_server_asks_counts_and_answers_in_both_eras(
    tmp_path: Path, mode: Mode, version: str
) -> None:
    place = Place(tmp_path)

    async def name(
        context: ClientRequestContext,  # noqa: ARG001 - the name is part of the protocol
        params: ElicitRequestParams,
    ) -> ElicitResult:
        assert params.message == "Your name?"
        return ElicitResult(action="accept", content={"name": "Ada"})

    async def session(command: list[str]) -> tuple[str, list[Any], list[float]]:
        steps: list[float] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            assert (total, message) == (3.0, f"step {progress:.0f}")
            steps.append(progress)

        server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
        async with Client(server, mode=mode, elicitation_callback=name) as client:
            found = [
                _dumped(await client.call_tool("greet", {})),
                _dumped(await client.call_tool("count", {"steps": 3}, progress_callback=note)),
                _dumped(await client.call_tool("greet", {})),
                _dumped(await client.call_tool("divide", {"a": 1, "b": 0})),
                _dumped(await client.read_resource("sdk://readme")),
                _dumped(await client.get_prompt("review", {"code": "x = 1"})),
            ]
            return client.protocol_version, found, steps

    direct = await session(SDK_SERVER)
    recorded = await session(place.words(SDK_SERVER))
    replayed = await session(place.words((), mode="replay"))

    assert recorded == direct
    assert replayed == direct
    assert (direct[0], direct[2]) == (version, [1.0, 2.0, 3.0])
    # A call that takes several rounds is one call.
    tools = [event.payload["toolName"] for event in place.events()]
    assert tools.count("raw:greet") == 2 * 2 * 2
