"""A server on the official SDK over Streamable HTTP: both eras, all ways to answer."""

import sys
from pathlib import Path

from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

# Run as a script, which puts only this folder on the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.servers.http_serving import serve

REFUSED = -32050  # a code of the server's own

server = MCPServer("http-server", version="1.0.0", instructions="Counts.")
_counted: dict[str, int] = {}


@server.tool()
def echo(text: str) -> str:
    """Says its text again."""
    return text


@server.tool(structured_output=False)
def big(size: int) -> str:
    """Gives a text of so many characters."""
    return "x" * size


@server.tool()
def begin(key: str) -> str:
    """Lets a counter begin again."""
    _counted[key] = 0
    return "begun"


@server.tool()
def counter(key: str) -> int:
    """Counts its calls."""
    _counted[key] = _counted.get(key, 0) + 1
    return _counted[key]


@server.tool()
async def count(steps: int, ctx: Context) -> str:
    """Counts to `steps` with a progress notification for each."""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"step {step}")
    return f"counted to {steps}"


@server.tool()
def fail() -> str:
    """Fails, as tools do."""
    raise ToolError("it broke")


@server.tool()
def refuse() -> str:
    """Is answered by an error of the protocol."""
    raise MCPError(REFUSED, "not now", {"until": "tomorrow"})


if __name__ == "__main__":
    serve(server.streamable_http_app())
