"""An agent that uses all servers of its config at once, for tests: `parallel_agent.py CALLS`.

Each server is asked, in a thread of its own, CALLS times for a text of 80 KB. Its output is a
line a server: how many answers were right.
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.servers.raw_client import RawClient

SIZE = 80_000  # bytes; more than any pipe or page takes at once


def used(name: str, entry: dict[str, Any], calls: int) -> str:
    """Use one server; returns its line."""
    right = 0
    with RawClient([entry["command"], *entry["args"]], timeout=40) as client:
        client.initialize()
        for number in range(calls):
            fill = chr(ord("a") + number % 26)
            reply = client.call("big", {"bytes": SIZE, "fill": fill})
            right += reply.value["result"]["content"][0]["text"] == fill * SIZE
        client.close_stdin()
        client.wait()
    return f"{name} {right}\n"


def main(calls: int) -> None:
    """Use them all."""
    config = json.loads(Path(os.environ["MCP_SIDECAR_CONFIG"]).read_text(encoding="utf-8"))
    servers = config["mcpServers"]
    with ThreadPoolExecutor(len(servers)) as pool:
        lines = pool.map(lambda name: used(name, servers[name], calls), servers)
        sys.stdout.writelines(lines)


if __name__ == "__main__":
    main(int(sys.argv[1]))
