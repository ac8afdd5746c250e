"""The edits of one entry's text: put behind the sidecar, and brought back.

Each edit has an exact inverse: our words go before the first argument, a renamed member
stays where it was, and what was written in between, comments too, stays (W10, W11).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sidecar.agents.configs.clients import KINDS, Client
from sidecar.agents.configs.marks import (
    FRAGMENT,
    HEADER_VARIABLE,
    How,
    Mark,
    Target,
    served_url,
    url_words,
    words_of,
)
from sidecar.agents.configs.nodes import (
    Edit,
    Format,
    Member,
    Node,
    column_of,
    newline_of,
    raw,
)
from sidecar.agents.configs.shapes import Remote, Started, UnfitError

_BETWEEN = re.compile(r"[\s,-]*")  # of two items of a list; `-` in YAML's lines
_COMMA = re.compile(r"\s*,")


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes edits of a text.

    Attributes:
        text: The text.
        format: How it is written.
        client: Who reads it.
    """

    text: str
    format: Format
    client: Client

    def wrap_started(
        self,
        name: str,
        shape: Started,
        target: Target,
        program: Sequence[str],
        masked: Sequence[str] = (),
    ) -> list[Edit]:
        """Put an entry that is started behind `proxy`, which is told what variables to mask."""
        how = How(had_args=shape.args is not None or self.client.is_argv)
        words = [*program[1:], *words_of(name, target, how, masked)]
        if self.client.is_argv:
            literals = [self._literal(word) for word in (program[0], *words)]
            return [self._first(shape.command.value, literals)]
        literals = [*(self._literal(word) for word in words), self._moved(shape.command.value)]
        edits = [self._text(shape.command.value, program[0])]
        if shape.args is not None:
            return [*edits, self._first(shape.args.value, literals)]
        return [*edits, self._added_args(shape.holder, shape.command, literals)]

    def unwrap_started(self, shape: Started, mark: Mark, node: Node) -> list[Edit]:
        """Bring an entry back that is behind `proxy`.

        Raises:
            UnfitError: If others changed it so that a part of theirs would be lost.
        """
        if mark.how.url is not None:
            return self._unwrap_url(shape, mark, node)
        if self.client.is_argv:
            return [self._cut(shape.command.value.items, mark.count)]
        assert shape.args is not None
        items = shape.args.value.items
        edits = [self._restored(shape.command.value, items[mark.count - 1])]
        if mark.how.had_args or len(items) > mark.count:
            return [*edits, self._cut(items, mark.count)]
        return [*edits, self._removed(shape.holder, shape.args)]

    def wrap_remote(
        self, name: str, entry: Node, shape: Remote, target: Target, program: Sequence[str]
    ) -> list[Edit]:
        """Put an entry with a URL behind `proxy --url`, which the client then starts."""
        headers = shape.headers.value.members if shape.headers else ()
        how = How(
            had_args=False,
            url=shape.url.name,
            kind=(shape.kind.name, shape.kind.value.text or "") if shape.kind else None,
            headers=shape.headers.name if shape.headers else None,
        )
        words = [*program[1:], *words_of(name, target, how)]
        words += url_words(shape.transport, [header.name for header in headers])
        literals = [*(self._literal(word) for word in words), self._moved(shape.url.value)]
        edits = [self._renamed(shape.url, self.client.command)]
        if self.client.is_argv:
            whole = self.format.flow_list([self._literal(program[0]), *literals])
            edits.append(Edit(*shape.url.value.span, whole))
        else:
            edits.append(self._text(shape.url.value, program[0]))
            edits.append(self._added_args(entry, shape.url, literals))
        if shape.kind is not None:
            edits.append(self._text(shape.kind.value, self.client.stdio))
        if shape.headers is not None:
            edits.append(self._renamed(shape.headers, self.client.env))
            empty = entry.member(self.client.env)
            if empty is not None:  # without a variable in it, it changes places with them
                edits.append(self._renamed(empty, shape.headers.name))
        for number, header in enumerate(headers, 1):
            edits.append(self._renamed(header, f"{HEADER_VARIABLE}{number}"))
        return edits

    def lead_to_serve(self, name: str, shape: Remote, base: str) -> list[Edit]:
        """Lead an entry with a URL to `serve`; the original follows as a fragment."""
        at = self._inside(shape.url.value)
        return [Edit(at, at, served_url(base, name, shape.transport))]

    def lead_back(self, shape: Remote) -> list[Edit]:
        """Take an entry away from `serve`."""
        at = self._inside(shape.url.value)
        end = self.text.index(FRAGMENT, at, shape.url.value.span.end) + len(FRAGMENT)
        return [Edit(at, end, "")]

    def _unwrap_url(self, shape: Started, mark: Mark, node: Node) -> list[Edit]:
        assert mark.how.url is not None
        argv = shape.command.value.items if self.client.is_argv else ()
        items = argv or (shape.args.value.items if shape.args else ())
        if len(items) > mark.count + bool(argv):
            raise UnfitError("words were added after its URL: take them out first")
        edits = [self._renamed(shape.command, mark.how.url)]
        edits.append(self._restored(shape.command.value, items[-1]))
        if shape.args is not None:
            edits.append(self._removed(shape.holder, shape.args))
        edits += self._unwrap_kind(mark.how, node)
        return edits + self._unwrap_headers(mark, node)

    def _unwrap_kind(self, how: How, node: Node) -> list[Edit]:
        member = node.member(how.kind[0]) if how.kind else None
        if how.kind is None or member is None or how.kind[1] not in KINDS:
            return []
        return [self._text(member.value, how.kind[1])]

    def _unwrap_headers(self, mark: Mark, node: Node) -> list[Edit]:
        env = node.member(self.client.env)
        if mark.how.headers is None or env is None:
            return []
        others = [f"`{one.name}`" for one in env.value.members if one.name not in mark.headers]
        if others:
            were, them = ("were", "them") if len(others) > 1 else ("was", "it")
            raise UnfitError(
                f"{', '.join(others)} {were} added to its `{env.name}`: take {them} out first"
            )
        empty = node.member(mark.how.headers)
        if empty is not None and (empty.value.members or empty.value.text):
            raise UnfitError(f"`{empty.name}` was added to it: take it out first")
        return [
            self._renamed(env, mark.how.headers),
            *([self._renamed(empty, env.name)] if empty else []),
            *(self._renamed(one, mark.headers[one.name]) for one in env.value.members),
        ]

    def _literal(self, word: str) -> str:
        return self.format.literal(word)

    def _moved(self, node: Node) -> str:
        """Write a text at another place: as it was spelt, if that is possible there."""
        written = raw(self.text, node.span)
        return written if written[:1] == '"' else self._literal(node.text or "")

    def _text(self, node: Node, value: str) -> Edit:
        """Replace a text by another one, written in the same manner."""
        return Edit(*node.span, self.format.alike(raw(self.text, node.span), value))

    def _restored(self, node: Node, moved: Node) -> Edit:
        """Put a text back to where it was."""
        here, there = raw(self.text, node.span), raw(self.text, moved.span)
        if there[:1] == '"' and here[:1] in ('"', "["):
            return Edit(*node.span, there)
        if here[:1] not in ('"', "'", "["):  # it stood without quotes, and can again
            return Edit(*node.span, moved.text or "")
        return self._text(node, moved.text or "")

    def _renamed(self, member: Member, name: str) -> Edit:
        quote = raw(self.text, member.key)[:1]
        written = f"{quote}{name}{quote}" if quote in ('"', "'") else name
        return Edit(*member.key, written)

    def _inside(self, node: Node) -> int:
        return node.span.start + (self.text[node.span.start] in "\"'")

    def _first(self, node: Node, literals: Sequence[str]) -> Edit:
        """Put items before the first one of a list."""
        if not node.items:
            at = node.span.start + 1
            return Edit(at, at, ", ".join(literals))
        between = ", "
        if node.style == "block":
            between = f"{newline_of(self.text)}{' ' * column_of(self.text, node.span.start)}- "
        at = node.items[0].span.start
        return Edit(at, at, between.join([*literals, ""]))

    def _cut(self, items: Sequence[Node], count: int) -> Edit:
        """Take the first items out of a list."""
        self._refuse_comments(items[:count])
        start = items[0].span.start
        if len(items) == count:
            end = items[-1].span.end
            comma = _COMMA.match(self.text, end)
            return Edit(start, comma.end() if comma else end, "")
        self._refuse_comments(items[count - 1 : count + 1])
        return Edit(start, items[count].span.start, "")

    def _refuse_comments(self, items: Sequence[Node]) -> None:
        for one, other in pairwise(items):
            between = self.text[one.span.end : other.span.start]
            if not _BETWEEN.fullmatch(between):
                line = self.text.count("\n", 0, one.span.end) + 1
                raise UnfitError(f"a comment stands among our words in line {line}: move it")

    def _added_args(self, holder: Node, before: Member, literals: Sequence[str]) -> Edit:
        written = self.format.name_and_value("args", self.format.flow_list(literals))
        at = before.value.span.end
        return Edit(at, at, self.format.member_after(self.text, holder, before, written))

    def _removed(self, holder: Node, member: Member) -> Edit:
        """Take a member out, with what parts it from the one before it."""
        at = holder.members.index(member)
        self._refuse_comments(member.value.items)
        start = member.key.start - len(member.lead)
        if at:
            before = holder.members[at - 1].value.span.end
            if _BETWEEN.fullmatch(self.text[before:start]):
                return Edit(before, member.value.span.end, "")
        after = holder.members[at + 1 : at + 2]
        end = after[0].key.start - len(after[0].lead) if after else member.value.span.end
        if not after or not _BETWEEN.fullmatch(self.text[member.value.span.end : end]):
            raise UnfitError("its `args` cannot be taken out without a comment beside them")
        return Edit(start, end, "")
