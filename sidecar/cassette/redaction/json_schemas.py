"""Tells JSON Schemas from other objects: their names of properties are not names of secrets."""

from __future__ import annotations

from sidecar.wire.json_text import JsonValue

_TYPES = frozenset(("string", "number", "integer", "boolean", "object", "array", "null"))
_COMBINING = ("$ref", "anyOf", "oneOf", "allOf", "not", "enum", "const", "$defs", "properties")
_ANNOTATING = frozenset(
    ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format")
)

WHOLE = frozenset(("inputSchema", "outputSchema", "requestedSchema"))
"""Members that are schemas by the protocol."""

MAPS = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
"""Members of a schema whose value is an object of schemas, by names of the author's choice."""


def is_schema(value: JsonValue) -> bool:
    """Tell whether a value is a JSON Schema, as far as can be told from its members.

    An object that has a `value` of its own is none: `{"type": "string", "value": "hunter2"}`.
    """
    if isinstance(value, bool):
        return True
    if not isinstance(value, dict) or "value" in value:
        return False
    kind = value.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if kind is not None:
        return all(isinstance(item, str) and item in _TYPES for item in kinds)
    return any(name in value for name in _COMBINING) or _ANNOTATING.issuperset(value)


def is_map_of_schemas(value: JsonValue) -> bool:
    """Tell whether a value is an object whose members are all schemas."""
    return isinstance(value, dict) and all(map(is_schema, value.values()))
