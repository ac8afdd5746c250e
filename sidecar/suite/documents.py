"""Suites, summaries and capability documents: from text to model, and back to text.

Pure: files are read and written by the store. What is read back from what was written is
equal to it, and numbers in free JSON values keep their spelling.
"""

from __future__ import annotations

import json

from sidecar.errors import SuiteError
from sidecar.suite.json_reading import as_text, parse_json
from sidecar.suite.model import AgentEvalSuite
from sidecar.suite.model_base import Model, wire_value
from sidecar.suite.summary import EvalSummary
from sidecar.suite.validation import AnyModel, Problem, problems_in, validated
from sidecar.wire.json_text import JsonValue, Number, dump

_INDENT = "  "


def parse_suite(text: str | bytes, *, name: str = "suite") -> AgentEvalSuite:
    """Read a suite's JSON text.

    Args:
        text: The document; bytes are UTF-8.
        name: What to call it in an error, such as its file's name.

    Raises:
        SuiteError: If it is no JSON or breaks a rule of the format (V1-V4, V6, V7, any
            type or pattern, an unknown key), with line, JSON pointer and next step.
    """
    return _parsed(AgentEvalSuite, text, name)


def suite_from_json(value: JsonValue, *, name: str = "suite") -> AgentEvalSuite:
    """Make a suite of a JSON value whose keys are wire names.

    Raises:
        SuiteError: As `parse_suite`, without a line.
    """
    return validated(AgentEvalSuite, value, name=name)


def suite_problems(text: str | bytes, *, name: str = "suite") -> tuple[Problem, ...]:
    """List every rule that a suite's text breaks, in document order.

    Raises:
        SuiteError: If the text is no JSON at all.
    """
    return problems_in(AgentEvalSuite, parse_json(text, name=name))


def parse_summary(text: str | bytes, *, name: str = "summary") -> EvalSummary:
    """Read a summary's JSON text.

    Raises:
        SuiteError: If it is no JSON, or no EvalSummary.
    """
    try:
        return _parsed(EvalSummary, text, name)
    except SuiteError as error:
        problem = f"this is no EvalSummary: {error.problem}"
        raise SuiteError(problem, place=error.place, hint=error.hint) from None


def summary_from_json(value: JsonValue, *, name: str = "summary") -> EvalSummary:
    """Make a summary of a JSON value.

    Raises:
        SuiteError: If it is no EvalSummary.
    """
    return validated(EvalSummary, value, name=name)


def _parsed(kind: type[AnyModel], text: str | bytes, name: str) -> AnyModel:
    whole = as_text(text, name=name)
    return validated(kind, parse_json(whole, name=name), name=name, text=whole)


def dump_document(model: Model) -> str:
    """Write a suite, a summary or a capability document as JSON text.

    Keys in the order of the model, two spaces a level, a newline at the end: the same model
    is always the same text.
    """
    text = _pretty(wire_value(model), "\n") + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate: escapes throughout, as in a cassette
        return json.dumps(json.loads(text), indent=len(_INDENT)) + "\n"
    return text


def _pretty(value: JsonValue, newline: str) -> str:
    deeper = newline + _INDENT
    if isinstance(value, dict) and value:
        members = (
            f"{deeper}{json.dumps(name, ensure_ascii=False)}: {_pretty(item, deeper)}"
            for name, item in value.items()
        )
        return "{" + ",".join(members) + newline + "}"
    if isinstance(value, list) and value:
        return "[" + ",".join(deeper + _pretty(item, deeper) for item in value) + newline + "]"
    if isinstance(value, str) and not isinstance(value, Number):
        return json.dumps(value, ensure_ascii=False)
    return dump(value)
