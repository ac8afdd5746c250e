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

# What a desktop, a shell, a terminal, an editor or a CI tells all its processes.
_AMBIENT = frozenset((
    "HOST", "HOSTNAME", "COMPUTERNAME", "NAME", "USER", "LOGNAME", "USERNAME", "USERDOMAIN",
    "SESSIONNAME", "MAIL", "TERM", "COLORTERM", "LANG", "LANGUAGE", "LS_COLORS", "WINDOWID", "STY",
    "TMUX", "TMUX_PANE", "DISPLAY", "WAYLAND_DISPLAY", "INVOCATION_ID", "JOURNAL_STREAM",
))  # fmt: skip
_AMBIENT_STARTS = (
    "XDG_", "LC_", "DBUS_", "SSH_", "TERM_", "GNOME_", "KDE_", "QT_", "GTK_", "ITERM_", "KITTY_",
    "WEZTERM_", "ALACRITTY_", "VSCODE_", "GITHUB_", "RUNNER_", "KUBERNETES_", "WSL", "APPLE_",
    "DESKTOP_", "PYTEST_", "UV_", "CONDA_", "NIX_", "npm_", PREFIX,
)  # fmt: skip
_AMBIENT_ENDS = ("SESSION_ID", "TRACE_ID", "RUN_ID", "JOB_ID", "_PID", "_SOCK", "_HANDLE", "_PATH")
_PATHS = ("/", "~", "./", "unix:")


def not_ambient(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a config may have given: of which what looks random is a secret.

    Left out are those of the desktop, the shell, the terminal and the CI, values that are
    paths, and values with white space: they are found in answers that have nothing to do
    with them. What is a secret by its name is told elsewhere.

    Args:
        environ: The process's environment.
    """
    return {
        name: value
        for name, value in environ.items()
        if name not in _AMBIENT
        and not name.startswith(_AMBIENT_STARTS)
        and not name.endswith(_AMBIENT_ENDS)
        and not value.startswith(_PATHS)
        and len(value.split()) == 1
    }


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
