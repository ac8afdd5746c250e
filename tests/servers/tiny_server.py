"""The least MCP server that answers: what the benchmark measures everything else against.

Both eras, three tools: echo, add, big (`bytes` bytes of text).
"""

import json
import sys
from typing import Any

_INFO = {"name": "tiny-server", "version": "1.0.0"}
_TOOLS = [
    {"name": name, "description": name, "inputSchema": {"type": "object"}}
    for name in ("echo", "add", "big")
]
_SURFACE: dict[str, dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": _INFO,
    },
    "server/discover": {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": _INFO},
    },
    "tools/list": {
        "resultType": "complete",
        "tools": _TOOLS,
        "ttlMs": 0,
        "cacheScope": "private",
    },
    "ping": {},
}


def _call(params: dict[str, Any]) -> dict[str, Any]:
    name, arguments = params["name"], params.get("arguments") or {}
    if name == "echo":
        said = arguments.get("text", "")
    elif name == "add":
        said = str(arguments["a"] + arguments["b"])
    else:
        said = "x" * arguments["bytes"]
    return {"resultType": "complete", "content": [{"type": "text", "text": said}]}


def _answer(message: dict[str, Any]) -> dict[str, Any]:
    method = message["method"]
    if method == "tools/call":
        return {"result": _call(message["params"])}
    if method in _SURFACE:
        return {"result": _SURFACE[method]}
    return {"error": {"code": -32601, "message": f"Method not found: {method}"}}


def main() -> None:
    """Answer until the input ends."""
    write, flush = sys.stdout.buffer.write, sys.stdout.buffer.flush
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message and "method" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], **_answer(message)}
            write(json.dumps(answer).encode() + b"\n")
            flush()


if __name__ == "__main__":
    main()
