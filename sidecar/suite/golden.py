"""Which output a promoted task expects: the recorded one, a part of it, or none."""

from __future__ import annotations

from sidecar.cassette.redaction.placeholders import unify
from sidecar.errors import PromotionError, UsageError
from sidecar.suite.loosening import is_masked
from sidecar.suite.wanted import Recording, Remark, Wanted
from sidecar.wire.json_text import JsonValue, NotJsonError, parse


def golden_of(recording: Recording, wanted: Wanted, remarks: list[Remark]) -> dict[str, JsonValue]:
    """Give the kind of a task, and of kind golden the match.

    Args:
        recording: The recorded run.
        wanted: What the task should be.
        remarks: To which a remark is added where the user chose nothing.

    Raises:
        PromotionError: If the output cannot be compared as it should be.
        UsageError: If the text to look for is empty.
    """
    match = _match(recording, wanted, remarks)
    if match is None:
        return {"kind": "trajectory"}
    return {"kind": "golden", "match": match}


def _match(
    recording: Recording, wanted: Wanted, remarks: list[Remark]
) -> dict[str, JsonValue] | None:
    if wanted.golden == "none":
        return None
    if wanted.golden == "contains" and wanted.text is not None:
        return {"strategy": "contains", "value": _told(recording, wanted.text)}
    if wanted.golden == "auto":
        problem = _output_problem(recording.output)
        if problem:
            remarks.append(Remark("output", f"{problem}: only the path is graded"))
            return None
        remarks.append(
            Remark(
                "output",
                "the output must be the recorded text, character for character; --match "
                "contains:TEXT asks for less",
            )
        )
        return {"strategy": "exact", "value": recording.output}
    problem = _output_problem(recording.output)
    if problem:
        raise PromotionError(
            f"--match {wanted.golden} needs the recorded output, but {problem}",
            place=recording.name,
            hint="give --match contains:TEXT, or --match none to grade the path alone",
        )
    return {"strategy": wanted.golden, "value": _golden_value(recording, wanted)}


def _golden_value(recording: Recording, wanted: Wanted) -> JsonValue:
    if wanted.golden != "json-match":
        return recording.output
    try:
        return parse(recording.output or "")
    except NotJsonError:
        raise PromotionError(
            "--match json-match needs an output that is JSON, and the recorded one is not",
            place=recording.name,
            hint="choose --match exact or --match contains:TEXT",
        ) from None


def _output_problem(output: str | None) -> str:
    if not output:
        return "the recording has no output of the agent"
    if is_masked(output):
        return "a secret is masked in the recorded output"
    return ""


def _told(recording: Recording, text: str) -> str:
    if not text:
        raise UsageError("--match contains: without a text matches anything", hint="give the text")
    if recording.output and str(unify(text)) not in str(unify(recording.output)):
        raise PromotionError(
            f"the run's own output does not contain {text!r}, which --match asks for",
            place=recording.name,
            hint="look at the output with `mcp-sidecar runs show`, or record a run that says it",
        )
    return text
