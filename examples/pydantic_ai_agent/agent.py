"""An agent on pydantic-ai: where its scripted model is, yours goes.

It says what was done last in a repository, and when the release call is in Tokyo, with the same
two servers as ../release_notes.

    python ../release_notes/repository.py repo
    python agent.py

mcp-sidecar tells it by environment variables where to find what; without them it has defaults:

    MCP_SIDECAR_CONFIG       the config with the servers (default: mcp.json beside this file)
    MCP_SIDECAR_INPUT_FILE   the question (default: QUESTION)
    MCP_SIDECAR_OUTPUT_FILE  where the answer goes besides standard output
"""

import os
import sys
from pathlib import Path
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.mcp import load_mcp_toolsets
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

QUESTION = "What was done last in repo, and when is our call of 09:00 UTC in Asia/Tokyo?"

# What the scripted model calls, in this order. pydantic-ai puts the server's name in front.
SCRIPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("git_git_log", {"repo_path": "repo", "max_count": 1}),
    (
        "time_convert_time",
        {"source_timezone": "UTC", "time": "09:00", "target_timezone": "Asia/Tokyo"},
    ),
)


def scripted_model(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Stand in for a model: the next call of the script, or the answer once all returned."""
    returned: dict[str, Any] = {
        part.tool_name: part.content
        for message in messages
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    }
    for tool, arguments in SCRIPT:
        if tool not in returned:
            return ModelResponse(parts=[ToolCallPart(tool, arguments)])
    return ModelResponse(parts=[TextPart(_answer(**returned))])


def _answer(*, git_git_log: str, time_convert_time: dict[str, Any]) -> str:
    done = git_git_log.partition("Message: ")[2].strip()
    return f"{done}. The call is at {time_convert_time['target']['datetime'][11:16]} in Tokyo."


def main() -> None:
    """Ask the agent and hand over its answer."""
    config = os.environ.get("MCP_SIDECAR_CONFIG") or Path(__file__).with_name("mcp.json")
    file = os.environ.get("MCP_SIDECAR_INPUT_FILE")
    question = Path(file).read_text(encoding="utf-8") if file else QUESTION
    # Your model here: Agent("provider:model", ...).
    agent = Agent(FunctionModel(scripted_model), toolsets=load_mcp_toolsets(config))
    answer = agent.run_sync(question).output
    sys.stdout.write(answer + "\n")
    output = os.environ.get("MCP_SIDECAR_OUTPUT_FILE")
    if output:
        Path(output).write_text(answer, encoding="utf-8")


if __name__ == "__main__":
    main()
