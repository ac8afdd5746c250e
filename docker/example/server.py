"""A small MCP server: notes, which it forgets when it ends.

It is there by Streamable HTTP; with the word `stdio`, for the process that started it.

What it answers holds the time, so that no two runs of it are the same: only a replay is.
"""

import datetime
import sys
import uuid

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings

PORT = 9000

server = MCPServer("notes")
notes: dict[str, str] = {}


@server.tool()
def add(text: str) -> dict[str, str]:
    """Keep a note; its id and the time are the answer."""
    name = uuid.uuid4().hex[:8]
    notes[name] = text
    return {"id": name, "kept": datetime.datetime.now(datetime.UTC).isoformat()}


@server.tool()
def read(name: str) -> str:
    """Give the note with this id."""
    if name not in notes:
        raise ToolError(f"There is no note {name}.")
    return notes[name]


if __name__ == "__main__":
    if sys.argv[1:] == ["stdio"]:
        server.run("stdio")
    else:
        security = TransportSecuritySettings(allowed_hosts=[f"server:{PORT}"])
        server.run("streamable-http", host="0.0.0.0", port=PORT, transport_security=security)
