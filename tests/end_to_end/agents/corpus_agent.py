"""An agent that sends the corpus of secrets through a server: `corpus_agent.py SEED [live]`.

Each message of the corpus is the arguments of a call of `params`, whose result is their text.
With `live` it fails if an answer is not what it sent. Its output speaks of a secret by itself.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.cassette import secrets_corpus as corpus
from tests.servers.raw_client import RawClient


def main(seed: str, live: str = "") -> None:
    """Make all calls, one after the other."""
    entry = json.loads(Path(os.environ["MCP_SIDECAR_CONFIG"]).read_bytes())["mcpServers"]["raw"]
    secrets = corpus.secrets(seed)
    environ = {**os.environ, **entry.get("env", {})}
    with RawClient([entry["command"], *entry["args"]], env=environ, timeout=60) as client:
        client.initialize()
        for one in secrets:
            params = {"name": "params", "arguments": {"message": json.loads(one.text)}}
            reply = client.request("tools/call", params).value["result"]
            said = json.loads(reply["content"][0]["text"])
            if live and said != params:
                sys.exit(f"{one.kind}, {one.place}: {said} is not what was sent")
        client.close_stdin()
        client.wait()
    told = f"Done. The key {secrets[0].secret} worked; {secrets[-9].text}"
    Path(os.environ["MCP_SIDECAR_OUTPUT_FILE"]).write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
