"""The protocol's conformance suite against a server, the sidecar before it, and its replay.

    make conformance

It fails unless the sidecar changes nothing: what is recorded passes the same checks as the
server, one by one, and so does the replay, but for the checks that name their reason.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # The checkout instead of this folder, whose modules are `conformance.…`.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from conformance.main import main

    sys.exit(main())
