"""Reads a file of settings, and says where in it something is wrong.

Imported only where there are settings, as most projects have none.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sidecar.errors import UsageError
from sidecar.store.settings import NO_RULES, Rules, Settings

_T = TypeVar("_T")


def read(data: bytes, path: str, table: str) -> Settings | None:
    """Read a file's settings.

    Args:
        data: What is in it.
        path: The file, as errors name it.
        table: The dotted name of the table with the settings; empty for the whole file.

    Returns:
        None if it has no such table.

    Raises:
        UsageError: If it is no TOML, or holds what is no setting: with the line.
    """
    found: Any = _parsed(data, path)
    if table:
        tool, name = table.split(".")
        tools = found.get(tool)
        found = tools.get(name) if isinstance(tools, dict) else None
    return None if found is None else _Reader(path, data.decode(), table).read(found)


def _parsed(data: bytes, path: str) -> dict[str, Any]:
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
        known = {**dict.fromkeys(Rules._fields, self._texts), "patterns": self._patterns}
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

    def _patterns(self, value: object, name: str) -> tuple[str, ...]:
        patterns = self._texts(value, name)
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise UsageError(
                    f"{name}: {pattern!r} is no regular expression: {error}",
                    place=f"{self._path}{self._line_of(pattern) or self._line('patterns')}",
                    hint="correct it",
                ) from None
        return patterns

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

    def _line_of(self, text: str) -> str:
        """Find the line with a text in quotes; empty if none has it so, as where it has escapes."""
        for number, line in enumerate(self._text.splitlines(), 1):
            if f"'{text}'" in line or f'"{text}"' in line:
                return f":{number}"
        return ""

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
