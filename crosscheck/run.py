"""The cross-check: agentevals, ADK and Inspect on the cases that our own tests hold.

    make crosscheck

It runs in an environment of its own, since these bring some hundred packages.
"""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    # The checkout instead of this folder, whose modules are `crosscheck.…`.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    # They would report to their makers, had they a key for it.
    os.environ |= {"LANGSMITH_TRACING": "false", "OTEL_SDK_DISABLED": "true"}
    from crosscheck.main import main

    sys.exit(main())
