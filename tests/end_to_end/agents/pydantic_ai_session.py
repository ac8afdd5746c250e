"""A session of pydantic-ai whose model is scripted: the next call at each turn."""

from pathlib import Path
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset, load_mcp_toolsets
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import WrapperToolset


async def session(config: Path, calls: list[tuple[str, str, dict[str, Any]]]) -> dict[str, Any]:
    """Let an agent make the calls with the servers of a config."""
    heard: dict[str, Any] = {}

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        parts = [part for message in messages for part in message.parts]
        returned = [
            (type(part).__name__, part.tool_name, part.content)
            for part in parts
            if isinstance(part, ToolReturnPart | RetryPromptPart)
        ]
        heard.update(tools=sorted(tool.name for tool in info.function_tools), calls=returned)
        if len(returned) == len(calls):
            return ModelResponse(parts=[TextPart("done")])
        # pydantic-ai puts the server's name in front.
        server, tool, given = calls[len(returned)]
        return ModelResponse(parts=[ToolCallPart(f"{server}_{tool}", given)])

    toolsets = load_mcp_toolsets(config)
    await Agent(FunctionModel(model), toolsets=toolsets).run("go")
    for toolset in toolsets:
        # It would keep the servers until the process ends.
        assert isinstance(toolset, WrapperToolset)
        assert isinstance(toolset.wrapped, MCPToolset)
        await toolset.wrapped.client.transport.close()
    return heard
