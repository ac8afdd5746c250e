"""The benchmark: what the sidecar costs, against a bare server, a line relay and mcp-rec.

    python bench/run.py [--quick] [--section NAME]... [--json FILE]

All are measured in one run, in turns, so that the ratios hold on a busy machine too.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # The checkout instead of this folder, whose modules are `bench.…`.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from bench.main import main

    sys.exit(main(sys.argv[1:]))
