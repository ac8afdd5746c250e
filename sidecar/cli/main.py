"""The command `mcp-sidecar`: finds the verb, and imports no more than that verb needs."""

from __future__ import annotations

import gc
import sys

from sidecar.errors import SidecarError

_INTERRUPTED = 130


def main() -> int:
    """Run the command line of this process; return its exit code.

    `proxy` is started once per server by every agent, so it does without the parser and
    the libraries of the other verbs.
    """
    arguments = sys.argv[1:]
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from sidecar.cli.closed_streams import open_closed  # noqa: PLC0415  # few close any

        open_closed()
    try:
        if arguments[:1] == ["proxy"]:
            gc.disable()  # nothing is garbage before it serves; the search costs a tenth
            from sidecar.cli.proxy import proxy  # noqa: PLC0415

            return proxy(arguments[1:])
        from sidecar.cli.verbs import verbs  # noqa: PLC0415

        return verbs(arguments)
    except SidecarError as error:
        sys.stderr.write(f"mcp-sidecar: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("mcp-sidecar: stopped by Ctrl-C\n")
        return _INTERRUPTED
