"""Paths: the four modes, forbidden tools, counts, and the peers' cases."""

import itertools
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.cassette.arguments import ABSENT
from sidecar.grading.candidates import ObservedCall
from sidecar.grading.matching import NONE
from sidecar.grading.trajectory import TrajectoryGrader, TrajectoryVerdict
from sidecar.suite.model import ExpectedCall, Trajectory, TrajectoryMode
from tests.grading.peer_cases import PEER_CASES

MODES: tuple[TrajectoryMode, ...] = get_args(TrajectoryMode)

Call = Any  # "A" | ("A", args) | ("A", args, argsMatch)


def expected(call: Call) -> ExpectedCall:
    if isinstance(call, str):
        return ExpectedCall(tool=call)
    tool, args, how = call
    return ExpectedCall(tool=tool, args=args, args_match=how)


def observed(call: Call) -> ObservedCall:
    tool, inputs = (call, {}) if isinstance(call, str) else call
    return ObservedCall(tool, inputs)


def verdict(
    mode: TrajectoryMode, calls: list[Call], seen: list[Call], forbidden: tuple[str, ...] = ()
) -> TrajectoryVerdict:
    trajectory = Trajectory(match=mode, calls=tuple(map(expected, calls)), forbidden=forbidden)
    return TrajectoryGrader(trajectory).grade([observed(call) for call in seen])


def counts(found: TrajectoryVerdict) -> str:
    of = found.counts
    return f"{of.expected_count}/{of.observed_count}/{of.matched_count}/{of.forbidden_count}"


X1, X2 = ("A", {"x": 1}, "exact"), ("A", {"x": 2})
REFUND = ("B", {"amountMinor": 4200}, "subset")
ROWS = [
    ("T1", "exact", ["A", "B"], ["A", "B"], (), True, "2/2/2/0"),
    ("T2", "exact", ["A", "B"], ["A", "B", "X"], (), False, "2/3/2/0"),
    ("T3", "exact", ["A", "B"], ["B", "A"], (), False, "2/2/2/0"),
    ("T4", "in-order", ["A", "B"], ["A", "X", "B"], (), True, "2/3/2/0"),
    ("T5", "in-order", ["A", "B"], ["B", "A"], (), False, "2/2/2/0"),
    ("T6", "in-order", ["A", "A"], ["A"], (), False, "2/1/1/0"),
    (
        "T7 the RFC's sample block",
        "in-order",
        ["A", REFUND],
        ["A", "F", ("B", {"amountMinor": 9900})],
        ("F",),
        False,
        "2/3/1/1",
    ),
    (
        "T8 G01 first-fit would fail",
        "any-order",
        ["A", X1],
        [("A", {"x": 1}), X2],
        (),
        True,
        "2/2/2/0",
    ),
    ("T9", "any-order", ["A", "A"], ["A", "X"], (), False, "2/2/1/0"),
    ("T10", "subset", ["A"], ["A", "A", "A"], (), True, "1/3/1/0"),
    ("T11", "subset", ["A"], [], (), True, "1/0/0/0"),
    ("T12", "subset", ["A"], ["A", "X"], (), False, "1/2/1/0"),
    ("T13", "subset", [X1], [X2], (), False, "1/1/0/0"),
    ("T14", "in-order", ["A"], ["A", "F"], ("F",), False, "1/2/1/1"),
    ("T15", "any-order", ["A"], ["F", "A", "F"], ("F",), False, "1/3/1/2"),
    ("T16 R9 nothing", "exact", [], [], (), True, "0/0/0/0"),
    ("T16 R9 something", "exact", [], ["A"], (), False, "0/1/0/0"),
    ("T17 R9 in-order", "in-order", [], ["X"], (), True, "0/1/0/0"),
    ("T17 R9 any-order", "any-order", [], ["X"], (), True, "0/1/0/0"),
    ("T18 R9", "subset", [], ["X"], (), False, "0/1/0/0"),
    ("T19", "exact", [X1], [X2], (), False, "1/1/0/0"),
]


@pytest.mark.parametrize(
    ("mode", "calls", "seen", "forbidden", "matched", "said"),
    [pytest.param(*row[1:], id=f"R8 R11 {row[0]}") for row in ROWS],
)
def test_a_path_is_graded_as_the_table_says(  # noqa: PLR0913  # a table's columns
    mode: TrajectoryMode, calls: Any, seen: Any, forbidden: Any, *, matched: bool, said: str
) -> None:
    found = verdict(mode, calls, seen, forbidden)

    assert (found.matched, counts(found)) == (matched, said)
    assert not found.indeterminate
    assert found.reasons


def with_delegate(*, include: bool) -> TrajectoryVerdict:
    trajectory = Trajectory(
        match="in-order",
        calls=(ExpectedCall(tool="A"),),
        forbidden=("F",),
        include_delegates=include,
    )
    grader = TrajectoryGrader(trajectory)
    seen = [ObservedCall("A", {}, "target"), ObservedCall("F", {}, "delegate")]
    return grader.grade(grader.observed(seen, "target"))


