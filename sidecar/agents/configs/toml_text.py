"""TOML read into places: checked by `tomllib`, which keeps none, then scanned."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sidecar.agents.configs.nodes import (
    BrokenTextError,
    Member,
    Node,
    Path,
    Span,
    double_quoted,
    indent_of,
    newline_of,
)

_PLACE = re.compile(r"\s*\(at line (\d+), column (\d+)\)$")
_SPACE = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")  # between statements, and within arrays
_KEY = re.compile(r'[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:\'{0,2})'
    r'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'',
    re.DOTALL,
)
_PLAIN = re.compile(r"[^,\]}#\r\n]+")


class Toml:
    """TOML 1.0."""

    name = "TOML"

    def parse(self, text: str, sections: Sequence[Path] = ()) -> Node:  # noqa: ARG002  # the whole
        """Read a text; see `Format`."""
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            place = _PLACE.search(str(error))
            problem = _PLACE.sub("", str(error))
            line, column = (int(place[1]), int(place[2])) if place else (0, 0)
            raise BrokenTextError(f"{problem[:1].lower()}{problem[1:]}", line, column) from None
        except (RecursionError, ValueError) as error:
            raise BrokenTextError(f"it cannot be read: {error}") from None
        return _Scanner(text).document()

    def literal(self, value: str) -> str:
        """Write a text; see `Format`."""
        return double_quoted(value)

    def alike(self, raw: str, value: str) -> str:
        """Write a text; see `Format`."""
        if raw[:1] == "'" and "'" not in value and value.isprintable():
            return f"'{value}'"
        return self.literal(value)

    def member_after(self, text: str, holder: Node, member: Member, written: str) -> str:
        """Write one more member; see `Format`."""
        if holder.style == "flow":
            return f", {written}"
        indent = indent_of(text, member.key.start - len(member.lead)) or ""
        return f"{newline_of(text)}{indent}{member.lead}{written}"

    def name_and_value(self, name: str, literal: str) -> str:
        """Write a member; see `Format`."""
        return f"{name} = {literal}"

    def flow_list(self, literals: Sequence[str]) -> str:
        """Write a list; see `Format`."""
        return f"[{', '.join(literals)}]"


@dataclass(slots=True)
class _Table:
    """A table that is still being read; its pieces may stand in several places."""

    members: dict[str, Member | _Open] = field(default_factory=dict)

    def closed(self, span: Span) -> Node:
        members = (
            item if isinstance(item, Member) else item.closed(span)
            for item in self.members.values()
        )
        return Node("map", span, members=tuple(members), style="block")


@dataclass(slots=True)
class _Open:
    """A member whose value is a table that is still being read."""

    first: Member
    table: _Table
    parts: int = 1

    def closed(self, span: Span) -> Member:
        return replace(self.first, value=self.table.closed(span), parts=self.parts)


class _Scanner:
    """Scans a text that is known to be TOML."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._whole = Span(0, len(text))

    def document(self) -> Node:
        root = _Table()
        table = root
        at = self._gap(0)
        while at < len(self._text):
            if self._text.startswith("[[", at):
                # No client keeps servers in an array of tables: it is passed over.
                table, at = _Table(), self._text.index("]]", self._keys(at + 2)[1]) + 2
            elif self._text[at] == "[":
                keys, at = self._keys(at + 1)
                table, at = self._opened(root, keys), at + 1
            else:
                at = self._pair(table, at)
            at = self._gap(at)
        return root.closed(self._whole)

    def _opened(self, table: _Table, keys: Sequence[Member]) -> _Table:
        """Go down to the table of a path; tables on the way are made."""
        for key in keys:
            found = table.members.get(key.name)
            if isinstance(found, _Open):
                found.parts += 1
            else:
                # A value here can only be an array of tables, which is passed over.
                found = table.members[key.name] = _Open(key, _Table())
            table = found.table
        return table

    def _pair(self, table: _Table, at: int) -> int:
        keys, at = self._keys(at)
        value = self._value(self._space(at + 1))
        last = keys[-1]
        holder = self._opened(table, keys[:-1])
        holder.members[last.name] = replace(last, value=value)
        return value.span.end

    def _keys(self, at: int) -> tuple[list[Member], int]:
        """Read a dotted path; return its names and the place after it."""
        start = self._space(at)
        at = start
        keys: list[Member] = []
        while True:
            match = _KEY.match(self._text, at)
            assert match is not None
            word = match.group()
            name = str(_read(word)) if word[0] in "\"'" else word
            key = Span(at, match.end())
            keys.append(Member(name, key, Node("other", key), lead=self._text[start:at]))
            at = self._space(match.end())
            if self._text[at : at + 1] != ".":
                return keys, at
            at = self._space(at + 1)

    def _value(self, at: int) -> Node:
        letter = self._text[at]
        if letter == "[":
            return self._array(at)
        if letter == "{":
            return self._inline(at)
        match = _STRING.match(self._text, at)
        if match is not None:
            is_long = match.group()[:3] in ('"""', "'''")
            return Node("text", Span(*match.span()), _read(match.group()), shared=is_long)
        match = _PLAIN.match(self._text, at)
        assert match is not None
        word = match.group().rstrip()
        return Node(
            "other", Span(at, at + len(word)), {"true": True, "false": False}.get(word, word)
        )

    def _array(self, start: int) -> Node:
        items: list[Node] = []
        at = self._gap(start + 1)
        while self._text[at] != "]":
            items.append(self._value(at))
            at = self._gap(items[-1].span.end)
            if self._text[at] == ",":
                at = self._gap(at + 1)
        return Node("list", Span(start, at + 1), items=tuple(items))

    def _inline(self, start: int) -> Node:
        table = _Table()
        at = self._gap(start + 1)
        while self._text[at] != "}":
            at = self._gap(self._pair(table, at))
            if self._text[at] == ",":
                at = self._gap(at + 1)
        span = Span(start, at + 1)
        return replace(table.closed(span), style="flow")

    def _space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at

    def _gap(self, at: int) -> int:
        match = _GAP.match(self._text, at)
        return match.end() if match else at


def _read(literal: str) -> object:
    return tomllib.loads(f"v = {literal}")["v"]
