"""Two runs compared: pairs, verdicts, methods, refusals."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.errors import SuiteError
from sidecar.grading.reasons import Reason
from sidecar.grading.regression import (
    METHODS,
    Baseline,
    Comparison,
    MethodName,
    RegressionOptions,
    basis,
    compare_runs,
)
from sidecar.suite.documents import summary_from_json
from sidecar.suite.model_base import wire_value
from sidecar.suite.summary import EvalSummary
from tests.eval_data import Json, summary

BASELINE = "local/" + "0" * 26


def test_a_baseline_is_compared_by_the_sign_test_unless_told_otherwise() -> None:
    assert Baseline(run([1.0]), BASELINE).options == RegressionOptions("sign-test", 0.05)


def run(scores: list[float], first: int = 0, **more: Json) -> EvalSummary:
    tasks = [{"taskId": f"t{at}", "score": score} for at, score in enumerate(scores, start=first)]
    return summary_from_json(summary(*tasks, **more))


def compared(now: list[float], before: list[float], **options: Json) -> Comparison:
    return compare_runs(
        run(now), run(before), baseline_run_id=BASELINE, options=RegressionOptions(**options)
    )


def shifted(ups: int, downs: int, same: int = 0) -> tuple[list[float], list[float]]:
    return [1.0] * ups + [0.0] * downs + [0.5] * same, [0.0] * ups + [1.0] * downs + [0.5] * same


def verdict(ups: int, downs: int, same: int = 0, **options: Json) -> str | None:
    return compared(*shifted(ups, downs, same), **options).regression.verdict


@pytest.mark.parametrize(
    ("ups", "downs", "said"),
    [
        pytest.param(0, 8, "regressed", id="R48 0,8"),
        pytest.param(0, 6, "regressed", id="R48 0,6"),
        pytest.param(0, 5, "inconclusive", id="R48 0,5"),
        pytest.param(7, 0, "improved", id="R48 7,0"),
        pytest.param(8, 1, "improved", id="R48 8,1"),
        pytest.param(3, 3, "inconclusive", id="R48 3,3"),
        pytest.param(0, 0, "unchanged", id="R48 0,0"),
    ],
)
@pytest.mark.parametrize("method", ["sign-test", "mcnemar"])
def test_the_exact_test_says(ups: int, downs: int, said: str, method: MethodName) -> None:
    assert verdict(ups, downs, same=2, method=method) == said


@pytest.mark.parametrize(
    ("ups", "downs", "said"),
    [
        (0, 8, "regressed"),
        (0, 6, "regressed"),
        (8, 0, "improved"),
        (0, 5, "inconclusive"),
        (1, 5, "inconclusive"),
        (5, 1, "inconclusive"),
        (3, 3, "inconclusive"),
        (0, 0, "unchanged"),
        (12, 1, "improved"),
    ],
)
def test_r48_the_paired_bootstrap_says(ups: int, downs: int, said: str) -> None:
    assert verdict(ups, downs, same=2, method="paired-bootstrap") == said


def test_r48_the_block_names_method_level_and_pairs() -> None:
    found = compared([1.0, 0.5], [0.5, 0.5], diff_ref="/runs/x:diff").regression

    assert wire_value(found) == {
        "baselineRunId": BASELINE,
        "scoreDelta": 0.25,
        "diffRef": "/runs/x:diff",
        "verdict": "inconclusive",
        "method": "sign-test",
        "alpha": 0.05,
        "pairedTaskCount": 2,
    }


def test_r48_only_tasks_of_both_runs_are_paired_and_the_delta_is_the_aggregates() -> None:
    now, before = run([0.5, 0.9]), run([0.9, 0.1], first=1)

    found = compare_runs(now, before, baseline_run_id=BASELINE).regression

    assert (found.paired_task_count, found.verdict, found.score_delta) == (1, "unchanged", 0.2)


def test_r48_runs_without_a_common_task_are_inconclusive() -> None:
    found = compare_runs(run([1.0]), run([0.0], first=5), baseline_run_id=BASELINE)

    assert (found.regression.verdict, found.regression.paired_task_count) == ("inconclusive", 0)
    assert found.reasons[0].text == "inconclusive: the two runs have no task in common"


def gated(gated_scores: list[float]) -> EvalSummary:
    tasks = [
        {"taskId": f"t{at}", "score": 1, "gatedScore": one} for at, one in enumerate(gated_scores)
    ]
    return summary_from_json(
        summary(*tasks, gatedAggregateScore=sum(gated_scores) / len(gated_scores))
    )


def test_r48_a_run_whose_paths_all_begin_to_fail_regressed() -> None:
    now, before = gated([0.0] * 6), gated([1.0] * 6)

    found = compare_runs(now, before, baseline_run_id=BASELINE).regression

    assert (found.verdict, found.method, found.score_delta) == ("regressed", "sign-test-gated", 0)


def test_r48_the_basis_is_the_gated_score_where_there_is_one() -> None:
    assert basis(gated([0.25]).tasks[0]) == basis(run([0.25]).tasks[0])


def test_mcnemar_reads_the_pass_flags_and_needs_no_gated_name() -> None:
    now = summary_from_json(
        summary(
            *({"taskId": f"t{a}", "score": 1, "passed": False, "gatedScore": 0} for a in range(6)),
            gatedAggregateScore=0,
        )
    )
    before = gated([1.0] * 6)
    options = RegressionOptions(method="mcnemar")

    found = compare_runs(now, before, baseline_run_id=BASELINE, options=options).regression

    assert (found.verdict, found.method) == ("regressed", "mcnemar")


def test_mcnemar_reads_nothing_but_the_flags() -> None:
    now, before = (
        summary_from_json(
            summary(*({"taskId": f"t{at}", "score": score, "passed": passed} for at in range(6)))
        )
        for score, passed in ((0.6, True), (0.9, False))
    )

    told: dict[MethodName, str] = {"mcnemar": "improved", "sign-test": "regressed"}
    for method, said in told.items():
        options = RegressionOptions(method=method)
        found = compare_runs(now, before, baseline_run_id=BASELINE, options=options)
        assert found.regression.verdict == said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"suiteVersion": "2.0.0"}, "shop.evals.refunds 2.0.0"),
        ({"suiteId": "other.evals.x"}, "other.evals.x 1.0.0"),
    ],
)
def test_r48_another_suite_or_version_is_refused(change: Json, said: str) -> None:
    with pytest.raises(SuiteError) as refused:
        compare_runs(run([1.0]), run([1.0], **change), baseline_run_id=BASELINE)

    assert str(refused.value) == (
        f"the baseline is of suite {said}, this run of shop.evals.refunds 1.0.0;"
        " run the baseline again with this version of the suite"
    )


@pytest.mark.parametrize(
    ("alpha", "said"), [(0.05, "inconclusive"), (0.0625, "regressed"), (0.1, "regressed")]
)
@pytest.mark.parametrize("method", METHODS)
def test_alpha_is_the_callers(alpha: float, said: str, method: MethodName) -> None:
    assert verdict(0, 5, alpha=alpha, method=method) == said


def test_an_interval_that_ends_at_0_tells_nothing() -> None:
    for ups, downs in ((1, 5), (5, 1)):
        (said,) = compared(*shifted(ups, downs), method="paired-bootstrap").reasons
        assert said.text.startswith("inconclusive")
        assert " 0 to 1)" in said.text or "-1 to 0)" in said.text


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (
            "sign-test",
            "regressed: of 8 paired tasks 0 went up and 8 down"
            " (exact test, p = 0.007812, alpha 0.05)",
        ),
        (
            "paired-bootstrap",
            "regressed: of 8 paired tasks 0 went up and 8 down (bootstrap of the mean, -1 to -1)",
        ),
    ],
)
def test_a_verdict_says_why(method: MethodName, said: str) -> None:
    assert compared(*shifted(0, 8), method=method).reasons == (Reason("regressed", said),)


SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.7, 1.0]), min_size=1, max_size=12)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)
@given(SCORES)
def test_r48_identical_runs_are_unchanged(method: MethodName, scores: list[float]) -> None:
    assert compared(scores, scores, method=method).regression.verdict == "unchanged"


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])),
        min_size=1,
        max_size=10,
    )
)
def test_r48_swapping_the_runs_swaps_the_verdict(
    method: MethodName, pairs: list[tuple[float, float]]
) -> None:
    now, before = [list(side) for side in zip(*pairs, strict=True)]
    opposite = {"improved": "regressed", "regressed": "improved"}

    one = compared(now, before, method=method).regression.verdict
    other = compared(before, now, method=method).regression.verdict

    if method != "paired-bootstrap":  # whose draws are the same, not mirrored
        assert other == opposite.get(str(one), one)
    assert (one == "unchanged") == (other == "unchanged")


def test_the_bootstrap_gives_the_same_every_time_everywhere() -> None:
    now, before = [0.1 * (at % 10) for at in range(2000)], [0.1 * (at % 7) for at in range(2000)]
    began = time.process_time()

    found = compared(now, before, method="paired-bootstrap")

    assert time.process_time() - began < 20
    assert found.reasons[0].text == (
        "improved: of 2000 paired tasks 1199 went up and 598 down"
        " (bootstrap of the mean, 0.1348 to 0.1663)"
    )
    assert compared(
        [0.5] * 3 + [1.0] * 9, [0.4] * 3 + [0.9] * 6 + [1.0] * 3, method="paired-bootstrap"
    ).reasons[0].text == (
        "improved: of 12 paired tasks 9 went up and 0 down (bootstrap of the mean, 0.05 to 0.1)"
    )