@pytest.mark.parametrize(
    ("include", "matched", "said"),
    [
        pytest.param(False, True, "1/1/1/0", id="T20 R1 R10 the target's own calls"),
        pytest.param(True, False, "1/2/1/1", id="T20 R1 R10 with delegates"),
    ],
)
def test_delegates_count_where_the_suite_says_so(
    *, include: bool, matched: bool, said: str
) -> None:
    found = with_delegate(include=include)

    assert (found.matched, counts(found)) == (matched, said)


@pytest.mark.parametrize(
    ("seen", "wanted", "exact", "in_order", "any_order", "subset", "matched"),
    [pytest.param(*row[1:], id=row[0]) for row in PEER_CASES],
)
@pytest.mark.parametrize("which", [0, 1, 2], ids=["args exact", "args ignore", "args subset"])
def test_the_peers_cases_are_graded_as_the_rfc_says(  # noqa: PLR0913, PLR0917  # a table's columns
    seen: Any,
    wanted: Any,
    exact: str,
    in_order: str,
    any_order: str,
    subset: str,
    matched: str,
    which: int,
) -> None:
    how = ("exact", "ignore", "subset")[which]
    calls = [(*call, how) if isinstance(call, tuple) else call for call in wanted]
    said = zip(MODES, (exact, in_order, any_order, subset), strict=True)

    for mode, column in said:
        found = verdict(mode, calls, seen)
        assert found.matched == (column[which % len(column)] == "1"), mode
        assert found.counts.matched_count == int(matched[which % len(matched)])


@pytest.mark.parametrize(
    ("wanted", "seen", "by_mode"),
    [
        pytest.param([], [], "1111", id="nothing of nothing"),
        pytest.param(["A"], [], "0001", id="nothing of something"),
        pytest.param([], ["A"], "0110", id="something of nothing"),
        pytest.param(["A"], ["A"], "1111", id="something of something"),
    ],
)
def test_g05_r9_empty_sides_are_graded_without_a_division(
    wanted: Any, seen: Any, by_mode: str
) -> None:
    assert "".join(str(int(verdict(mode, wanted, seen).matched)) for mode in MODES) == by_mode


def test_g01_matching_does_not_depend_on_the_order_of_either_side() -> None:
    wanted = [("book", {"a": 1}, "subset"), ("book", {"a": 1, "b": 2}, "subset")]
    seen = [("book", {"a": 1, "b": 2}), ("book", {"a": 1, "c": 3})]

    for calls in itertools.permutations(wanted):
        for made in itertools.permutations(seen):
            assert verdict("any-order", list(calls), list(made)).matched


def test_g02_equal_calls_count_each() -> None:
    wanted = [("s", {"x": 1}, "exact")] * 2

    assert verdict("any-order", wanted, [("s", {"x": 1})] * 2).matched
    assert not verdict("any-order", wanted, [("s", {"x": 1})]).matched


def test_g04_extra_calls_are_free_only_where_the_mode_says_so() -> None:
    seen = ["a", "delete_all"]

    assert [verdict(mode, ["a"], seen).matched for mode in MODES] == [False, True, True, False]
    assert [verdict(mode, ["a"], seen, ("delete_all",)).matched for mode in MODES] == [False] * 4


def test_g16_subset_of_calls_and_subset_of_arguments_are_two_things() -> None:
    assert not verdict("subset", ["A"], ["A", "B"]).matched
    assert verdict("subset", ["A"], []).matched

    loose = ("A", {"x": 1}, "subset")
    assert verdict("exact", [loose], [("A", {"x": 1, "more": 2})]).matched
    assert not verdict("exact", [loose], [("A", {})]).matched


def test_g16_arguments_without_args_match_are_not_compared() -> None:
    call = ExpectedCall(tool="A", args={"x": 1})
    grader = TrajectoryGrader(Trajectory(match="exact", calls=(call,)))

    assert grader.grade([observed(("A", {"x": 2}))]).matched


def test_t11_digits_in_a_name_are_part_of_the_name() -> None:
    names = ["a:top", "a:top_5", "a:top_50", "a:pass@1x"]

    for wanted, seen in itertools.product(names, names):
        assert verdict("exact", [wanted], [seen]).matched is (wanted == seen)
        assert verdict("in-order", [], [seen], (wanted,)).matched is (wanted != seen)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("calls", [["A"], []])
def test_r10_a_forbidden_call_fails_every_mode(mode: TrajectoryMode, calls: Any) -> None:
    found = verdict(mode, calls, ["A", ("F", {"any": "args"}), "F"], ("F", "G"))

    assert not found.matched
    assert found.counts.forbidden_count == 2


def test_v9_a_tool_expected_and_forbidden_passes_only_in_subset_uncalled() -> None:
    assert verdict("subset", ["A"], [], ("A",)).matched
    assert not verdict("subset", ["A"], ["A"], ("A",)).matched
    assert not verdict("in-order", ["A"], ["A"], ("A",)).matched
    assert not verdict("in-order", ["A"], [], ("A",)).matched


