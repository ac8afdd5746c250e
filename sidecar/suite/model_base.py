"""What all models of this room share: closed, frozen, strict, and camelCase on the wire.

No eval field is nullable: "optional" always means that the key is left out. Only the
fields that hold any JSON value may be null, and keep null and absent apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_serializer,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from sidecar.wire.json_text import JsonValue, Number

V1: Final = "v1"
"""Key of the validation context that says: a v1 document, whose ids have no pattern."""


MAX_DEPTH: Final = 300
"""Levels of objects and arrays that a free JSON value may have; no deeper are compared."""


class _Free:
    """Marks a field that holds any JSON value, null included."""


class Model(BaseModel):
    """A value: no field is reassigned, no unknown key is let through, no type is guessed.

    pydantic's freezing is shallow: JSON values inside are read-only by agreement.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )

    def has(self, field: str) -> bool:
        """Tell whether a field is present: given, or not null.

        Args:
            field: The Python name of the field.
        """
        return field in self.model_fields_set or getattr(self, field) is not None

    @model_serializer(mode="plain")
    def _as_wire(self) -> dict[str, Any]:
        whole: dict[str, Any] = _without_number(wire_value(self))
        return whole


def wire_value(model: Model) -> dict[str, JsonValue]:
    """Give the JSON object of a model: camelCase keys, absent fields left out.

    Numbers in free JSON values stay as they were spelt (`Number`), and a whole score is
    written `1`, as the RFCs write it.
    """
    found: dict[str, JsonValue] = {}
    for name, alias, free in _fields(type(model)):
        value = getattr(model, name)
        if value is not None:
            found[alias] = value if free else _wire_part(value)
        elif free and name in model.model_fields_set:
            found[alias] = None
    found.update(model.__pydantic_extra__ or {})
    return found


def null_fields(model: Model, pointer: str = "") -> Iterator[str]:
    """List, as JSON pointers, the fields that were given as null but must be left out."""
    for name, alias, free in _fields(type(model)):
        value = getattr(model, name)
        if value is None and not free and name in model.model_fields_set:
            yield f"{pointer}/{alias}"
        elif isinstance(value, Model):
            yield from null_fields(value, f"{pointer}/{alias}")
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, Model):
                    yield from null_fields(item, f"{pointer}/{alias}/{index}")


@cache
def _fields(kind: type[Model]) -> tuple[tuple[str, str, bool], ...]:
    """List a model's fields: Python name, wire name, and whether any JSON value may be in it."""
    return tuple(
        (name, field.alias or name, any(isinstance(mark, _Free) for mark in field.metadata))
        for name, field in kind.model_fields.items()
    )


