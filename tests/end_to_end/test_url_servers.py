"""Servers at URLs behind `proxy --url`: recorded over HTTP, replayed without them."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest
from aiohttp import web
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.context import ClientRequestContext
from mcp.client.session import ClientSession

from tests.end_to_end.conftest import Project, call, raw_agent
from tests.paths import EVERYTHING_SERVER, MCP_SIDECAR, NODE, ROOT
from tests.proxy.http.odd_server import OddServer, answered
from tests.proxy.place import RUN
from tests.servers.listening import Listening

pytestmark = pytest.mark.timeout(300)  # real servers take seconds of CPU to start

Mode: TypeAlias = Literal["auto", "legacy"]
MODES: tuple[Mode, ...] = ("auto", "legacy")

SERVERS = ROOT / "tests" / "servers"
# A port of the system's own choice, which this server does not tell.
TELLS_ITS_URL = (
    "data:text/javascript,import net from 'node:net';const listen=net.Server.prototype.listen;"
    "net.Server.prototype.listen=function(...words){this.once('listening',()=>"
    "console.log('http://127.0.0.1:'+this.address().port));return listen.apply(this,words)}"
)
SECRET = "wxyz-9f81-secret"  # nothing is behind it


@pytest.fixture(scope="module")
def urls() -> Iterator[dict[str, str]]:
    """Where the same server of the SDK is served, by transport."""
    script = SERVERS / "sdk_http_server.py"
    with (
        Listening([sys.executable, script, "http"]) as newer,
        Listening([sys.executable, script, "sse"]) as older,
    ):
        yield {"http": newer.url, "sse": older.url.replace("/mcp", "/sse")}


def proxied(folder: Path, *words: str) -> StdioServerParameters:
    """A proxy with its journal and its cassette in a folder."""
    given = [
        *("proxy", "--server", "far", "--run", RUN, "--home", str(folder / "home")),
        *("--cassette", str(folder / "tape.jsonl"), *words),
    ]
    return StdioServerParameters(command=MCP_SIDECAR, args=given, env=dict(os.environ))


def replaying(folder: Path) -> StdioServerParameters:
    """A proxy that replays what is in the folder, with a journal of its own."""
    words = ("--mode", "replay", "--home", str(folder / "home-of-replay"))
    return proxied(folder, *words)


async def elicited(
    context: ClientRequestContext,  # noqa: ARG001 - the name is part of the protocol
    params: types.ElicitRequestParams,
) -> types.ElicitResult | types.ErrorData:
    """Answers whatever the server asks the user."""
    assert isinstance(params, types.ElicitRequestFormParams)
    return types.ElicitResult(action="accept", content={"name": "Ada"})


class Script:
    """What a client asks, and all that it is told."""

    def __init__(self, *, asks: bool = True) -> None:
        self.told: list[object] = []
        self._asks = asks

    async def steps(self, progress: float, total: float | None, message: str | None) -> None:
        self.told.append((progress, total, message))

    async def run(self, server: StdioServerParameters, mode: Mode) -> list[object]:
        async with Client(server, mode=mode, elicitation_callback=elicited) as client:
            self.told += [client.protocol_version, client.server_info, client.instructions]
            self.told.append(await client.list_tools())
            self.told.append(await client.call_tool("echo", {"text": "größe\u2028"}))
            self.told.append(await client.call_tool("divide", {"a": 1, "b": 3}))
            self.told.append(await client.call_tool("divide", {"a": 1, "b": 0}))
            self.told.append(
                await client.call_tool("count", {"steps": 3}, progress_callback=self.steps)
            )
            if self._asks:
                self.told.append(await client.call_tool("greet", {}))
            self.told.append(await client.read_resource("sdk://readme"))
            self.told.append(await client.get_prompt("review", {"code": "x"}))
            await self.fails(client.session, "sdk://none")
        return self.told

    async def fails(self, session: ClientSession, uri: str) -> None:
        with pytest.raises(MCPError) as caught:
            await session.read_resource(uri)
        self.told.append(caught.value.error)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_what_is_recorded_by_url_is_replayed_without_it(
    urls: dict[str, str], tmp_path: Path, transport: str, mode: Mode
) -> None:
    live = await Script().run(proxied(tmp_path, "--url", urls[transport]), mode)
    replayed = await Script().run(replaying(tmp_path), mode)

    assert len(live) == 15
    assert replayed == live


@pytest.mark.parametrize("mode", MODES)
async def test_r27_a_server_recorded_by_url_has_the_same_cassette_as_over_stdio(
    urls: dict[str, str], tmp_path: Path, mode: Mode
) -> None:
    stdio, http = tmp_path / "stdio", tmp_path / "http"
    for folder in (stdio, http):
        folder.mkdir()
    asks = mode == "legacy"  # else its rounds are linked by a text that is new each time
    command = (sys.executable, str(SERVERS / "sdk_server.py"))

    told = await Script(asks=asks).run(proxied(stdio, *command), mode)
    assert await Script(asks=asks).run(proxied(http, "--url", urls["http"]), mode) == told

    # As values: the server itself escapes letters in the one, and not in the other.
    over_stdio, over_http = (
        [json.loads(line) for line in (folder / "tape.jsonl").read_bytes().splitlines()]
        for folder in (stdio, http)
    )
    assert over_http == over_stdio


EVERYTHING = (
    call("far", "echo", message="hi"),
    call("far", "get-sum", a=1, b=2),
    call("far", "get-tiny-image"),
    ("far", "resources/list", None),
    ("far", "prompts/list", None),
)


@pytest.mark.parametrize(
    ("kind", "entry", "path"),
    [
        pytest.param("streamableHttp", {"type": "streamableHttp"}, "/mcp", id="streamable"),
        pytest.param("sse", {}, "/sse", id="sse, not named"),
    ],
)
def test_e10_a_real_server_of_either_transport_is_wrapped_recorded_and_replayed(
    project: Project, kind: str, entry: dict[str, str], path: str
) -> None:
    agent = raw_agent("legacy", *EVERYTHING)
    words = [NODE, "--import", TELLS_ITS_URL, *EVERYTHING_SERVER[1:], kind]
    with Listening(words, env={**os.environ, "PORT": "0"}) as server:
        project.write_config(".mcp.json", {"far": {"url": server.url + path, **entry}})
        recorded = project.tell("record", "--cassette", "demo", "--", *agent)

    replayed = project.tell(
        "replay", "--cassette", "demo", "--config", ".mcp.json", "--require-all", "--", *agent
    )

    assert recorded.stdout.count(b"\n") == len(EVERYTHING) + 1
    assert replayed.stdout == recorded.stdout


async def echoing(request: web.Request, message: Any) -> web.Response:
    """Answers with what the request's own header says."""
    text = f"you sent {request.headers['Authorization']}"
    return answered(message, {"content": [{"type": "text", "text": text}]})


