"""JSON Schemas (2020-12) of the documents, for editors and for other programs.

They are made from the models, so they cannot disagree with them. What relates one field to
another (V1-V4, V6, V7) is left to `parse_suite`, as the RFCs leave it to the suite's rules.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from sidecar.suite.capabilities import CapabilityDocument
from sidecar.suite.event_document import RunEventDocument
from sidecar.suite.model import AgentEvalSuite
from sidecar.suite.payloads import PAYLOADS
from sidecar.suite.summary import EvalSummary

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_DOCUMENTS: Final[dict[str, type[BaseModel]]] = {
    "agent-eval-suite": AgentEvalSuite,
    "capabilities": CapabilityDocument,
    "eval-summary": EvalSummary,
}
_REF: Final = "#/$defs/{model}"
_FIELD = re.compile(r"^    (\w+): ")


def json_schemas() -> dict[str, dict[str, Any]]:
    """Make the schema of each document, by its name."""
    made = {name: _schema(name, model) for name, model in _DOCUMENTS.items()}
    return {**made, "run-event": _event_schema()}


def _schema(name: str, model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema(by_alias=True, ref_template=_REF)
    return _finished(name, schema)


def _event_schema() -> dict[str, Any]:
    """Make the event's schema: the envelope, and the payload that its type asks for."""
    schema = RunEventDocument.model_json_schema(by_alias=True, ref_template=_REF)
    definitions: dict[str, Any] = {}
    choices = []
    for kind, model in PAYLOADS.items():
        payload = model.model_json_schema(by_alias=True, ref_template=_REF)
        definitions |= payload.pop("$defs", {})
        definitions[model.__name__] = payload
        then = {"properties": {"payload": {"$ref": _REF.format(model=model.__name__)}}}
        choices.append({"if": {"properties": {"type": {"const": kind}}}, "then": then})
    return _finished("run-event", {**schema, "allOf": choices, "$defs": definitions})


def _finished(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    definitions = schema.pop("$defs")
    return {
        "$schema": _DIALECT,
        "$id": f"urn:mcp-sidecar:schema:{name}",
        **_tidy(schema),
        "$defs": {key: _tidy(definitions[key]) for key in sorted(definitions)},
    }


def _tidy(schema: dict[str, Any]) -> dict[str, Any]:
    """Describe a model's fields by its docstring, and make optional mean absent, not null."""
    text = inspect.cleandoc(schema.get("description", ""))
    tidy = {**schema, "description": " ".join(text.split("\n\n")[0].split())}
    described = dict(_described(text))
    tidy["properties"] = {
        key: _field(value, described.get(key)) for key, value in schema["properties"].items()
    }
    return tidy


def _field(value: dict[str, Any], description: str | None) -> dict[str, Any]:
    kept = {key: item for key, item in value.items() if key not in {"title", "default"}}
    if "anyOf" in kept:  # an optional field: its type, or null
        (option,) = (one for one in kept.pop("anyOf") if one != {"type": "null"})
        kept = {**option, **kept}
    return {"description": description, **kept} if description else kept


def _described(text: str) -> Iterator[tuple[str, str]]:
    """Read the fields' descriptions out of a docstring's `Attributes:`."""
    _, _, attributes = text.partition("\nAttributes:\n")
    name = ""
    words: list[str] = []
    for line in attributes.split("\n"):
        begins = _FIELD.match(line)
        if begins:
            yield to_camel(name), " ".join(words)
            name, words = begins.group(1), [line[begins.end() :].strip()]
        else:
            words.append(line.strip())
    yield to_camel(name), " ".join(words).strip()
