"""Checking JSON values against the models, with errors that a person can act on.

An error names the place (file, line, JSON pointer), the rule, and the next step: a
misspelt key or value is told what it was probably meant to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import reduce
from types import UnionType
from typing import Any, Final, NamedTuple, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from sidecar.errors import SuiteError
from sidecar.suite.json_reading import line_of
from sidecar.suite.model_base import Model, null_fields
from sidecar.wire.json_pointer import inside
from sidecar.wire.json_text import JsonValue
from sidecar.wire.shortening import shortened

AnyModel = TypeVar("AnyModel", bound=Model)

_OTHER_NAMES: Final = {
    "superset": "any-order",  # agentevals; the RFC refuses it by name
    "unordered": "any-order",
    "strict": "exact",
    "pass_score": "passScore",
}
_MAX_SHOWN = 120  # characters of a wrong value
_QUOTED = re.compile(r"'([^']*)'")


class Problem(NamedTuple):
    """One thing that is wrong with a document, or unwise.

    Attributes:
        code: The rule, such as `V3`, or the kind of fault, such as `unknown-key`.
        pointer: JSON pointer to the place; empty for the whole document.
        message: What is wrong, in words.
        hint: The next step; empty where the message says it all.
    """

    code: str
    pointer: str
    message: str
    hint: str = ""


def validated(
    kind: type[AnyModel],
    value: JsonValue,
    *,
    name: str,
    text: str | None = None,
    context: Mapping[str, Any] | None = None,
) -> AnyModel:
    """Make a model of a JSON value.

    Args:
        kind: The model's class.
        value: The document's value; keys are wire names.
        name: What to call the document in an error, such as its file's name.
        text: The document's text, to name a line.
        context: pydantic's validation context.

    Raises:
        SuiteError: Naming the first problem in document order, and how many more there are.
    """
    try:
        model = kind.model_validate(value, context=context, by_name=False, by_alias=True)
    except ValidationError as error:
        raise _refusal(problems_of(error, kind), name, text) from None
    nulls = tuple(map(_null, null_fields(model)))
    if nulls:
        raise _refusal(nulls, name, text)
    return model


def problems_in(kind: type[Model], value: JsonValue) -> tuple[Problem, ...]:
    """List all problems of a JSON value that should be a `kind`; empty where it is one."""
    try:
        model = kind.model_validate(value, by_name=False, by_alias=True)
    except ValidationError as error:
        return problems_of(error, kind)
    return tuple(map(_null, null_fields(model)))


def problems_of(error: ValidationError, kind: type[BaseModel]) -> tuple[Problem, ...]:
    """Put pydantic's errors into words, in document order."""
    details = error.errors(include_url=False)
    places = {detail["loc"] for detail in details}
    found = [
        _problem(detail, kind)
        for detail in details
        # A list whose items are wrong is also reported as empty: that is no second fault.
        if not (detail["type"] == "too_short" and _has_inner(detail["loc"], places))
    ]
    # Nor is a key missing that is there, misspelt.
    meant = {(_parent(one.pointer), one.hint) for one in found if one.code == "unknown-key"}
    return tuple(
        one
        for one in found
        if not (
            one.code == "missing-key"
            and (_parent(one.pointer), _did_you_mean(one.pointer.rpartition("/")[2])) in meant
        )
    )


def _parent(pointer: str) -> str:
    return pointer.rpartition("/")[0]


def _did_you_mean(name: str) -> str:
    return f"did you mean {name!r}?"


def _has_inner(loc: tuple[int | str, ...], places: set[tuple[int | str, ...]]) -> bool:
    return any(place != loc and place[: len(loc)] == loc for place in places)


def _null(pointer: str) -> Problem:
    return Problem("null", pointer, "null is no value here", "leave the key out")


