"""What was recorded over stdio is replayed over HTTP, to real clients of both eras."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.context import ClientRequestContext
from mcp.client.sse import sse_client
from mcp.types import ElicitRequestParams, ElicitResult

from sidecar.cassette.interaction import Interaction
from sidecar.store import cassettes
from tests import paths
from tests.proxy.http.fronting import Place as Front
from tests.proxy.http.fronting import fronted
from tests.proxy.place import Place, until
from tests.servers.listening import Listening

# The guard is a fork; where tests run in several processes, these have threads of their own.
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(120),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]

SERVER = [paths.PYTHON, str(paths.ROOT / "tests" / "servers" / "sdk_server.py")]
MODES = ("auto", "legacy", "2026-07-28")
ERAS = {"modern": "auto", "handshake": "legacy"}

Heard: TypeAlias = list[Any]


async def answer_user(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    """Answer for the user."""
    del context, params
    return ElicitResult(action="accept", content={"name": "Ada"})


def client(server: Any, mode: str) -> Client:
    return Client(server, mode=mode, elicitation_callback=answer_user)


async def script(session: Client) -> Heard:
    """What a client hears, whichever era it speaks."""
    heard: Heard = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    heard.append([tool.name for tool in (await session.list_tools()).tools])
    for tool, arguments in (
        ("echo", {"text": "a"}), ("count", {"steps": 3}), ("divide", {"a": 1, "b": 0}),
        ("divide", {"a": 3, "b": 2}),
    ):  # fmt: skip
        answer = await session.call_tool(tool, arguments, progress_callback=progress)
        heard.append((tool, answer.is_error, answer.structured_content, answer.content))
    try:
        await session.call_tool("nobody", {})
    except MCPError as error:
        heard.append((error.code, str(error)))
    contents = (await session.read_resource("sdk://readme")).contents
    heard.append([item.model_dump() for item in contents])
    heard.append((await session.get_prompt("review", {"code": "x"})).messages)
    return heard


class Recording:
    """A cassette that was recorded over stdio."""

    def __init__(self, folder: Path, heard: Heard, greeting: str) -> None:
        self.place = Place(folder)
        self.heard = heard
        self.greeting = greeting

    @property
    def interactions(self) -> tuple[Interaction, ...]:
        return cassettes.load(str(self.place.cassette)).cassette.interactions


async def _recorded(folder: Path, mode: str) -> Recording:
    words = Place(folder).words(SERVER)
    server = StdioServerParameters(command=words[0], args=words[1:])
    async with client(server, mode) as session:
        heard = await script(session)
        greeting = (await session.call_tool("greet", {})).content[0].model_dump()["text"]
    return Recording(folder, heard, greeting)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recording]:
    return {
        era: asyncio.run(_recorded(tmp_path_factory.mktemp(era), mode))
        for era, mode in ERAS.items()
    }


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("era", ERAS)
async def test_r27_n01_over_http_a_client_of_either_era_hears_what_was_recorded(
    tmp_path: Path, recordings: dict[str, Recording], era: str, mode: str
) -> None:
    recording = recordings[era]
    front = Front(tmp_path, recording.interactions, name="raw")
    async with fronted(front) as served, client(served.mcp, mode) as session:
        heard = await script(session)

    assert heard == recording.heard
    assert served.codes == [0]


@pytest.mark.parametrize("era", ERAS)
async def test_r27_over_the_older_transport_too(
    tmp_path: Path, recordings: dict[str, Recording], era: str
) -> None:
    recording = recordings[era]
    front = Front(tmp_path, recording.interactions, name="raw")
    async with (
        fronted(front) as served,
        client(sse_client(f"{served.url}/sse"), "legacy") as session,
    ):
        heard = await script(session)

    assert heard == recording.heard


@pytest.mark.parametrize(("era", "mode"), [("handshake", "2026-07-28"), ("modern", "legacy")])
async def test_n01_over_stdio_a_client_of_the_other_era_hears_the_same(
    recordings: dict[str, Recording], era: str, mode: str
) -> None:
    recording = recordings[era]
    words = recording.place.words((), mode="replay", options=["--run", f"local/{26 * era[0]}"])
    words = [word for word in words if word]
    server = StdioServerParameters(command=words[0], args=words[1:])
    async with client(server, mode) as session:
        heard = await script(session)

    assert heard == recording.heard


@pytest.mark.parametrize(
    ("era", "mode"),
    [("handshake", "auto"), ("handshake", "legacy"), ("modern", "auto"), ("modern", "2026-07-28")],
)
async def test_j11_n04_a_user_is_asked_in_the_era_that_was_recorded(
    tmp_path: Path, recordings: dict[str, Recording], era: str, mode: str
) -> None:
    recording = recordings[era]
    front = Front(tmp_path, recording.interactions, name="raw")
    async with fronted(front) as served, client(served.mcp, mode) as session:
        answer = await session.call_tool("greet", {})

    assert answer.content[0].model_dump()["text"] == recording.greeting == "Hello, Ada!"
    assert served.codes == [0]


@pytest.mark.parametrize(("era", "mode"), [("handshake", "2026-07-28"), ("modern", "legacy")])
async def test_n01_a_user_is_not_asked_in_the_other_era_and_the_miss_says_why(
    tmp_path: Path,
    recordings: dict[str, Recording],
    capfd: pytest.CaptureFixture[str],
    era: str,
    mode: str,
) -> None:
    recording = recordings[era]
    front = Front(tmp_path, recording.interactions, name="raw")
    async with fronted(front) as served, client(served.mcp, mode) as session:
        answer = await session.call_tool("greet", {})

    assert answer.is_error
    assert served.codes == [1]
    said = capfd.readouterr().err
    assert "2026-07-28" in said
    assert "2025-11-25" in said


@pytest.mark.parametrize("era", ERAS)
async def test_h17_clients_at_once_hear_each_its_own(
    tmp_path: Path, recordings: dict[str, Recording], era: str
) -> None:
    """Their ids are the same; where the era has no sessions, they share the cursor."""
    recording = recordings[era]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("echo", {"text": "a"}), ("divide", {"a": 3, "b": 2}),
    ]  # fmt: skip
    recorded = recording.interactions if era == "handshake" else recording.interactions * 3
    async with fronted(Front(tmp_path, recorded, name="raw")) as served, AsyncExitStack() as stack:
        sessions = [
            await stack.enter_async_context(client(served.mcp, ERAS[era])) for _ in range(3)
        ]
        answers = await asyncio.gather(
            *(session.call_tool(tool, given) for session in sessions for tool, given in calls)
        )

    texts = [answer.content[0].model_dump()["text"] for answer in answers]
    assert texts[::2] == ["a"] * 3
    assert [answer.structured_content for answer in answers[1::2]] == [{"quotient": 1.5}] * 3
    assert served.codes == [0]


async def test_a_client_that_comes_back_begins_a_session_from_the_start(
    tmp_path: Path, recordings: dict[str, Recording]
) -> None:
    recording = recordings["handshake"]
    async with fronted(Front(tmp_path, recording.interactions, name="raw")) as served:
        heard = []
        for _ in range(2):
            async with client(served.mcp, "legacy") as session:
                heard.append(await script(session))

    assert heard == [recording.heard] * 2


def served(folder: Path, *words: str | Path) -> Listening:
    """The command, as a user gives it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("MCP_SIDECAR_")}
    command = [paths.MCP_SIDECAR, "serve", "--project", folder, "--port", "0", *words]
    return Listening(list(map(str, command)), cwd=folder, env=env)


