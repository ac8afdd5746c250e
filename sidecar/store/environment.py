"""The environment variables that the sidecar reads, and those that it tells agents.

On the start-up path: nothing is imported here that is not needed for that.
"""

from __future__ import annotations

from collections.abc import Mapping

PREFIX = "MCP_SIDECAR_"
"""Begins the name of each of them."""

HOME_VARIABLE = "MCP_SIDECAR_HOME"
RUN_VARIABLE = "MCP_SIDECAR_RUN"
TOKEN_VARIABLE = "MCP_SIDECAR_TOKEN"  # the variable's name
HEADER_VARIABLE = "MCP_SIDECAR_HEADER_"
"""Begins the names of those that hold a header's value, each with a number."""

CONFIG_VARIABLE = "MCP_SIDECAR_CONFIG"
INPUT_VARIABLE = "MCP_SIDECAR_INPUT_FILE"
OUTPUT_VARIABLE = "MCP_SIDECAR_OUTPUT_FILE"
EVENTS_VARIABLE = "MCP_SIDECAR_EVENTS_FILE"
MEMORY_VARIABLE = "MCP_SIDECAR_MEMORY_FILE"
PROJECT_VARIABLE = "MCP_SIDECAR_PROJECT"
"""Tells an agent, which works in a fresh folder, where `run` was called."""

_READ = (HOME_VARIABLE, RUN_VARIABLE, TOKEN_VARIABLE)
_TOLD = (
    CONFIG_VARIABLE, INPUT_VARIABLE, OUTPUT_VARIABLE, EVENTS_VARIABLE, MEMORY_VARIABLE,
    PROJECT_VARIABLE,
)  # fmt: skip


def unknown_variables(environ: Mapping[str, str]) -> str | None:
    """Say which variables of ours are none, such as misspelt ones; None if there are none.

    Args:
        environ: The process's environment.
    """
    unknown = [
        name
        for name in environ
        if name.startswith(PREFIX)
        and name not in _READ + _TOLD
        and not name.startswith(HEADER_VARIABLE)
    ]
    if not unknown:
        return None
    what = "variables" if len(unknown) > 1 else "variable"
    return (
        f"ignored the unknown environment {what} {', '.join(sorted(unknown))}: "
        f"{', '.join(_READ)} are read, and agents are told {', '.join(_TOLD)}"
    )
