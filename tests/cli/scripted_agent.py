"""An agent whose calls are given, for tests: `scripted_agent.py '[["raw","echo",{"text":"a"}]]'`.

It starts every server of its config that a call names, prints each answer as a line of JSON,
and ends with `--exit-code`. With `--input` it prints its input first.
"""

import argparse
import contextlib
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.servers.raw_client import RawClient


def main() -> int:
    """Do as told; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("calls", type=json.loads)
    parser.add_argument("--exit-code", type=int, default=0)
    parser.add_argument("--input", action="store_true")
    flags = parser.parse_args()
    if flags.input:
        sys.stdout.write(Path(os.environ["MCP_SIDECAR_INPUT_FILE"]).read_text(encoding="utf-8"))
    config = json.loads(Path(os.environ["MCP_SIDECAR_CONFIG"]).read_text(encoding="utf-8"))
    with contextlib.ExitStack() as stack:
        clients: dict[str, RawClient] = {}
        for server, tool, arguments in flags.calls:
            if server not in clients:
                entry = config["mcpServers"][server]
                words = [entry["command"], *entry["args"]]
                environ = {**os.environ, **entry.get("env", {})}
                clients[server] = stack.enter_context(RawClient(words, env=environ))
                clients[server].initialize()
            reply = clients[server].call(tool, arguments)
            answer = reply.value.get("result", reply.value.get("error"))
            sys.stdout.write(json.dumps(answer) + "\n")
        for client in clients.values():
            client.close_stdin()
            client.wait()
    return int(flags.exit_code)


if __name__ == "__main__":
    sys.exit(main())
