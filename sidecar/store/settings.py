"""The settings of a project: `sidecar.toml`, or `[tool.mcp-sidecar]` in its pyproject.toml.

On the start-up path: a project without settings costs two looks for a file.
"""

from __future__ import annotations

import os

from sidecar.errors import UsageError
from sidecar.wire.typed import Literal, NamedTuple

FILE = "sidecar.toml"
PYPROJECT = "pyproject.toml"
TABLE = "tool.mcp-sidecar"

_TABLE_MARK = b"mcp-sidecar"  # a pyproject.toml without it has no settings of ours


class Rules(NamedTuple):
    """What is masked besides what is known to be a secret.

    Attributes:
        keys: Names of members, variables and parameters whose values are secrets.
        patterns: Regular expressions; the first group is masked, or the whole match.
        environment: Names of variables whose values are secrets.
    """

    keys: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()

    def __add__(self, other: tuple[object, ...]) -> Rules:
        """Take the rules of both, such as those of a file and those of options."""
        assert isinstance(other, Rules)
        return Rules(*(tuple(dict.fromkeys(a + b)) for a, b in zip(self, other, strict=True)))


NO_RULES = Rules()


class Settings(NamedTuple):
    """The settings of a project.

    Attributes:
        redaction: What is masked.
        ignored_arguments: `TOOL:/POINTER`, as `promote --ignore-arg` takes them.
        mode: Of `record`, where no option says it; None for its default.
        on_miss: Of `replay`, where no option says it; None for its default.
        place: The file that they are from; None if there is none.
    """

    redaction: Rules = NO_RULES
    ignored_arguments: tuple[str, ...] = ()
    mode: Literal["record", "auto"] | None = None
    on_miss: Literal["fail", "live"] | None = None
    place: str | None = None


def load_settings(project: str) -> Settings:
    """Read a project's settings; those of `sidecar.toml` if it has both.

    Args:
        project: The project folder.

    Raises:
        UsageError: If they cannot be read, or hold what is no setting: with the line.
    """
    for name in (FILE, PYPROJECT):
        path = os.path.join(project, name)
        if os.path.exists(path):
            data = _bytes(path)
            if name == FILE or _TABLE_MARK in data:
                from sidecar.store.settings_file import read  # noqa: PLC0415  # most have none

                found = read(data, path, "" if name == FILE else TABLE)
                if found is not None:
                    return found
    return Settings()


def project_of(home: str, project: str) -> str:
    """Find the folder whose settings count for a proxy: that of its journal, if it is in one.

    A client may start a proxy anywhere, but `wrap` tells it where the journal is.
    """
    return os.path.dirname(home) if os.path.basename(home) == ".sidecar" else project


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(
            f"the settings cannot be read ({error.strerror})",
            place=path,
            hint="give yourself the right to read them",
        ) from None
