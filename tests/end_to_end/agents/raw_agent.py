"""An agent that sees every byte, for tests: `raw_agent.py ERA REQUESTS`.

ERA is `legacy` or `modern`; REQUESTS is JSON, `[[server, method, params], ...]`. Each line of
its output is the text of an answer's `result` or `error` as it came. With `--log FILE`, its pid
and then each answer is in the file, or pipe, before the next request is made.
"""

import argparse
import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from sidecar.wire.jsonrpc import read_line
from tests.servers.raw_client import RawClient


class Servers:
    """The servers of the config, each started when it is first asked."""

    def __init__(self, era: str, stack: ExitStack) -> None:
        config = Path(os.environ["MCP_SIDECAR_CONFIG"]).read_text(encoding="utf-8")
        self._entries = json.loads(config)["mcpServers"]
        self._era = era
        self._stack = stack
        self._clients: dict[str, RawClient] = {}

    def opened(self, name: str) -> list[bytes]:
        """Start a server and open the session; returns the answer's line."""
        entry = self._entries[name]
        environ = {**os.environ, **entry.get("env", {})}
        client = RawClient([entry["command"], *entry["args"]], env=environ, timeout=60)
        self._clients[name] = self._stack.enter_context(client)
        hello = client.discover if self._era == "modern" else client.initialize
        return [hello().line]

    def asked(self, name: str, method: str, params: dict[str, object] | None) -> list[bytes]:
        """Ask a server; returns the lines of all answers that came of it."""
        lines = self.opened(name) if name not in self._clients else []
        return [*lines, self._clients[name].request(method, params).line]

    def close(self) -> None:
        """End all sessions in order."""
        for client in self._clients.values():
            client.close_stdin()
            client.wait()


def payload(line: bytes) -> str:
    """Take the text of the result or the error out of an answer's line."""
    messages = read_line(line)
    assert messages is not None
    return messages[0].result or messages[0].error or ""


def main() -> None:
    """Ask all that is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("era", choices=["legacy", "modern"])
    parser.add_argument("requests", type=json.loads)
    parser.add_argument("--log", type=Path)
    flags = parser.parse_args()
    with ExitStack() as stack:
        servers = Servers(flags.era, stack)
        log = stack.enter_context(flags.log.open("wb", buffering=0)) if flags.log else None
        if log is not None:
            log.write(f"{os.getpid()}\n".encode())
        for server, method, params in flags.requests:
            for line in servers.asked(server, method, params):
                sys.stdout.write(payload(line) + "\n")
                if log is not None:
                    log.write(f"{payload(line)}\n".encode())
        servers.close()


if __name__ == "__main__":
    main()