def test_a_header_of_a_config_reaches_the_server_and_no_file(project: Project) -> None:
    headers = {"Authorization": f"Bearer {SECRET}"}
    agent = raw_agent("legacy", call("far", "whoami"))
    with OddServer({"tools/call": echoing}) as server:
        config = {"far": {"type": "http", "url": server.url, "headers": headers}}
        project.write_config(".mcp.json", config)
        recorded = project.tell("record", "--cassette", "demo", "--", *agent)

    replayed = project.tell(
        "replay", "--cassette", "demo", "--config", ".mcp.json", "--require-all", "--", *agent
    )

    assert f"you sent Bearer {SECRET}".encode() in recorded.stdout
    assert b"you sent Bearer " in replayed.stdout
    assert SECRET.encode() not in replayed.stdout
    kept = [path for path in project.folder.rglob("*") if path.is_file()]
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == [
        project.folder / ".mcp.json"
    ]


def test_s12_a_run_whose_server_cannot_be_reached_tells_where_its_url_stands(
    project: Project,
) -> None:
    project.write_config(".mcp.json", {"far": {"url": "http://127.0.0.1:1/mcp"}})
    agent = raw_agent("legacy", ("far", "tools/list", None))

    done = project.tell("record", "--cassette", "demo", "--", *agent, code=2)

    told = json.loads(done.stdout.splitlines()[0])
    assert told["message"].startswith("server 'far': http://127.0.0.1:1/mcp cannot be reached: ")
    said = done.stderr.decode()
    assert ".mcp.json:1 /mcpServers/far/url: the server 'far' could not be reached" in said


def test_a_suite_of_a_server_at_a_url_runs_without_it(
    urls: dict[str, str], project: Project
) -> None:
    agent = raw_agent("legacy", call("far", "echo", text="hi"))
    project.write_config(".mcp.json", {"far": {"type": "http", "url": urls["http"]}})
    project.tell("record", "--cassette", "demo", "--", *agent)
    project.write_config(".mcp.json", {"far": {"type": "http", "url": "http://127.0.0.1:1/mcp"}})
    project.tell("promote", "demo", "--suite", "suites/far.json", "--task", "say-hi")

    told = project.tell("run", "suites/far.json", "--agent", shlex.join(agent))

    assert b"passed" in told.stdout


@pytest.mark.parametrize("mode", MODES)
async def test_a_miss_is_answered_by_the_server_at_the_url(
    urls: dict[str, str], tmp_path: Path, mode: Mode
) -> None:
    async with Client(proxied(tmp_path, "--url", urls["http"]), mode=mode) as client:
        await client.call_tool("echo", {"text": "recorded"})
    live = ("--mode", "replay", "--on-miss", "live", "--url", urls["http"])
    server = proxied(tmp_path, *live, "--home", str(tmp_path / "other"))

    async with Client(server, mode=mode) as client:
        told = [await client.call_tool("echo", {"text": text}) for text in ("recorded", "new")]

    assert [one.structured_content for one in told] == [{"result": "recorded"}, {"result": "new"}]


def test_h06_what_the_server_never_answered_is_kept_as_that(
    tmp_path: Path,
) -> None:
    async def fails(_request: web.Request, _message: Any) -> web.Response:
        return web.Response(status=503)

    line = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}\n'
    with OddServer({"tools/call": fails}) as server:
        told = _asked(proxied(tmp_path, "--url", server.url), line)
    replayed = _asked(replaying(tmp_path), line)

    assert "HTTP 503 Service Unavailable" in told["error"]["message"]
    assert replayed["error"] == {"code": -32000, "message": "The server ended before it answered"}
    (kept,) = (tmp_path / "tape.jsonl").read_bytes().splitlines()[1:]
    assert json.loads(kept)["response"] is None
    assert json.loads(kept)["httpStatus"] == 503


def _asked(server: StdioServerParameters, line: str) -> Any:
    """Say one line to a proxy, and take its answer."""
    done = subprocess.run(
        [server.command, *server.args],
        input=line.encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return json.loads(done.stdout)
