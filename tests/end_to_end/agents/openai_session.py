"""A session of openai-agents whose model is scripted: the next call at each turn."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from agents.mcp import MCPServerStdio
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

SECONDS = 60.0


class Scripted(Model):
    """Makes the calls of a script, one a turn, and notes what it is given.

    Attributes:
        tools: The names of the tools that it was offered.
        answers: What each call gave.
    """

    def __init__(self, calls: list[tuple[str, str, dict[str, Any]]]) -> None:
        self._calls = calls
        self.tools: list[str] = []
        self.answers: list[Any] = []

    async def get_response(self, *_: Any, **given: Any) -> ModelResponse:
        """Make the next call, or end."""
        self.tools = sorted(tool.name for tool in given["tools"])
        self.answers = [one["output"] for one in given["input"] if "output" in one]
        turn = len(self.answers)
        item = self._call(turn) if turn < len(self._calls) else _end()
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Not used by `Runner.run`."""
        raise NotImplementedError

    def _call(self, turn: int) -> ResponseFunctionToolCall:
        server, tool, arguments = self._calls[turn]
        name = next(name for name in self.tools if name.endswith(f"{server}__{tool}"))
        return ResponseFunctionToolCall(
            call_id=f"call-{turn}",
            name=name,
            arguments=json.dumps(arguments),
            type="function_call",
        )


def _end() -> ResponseOutputMessage:
    text = ResponseOutputText(text="done", type="output_text", annotations=[])
    return ResponseOutputMessage(
        id="message", role="assistant", status="completed", type="message", content=[text]
    )


async def session(
    entries: dict[str, dict[str, Any]], calls: list[tuple[str, str, dict[str, Any]]]
) -> dict[str, Any]:
    """Let an agent make the calls with the servers of a config's entries."""
    model = Scripted(calls)
    async with AsyncExitStack() as stack:
        servers = []
        for name, entry in entries.items():
            params: Any = entry
            server = MCPServerStdio(params, name=name, client_session_timeout_seconds=SECONDS)
            servers.append(await stack.enter_async_context(server))
        agent = Agent(
            name="scripted",
            model=model,
            mcp_servers=[*servers],
            mcp_config={"include_server_in_tool_names": True},
        )
        quiet = RunConfig(tracing_disabled=True)
        await Runner.run(agent, "go", run_config=quiet, max_turns=len(calls) + 1)
    return {"tools": model.tools, "calls": model.answers}
