"""Scores of outputs: golden comparison, weighted rubric (RFC 0081, R13, R14)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import compress

from sidecar.cassette.arguments import differences, equal
from sidecar.cassette.redaction.placeholders import unify
from sidecar.grading.candidates import canonical_text
from sidecar.grading.json_canonical import jcs
from sidecar.grading.reasons import Reason, differing, shown
from sidecar.grading.statistics import exact
from sidecar.suite.json_reading import decode
from sidecar.suite.model import Criterion, GoldenMatch
from sidecar.wire.json_text import JsonValue

_TOO_DEEP = Reason("output-differs", "the output nests too deep to be compared")


def golden_reason(match: GoldenMatch, output: JsonValue) -> Reason | None:
    """Say why an output is not the golden one; None where it is (R13).

    `exact`: the output as text equals the value as text. `contains`: the output's text
    contains the value's. `json-match`: deep equality; an output that is text is read as
    JSON where the value is none. Values that are no text are made text by RFC 8785; nothing
    is trimmed, and case counts. Placeholders of masked secrets are equal to one another.

    Args:
        match: Strategy and golden value.
        output: The agent's output.
    """
    if canonical_text(output) is None:
        return _TOO_DEEP
    output, value = unify(output), unify(match.value)
    if match.strategy == "json-match":
        return _json_reason(value, output)
    text, wanted = _as_text(output), _as_text(value)
    if match.strategy == "contains":
        if wanted in text:
            return None
        said = f"the output does not contain {shown(wanted)}; it is {shown(text)}"
    else:
        if wanted == text:
            return None
        said = f"the output is {shown(text)}, expected {shown(wanted)}"
    return Reason("output-differs", said, expected=shown(wanted), seen=shown(text))


def _as_text(value: JsonValue) -> str:
    if type(value) is str:  # not a Number
        return value
    return jcs(value)


def _json_reason(value: JsonValue, output: JsonValue) -> Reason | None:
    if isinstance(output, str) and not isinstance(value, str):
        try:
            output = unify(decode(output))
        except ValueError:
            said = f"the output is no JSON: {shown(output)}"
            return Reason("output-differs", said, expected=shown(value), seen=shown(output))
    if canonical_text(output) is None:
        return _TOO_DEEP
    if equal(value, output):
        return None
    found = differences("exact", value, output)
    first = found[0]
    return Reason(
        "output-differs",
        differing(found, "the output"),
        pointer=first.pointer,
        expected=shown(first.expected),
        seen=shown(first.seen),
    )


def judgement_in(value: JsonValue, criteria: Sequence[Criterion]) -> tuple[bool, ...] | None:
    """Read a recorded judgement: one boolean a criterion; None where it is none of this rubric.

    Args:
        value: What was recorded.
        criteria: The rubric.
    """
    if not isinstance(value, list) or len(value) != len(criteria):
        return None
    return tuple(value) if all(isinstance(one, bool) for one in value) else None


def unmet(criteria: Sequence[Criterion], met: Sequence[bool]) -> str:
    """Name the criteria that a judge found not to be met; empty where there is none."""
    return "; ".join(
        f"criterion {number}, {shown(one.criterion)} (weight {one.weight:g})"
        for number, (one, yes) in enumerate(zip(criteria, met, strict=True), 1)
        if not yes
    )


def rubric_score(criteria: Sequence[Criterion], met: Sequence[bool]) -> Fraction:
    """Give the weighted share of the criteria that are met (R14).

    The sum of the weights of those met over the sum of all; 0 where all weights are 0.

    Args:
        criteria: The rubric.
        met: Of each criterion, whether the judge found it met.

    Raises:
        ValueError: If the judge did not judge each criterion.
    """
    if len(criteria) != len(met):
        raise ValueError(f"{len(criteria)} criteria, {len(met)} judgements")
    weights = [exact(one.weight) for one in criteria]
    total = sum(weights)
    return Fraction(sum(compress(weights, met))) / total if total else Fraction(0)
