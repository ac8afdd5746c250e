"""The server of sdk_server.py over HTTP: `http` is Streamable HTTP, `sse` the older transport."""

import sys
from pathlib import Path

# Run as a script, which puts only this folder on the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.servers.http_serving import serve
from tests.servers.sdk_server import server

if __name__ == "__main__":
    serve(server.sse_app() if sys.argv[1] == "sse" else server.streamable_http_app())
