"""JSON with comments and trailing commas, read into places (W01, W02)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # C-backed
from typing import NoReturn

from sidecar.agents.configs.nodes import (
    BrokenTextError,
    Kind,
    Member,
    Node,
    Path,
    Span,
    double_quoted,
    indent_of,
    newline_of,
    raw,
)

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_NO_JSON = re.compile(
    r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/'
    r"|,(?=(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*+[}\]])",  # `*+`: a blank is never tried in two ways
    re.DOTALL,
)
_PLAIN = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])")
_CONSTANTS = {"true": True, "false": False, "null": None}
_MAX_DEPTH = 200


def as_plain_json(text: str) -> str:
    """Blank the comments and trailing commas of a text: what is left stands where it did."""
    return _NO_JSON.sub(
        lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0]), text
    )


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


_PLAIN_JSON = json.JSONDecoder(parse_constant=_no_constant)
_scan_plain = _PLAIN_JSON.scan_once  # type: ignore[attr-defined]  # undocumented, C-backed


class Jsonc:
    """JSON, with or without comments."""

    name = "JSON"

    def parse(self, text: str, sections: Sequence[Path] = ()) -> Node:
        """Read a text; see `Format`."""
        return _Reader(text).document(sections)

    def literal(self, value: str) -> str:
        """Write a text; see `Format`."""
        return double_quoted(value)

    def alike(self, raw: str, value: str) -> str:  # noqa: ARG002  # there is but one manner
        """Write a text; see `Format`."""
        return self.literal(value)

    def member_after(self, text: str, holder: Node, member: Member, written: str) -> str:  # noqa: ARG002  # the member says it
        """Write one more member; see `Format`."""
        indent = indent_of(text, member.key.start)
        if indent is not None:
            return f",{newline_of(text)}{indent}{written}"
        is_tight = raw(text, Span(member.key.end, member.value.span.start)) == ":"
        return f",{written}" if is_tight else f", {written}"

    def name_and_value(self, name: str, literal: str) -> str:
        """Write a member; see `Format`."""
        return f"{self.literal(name)}: {literal}"

    def flow_list(self, literals: Sequence[str]) -> str:
        """Write a list; see `Format`."""
        return f"[{', '.join(literals)}]"


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._depth = 0

    def document(self, sections: Sequence[Path]) -> Node:
        at = self._skip(0)
        if at == len(self._text):
            raise self._error("the file is empty", at)
        node = self._value(at, sections)
        end = self._skip(node.span.end)
        if end < len(self._text):
            raise self._error("something stands after the end of the value", end)
        return node

    def _value(self, at: int, sections: Sequence[Path] = ()) -> Node:
        """Read a value; the paths of `sections` are those below it, none for all."""
        letter = self._text[at : at + 1]
        if letter in ("{", "["):
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise self._error(f"it nests deeper than {_MAX_DEPTH}", at)
            node = self._map(at, sections) if letter == "{" else self._list(at)
            self._depth -= 1
            return node
        if letter == '"':
            value, end = self._string(at)
            return Node("text", Span(at, end), value)
        return self._constant(at)

    def _constant(self, at: int) -> Node:
        match = _PLAIN.match(self._text, at)
        if match is None:
            raise self._error("a value is expected", at)
        word = match.group()
        return Node("other", Span(at, match.end()), _CONSTANTS.get(word, word))

    def _string(self, at: int) -> tuple[str, int]:
        try:
            value, end = scanstring(self._text, at + 1, True)  # noqa: FBT003  # C takes no names
        except json.JSONDecodeError as error:
            # Python's words go on with the place: "Unterminated string starting at".
            problem = error.msg.removesuffix(": ").removesuffix(" at").removesuffix(" starting")
            raise self._error(f"{problem[:1].lower()}{problem[1:]}", error.pos) from None
        return value, end

    def _map(self, start: int, sections: Sequence[Path]) -> Node:
        members: list[Member] = []
        at = self._skip(start + 1)
        while self._text[at : at + 1] != "}":
            if self._text[at : at + 1] != '"':
                raise self._error('a name in double quotes, or "}", is expected', at)
            name, end = self._string(at)
            colon = self._skip(end)
            if self._text[colon : colon + 1] != ":":
                raise self._error('":" is expected', colon)
            value = self._member_value(self._skip(colon + 1), name, sections)
            members.append(Member(name, Span(at, end), value))
            at = self._next(value.span.end, "}")
        return Node("map", Span(start, at + 1), members=tuple(members))

    def _member_value(self, at: int, name: str, sections: Sequence[Path]) -> Node:
        inner = [path[1:] for path in sections if path[0] in ("*", name)]
        if sections and not inner:
            passed = self._passed_over(at)
            if passed is not None:
                return passed
        return self._value(at, () if () in inner else inner)

    def _passed_over(self, at: int) -> Node | None:
        """Read a value that is plain JSON by C, without the places in it; else None.

        A client's own state, beside its servers, may be megabytes.
        """
        kind: Kind = {"{": "map", "[": "list"}.get(self._text[at : at + 1], "other")  # type: ignore[assignment]
        if kind == "other":
            return None
        try:
            _, end = _scan_plain(self._text, at)
        except (StopIteration, ValueError, RecursionError):
            return None  # comments, or an error, whose place the other way tells
        return Node(kind, Span(at, end))

    def _list(self, start: int) -> Node:
        items: list[Node] = []
        at = self._skip(start + 1)
        while self._text[at : at + 1] != "]":
            items.append(self._value(at))
            at = self._next(items[-1].span.end, "]")
        return Node("list", Span(start, at + 1), items=tuple(items))

    def _next(self, at: int, closing: str) -> int:
        """Go to the next member or item, or to the closing bracket."""
        at = self._skip(at)
        letter = self._text[at : at + 1]
        if letter == ",":
            return self._skip(at + 1)
        if letter != closing:
            raise self._error(f'"," or "{closing}" is expected', at)
        return at

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        assert match is not None
        return match.end()

    def _error(self, problem: str, at: int) -> BrokenTextError:
        return BrokenTextError.at(problem, self._text, at)
