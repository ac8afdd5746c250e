"""A small agent: it keeps the note that it is given, reads it again, and one that is not there.

NOTES_URL            where the notes server is, here behind the sidecar
MCP_SIDECAR_TOKEN    what the sidecar wants to hear
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent


def text_of(result: CallToolResult) -> str:
    """Give the text of an answer, marked where the tool failed."""
    words = " ".join(part.text for part in result.content if isinstance(part, TextContent))
    return f"failed: {words}" if result.is_error else words


async def keep(note: str) -> bool:
    """Keep a note, and print what the server says at each step; False if it was not kept."""
    headers = {"Authorization": f"Bearer {os.environ['MCP_SIDECAR_TOKEN']}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(os.environ["NOTES_URL"], http_client=http)) as client,
    ):
        print("tools:", *(tool.name for tool in (await client.list_tools()).tools))
        added = await client.call_tool("add", {"text": note})
        if added.is_error or added.structured_content is None:
            print("add:", text_of(added))
            return False
        print("add:", json.dumps(added.structured_content))
        again = await client.call_tool("read", {"name": added.structured_content["id"]})
        print("read:", text_of(again))
        print("read:", text_of(await client.call_tool("read", {"name": "elsewhere"})))
        return True


if __name__ == "__main__":
    sys.exit(not asyncio.run(keep(" ".join(sys.argv[1:]))))
