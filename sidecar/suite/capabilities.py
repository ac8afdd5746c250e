"""The capability document: what a host says that it implements (R49).

A host advertises a member only where it implements the matching section, and leaves it
out otherwise; what a suite needs beyond that is refused (R49).
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from sidecar.errors import SuiteError
from sidecar.suite.json_reading import parse_json
from sidecar.suite.model_base import (
    LAX,
    Amount,
    EvalMode,
    Model,
    Positive,
    Text,
    fails,
    unique,
)
from sidecar.suite.validation import validated
from sidecar.wire.json_text import JsonValue


def _only_true(value: object) -> object:
    if not value:
        raise fails("not-false", "advertised as true, or left out")
    return value


Advertised: TypeAlias = Annotated[
    bool, AfterValidator(_only_true), Field(json_schema_extra={"const": True})
]


class TrialsCapability(Model):
    """Repeated trials (RFC 0244 §B).

    Attributes:
        max_trials: Most trials of a task.
    """

    max_trials: Positive


class EvalSuiteCapability(Model):
    """`agents.evalSuite`: what of eval suites a host implements.

    Attributes:
        modes: Eval modes (RFC 0081 §D).
        max_tasks_per_suite: Most tasks of a suite.
        max_cost_usd_per_suite: Cost at which a run is stopped and fails, US dollars.
        trajectory: RFC 0244 §A.
        trials: RFC 0244 §B.
        fixture_matching: RFC 0244 §D.
        regression_verdict: RFC 0244 §F.
        fixture_errors: RFC 0245.
        baseline_selection: RFC 0251.
        recorded_fixtures: RFC 0252.
    """

    modes: Annotated[
        tuple[EvalMode, ...],
        Field(strict=False, json_schema_extra={"uniqueItems": True}),
        AfterValidator(unique),
    ]
    max_tasks_per_suite: Positive | None = None
    max_cost_usd_per_suite: Amount | None = None
    trajectory: Advertised | None = None
    trials: TrialsCapability | None = None
    fixture_matching: Advertised | None = None
    regression_verdict: Advertised | None = None
    fixture_errors: Advertised | None = None
    baseline_selection: Advertised | None = None
    recorded_fixtures: Advertised | None = None


class AgentsFamily(Model):
    """The `agents` family of a v2 discovery document.

    Attributes:
        since: Protocol version that the family is advertised from.
        witness: How an outside party can check the claim.
        until: When the family ends; required unless it is stable.
    """

    status: Literal["stable", "experimental", "deprecated"]
    since: Text
    witness: Literal[
        "witnessable-unaided",
        "witnessable-gated",
        "seam-gated",
        "claims-check",
        "negative-existence",
    ]
    until: Text | None = None
    eval_suite: EvalSuiteCapability | None = None

    @model_validator(mode="after")
    def _says_until_when(self) -> Self:
        if (self.status == "stable") == (self.until is not None):
            raise fails("until", "'until' is required unless the status is stable", "/until")
        return self


class CapabilityDocument(Model):
    """A v2 discovery document, as far as this product has something to say in it."""

    protocol_versions: Annotated[tuple[Text, ...], LAX]
    preferred_version: Text
    agents: AgentsFamily


IMPLEMENTED: Final = EvalSuiteCapability(
    modes=("golden", "rubric", "adversarial", "regression"),
    trajectory=True,
    trials=TrialsCapability(max_trials=1000),
    fixture_matching=True,
    regression_verdict=True,
    fixture_errors=True,
)
"""What this grader implements, and nothing more."""


def own_document(capability: EvalSuiteCapability = IMPLEMENTED) -> CapabilityDocument:
    """Make our own capability document.

    Args:
        capability: What is implemented.
    """
    return CapabilityDocument(
        protocol_versions=("2.0",),
        preferred_version="2.0",
        agents=AgentsFamily(
            status="stable", since="2.0", witness="claims-check", eval_suite=capability
        ),
    )


def parse_host(text: str | bytes, *, name: str = "host") -> EvalSuiteCapability | None:
    """Read what a host says of eval suites, from its capability document.

    The document may be a v2 discovery document, its `agents` family, `agents.evalSuite`
    alone, or v1's with `supported`. Members that are not known are passed over: a host may
    be newer than we are. A member that is `false` is not advertised.

    Args:
        text: The document; bytes are UTF-8.
        name: What to call it in an error.

    Returns:
        The members that are known, or None where the host has no eval suites.

    Raises:
        SuiteError: If it is no JSON object, or a known member has a wrong type.
    """
    document = parse_json(text, name=name)
    if not isinstance(document, dict):
        raise SuiteError(
            "a capability document is a JSON object",
            place=name,
            hint="give the host's /.well-known/openwop, or its agents.evalSuite",
        )
    found = _eval_suite_in(document)
    if not isinstance(found, dict) or found.get("supported") is False:
        return None
    names = {field.alias for field in EvalSuiteCapability.model_fields.values()}
    known = {key: item for key, item in found.items() if key in names and item is not False}
    return validated(EvalSuiteCapability, {"modes": [], **known}, name=name)


def _eval_suite_in(document: dict[str, JsonValue]) -> JsonValue:
    capabilities = document.get("capabilities", document)
    agents = capabilities.get("agents", capabilities) if isinstance(capabilities, dict) else None
    if isinstance(agents, dict) and "evalSuite" in agents:
        return agents["evalSuite"]
    return document if "modes" in document else None
