"""YAML read into places, with ruamel.yaml's composer; pieces are written by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.nodes import Node as YamlNode

from sidecar.agents.configs.nodes import (
    BrokenTextError,
    Kind,
    Member,
    Node,
    Path,
    Span,
    Style,
    column_of,
    double_quoted,
    newline_of,
)

_TAG = "tag:yaml.org,2002:"
_CONSTANTS = {"true": True, "false": False, "null": None, "~": None, "": None}
# A path that needs no quotes, wherever it stands.
_PLAIN = re.compile(r"[A-Za-z0-9/.~_][\w/.~@+=-]*(?: [\w/.~@+=-]+)*|[A-Za-z]:[\w/\\.~@+=-]+")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "~", "y", "n"})


class Yaml:
    """YAML 1.2, one document."""

    name = "YAML"

    def parse(self, text: str, sections: Sequence[Path] = ()) -> Node:  # noqa: ARG002  # the whole
        """Read a text; see `Format`."""
        try:
            root = YAML(typ="safe", pure=True).compose(text)
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            problem = error.problem or error.context or "it cannot be read"
            if problem.startswith("but ") and error.context:  # its context begins the sentence
                problem = f"{error.context} {problem}"
            line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
            raise BrokenTextError(problem, line, column) from None
        except RecursionError:
            raise BrokenTextError("it nests deeper than can be read") from None
        except (YAMLError, ValueError) as error:
            raise BrokenTextError(str(error).strip().splitlines()[0]) from None
        if root is None:
            raise BrokenTextError("the file is empty", 1, 1)
        return _Tree().node(root)

    def literal(self, value: str) -> str:
        """Write a text; see `Format`."""
        return double_quoted(value)

    def alike(self, raw: str, value: str) -> str:
        """Write a text; see `Format`."""
        if raw[:1] == "'" and "\n" not in value:
            return "'" + value.replace("'", "''") + "'"
        is_plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return value if raw[:1] not in ("'", '"') and is_plain else self.literal(value)

    def member_after(self, text: str, holder: Node, member: Member, written: str) -> str:
        """Write one more member; see `Format`."""
        if holder.style == "flow":
            return f", {written}"
        return f"{newline_of(text)}{' ' * column_of(text, member.key.start)}{written}"

    def name_and_value(self, name: str, literal: str) -> str:
        """Write a member; see `Format`."""
        return f"{name}: {literal}"

    def flow_list(self, literals: Sequence[str]) -> str:
        """Write a list; see `Format`."""
        return f"[{', '.join(literals)}]"


class _Tree:
    """Makes our tree of a composed one, in which an alias is its anchor's very node."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def node(self, found: YamlNode) -> Node:
        span = Span(found.start_mark.index, found.end_mark.index)
        if id(found) in self._seen:
            return Node("other", span, shared=True)
        self._seen.add(id(found))
        # Whether anything refers to an anchor does not matter: it must not get lost.
        shared = found.anchor is not None
        style: Style = "block" if getattr(found, "flow_style", None) is False else "flow"
        if isinstance(found, MappingNode):
            members = tuple(self._member(key, value) for key, value in found.value)
            return Node("map", span, members=members, style=style, shared=shared)
        if isinstance(found, SequenceNode):
            items = tuple(self.node(item) for item in found.value)
            return Node("list", span, items=items, style=style, shared=shared)
        assert isinstance(found, ScalarNode)
        return self._scalar(found, span, shared=shared)

    def _member(self, key: YamlNode, value: YamlNode) -> Member:
        name = key.value if isinstance(key, ScalarNode) else ""
        return Member(str(name), Span(key.start_mark.index, key.end_mark.index), self.node(value))

    def _scalar(self, found: ScalarNode, span: Span, *, shared: bool) -> Node:
        kind: Kind = "text" if found.tag == f"{_TAG}str" else "other"
        value = found.value if kind == "text" else _CONSTANTS.get(found.value.lower(), found.value)
        # Folded and literal blocks have no place to put another text in.
        return Node(kind, span, value, shared=shared or getattr(found, "style", None) in ("|", ">"))
