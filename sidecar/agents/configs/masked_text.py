"""A config's text as it may be shown: secrets masked where they stand, all else as written.

A text is not masked as a whole: what is a secret is told by the parsed config, however it is
spelt, and names, our own words and the structure are none (X08).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from sidecar.agents.configs.credentials import secret_parts
from sidecar.agents.configs.document import Document
from sidecar.agents.configs.marks import HEADER_VARIABLE, mark_of
from sidecar.agents.configs.nodes import Edit, Node, Span, applied, raw
from sidecar.cassette.redaction.config_secrets import command_secrets, config_secrets
from sidecar.cassette.redaction.names import secret_environment
from sidecar.cassette.redaction.placeholders import UNIFIED, unify
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cassette.redaction.values import is_reference, is_telling
from sidecar.wire.json_text import dump

_NO_SALT = bytes(16)  # what is masked is not kept
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_VARIABLES = ("env", "envs", "environment")
_HEADERS = ("headers", "http_headers")
_ROUNDS = 2  # what is told to be a secret at one place is masked at those before it, too


def masked_texts(documents: Sequence[Document]) -> list[str]:
    """Mask the secrets of a config's texts, such as before and after a change.

    Args:
        documents: What is a secret in one of them is one in all.

    Returns:
        Each one's text, with the same names, and the same lines but for secrets of several.
    """
    found = (value for one in documents for value in _known_values(one))
    known = {value for value in found if not is_reference(value)}
    redactor = Redactor(_NO_SALT, known_values=sorted(known))
    texts: list[str] = []
    for _ in range(_ROUNDS):
        texts = [_masked(one, redactor) for one in documents]
    return texts


def _masked(document: Document, redactor: Redactor) -> str:
    text = document.text
    ours = frozenset(_our_words(document))
    leaves = [node for node in _leaves(document.root) if node.span not in ours]
    masked = dict(_masked_leaves(document, redactor, ours))
    masked |= {one.span: UNIFIED for one in _headers(document)}
    edits = [
        Edit(*span, document.format.alike(raw(text, span), value) + _line_ends(raw(text, span)))
        for span, value in masked.items()
    ]
    names = [key for key in _keys(document.root) if _is_name(raw(text, key))]
    rest = _between([*names, *ours, *(node.span for node in leaves)], len(text))
    for span in rest:  # comments, and what no client's servers are in
        plain = raw(text, span)
        if re.search(r"\w", plain):
            edits.append(Edit(*span, unify(redactor.plain(plain))))
    return applied(text, edits)


def _masked_leaves(
    document: Document, redactor: Redactor, ours: frozenset[Span]
) -> Iterator[tuple[Span, str]]:
    """Mask the values as a whole, since a name, or a flag before it, may tell what one is."""
    leaves = [node for node in _leaves(document.root) if node.span not in ours]
    before = _json(document.root, ours, frozenset(id(one.node) for one in document.entries))
    after = redactor.json_text(before)
    pairs = zip(leaves, _values(before), _values(after), strict=True)
    for node, value, masked in pairs:
        if value != masked:
            yield node.span, unify(masked) if isinstance(masked, str) else UNIFIED


def _second_ones(pairs: list[tuple[str, object]]) -> list[object]:
    return [value for _, value in pairs]


def _values(text: str) -> list[object]:
    """The values of a JSON text that are neither objects nor arrays, in order."""
    found: list[object] = []
    # As floats, since an integer of thousands of digits is refused.
    left = [json.loads(text, object_pairs_hook=_second_ones, parse_int=float)]
    while left:
        value = left.pop()
        if isinstance(value, list):
            left += reversed(value)
        else:
            found.append(value)
    return found


def _json(node: Node, ours: frozenset[Span], entries: frozenset[int]) -> str:
    """Write a tree as JSON, without our words: a list begins with the original command.

    Names of servers tell nothing of what is in them, so they are numbers.
    """
    if node.kind == "map":
        members = [
            f'"{number}":' if id(one.value) in entries else f"{dump(one.name)}:"
            for number, one in enumerate(node.members)
        ]
        is_twice = len(set(members)) < len(members)
        values = [_json(one.value, ours, entries) for one in node.members]
        written = [name + value for name, value in zip(members, values, strict=True)]
        if is_twice:
            return f"[{','.join(f'{{{one}}}' for one in written)}]"
        return f"{{{','.join(written)}}}"
    if node.kind == "list":
        items = [_json(one, ours, entries) for one in node.items if one.span not in ours]
        return f"[{','.join(items)}]"
    return "[]" if node.span in ours or not _is_value(node) else _value(node)


def _value(node: Node) -> str:
    is_number = isinstance(node.value, str) and node.kind == "other"
    if is_number and _NUMBER.fullmatch(str(node.value)):
        return str(node.value)
    return json.dumps(node.value)


def _leaves(node: Node) -> Iterator[Node]:
    for inner in (*(one.value for one in node.members), *node.items):
        yield from _leaves(inner)
    if _is_value(node):
        yield node


def _is_value(node: Node) -> bool:
    """Whether a node is a value of its own; an alias of YAML stands where its anchor does."""
    is_alias = node.shared and node.value is None
    return node.kind in ("text", "other") and not is_alias


def _keys(node: Node) -> Iterator[Span]:
    for member in node.members:
        yield member.key
        yield from _keys(member.value)
    for item in node.items:
        yield from _keys(item)


def _is_name(written: str) -> bool:
    """Whether what stands in a name's place is no secret by its own shape."""
    return Redactor(_NO_SALT).plain(written) == written


