"""What a tree of places stands for, for tests of the formats that are read into one."""

from collections.abc import Callable
from typing import Any

from sidecar.agents.configs.nodes import Node


def value_of(node: Node, number: Callable[[str], Any] = str) -> Any:
    """The value of a tree.

    Args:
        node: Its root.
        number: Reads the text of a value that is neither text, nor true, false or nothing.
    """
    if node.kind == "map":
        return {member.name: value_of(member.value, number) for member in node.members}
    if node.kind == "list":
        return [value_of(item, number) for item in node.items]
    is_number = node.kind == "other" and isinstance(node.value, str)
    return number(node.value) if is_number else node.value  # type: ignore[arg-type]
