"""A config's text as a tree of places, so that a change touches only what it must.

JSON with comments, TOML and YAML are read into the same tree. Nothing is ever written from
a tree: a change is a list of replaced pieces of the text, and all else stays as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

_UNWRITABLE = re.compile("[\x7f-\x9f\ud800-\udfff]")  # what one of the three forbids

Kind: TypeAlias = Literal["map", "list", "text", "other"]
Style: TypeAlias = Literal["flow", "block"]
Path: TypeAlias = tuple[str, ...]


class Span(NamedTuple):
    """A piece of the text: the offsets of its first character and of the one after its last."""

    start: int
    end: int


class Edit(NamedTuple):
    """A piece of the text that is replaced; an empty one is an insertion."""

    start: int
    end: int
    text: str


class BrokenTextError(Exception):
    """The text is not of its format, or holds what cannot be read.

    Attributes:
        problem: What is wrong.
        line: Where, from 1; 0 where that is not known.
        column: From 1.
    """

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        super().__init__(problem, line, column)
        self.problem = problem
        self.line = line
        self.column = column

    @classmethod
    def at(cls, problem: str, text: str, offset: int) -> BrokenTextError:
        """Make the error of an offset in a text."""
        line_start = text.rfind("\n", 0, offset) + 1
        return cls(problem, text.count("\n", 0, offset) + 1, offset - line_start + 1)


@dataclass(frozen=True, slots=True)
class Node:
    """A value.

    Attributes:
        kind: What it is; `other` is a number, true, false, null and the like.
        span: Where it stands; of a TOML table the whole text, since it has no one place.
        value: Of a text or other, its value; None for the rest.
        members: Of a map.
        items: Of a list.
        style: How a map or list is written: within brackets, or in lines of its own.
        shared: Whether other places of the text refer to it (YAML's anchors and aliases),
            so that it must not be changed.
    """

    kind: Kind
    span: Span
    value: object = None
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()
    style: Style = "flow"
    shared: bool = False

    def get(self, name: str) -> Node | None:
        """The value of a member; None if there is none."""
        member = self.member(name)
        return member.value if member else None

    def member(self, name: str) -> Member | None:
        """The member of a name; None if there is none."""
        return next((member for member in self.members if member.name == name), None)

    @property
    def text(self) -> str | None:
        """The value of a text; None for all else."""
        return self.value if isinstance(self.value, str) and self.kind == "text" else None


@dataclass(frozen=True, slots=True)
class Member:
    """A name and its value, within a map.

    Attributes:
        name: The name, read.
        key: Where it is written.
        value: The value.
        lead: What is written before the name to say which map it is in: `a.b.` of TOML's
            `a.b.name = 1`.
        parts: In how many places the name is written; more than one only in TOML.
    """

    name: str
    key: Span
    value: Node
    lead: str = ""
    parts: int = 1


class Format(Protocol):
    """How texts of one format are read, and how their pieces are written.

    Attributes:
        name: What the user calls it.
    """

    name: str

    def parse(self, text: str, sections: Sequence[Path] = ()) -> Node:
        """Read a text.

        Args:
            text: The text.
            sections: Paths of names, `*` for any, to what is wanted; what is on none of
                them may come without what is in it. None for the whole.

        Raises:
            BrokenTextError: If it is none of this format.
        """
        ...

    def literal(self, value: str) -> str:
        """Write a text, in double quotes."""
        ...

    def alike(self, raw: str, value: str) -> str:
        """Write a text in the manner of another one, if it can be: quotes or none."""
        ...

    def member_after(self, text: str, holder: Node, member: Member, written: str) -> str:
        """Write what is inserted after a member's value to add one more to its map.

        Args:
            text: The whole text.
            holder: The map.
            member: The member before.
            written: The new member's name and value, as `name_and_value` writes them.
        """
        ...

    def name_and_value(self, name: str, literal: str) -> str:
        """Write a member."""
        ...

    def flow_list(self, literals: Sequence[str]) -> str:
        """Write a list within brackets."""
        ...


def applied(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits that do not overlap; of several at one place, the first comes first."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        assert at <= edit.start <= edit.end
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, text[at:]])


def raw(text: str, span: Span) -> str:
    """The piece of a text."""
    return text[span.start : span.end]


def double_quoted(value: str) -> str:
    """Write a text in double quotes, as JSON, TOML and YAML all read it."""
    plain = json.dumps(value, ensure_ascii=False)
    return _UNWRITABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", plain)


def newline_of(text: str) -> str:
    """The line end that a text uses."""
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def indent_of(text: str, at: int) -> str | None:
    """The white space before a place, if nothing else stands before it on its line."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if not before.strip(" \t") else None


def column_of(text: str, at: int) -> int:
    """How many characters stand before a place on its line."""
    return at - (text.rfind("\n", 0, at) + 1)