@pytest.mark.parametrize(
    ("mode", "seen", "matched", "indeterminate"),
    [
        pytest.param("exact", [("A", ABSENT)], False, True, id="R5f it depends on them"),
        pytest.param(
            "in-order", [("A", {"x": 1}), ("A", ABSENT)], True, False, id="R5f it does not"
        ),
        pytest.param("any-order", [("A", ABSENT), "B"], False, True, id="R5f any-order"),
        pytest.param("subset", [("A", ABSENT)], False, True, id="R5f subset"),
        pytest.param("exact", [("A", ABSENT), "B"], False, False, id="R5f too many calls anyway"),
        pytest.param("exact", [("B", ABSENT)], False, False, id="R5f another tool anyway"),
        pytest.param("in-order", [("A", ABSENT), "F"], False, False, id="R5f forbidden anyway"),
    ],
)
def test_withheld_arguments_are_unknown_where_they_decide(
    mode: TrajectoryMode, seen: Any, *, matched: bool, indeterminate: bool
) -> None:
    found = verdict(mode, [X1], seen, ("F",))

    assert (found.matched, found.indeterminate) == (matched, indeterminate)


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["A", "B"]),
        st.sampled_from([{}, {"x": 1}, {"x": 2}, {"x": 1, "y": 2}]),
        st.sampled_from(["exact", "subset", "ignore"]),
    ),
    max_size=5,
)
SEEN = st.lists(
    st.tuples(st.sampled_from(["A", "B", "C"]), st.sampled_from([{}, {"x": 1}, {"x": 1, "y": 2}])),
    max_size=5,
)


@given(CALLS, SEEN, st.randoms(use_true_random=False))
def test_r8_any_order_is_invariant_under_permuting_either_side(
    calls: list[Call], seen: list[Call], random: Any
) -> None:
    other_calls, other_seen = list(calls), list(seen)
    random.shuffle(other_calls)
    random.shuffle(other_seen)

    one, other = verdict("any-order", calls, seen), verdict("any-order", other_calls, other_seen)

    assert one.counts == other.counts


@given(CALLS, SEEN)
def test_r11_the_matched_count_is_that_of_brute_force_in_every_mode(
    calls: list[Call], seen: list[Call]
) -> None:
    fits = [
        [place for place, made in enumerate(seen) if verdict("exact", [call], [made]).matched]
        for call in calls
    ]
    best = max(
        sum(place != NONE for place in chosen)
        for chosen in itertools.product(*([NONE, *places] for places in fits))
        if len(set(chosen) - {NONE}) == sum(place != NONE for place in chosen)
    )

    assert {verdict(mode, calls, seen).counts.matched_count for mode in MODES} == {best}


@given(CALLS, SEEN)
def test_r8_the_modes_imply_each_other_as_their_definitions_do(
    calls: list[Call], seen: list[Call]
) -> None:
    matched = {mode: verdict(mode, calls, seen).matched for mode in MODES}

    assert matched["exact"] <= matched["in-order"] <= matched["any-order"]
    assert matched["exact"] <= matched["subset"]
    assert matched["exact"] == (matched["in-order"] and len(calls) == len(seen))


@given(CALLS, SEEN, st.tuples(st.sampled_from(["A", "C"]), st.just({"x": 1})), st.integers(0, 5))
def test_r8_an_extra_call_never_helps_exact_nor_hurts_in_order(
    calls: list[Call], seen: list[Call], extra: Call, at: int
) -> None:
    more = [*seen[:at], extra, *seen[at:]]

    if verdict("exact", calls, seen).matched:
        assert not verdict("exact", calls, more).matched
    for mode in ("in-order", "any-order"):
        assert verdict(mode, calls, seen).matched <= verdict(mode, calls, more).matched
    assert verdict("subset", calls, more).matched <= verdict("subset", calls, seen).matched


@given(CALLS, SEEN, st.sampled_from(MODES))
def test_r10_forbidding_a_tool_never_helps(
    calls: list[Call], seen: list[Call], mode: TrajectoryMode
) -> None:
    assert verdict(mode, calls, seen, ("C",)).matched <= verdict(mode, calls, seen).matched


@given(CALLS, SEEN, st.sampled_from(MODES))
def test_every_verdict_has_a_reason(
    calls: list[Call], seen: list[Call], mode: TrajectoryMode
) -> None:
    assert verdict(mode, calls, seen, ("C",)).reasons


def test_r8_a_later_call_of_the_path_needs_a_later_call_of_its_own() -> None:
    found = verdict("in-order", ["A", "B", "B"], ["A", "B"])

    assert (found.matched, found.counts.matched_count) == (False, 2)


def test_r5f_withheld_arguments_might_match_in_another_order() -> None:
    wanted = [("A", {"x": 1}, "exact"), "B"]

    found = verdict("any-order", wanted, ["B", ("A", ABSENT)])

    assert (found.matched, found.indeterminate) == (False, True)
