"""`mcp-sidecar gate`: may this agent go on, by the evidence of an eval?"""

from __future__ import annotations

import json

import click

from sidecar.cli.baselines import evidence_of
from sidecar.cli.options import FiniteRange, json_option, places, places_options
from sidecar.grading.gate import EvalEvidence, GateDecision, GateRequirement, decide
from sidecar.report.text import escaped

_DENIED = 1


@click.command("gate")
@click.argument("summary")
@click.option(
    "--required-pass-score",
    type=FiniteRange(0, 1),
    metavar="X",
    help="Least gated aggregate, beside the suite's own bar.",
)
@click.option(
    "--forbid-regression",
    is_flag=True,
    help="Ask for a verdict against a baseline that is not `regressed`.",
)
@json_option
@places_options
def command(  # noqa: PLR0913  # one parameter an option
    *,
    summary: str,
    required_pass_score: float | None,
    forbid_regression: bool,
    as_json: bool,
    project: str | None,
    home: str | None,
) -> int:
    """Allow or deny a promotion by a SUMMARY: its file, or a run of the journal.

    It is closed unless everything speaks for opening it: the run has ended and passed, every
    task was measured, every path is gated. It reads the gated aggregate, never the other one.

    Exit codes: 0 allowed; 1 denied, with every reason; 2 the summary cannot be read.
    """
    found = evidence_of(summary, places(project, home))
    decision = decide(
        EvalEvidence(found.summary, terminal=found.is_over),
        GateRequirement(
            required_pass_score=required_pass_score, forbid_regression=forbid_regression
        ),
    )
    click.echo(_json(decision) if as_json else _words(decision))
    return 0 if decision.allowed else _DENIED


def _words(decision: GateDecision) -> str:
    head = "ALLOWED" if decision.allowed else "DENIED"
    return f"{head}: {'; '.join(escaped(reason.text) for reason in decision.reasons)}"


def _json(decision: GateDecision) -> str:
    reasons = [{"code": reason.code, "message": reason.text} for reason in decision.reasons]
    return json.dumps({"allowed": decision.allowed, "reasons": reasons}, indent=2)
