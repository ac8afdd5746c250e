"""A client on the SDK for the suite's client scenarios: it does all that a server offers.

    python conformance/client.py [--recorded] URL

With `--recorded` it goes through `mcp-sidecar serve` in record mode. The suite starts it, and
says by MCP_CONFORMANCE_PROTOCOL_VERSION which revision it is to speak.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, Literal

# Run as a script, which puts only this folder on the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mcp import Client, MCPError
from mcp.client.context import ClientRequestContext
from mcp.types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    ListRootsResult,
    TextContent,
    Tool,
)
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from tests.end_to_end.serving import recording

SAMPLES: dict[str, Any] = {"number": 1, "integer": 1, "boolean": True, "string": "a"}


async def accept(
    context: ClientRequestContext,  # noqa: ARG001 - the name is part of the protocol
    params: ElicitRequestParams,
) -> ElicitResult:
    """Accept, with what the form has as defaults."""
    asked = params.model_dump(by_alias=True).get("requestedSchema", {}).get("properties", {})
    given = {name: one["default"] for name, one in asked.items() if "default" in one}
    return ElicitResult(action="accept", content=given)


async def no_roots(
    context: ClientRequestContext,  # noqa: ARG001 - the name is part of the protocol
) -> ListRootsResult:
    """Say that there are none."""
    return ListRootsResult(roots=[])


async def say_a_word(
    context: ClientRequestContext,  # noqa: ARG001 - the name is part of the protocol
    params: CreateMessageRequestParams,  # noqa: ARG001 - the name is part of the protocol
) -> CreateMessageResult:
    """Be a model."""
    said = TextContent(type="text", text="word")
    return CreateMessageResult(role="assistant", content=said, model="none")


def arguments(tool: Tool, tools: list[Tool]) -> dict[str, Any]:
    """What a tool is called with: a sample for each required property."""
    properties = tool.input_schema.get("properties", {})
    if "schema" in properties:  # wants the schema of another tool, as we got it
        return {"schema": tools[0].input_schema}
    required = tool.input_schema.get("required", [])
    return {name: SAMPLES.get(properties[name].get("type")) for name in required}


async def tried(asking: Awaitable[Any]) -> None:
    """Ask for something; a refusal is told, and ends nothing."""
    try:
        await asking
    except (MCPError, ValueError) as error:
        print(error, file=sys.stderr)


async def do_all(client: Client) -> None:
    """List and use everything."""
    tools = (await client.list_tools()).tools
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    calls = [(call["name"], call["arguments"]) for call in context.get("toolCalls", [])]
    for name, given in calls or [(tool.name, arguments(tool, tools)) for tool in tools]:
        await tried(client.call_tool(name, given))
    offered = client.server_capabilities
    if offered.resources is not None:
        for resource in (await client.list_resources()).resources:
            await tried(client.read_resource(resource.uri))
    if offered.prompts is not None:
        for prompt in (await client.list_prompts()).prompts:
            await tried(client.get_prompt(prompt.name, {}))


async def session(url: str) -> None:
    """One session."""
    version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION") or LATEST_HANDSHAKE_VERSION
    is_older = version in HANDSHAKE_PROTOCOL_VERSIONS
    mode: Literal["legacy", "auto"] = "legacy" if is_older else "auto"
    async with Client(
        url,
        mode=mode,
        elicitation_callback=accept,
        list_roots_callback=no_roots,
        sampling_callback=say_a_word,
    ) as client:
        await do_all(client)


def main(words: list[str]) -> None:
    """Run a session, directly or through the sidecar."""
    url = words[-1]
    if "--recorded" not in words:
        asyncio.run(session(url))
        return
    with tempfile.TemporaryDirectory() as folder, recording(Path(folder), url) as proxied:
        asyncio.run(session(proxied.url))


if __name__ == "__main__":
    main(sys.argv[1:])