def _wire_part(value: JsonValue) -> JsonValue:
    if isinstance(value, Model):
        return wire_value(value)
    if isinstance(value, tuple):
        return [_wire_part(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _without_number(value: JsonValue) -> JsonValue:
    if isinstance(value, Number):
        return float(value)
    if isinstance(value, dict):
        return {name: _without_number(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_number(item) for item in value]
    return value


def fails(code: str, message: str, at: str = "") -> PydanticCustomError:
    """Make the error of a rule that a model's own types cannot say.

    Args:
        code: The rule, for example `V3`.
        message: What is wrong, in words.
        at: JSON pointer from the model to the member in question.
    """
    # Both texts come from suites: braces in them are no placeholders.
    return PydanticCustomError(
        "rule", "{code}: {message}", {"code": code, "message": message, "at": at}
    )


def _matching(pattern: str, example: str) -> Callable[[str, ValidationInfo], str]:
    # Python's `$` also matches before a last newline: only fullmatch is the whole string.
    whole = re.compile(pattern)

    def check(value: str, info: ValidationInfo) -> str:
        if whole.fullmatch(value) or (info.context and info.context.get(V1)):
            return value
        context = {"pattern": pattern, "example": example}
        raise PydanticCustomError("pattern", "does not match {pattern}", context)

    return check


def _exact_int(value: object) -> object:
    # JSON Schema's `integer` accepts 3.0; a boolean is no number.
    if isinstance(value, Number):
        value = float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _no_number(value: object) -> object:
    # A `Number` is a str to Python, but it stands for a number.
    if isinstance(value, Number):
        raise PydanticCustomError("string_type", "should be a string, not a number")
    return value


def _plain_float(value: object) -> object:
    return float(value) if isinstance(value, Number) else value


def _checked_json(value: JsonValue) -> JsonValue:
    _check_json(value, 0)
    return value


def _check_json(value: JsonValue, depth: int) -> None:
    if isinstance(value, dict | list):
        if depth == MAX_DEPTH:
            raise fails("depth", f"a value nests deeper than {MAX_DEPTH} levels")
        if isinstance(value, dict) and not all(isinstance(name, str) for name in value):
            raise fails("json", "a JSON object's names are strings")
        for item in value.values() if isinstance(value, dict) else value:
            _check_json(item, depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise fails("json", "NaN and infinity are no JSON values")
    elif not (value is None or isinstance(value, str | int | float)):
        raise fails("json", f"a {type(value).__name__} is no JSON value")


def unique(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse a tuple that holds a value twice."""
    seen: set[Any] = set()
    for index, value in enumerate(values):
        if value in seen:
            raise fails("unique", f"{value!r} is given twice", f"/{index}")
        seen.add(value)
    return values


def _patterned(pattern: str, example: str) -> object:
    return Annotated[
        str,
        BeforeValidator(_no_number),
        AfterValidator(_matching(pattern, example)),
        Field(json_schema_extra={"pattern": pattern}),
    ]


RUN_ID_PATTERN: Final = r"^(anon:)?[A-Za-z0-9._~-]{1,128}/[A-Za-z0-9._~-]{16,128}$"
_TIMESTAMP_PATTERN = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})$"
)

if TYPE_CHECKING:
    NodeId: TypeAlias = str
    EventId: TypeAlias = str
    RunId: TypeAlias = str
    SuiteId: TypeAlias = str
    Version: TypeAlias = str
    TaskId: TypeAlias = str
    Method: TypeAlias = str
    Label: TypeAlias = str
    Currency: TypeAlias = str
    TraceId: TypeAlias = str
    Timestamp: TypeAlias = str
else:
    NodeId = _patterned(r"^[A-Za-z0-9._~:-]{1,128}$", "agent:1")
    EventId = _patterned(r"^[A-Za-z0-9._~-]{16,128}$", "01J00000000000000000000000.1")
    RunId = _patterned(RUN_ID_PATTERN, "local/01J00000000000000000000000")
    SuiteId = _patterned(r"^[a-z0-9.-]+\.evals\.[a-z0-9-]+$", "local.evals.checkout")
    Version = _patterned(r"^[0-9]+\.[0-9]+\.[0-9]+$", "1.0.0")
    TaskId = _patterned(r"^[a-z0-9][a-z0-9-]*$", "refund-partial")
    Method = _patterned(r"^[a-z0-9][a-z0-9-]{0,63}$", "sign-test")
    Label = _patterned(r"^[a-z0-9][a-z0-9_-]{0,63}$", "latency_ms")
    Currency = _patterned(r"^[A-Z]{3}$", "EUR")
    TraceId = _patterned(r"^[0-9a-f]{32}$", "0af7651916cd43dd8448eb211c80319c")
    Timestamp = _patterned(_TIMESTAMP_PATTERN, "2026-01-31T12:00:00Z")

Str = Annotated[str, BeforeValidator(_no_number)]
Text = Annotated[str, Field(min_length=1), BeforeValidator(_no_number)]
# The bounds come before the conversion, so that they stay part of the number's own schema.
Count = Annotated[int, Field(ge=0), BeforeValidator(_exact_int)]
Positive = Annotated[int, Field(ge=1), BeforeValidator(_exact_int)]
Score = Annotated[float, Field(ge=0, le=1), BeforeValidator(_plain_float)]
Delta = Annotated[float, Field(ge=-1, le=1), BeforeValidator(_plain_float)]
Amount = Annotated[float, Field(ge=0), BeforeValidator(_plain_float)]
FreeJson = Annotated[JsonValue, AfterValidator(_checked_json), _Free()]
UncheckedJson = Annotated[JsonValue, _Free()]
"""Any JSON value that was parsed from text: a million events are not walked twice."""

LAX: Final = Field(strict=False)
"""For tuples: JSON has lists only, and strict pydantic takes no list for a tuple."""

EvalMode: TypeAlias = Literal["golden", "rubric", "adversarial", "regression", "live-shadow"]
ModelClass: TypeAlias = Literal[
    "reasoning", "writing", "coding", "research", "classification", "general"
]
