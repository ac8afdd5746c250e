"""A cassette, served to the SDK's own client within the test's process."""

import json
from typing import Any, Literal

import pytest
from mcp import Client, MCPError
from mcp.client.context import ClientRequestContext
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult, TextContent

from sidecar import CassetteServer
from sidecar.cassette.interaction import Cassette, Interaction, Passage, Response, Server
from sidecar.errors import UsageError

ClientMode = Literal["auto", "legacy"]
MODES: list[ClientMode] = ["auto", "legacy"]
CAPABILITIES = '"capabilities":{"tools":{}}'
INFO = '{"name":"recorded-server","version":"9"}'
SCHEMA = '{"name":"add","inputSchema":{"type":"object"}}'
META = f'"_meta":{{"io.modelcontextprotocol/serverInfo":{INFO}}}'


def recorded(method: str, result: str, params: str | None = None, **more: Any) -> Interaction:
    return Interaction("calc", method, params, Response("result", result), **more)


def call(arguments: str, result: str, **more: Any) -> Interaction:
    return recorded("tools/call", result, f'{{"name":"add","arguments":{arguments}}}', **more)


def text(words: str) -> str:
    return f'{{"content":[{{"type":"text","text":"{words}"}}]}}'


HANDSHAKE = (
    recorded(
        "initialize",
        f'{{"protocolVersion":"2025-11-25",{CAPABILITIES},"serverInfo":{INFO}}}',
        '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}',
    ),
    recorded("tools/list", f'{{"tools":[{SCHEMA}]}}', "{}"),
)
MODERN = (
    recorded(
        "server/discover",
        f'{{"resultType":"complete","supportedVersions":["2026-07-28"],{CAPABILITIES},'
        f'"ttlMs":0,"cacheScope":"private",{META}}}',
        '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}',
    ),
    recorded(
        "tools/list",
        f'{{"resultType":"complete","tools":[{SCHEMA}],"ttlMs":0,"cacheScope":"private"}}',
        '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}',
    ),
)


def tape(*calls: Interaction, surface: tuple[Interaction, ...] = HANDSHAKE) -> Cassette:
    return Cassette((*surface, *calls), {"calc": Server("2025-11-25")})


