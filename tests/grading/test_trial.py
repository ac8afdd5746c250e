"""One trial: score, pass, gating score, and the reasons for them."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.cassette.arguments import ABSENT
from sidecar.grading.candidates import ObservedCall
from sidecar.grading.evidence import TrialEvidence
from sidecar.grading.reasons import Reason
from sidecar.grading.trial import (
    TrialGrade,
    TrialGrader,
    contested,
    fingerprint,
    gating_score,
    meets_bar,
)
from sidecar.grading.usage import Usage
from sidecar.suite.documents import suite_from_json
from sidecar.suite.payloads import CRITERIA, EvalScored
from tests.eval_data import Json, call, golden, path_only, rubric, suite, task, trajectory
from tests.grading import told

A, F = ObservedCall("s:a", {}, "agent"), ObservedCall("s:f", {}, "agent")
PATH = trajectory("in-order", call("s:a"), forbidden=["s:f"])
GAP = Reason("sequence-gap", "event 3 is missing from the log")


def grade(
    expected: Json, *calls: ObservedCall, score: float = 1, bar: str = "7/10", **more: Any
) -> TrialGrade:
    fixtures = more.pop("fixtures", None)
    serve = more.pop("fixtures_serve", True)
    scored = {"task_id": "task", "score": score, "passed": True}
    if "met" in more:
        scored[CRITERIA] = more.pop("met")
    scored |= {
        key: more.pop(key) for key in ("cost_usd", "latency_ms", "schema_valid") if key in more
    }
    evidence = TrialEvidence(
        calls=calls,
        **{"outcome": "completed", "scored": EvalScored.model_validate(scored), **more},
    )
    value = task(expected=expected, **({"fixtures": fixtures} if fixtures is not None else {}))
    (made,) = suite_from_json(suite(value)).tasks
    grader = TrialGrader(
        made, agent_id="agent", pass_score=Fraction(bar), fixtures_serve=serve, fingerprints=True
    )
    return grader.grade(3, evidence)


def grading(*args: Any, **more: Any) -> Callable[[], TrialGrade]:
    """What a row of a table grades, once its test runs."""
    return partial(grade, *args, **more)


def numbers(found: TrialGrade) -> Any:
    return found.score, found.passed, found.gating_score


@pytest.mark.parametrize(
    ("graded", "score", "passed", "gating"),
    [
        pytest.param(grading(golden(), output="ok"), 1, True, 1, id="R13 golden right"),
        pytest.param(grading(golden(), output="no"), 0, False, 0, id="R13 golden wrong"),
        pytest.param(
            grading(golden(trajectory=PATH), A, output="ok"),
            1,
            True,
            1,
            id="R12 right on the path",
        ),
        pytest.param(
            grading(golden(trajectory=PATH), output="ok"),
            1,
            False,
            0,
            id="R12 R27 right, off the path",
        ),
        pytest.param(
            grading(golden(trajectory=PATH), A, F, output="ok"),
            1,
            False,
            0,
            id="R12 R27 right, forbidden tool",
        ),
        pytest.param(
            grading(golden(trajectory=PATH), A, output="no"),
            0,
            False,
            0,
            id="R12 wrong on the path",
        ),
        pytest.param(
            grading(path_only("exact", call("s:a")), A), 1, True, 1, id="R12 path matched"
        ),
        pytest.param(
            grading(path_only("exact", call("s:a"))), 0, False, 0, id="R12 path not matched"
        ),
        pytest.param(
            grading(rubric(1), score=0.7), "7/10", True, "7/10", id="R15 rubric at the bar"
        ),
        pytest.param(grading(rubric(1), score=0.69), "69/100", False, "69/100", id="R15 below"),
        pytest.param(
            grading(rubric(1, trajectory=PATH), score=0.9),
            "9/10",
            False,
            0,
            id="R12 R27 rubric off path",
        ),
        pytest.param(grading(golden(), score=0.9), "9/10", False, "9/10", id="R15 golden recorded"),
        pytest.param(
            grading(golden(), score=0, bar="0"), 0, False, 0, id="R15 a bar of 0 passes none"
        ),
        pytest.param(
            grading(golden(), outcome="failed", output="ok"), 0, False, 0, id="R17 failed"
        ),
        pytest.param(grading(golden(), outcome="refused"), 0, False, 0, id="R17 refused"),
        pytest.param(grading(rubric(1), outcome="failed", score=0.9), 0, False, 0, id="R17 rubric"),
        pytest.param(
            grading(rubric(0.9, 0.1), score=0.2, met=[True, False]),
            "9/10",
            True,
            "9/10",
            id="R14 the judgement counts, and not the score beside it",
        ),
        pytest.param(
            grading(rubric(0.5, 1), met=[True, False]), "1/3", False, "1/3", id="R14 R32 exact"
        ),
        pytest.param(
            grading(rubric(1), score=1, met=[]), None, False, None, id="a judgement of nothing"
        ),
        pytest.param(
            grading(golden(), score=1, met=[False]), 1, True, 1, id="golden: no judgement is read"
        ),
        pytest.param(
            grading(golden(trajectory=PATH), A, outcome="failed", output="ok"),
            0,
            False,
            0,
            id="R17 failed on the path",
        ),
        pytest.param(
            grading(golden(), outcome="handed-off", output="ok"), 1, True, 1, id="handed off"
        ),
        pytest.param(
            grading(golden(trajectory=PATH), A, output="ok", misses=(0,), failed_closed=True),
            0,
            False,
            0,
            id="R18 R27 a miss that failed closed",
        ),
        pytest.param(
            grading(rubric(1), A, score=0.9, misses=(0,), failed_closed=True),
            0,
            False,
            0,
            id="R18 whatever the kind",
        ),
        pytest.param(
            grading(path_only("exact", call("s:a")), A, misses=(0,), failed_closed=True),
            0,
            False,
            0,
            id="R18 though the path matched",
        ),
        pytest.param(
            grading(golden(), A, output="ok", misses=(0,), fixtures={"onMiss": "live"}),
            1,
            True,
            1,
            id="R38 G9 a miss that the suite lets be answered live",
        ),
        pytest.param(
            grading(golden(), A, output="ok", misses=(0,), fixtures={"onMiss": "fail"}),
            0,
            False,
            0,
            id="R37 a live answer that the suite does not allow",
        ),
        pytest.param(
            grading(golden(), A, output="ok", misses=(0,), fixtures={}),
            0,
            False,
            0,
            id="R39 absent onMiss acts as fail",
        ),
        pytest.param(
            grading(golden(), A, output="ok", misses=(0,)),
            0,
            False,
            0,
            id="R39 no fixtures at all",
        ),
        pytest.param(
            grading(golden(), A, output="ok", misses=(0,), fixtures={}, fixtures_serve=False),
            1,
            True,
            1,
            id="R40 live-shadow cannot miss",
        ),
        pytest.param(grading(golden(), output="ok", defects=(GAP,)), 1, False, 0, id="a defect"),
        pytest.param(
            grading(golden(), outcome=None, output="ok", defects=(GAP,)),
            1,
            False,
            0,
            id="no outcome",
        ),
        pytest.param(
            grading(rubric(1), scored=None), None, False, None, id="no judgement: unmeasured"
        ),
        pytest.param(
            grading(rubric(1, trajectory=PATH), scored=None),
            None,
            False,
            None,
            id="no judgement, off the path: still unmeasured",
        ),
        pytest.param(
            grading(rubric(1), scored=None, outcome="failed"),
            0,
            False,
            0,
            id="R17 a failed agent needs no judge",
        ),
    ],
)
def test_a_trial_is_worth(
    graded: Callable[[], TrialGrade], score: Any, *, passed: bool, gating: Any
) -> None:
    found = graded()

    fractions = [None if one is None else Fraction(one) for one in (score, gating)]

    assert numbers(found) == (fractions[0], passed, fractions[1])
    assert (found.task_id, found.trial_index) == ("task", 3)
    assert found.reasons


def test_r5f_withheld_arguments_make_a_trial_indeterminate() -> None:
    exact = trajectory("exact", call("s:a", {"x": 1}, "exact"))
    found = grade(golden(trajectory=exact), ObservedCall("s:a", ABSENT, "agent"), output="ok")

    assert (found.indeterminate, *numbers(found)) == (True, 1, False, 0)


def test_only_the_targets_calls_are_on_its_path() -> None:
    exact = trajectory("exact", call("s:a"))
    found = grade(golden(trajectory=exact), A, ObservedCall("s:x", {}, "helper"), output="ok")

    assert found.passed
    assert found.tool_call_count == 2


@pytest.mark.parametrize(
    ("graded", "said"),
    [
        pytest.param(
            grading(golden(), output="ok"), ["the output is as expected (exact)"], id="right"
        ),
        pytest.param(
            grading(golden(), output="no"), ['the output is "no", expected "ok"'], id="wrong"
        ),
        pytest.param(
            grading(golden(trajectory=PATH), F, output="ok"),
            [
                "step 1 called s:f, which is forbidden",
                "expected call 1 (s:a) was not made",
                "the output is as expected (exact)",
            ],
            id="good answer, bad path",
        ),
        pytest.param(
            grading(golden(), outcome="failed", failure="exit code 3\n"),
            ["the agent failed: exit code 3\\n", "an agent that failed scores 0"],
            id="crashed",
        ),
        pytest.param(
            grading(golden(), outcome="refused"),
            ["the agent refused", "an agent that failed scores 0"],
            id="refused",
        ),
        pytest.param(
            grading(golden(), A, misses=(0,), failed_closed=True),
            [
                "call 1 of the trial (s:a) was answered by no fixture",
                "a fixture miss makes the score 0",
            ],
            id="missed",
        ),
        pytest.param(
            grading(path_only("exact", call("s:a")), A),
            [
                "exactly the expected calls were made, in order: 1 of 1",
                "the path matched: the score is 1",
            ],
            id="path",
        ),
        pytest.param(
            grading(path_only("exact", call("s:a"))),
            [
                "0 calls were made, 1 expected: expected call 1 (s:a) was not made",
                "the path did not match: the score is 0",
            ],
            id="no path",
        ),
        pytest.param(
            grading(rubric(1), score=0.75),
            ["the recorded score, 0.75, meets the bar"],
            id="judged",
        ),
        pytest.param(
            grading(rubric(1), score=0.5),
            ["the recorded score, 0.5, is below the bar of 0.7"],
            id="judged low",
        ),
        pytest.param(
            grading(rubric(0.25, 0.75), met=[False, True]),
            [
                "the judge found 1 of 2 criteria met; the score, 0.75, meets the bar; not met:"
                ' criterion 1, "criterion 0" (weight 0.25)'
            ],
            id="R14 a judgement",
        ),
        pytest.param(
            grading(rubric(1, 1, 1), met=[True, False, False]),
            [
                "the judge found 1 of 3 criteria met; the score, 0.333333, is below the bar of 0.7;"
                ' not met: criterion 2, "criterion 1" (weight 1);'
                ' criterion 3, "criterion 2" (weight 1)'
            ],
            id="R14 a judgement that is not enough",
        ),
        pytest.param(
            grading(rubric(1), met=[True]),
            ["the judge found 1 of 1 criteria met; the score, 1, meets the bar"],
            id="R14 all met",
        ),
        pytest.param(
            grading(rubric(1, 1), met=[True]),
            ["the recorded judgement is none of a rubric of 2 criteria"],
            id="a judgement of another rubric",
        ),
        pytest.param(
            grading(golden(), score=0.9),
            ["the recorded score, 0.9, is below the bar of 1"],
            id="golden, recorded",
        ),
        pytest.param(
            grading(rubric(1), scored=None),
            ["no score of the output was recorded"],
            id="unjudged",
        ),
        pytest.param(
            grading(golden(), output="ok", defects=(GAP,)),
            ["event 3 is missing from the log", "the output is as expected (exact)"],
            id="defect",
        ),
    ],
)
def test_a_trial_says_why(graded: Callable[[], TrialGrade], said: list[str]) -> None:
    assert told.texts(graded().reasons) == said


def test_only_the_first_misses_are_named() -> None:
    found = grade(golden(), *[A] * 9, misses=tuple(range(9)), failed_closed=True)

    assert (found.miss_count, len(found.reasons)) == (9, 6)


@pytest.mark.parametrize(
    ("usage", "recorded", "cost"),
    [
        pytest.param(Usage(1, 1, 1, Fraction(1, 4)), {}, "1/4", id="R33 of its model calls"),
        pytest.param(
            Usage(1, 1, 1, Fraction(1, 4)), {"cost_usd": 0.5}, "1/4", id="calls come first"
        ),
        pytest.param(Usage(), {"cost_usd": 0.5}, "1/2", id="R33 as recorded"),
        pytest.param(
            Usage(1, 1, 1, None), {"cost_usd": 0.5}, "1/2", id="R33 recorded, else unknown"
        ),
        pytest.param(Usage(1, 1, 1, None), {}, None, id="R33 unknown"),
        pytest.param(Usage(), {}, None, id="R33 no model call is no cost of 0"),
    ],
)
def test_a_trials_cost_is_known_or_unknown(usage: Usage, recorded: Any, cost: str | None) -> None:
    found = grade(golden(), output="ok", usage=usage, **recorded)

    assert found.cost == (None if cost is None else Fraction(cost))


def test_what_was_recorded_is_carried() -> None:
    found = grade(
        golden(), A, output="ok", latency_ms=7, schema_valid=False, usage=Usage(2, 3, 4, None)
    )

    assert (found.latency_ms, found.schema_valid, found.usage.calls, found.defective) == (
        7,
        False,
        2,
        False,
    )


def test_a_trial_whose_log_has_defects_says_so() -> None:
    assert grade(golden(), output="ok", defects=(GAP,)).defective


def test_an_unscored_trial_has_neither_latency_nor_schema() -> None:
    found = grade(golden(), output="ok", scored=None)

    assert found.score == 1
    assert (found.latency_ms, found.schema_valid, found.cost) == (None, None, None)


@pytest.mark.parametrize(
    ("kind", "score", "bar", "met"),
    [
        ("golden", "1", "0", True),
        ("golden", "99/100", "0", False),
        ("trajectory", "1", "1", True),
        ("trajectory", "0", "0", False),
        ("rubric", "0", "0", True),
        ("rubric", "7/10", "7/10", True),
        ("rubric", "6/10", "7/10", False),
    ],
)
def test_r15_only_a_rubric_passes_below_1(kind: str, score: str, bar: str, *, met: bool) -> None:
    assert meets_bar(kind, Fraction(score), Fraction(bar)) is met


@given(score=st.fractions(0, 1), shut=st.booleans())
def test_r27_r29_the_gate_is_the_score_or_0_and_never_moves_the_score(
    score: Fraction, *, shut: bool
) -> None:
    assert gating_score(score, shut=shut) == (0 if shut else score)
    assert gating_score(None, shut=shut) is None


@given(st.lists(st.sampled_from(["s:a", "s:f", "s:x"]), max_size=4), st.sampled_from([0.2, 0.9, 1]))
def test_r29_a_path_moves_the_gate_alone(path: list[str], score: float) -> None:
    calls = [ObservedCall(tool, {}, "agent") for tool in path]

    free, bound = (
        grade(rubric(1, **more), *calls, score=score) for more in ({}, {"trajectory": PATH})
    )

    assert free.score == bound.score
    assert bound.gating_score in {0, free.gating_score}


def test_t08_a_trial_that_is_scored_twice_is_no_pass() -> None:
    found = contested(grade(golden(), output="ok"))

    assert (found.indeterminate, found.defective, *numbers(found)) == (True, True, 1, False, 0)
    assert told.codes(found.reasons) == ["trial-twice", "output-matched"]


def test_t10_equal_calls_have_equal_fingerprints() -> None:
    one = fingerprint([ObservedCall("s:a", {"x": 1, "y": 2}, "agent", 5)])

    assert one == fingerprint([ObservedCall("s:a", {"y": 2, "x": 1}, "other", 9)])
    assert one != fingerprint([ObservedCall("s:a", {"x": 1, "y": 3})])
    assert one != fingerprint([ObservedCall("s:b", {"x": 1, "y": 2})])
    assert fingerprint([]) == ""


def test_calls_too_deep_have_no_fingerprint() -> None:
    deep: Json = 1
    for _ in range(50_000):
        deep = [deep]

    assert fingerprint([ObservedCall("s:a", deep)]) == ""
    assert fingerprint([ObservedCall("s:a", ABSENT)]) != ""
