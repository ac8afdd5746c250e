"""A server on the official SDK, for traffic as most servers make it: both eras, over stdio."""

from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("sdk-server", version="1.0.0", instructions="Plain on purpose.")


class Quotient(BaseModel):
    """What `divide` gives: structured content with an output schema."""

    quotient: float


class Name(BaseModel):
    """What `greet` asks the user for."""

    name: str


@server.tool()
def echo(text: str) -> str:
    """Says its text again."""
    return text


@server.tool()
def divide(a: float, b: float) -> Quotient:
    """Divides a by b; fails where b is 0."""
    if b == 0:
        raise ToolError("b must not be 0")
    return Quotient(quotient=a / b)


@server.tool()
async def count(steps: int, ctx: Context) -> str:
    """Counts to `steps` with a progress notification for each."""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"step {step}")
    return f"counted to {steps}"


def ask_name() -> Elicit[Name]:
    """Ask the user for a name."""
    return Elicit("Your name?", Name)


@server.tool()
def greet(asked: Annotated[Name, Resolve(ask_name)]) -> str:
    """Greets the user, whose name it asks for during the call."""
    return f"Hello, {asked.name}!"


@server.resource("sdk://readme")
def readme() -> str:
    """A short text."""
    return "read me"


@server.prompt()
def review(code: str) -> str:
    """Asks for a review."""
    return f"Please review: {code}"


if __name__ == "__main__":
    server.run("stdio")