def words(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("surface", "agreed"),
    [
        pytest.param(HANDSHAKE, {"auto": "2025-11-25", "legacy": "2025-11-25"}, id="handshake"),
        pytest.param(MODERN, {"auto": "2026-07-28", "legacy": "2025-11-25"}, id="modern"),
    ],
)
async def test_a_client_of_either_era_is_answered(
    mode: ClientMode, surface: tuple[Interaction, ...], agreed: dict[str, str]
) -> None:
    result_type = '"resultType":"complete",' if surface is MODERN else ""
    one = call('{"a":1}', "{" + result_type + text("one")[1:])
    server = CassetteServer(tape(one, surface=surface))
    async with Client(server, mode=mode) as client:
        version = client.protocol_version
        info = client.server_info
        listed = [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("add", {"a": 1})

    assert version == agreed[mode]
    assert info is not None
    assert (info.name, listed, words(result)) == ("recorded-server", ["add"], "one")
    assert server.misses == []


@pytest.mark.parametrize("mode", MODES)
async def test_calls_are_answered_once_each_and_in_recorded_order(mode: ClientMode) -> None:
    cassette = tape(call('{"a":1}', text("one")), call('{"a":1}', text("two")))
    for _ in range(2):  # a cassette can be served again
        server = CassetteServer(cassette)
        async with Client(server, mode=mode) as client:
            found = [await client.call_tool("add", {"a": 1}) for _ in range(3)]

        assert [words(result) for result in found] == [
            "one",
            "two",
            "No recorded answer for this tool call.",
        ]
        assert [bool(result.is_error) for result in found] == [False, False, True]
        assert server.misses == [
            "used-up: every recording of this call of calc:add was served already"
        ]


async def test_what_nobody_asked_for_can_be_seen() -> None:
    one, two = call('{"a":1}', text("one")), call('{"a":2}', text("two"))
    server = CassetteServer(tape(one, two))
    async with Client(server) as client:
        before = server.leftover
        await client.call_tool("add", {"a": 2})

    assert (before, server.leftover) == ((one, two), (one,))


async def test_arguments_that_are_null_are_not_absent() -> None:
    server = CassetteServer(tape(call('{"a":null}', text("null")), call("{}", text("absent"))))
    async with Client(server) as client:
        found = [words(await client.call_tool("add", given)) for given in ({}, {"a": None})]

    assert found == ["absent", "null"]


async def test_errors_of_both_kinds_are_told_apart() -> None:
    broken = Interaction(
        "calc",
        "tools/call",
        '{"name":"add","arguments":{"a":2}}',
        Response("error", '{"code":-32050,"message":"try later","data":{"retryAfter":3}}'),
    )
    server = CassetteServer(tape(call('{"a":1}', '{"isError":true,"content":[]}'), broken))
    async with Client(server) as client:
        failed = await client.call_tool("add", {"a": 1})
        with pytest.raises(MCPError, match="try later") as caught:
            await client.call_tool("add", {"a": 2})

    assert failed.is_error
    assert caught.value.error.code == -32050


async def test_progress_goes_to_the_call_it_belongs_to() -> None:
    step = Passage("notifications/progress", '{"progress":1,"total":2,"message":"half"}')
    server = CassetteServer(tape(call("{}", text("done"), during=(step,))))
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with Client(server) as client:
        await client.call_tool("add", {}, progress_callback=note)

    assert seen == [(1.0, 2.0, "half")]


async def test_j11_a_question_is_asked_again_and_its_answer_waited_for() -> None:
    asked = '{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}'
    question = Passage("elicitation/create", asked, asked=True, reply=Response("result", "{}"))
    server = CassetteServer(tape(call("{}", text("done"), during=(question,))))
    order: list[str] = []

    async def answer(
        context: ClientRequestContext,  # noqa: ARG001 - the name is part of the protocol
        params: ElicitRequestParams,
    ) -> ElicitResult:
        order.append(params.message)
        return ElicitResult(action="accept", content={"name": "Ada"})

    async with Client(server, mode="legacy", elicitation_callback=answer) as client:
        order.append(words(await client.call_tool("add", {})))

    assert order == ["Who?", "done"]


async def test_a_client_that_leaves_in_a_hurry_harms_nothing() -> None:
    server = CassetteServer(tape(call("{}", text("done"))))

    async def leave() -> None:
        async with Client(server) as client:
            await client.list_tools()
            raise RuntimeError("in a hurry")

    # The SDK's client runs in task groups, whatever its transport.
    with pytest.RaisesGroup(
        pytest.RaisesExc(RuntimeError, match="in a hurry"), flatten_subgroups=True
    ):
        await leave()

    assert len(server.leftover) == 1


OTHER = Interaction("other", "tools/call", '{"name":"x"}', Response("result", text("x")))


async def test_one_of_several_servers_is_named() -> None:
    cassette = tape(call("{}", text("mine")))
    cassette = cassette._replace(interactions=(OTHER, *cassette.interactions))
    server = CassetteServer(cassette, server="calc")
    async with Client(server) as client:
        result = await client.call_tool("add", {})

    assert words(result) == "mine"
    assert server.leftover == ()  # the other server's calls are none of its


@pytest.mark.parametrize(
    ("items", "server", "problem"),
    [
        ((OTHER, *HANDSHAKE), None, "no server was named, and the cassette has other, calc"),
        (HANDSHAKE, "git", "there is no server 'git', and the cassette has calc"),
        ((), None, "no server was named, and the cassette has none"),
    ],
)
def test_a_server_that_is_not_there_is_refused(
    items: tuple[Interaction, ...], server: str | None, problem: str
) -> None:
    with pytest.raises(UsageError) as caught:
        CassetteServer(Cassette(items, {}), server=server)

    assert caught.value.problem == problem
    assert caught.value.hint == "name one of them with server="


def test_the_samples_are_json() -> None:
    for item in (*HANDSHAKE, *MODERN):
        assert json.loads(item.response.text if item.response else "")