def comparable(interactions: tuple[Interaction, ...]) -> list[Interaction]:
    """A session's interactions, without the state of a call, which no two of them share."""
    return [item for item in interactions if item.tool != "greet"]


@pytest.mark.parametrize("era", ERAS)
async def test_r27_a_server_over_stdio_behind_http_gives_the_cassette_that_stdio_gives(
    tmp_path: Path, recordings: dict[str, Recording], era: str
) -> None:
    config = tmp_path / "mcp.json"
    entry = {"command": SERVER[0], "args": SERVER[1:]}
    config.write_text(json.dumps({"mcpServers": {"raw": entry}}), "utf-8")
    cassette = tmp_path / "tape.jsonl"
    with served(tmp_path, "--config", config, "--cassette", cassette) as sidecar:
        async with client(sidecar.url, ERAS[era]) as session:
            heard = await script(session)
            greeting = (await session.call_tool("greet", {})).content[0].model_dump()["text"]
        assert sidecar.end() == 0, sidecar.said

    recording = recordings[era]
    assert (heard, greeting) == (recording.heard, recording.greeting)
    found = cassettes.load(str(cassette)).cassette
    assert comparable(found.interactions) == comparable(recording.interactions)
    assert len(found.interactions) == len(recording.interactions)
    assert found.complete


async def test_a_replay_by_the_command_needs_no_config_and_fails_on_a_miss(
    tmp_path: Path, recordings: dict[str, Recording]
) -> None:
    recording = recordings["modern"]
    words = ("--mode", "replay", "--cassette", recording.place.cassette)
    with served(tmp_path, *words) as sidecar:
        async with client(sidecar.url, "auto") as session:
            assert await script(session) == recording.heard
            assert (await session.call_tool("echo", {"text": "never said"})).is_error
        assert sidecar.end() == 1, sidecar.said

    until(lambda: any("miss: arguments-differ" in line for line in sidecar.said))
