"""Words: values are shown short, and names cannot break a sentence."""

import pickle

import pytest

from sidecar.cassette.arguments import ABSENT, Difference
from sidecar.grading.reasons import MAX_SHOWN, Reason, differing, named, shown
from sidecar.suite.json_reading import SpeltFloat
from sidecar.wire.json_text import Number
from tests.eval_data import Json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        ({"a": [1, "é"]}, '{"a":[1,"é"]}'),
        (Number("1.50"), "1.50"),
        pytest.param(SpeltFloat("1.50"), "1.50", id="an event's number"),
        ("a\nb\x1b", '"a\\nb\\u001b"'),
        (ABSENT, "nothing"),
    ],
)
def test_a_value_is_shown_as_json(value: Json, text: str) -> None:
    assert shown(value) == text


def test_a_long_value_is_cut() -> None:
    assert shown("x" * 500) == '"' + "x" * (MAX_SHOWN - 2) + "…"
    assert named("x" * 500) == "x" * (MAX_SHOWN - 1) + "…"
    assert shown("x" * (MAX_SHOWN - 2)) == '"' + "x" * (MAX_SHOWN - 2) + '"'
    assert named("x" * MAX_SHOWN) == "x" * MAX_SHOWN


def test_a_name_is_shown_as_it_is_read() -> None:
    assert named("Größe") == "Größe"
    assert named('a"b\x1b') == '\\"'.join(("a", "b")) + "\\u001b"


def test_a_value_too_deep_to_show_is_told() -> None:
    deep: Json = 1
    for _ in range(50_000):
        deep = [deep]

    assert shown(deep) == "a value that nests too deep to show"


def test_one_more_difference_is_counted_as_one() -> None:
    found = tuple(Difference(f"/{at}", 1, ABSENT) for at in range(4))

    assert differing(found, "it").endswith("; and 1 more difference")
    assert "more" not in differing(found[:3], "it")


MASK = "Bearer [REDACTED]"


@pytest.mark.parametrize(
    ("expected", "seen", "why"),
    [
        pytest.param(MASK, "Bearer x", "in the recording: leave it out", id="expected"),
        pytest.param("Bearer x", MASK, "in what is kept of the run: leave it out", id="seen"),
        pytest.param([MASK], ["Bearer x"], "in the recording", id="in an array"),
        pytest.param(MASK, MASK + "x", None, id="both: something else differs"),
        pytest.param("a", "b", None, id="none"),
    ],
)
def test_p02_a_difference_that_a_mask_makes_is_explained(
    expected: Json, seen: Json, why: str | None
) -> None:
    told = differing((Difference("/key", expected, seen),), "it")

    assert (f"(masked {why}" in told) if why else "masked" not in told


def test_a_reason_is_its_text_and_can_be_pickled() -> None:
    reason = Reason("code", "because", step=1)

    assert str(reason) == "because"
    assert pickle.loads(pickle.dumps(reason)) == reason  # our own
