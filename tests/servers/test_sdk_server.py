import sys
from pathlib import Path
from typing import Literal

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.context import ClientRequestContext
from mcp.types import ElicitRequestParams, ElicitResult, TextContent

SERVER = StdioServerParameters(
    command=sys.executable, args=[str(Path(__file__).with_name("sdk_server.py"))]
)


async def give_a_name(
    context: ClientRequestContext,  # noqa: ARG001 - the name is part of the protocol
    params: ElicitRequestParams,
) -> ElicitResult:
    assert params.message == "Your name?"
    return ElicitResult(action="accept", content={"name": "Ada"})


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_it_works_with_the_sdks_client(mode: Literal["auto", "legacy"], version: str) -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    async with Client(SERVER, mode=mode, elicitation_callback=give_a_name) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        divided = await client.call_tool("divide", {"a": 1, "b": 4})
        failed = await client.call_tool("divide", {"a": 1, "b": 0})
        await client.call_tool("count", {"steps": 2}, progress_callback=note)
        greeted = await client.call_tool("greet", {})

        assert client.protocol_version == version

    assert listed == ["echo", "divide", "count", "greet"]
    assert divided.structured_content == {"quotient": 0.25}
    assert (failed.is_error, divided.is_error) == (True, False)
    assert steps == [(1.0, 2.0, "step 1"), (2.0, 2.0, "step 2")]
    assert isinstance(greeted.content[0], TextContent)
    assert greeted.content[0].text == "Hello, Ada!"
