"""Serves an SDK server's application over Streamable HTTP, on a port that the system chooses."""

import os
import socket
import threading

import uvicorn
from starlette.types import ASGIApp

LIFETIME_SECONDS = 900.0


def serve(app: ASGIApp) -> None:
    """Print the endpoint's URL as a line, and serve until a signal; or for a lifetime at most."""
    watchdog = threading.Timer(LIFETIME_SECONDS, os._exit, args=(9,))
    watchdog.daemon = True
    watchdog.start()
    # Named TCP, since only then asyncio turns off Nagle's delays, as for a port it opens itself.
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()  # before it is said where: who comes now waits, and is not refused
        port = listening.getsockname()[1]
        print(f"http://127.0.0.1:{port}/mcp", flush=True)  # noqa: T201 - what the server says
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        uvicorn.Server(config).run(sockets=[listening])
