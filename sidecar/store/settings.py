"""The settings of a project: `sidecar.toml`, or `[tool.mcp-sidecar]` in its pyproject.toml.

On the start-up path: a project without settings costs two looks for a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeVar

from sidecar.errors import UsageError

FILE = "sidecar.toml"
PYPROJECT = "pyproject.toml"
TABLE = "tool.mcp-sidecar"

_TABLE_MARK = b"mcp-sidecar"  # a pyproject.toml without it has no settings of ours
_T = TypeVar("_T")


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
                found = _parsed(data, path)
                table = found if name == FILE else found.get("tool", {}).get("mcp-sidecar")
                if table is not None:
                    return _Reader(path, data.decode(), "" if name == FILE else TABLE).read(table)
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


def _parsed(data: bytes, path: str) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415  # most projects have no settings

    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError:
        problem = "they are not UTF-8"
    except tomllib.TOMLDecodeError as error:
        problem = str(error)
    raise UsageError(f"the settings are no TOML: {problem}", place=path, hint="correct the file")


class _Reader:
    """Reads the table of settings; knows where in the file something is wrong."""

    def __init__(self, path: str, text: str, prefix: str) -> None:
        self._path = path
        self._text = text
        self._prefix = prefix

    def read(self, table: object) -> Settings:
        known: dict[str, Callable[[object, str], Any]] = {
            "redaction": self._rules,
            "ignore-arguments": self._ignored,
            "mode": self._one_of("record", "auto"),
            "on-miss": self._one_of("fail", "live"),
        }
        found = self._members(table, self._prefix, known)
        return Settings(
            found.get("redaction", NO_RULES),
            found.get("ignore-arguments", ()),
            found.get("mode"),
            found.get("on-miss"),
            self._path,
        )

    def _rules(self, value: object, name: str) -> Rules:
        known = dict.fromkeys(Rules._fields, self._texts)
        return Rules(**self._members(value, name, known))

    def _ignored(self, value: object, name: str) -> tuple[str, ...]:
        tools = self._table(value, name)
        return tuple(
            f"{tool}:{pointer}"
            for tool, pointers in tools.items()
            for pointer in self._pointers(tool, pointers, f"{name}.{tool}")
        )

    def _pointers(self, tool: str, value: object, name: str) -> tuple[str, ...]:
        pointers = self._texts(value, name)
        if ":" not in tool:
            raise self._error(tool, f"{name}: {tool!r} names no server", "write SERVER:TOOL")
        for pointer in pointers:
            if not pointer.startswith("/"):
                raise self._error(
                    tool, f"{name}: {pointer!r} is no JSON pointer", f"write /{pointer}"
                )
        return pointers

    def _members(
        self, value: object, name: str, known: Mapping[str, Callable[[object, str], _T]]
    ) -> dict[str, _T]:
        table = self._table(value, name)
        for key in table:
            if key not in known:
                raise self._unknown(key, name, tuple(known))
        return {key: known[key](item, _joined(name, key)) for key, item in table.items()}

    def _table(self, value: object, name: str) -> dict[str, object]:
        if isinstance(value, dict):
            return value
        raise self._error(name.rpartition(".")[2], f"{name} is no table", f"write [{name}]")

    def _texts(self, value: object, name: str) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
            return tuple(value)
        key = name.rpartition(".")[2]
        raise self._error(key, f"{name} is no list of texts", f'write {key} = ["…"]')

    def _one_of(self, *words: str) -> Callable[[object, str], str]:
        def read(value: object, name: str) -> str:
            if isinstance(value, str) and value in words:
                return value
            raise self._error(name, f"{name} is {value!r}", f"choose {' or '.join(words)}")

        return read

    def _unknown(self, key: str, name: str, known: tuple[str, ...]) -> UsageError:
        from difflib import get_close_matches  # noqa: PLC0415  # for an error only

        near = get_close_matches(key.replace("_", "-"), known, 1)
        where = f" in {name}" if name else ""
        listed = f"the settings{where} are {', '.join(known)}"
        hint = f"did you mean {near[0]}? {listed}" if near else listed
        return self._error(key, f"unknown setting {_joined(name, key)!r}", hint)

    def _error(self, key: str, problem: str, hint: str) -> UsageError:
        return UsageError(problem, place=f"{self._path}{self._line(key)}", hint=hint)

    def _line(self, key: str) -> str:
        """Find the line on which a key is written first: it is all that TOML's reader tells."""
        for number, line in enumerate(self._text.splitlines(), 1):
            words = line.partition("#")[0].replace('"', "").replace("'", "")
            names = words.partition("=")[0].strip().strip("[]")
            if key in (names, *names.split(".")):
                return f":{number}"
        return ""


def _joined(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key
