"""Sessions of langchain-mcp-adapters, which starts a server for each call.

    python sessions.py '[["server", "tool", {"argument": 1}], ...]'

Each line of its input names a config; the line that answers it is JSON: what was heard.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient


async def session(
    entries: dict[str, dict[str, Any]], calls: list[tuple[str, str, dict[str, Any]]]
) -> dict[str, Any]:
    """Make the calls, each of a server of a config's entries."""
    client = MultiServerMCPClient(
        {name: {"transport": "stdio", **entry} for name, entry in entries.items()}
    )
    tools: dict[tuple[str, str], BaseTool] = {}
    for server in entries:
        tools |= {(server, tool.name): tool for tool in await client.get_tools(server_name=server)}
    answers = [await answer(tools[server, tool], given) for server, tool, given in calls]
    return {"tools": sorted(tools), "calls": answers}


async def answer(tool: BaseTool, given: dict[str, Any]) -> object:
    """Call a tool as a model's turn would."""
    asked = {"type": "tool_call", "id": "call", "name": tool.name, "args": given}
    try:
        message = await tool.ainvoke(asked)
    except Exception as error:  # noqa: BLE001 - whatever it says is what was heard
        return [type(error).__name__, str(error)]
    # It gives each block a random id.
    blocks = [{**block, "id": None} for block in message.content]
    return [message.status, blocks, repr(message.artifact)]


def main() -> None:
    """Answer until the input ends."""
    calls = json.loads(sys.argv[1])
    for line in sys.stdin:
        config = json.loads(Path(line.rstrip("\n")).read_text(encoding="utf-8"))
        heard = asyncio.run(session(config["mcpServers"], calls))
        sys.stdout.write(json.dumps(heard) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
