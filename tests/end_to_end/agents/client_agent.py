"""An agent on a real client library, for tests: `client_agent.py CLIENT CALLS`.

CLIENT is `sdk` (2026-07-28 first), `sdk-legacy` (the handshake) or `fastmcp`; CALLS is JSON,
`[[server, tool, arguments], ...]`. Each line of its output is an answer as the library gives it.
"""

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from mcp import Client, MCPError, StdioServerParameters


async def opened(stack: AsyncExitStack, client: str, entry: dict[str, Any]) -> Any:
    """Open a session with a server."""
    if client == "fastmcp":
        import fastmcp  # noqa: PLC0415  # it takes seconds

        config = {"mcpServers": {"server": entry}}
        return await stack.enter_async_context(fastmcp.Client(config))
    server = StdioServerParameters(**{key: entry[key] for key in entry if key != "type"})
    mode = "legacy" if client == "sdk-legacy" else "auto"
    return await stack.enter_async_context(Client(server, mode=mode))


async def called(session: Any, tool: str, arguments: dict[str, Any]) -> str:
    """Call a tool; returns the answer, whatever it is, as a line."""
    try:
        if isinstance(session, Client):
            return (await session.call_tool(tool, arguments)).model_dump_json(by_alias=True)
        result = await session.call_tool(tool, arguments, raise_on_error=False)
    except MCPError as error:
        return f"{type(error).__name__}: {error}"
    return repr((result.content, result.structured_content, result.is_error))


async def main(
    client: str, calls: list[tuple[str, str, dict[str, Any]]], entries: dict[str, Any]
) -> None:
    """Make the calls, each of a server of the config's entries."""
    async with AsyncExitStack() as stack:
        sessions: dict[str, Any] = {}
        for server, tool, arguments in calls:
            if server not in sessions:
                sessions[server] = await opened(stack, client, entries[server])
                tools = await sessions[server].list_tools()
                sys.stdout.write(f"{tools!r}\n")
            answer = await called(sessions[server], tool, arguments)
            sys.stdout.write(answer + "\n")


if __name__ == "__main__":
    config = json.loads(Path(os.environ["MCP_SIDECAR_CONFIG"]).read_text(encoding="utf-8"))
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2]), config["mcpServers"]))
