"""`python -m sidecar` is the command `mcp-sidecar`."""

from __future__ import annotations

import sys

from sidecar.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
