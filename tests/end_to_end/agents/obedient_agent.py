"""An agent that does what its input says, for tests.

Its input is JSON: `{"trials": [{"calls": [[server, tool, arguments], ...], "say": text}, ...]}`.
At each attempt it takes the next one, from the first again after the last; a file in the folder
where `run` was called counts attempts, for each input by itself.
"""

import hashlib
import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.servers.raw_client import RawClient


def attempt(given: str) -> dict[str, Any]:
    """Take what this attempt is to do."""
    name = hashlib.sha256(given.encode()).hexdigest()[:16]
    counter = Path(os.environ["MCP_SIDECAR_PROJECT"]) / f"attempts-{name}"
    done = int(counter.read_text(encoding="utf-8")) if counter.exists() else 0
    counter.write_text(str(done + 1), encoding="utf-8")
    trials = json.loads(given)["trials"]
    found: dict[str, Any] = trials[done % len(trials)]
    return found


def main() -> None:
    """Make the calls, whatever answers them, and say what is to be said."""
    script = attempt(Path(os.environ["MCP_SIDECAR_INPUT_FILE"]).read_text(encoding="utf-8"))
    config = json.loads(Path(os.environ["MCP_SIDECAR_CONFIG"]).read_text(encoding="utf-8"))
    with ExitStack() as stack:
        clients: dict[str, RawClient] = {}
        for server, tool, arguments in script["calls"]:
            if server not in clients:
                entry = config["mcpServers"][server]
                clients[server] = stack.enter_context(RawClient([entry["command"], *entry["args"]]))
                clients[server].initialize()
                clients[server].request("tools/list", None)
            clients[server].call(tool, arguments)
        for client in clients.values():
            client.close_stdin()
            client.wait()
    sys.stdout.write(script["say"] + "\n")


if __name__ == "__main__":
    main()
