"""What all models share: patterns match in full, and the wire form leaves out what is absent."""

import pytest
from pydantic import TypeAdapter, ValidationError

from sidecar.suite import model_base
from sidecar.suite.model import Criterion, Thresholds, Trials
from sidecar.suite.model_base import null_fields, wire_value
from sidecar.wire.json_text import Number
from tests.eval_data import Json


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        pytest.param("NodeId", "core.conformance:a~b_c-1", "a b", id="node id"),
        pytest.param("EventId", "a" * 16, "a" * 15, id="event id"),
        pytest.param("RunId", "local/" + "0" * 26, "0" * 26, id="run id without a tenant"),
        pytest.param("RunId", "anon:me/" + "0" * 16, "anon/" + "0" * 15, id="anonymous run id"),
        pytest.param("SuiteId", "shop.evals.refunds", "shop.tests.refunds", id="suite id"),
        pytest.param("Version", "10.2.33", "v1.0.0", id="version"),
        pytest.param("TaskId", "refund-2", "-refund", id="task id"),
        pytest.param("Method", "sign-test-gated", "Sign test", id="method"),
        pytest.param("Label", "partial_2", "Looks good to me", id="RFC 0244: a prose label"),
        pytest.param("Currency", "USD", "usd", id="currency"),
        pytest.param("TraceId", "0" * 32, "0" * 31 + "G", id="trace id"),
        pytest.param("Timestamp", "2026-11-30T10:00:00.5+01:00", "2026-11-30", id="timestamp"),
    ],
)
def test_a_pattern_is_matched_in_full(kind: str, good: str, bad: str) -> None:
    adapter: TypeAdapter[str] = TypeAdapter(getattr(model_base, kind))

    assert adapter.validate_python(good) == good
    for wrong in (bad, good + "\n", " " + good, "", 1, Number("1.5")):
        with pytest.raises(ValidationError):
            adapter.validate_python(wrong)


@pytest.mark.parametrize("value", [Number("1.5"), 1, True, None, ""])
def test_a_text_is_a_string_with_something_in_it(value: Json) -> None:
    with pytest.raises(ValidationError):
        Criterion.model_validate({"criterion": value, "weight": 1})


@pytest.mark.parametrize(("value", "read"), [(Number("0.25"), 0.25), (1, 1.0), (0.5, 0.5)])
def test_a_number_of_any_spelling_is_a_score(value: Json, read: float) -> None:
    assert Thresholds.model_validate({"passScore": value}) == Thresholds(pass_score=read)


@pytest.mark.parametrize("value", [Number("1e400"), Number("1.1"), -1, True, "1"])
def test_a_score_is_a_finite_number_from_0_to_1(value: Json) -> None:
    with pytest.raises(ValidationError):
        Thresholds.model_validate({"passScore": value})


def test_a_whole_number_may_be_spelt_with_a_fraction() -> None:
    assert Trials.model_validate({"count": Number("3.0")}) == Trials(count=3)


def test_the_wire_form_holds_present_fields_only() -> None:
    assert wire_value(Thresholds(pass_score=1.0, max_cost_usd=0.5)) == {
        "passScore": 1,
        "maxCostUsd": 0.5,
    }
    assert wire_value(Thresholds()) == {}


def test_a_field_given_as_null_is_found() -> None:
    thresholds = Thresholds.model_validate({"passScore": None, "maxCostUsd": 1})

    assert list(null_fields(thresholds)) == ["/passScore"]