def _refusal(problems: tuple[Problem, ...], name: str, text: str | None) -> SuiteError:
    first = problems[0]
    line = f":{line_of(text, first.pointer)}" if text else ""
    more = len(problems) - 1
    also = f" (and {more} more {'problem' if more == 1 else 'problems'})" if more else ""
    place = f"{name}{line}" + (f" {first.pointer}" if first.pointer else "")
    return SuiteError(first.message + also, place=place, hint=first.hint or None)


def _problem(detail: Mapping[str, Any], kind: type[BaseModel]) -> Problem:
    context = detail.get("ctx", {})
    pointer = _pointer(detail["loc"])
    words = _WORDS.get(detail["type"])
    if detail["type"] == "rule":
        return Problem(
            context["code"], pointer + context["at"], context["message"], _hint_of(context)
        )
    if words:
        return words(detail, pointer, kind)
    return Problem("type", pointer, _lowered(detail["msg"]))


def _hint_of(context: Mapping[str, Any]) -> str:
    return _HINTS.get(context["code"], "")


_HINTS: Final = {
    "V1": "take it out, or choose kind 'golden' or 'rubric'",
    "V2": "give expected.trajectory, or choose another kind",
    "V3": "raise trials.count or lower trials.k",
    "V4": "give it, or choose kind 'trajectory'",
    "V6": "give each task its own taskId",
    "V7": "give args, or leave argsMatch out",
}


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]


def _missing(detail: Mapping[str, Any], pointer: str, kind: type[BaseModel]) -> Problem:
    del kind
    return Problem("missing-key", pointer, f"the key {detail['loc'][-1]!r} is missing")


def _unknown(detail: Mapping[str, Any], pointer: str, kind: type[BaseModel]) -> Problem:
    key = str(detail["loc"][-1])
    known = _keys_at(kind, detail["loc"][:-1])
    meant = _close(key, known)
    hint = _did_you_mean(meant) if meant else f"allowed here: {', '.join(known)}"
    return Problem("unknown-key", pointer, f"unknown key {key!r}", hint)


def _no_choice(detail: Mapping[str, Any], pointer: str, kind: type[BaseModel]) -> Problem:
    del kind
    choices = _QUOTED.findall(detail["ctx"]["expected"])
    given = detail["input"]
    meant = _close(given, choices) if isinstance(given, str) else None
    hint = _did_you_mean(meant) if meant else ""
    message = f"{_shown(given)} is none of {', '.join(choices)}"
    return Problem("unknown-value", pointer, message, hint)


def _no_pattern(detail: Mapping[str, Any], pointer: str, kind: type[BaseModel]) -> Problem:
    del kind
    context = detail["ctx"]
    message = f"{_shown(detail['input'])} does not match {context['pattern']}"
    return Problem("pattern", pointer, message, f"for example {context['example']}")


_WORDS: Final = {
    "missing": _missing,
    "extra_forbidden": _unknown,
    "literal_error": _no_choice,
    "pattern": _no_pattern,
}


def _shown(given: JsonValue) -> str:
    # Of an object or a list the kind is told: it may be of any size and depth.
    if isinstance(given, dict | list):
        return "an object" if isinstance(given, dict) else "a list"
    text = repr(given)
    return shortened(text, _MAX_SHOWN)


def _close(given: str, known: list[str]) -> str | None:
    if given in _OTHER_NAMES and _OTHER_NAMES[given] in known:
        return _OTHER_NAMES[given]
    plain = {_plain(name): name for name in reversed(known)}
    found = get_close_matches(_plain(given), plain, n=1, cutoff=0.7)
    return plain[found[0]] if found else None


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def _pointer(loc: tuple[int | str, ...]) -> str:
    return reduce(inside, loc, "")


def _keys_at(kind: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """List the keys of the model at a place."""
    here: type[BaseModel] = kind
    for part in loc:
        if isinstance(part, str):
            field = next(one for one in here.model_fields.values() if one.alias == part)
            here = next(_models_in(field.annotation))
    return [field.alias or name for name, field in here.model_fields.items()]


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) is not None or isinstance(annotation, UnionType):
        for inner in get_args(annotation):
            yield from _models_in(inner)