def _between(spans: Iterable[Span], end: int) -> Iterator[Span]:
    at = 0
    for span in sorted(spans):
        if at < span.start:
            yield Span(at, span.start)
        at = max(at, span.end)
    if at < end:
        yield Span(at, end)


def _line_ends(written: str) -> str:
    """What a block of YAML has after its last line."""
    return written[len(written.rstrip()) :]


def _our_words(document: Document) -> Iterator[Span]:
    """Where our own words stand, in entries that are behind `proxy`."""
    for holder in _holders(document):
        for member in holder.members:
            nodes = member.value.items
            is_argv = document.client.is_argv and member.name == document.client.command
            mark = mark_of([node.text or "" for node in nodes[is_argv:]])
            if mark is not None:
                yield from (node.span for node in nodes[: is_argv + mark.count - 1])
                command = holder.get(document.client.command)
                if command is not None and command.kind == "text":
                    yield command.span


def _holders(document: Document) -> Iterator[Node]:
    """The entries, and within them Zed's older `command` with a path and arguments."""
    for entry in document.entries:
        yield entry.node
        yield from (one.value for one in entry.node.members if one.value.kind == "map")


def _headers(document: Document) -> Iterator[Node]:
    """The values of headers, which are secrets whatever they are called now."""
    variables = document.client.variables
    for holder in _holders(document):
        for member in holder.members:
            is_headers = member.name in (*_HEADERS, document.client.headers)
            for one in member.value.members:
                value = one.value.text
                is_header = is_headers or one.name.startswith(HEADER_VARIABLE)
                if value and is_header and not (variables and variables.pattern.search(value)):
                    yield one.value


def _known_values(document: Document) -> Iterator[str]:
    for header in _headers(document):
        if is_telling(header.text or ""):
            yield header.text or ""
    for holder in _holders(document):
        for member in holder.members:
            if member.name in (*_VARIABLES, document.client.env):
                given = {one.name: one.value.text or "" for one in member.value.members}
                yield from secret_environment(given)
                yield from config_secrets(given).values()
            if member.name in document.client.urls and member.value.text:
                yield from secret_parts(member.value.text)
        yield from _of_words(document, holder)


def _of_words(document: Document, holder: Node) -> Iterator[str]:
    ours = frozenset(_our_words(document))
    words: list[str] = []
    for member in holder.members:
        nodes = [member.value] if member.name == document.client.command else []
        nodes += member.value.items
        words += [node.text for node in nodes if node.text and node.span not in ours]
    yield from command_secrets(words)
