"""Reasons: step, tool, pointer, expected and seen, in words, and never the wrong way round."""

from typing import Any

import pytest

from sidecar.cassette.arguments import ABSENT
from sidecar.grading.candidates import ObservedCall
from sidecar.grading.reasons import Reason
from sidecar.grading.trajectory import TrajectoryGrader
from sidecar.suite.model import ExpectedCall, Trajectory, TrajectoryMode
from tests.grading import told

Call = Any


def reasons(
    mode: TrajectoryMode, calls: list[Call], seen: list[Call], forbidden: tuple[str, ...] = ()
) -> tuple[Reason, ...]:
    expected = tuple(
        ExpectedCall(tool=call)
        if isinstance(call, str)
        else ExpectedCall(tool=call[0], args=call[1], args_match=call[2])
        for call in calls
    )
    made = [
        ObservedCall(call, {}) if isinstance(call, str) else ObservedCall(*call) for call in seen
    ]
    trajectory = Trajectory(match=mode, calls=expected, forbidden=forbidden)
    return TrajectoryGrader(trajectory).grade(made).reasons


def texts(*args: Any, **more: Any) -> list[str]:
    return told.texts(reasons(*args, **more))


REFUND = ("billing:refund", {"amountMinor": 4200, "to": {"iban": "X"}}, "subset")


def test_g15_a_differing_argument_is_named_with_step_tool_pointer_expected_and_seen() -> None:
    seen = [
        "crm:lookup",
        "crm:lookup",
        ("billing:refund", {"amountMinor": 9900, "to": {"iban": "X"}}),
    ]

    (reason,) = reasons("in-order", ["crm:lookup", REFUND], seen)

    assert reason == Reason(
        "arguments-differ",
        "step 3 (billing:refund): argument /amountMinor was 9900, expected 4200",
        step=3,
        tool="billing:refund",
        pointer="/amountMinor",
        expected="4200",
        seen="9900",
    )


@pytest.mark.parametrize(
    ("mode", "calls", "seen", "said"),
    [
        pytest.param(
            "exact",
            ["A", "B"],
            ["A", "C"],
            ["step 2 called C, expected B"],
            id="another tool",
        ),
        pytest.param(
            "exact",
            ["A", "B"],
            ["A"],
            ["1 calls were made, 2 expected: expected call 2 (B) was not made"],
            id="too few",
        ),
        pytest.param(
            "exact",
            ["A"],
            ["A", "A"],
            ["2 calls were made, 1 expected: step 2 (A) is beyond them"],
            id="G04 too many",
        ),
        pytest.param(
            "exact",
            ["A", "B"],
            ["X", "A", "B"],
            [
                "step 1 called X, expected A",
                "3 calls were made, 2 expected: step 3 (B) is beyond them",
            ],
            id="one too many, at the front",
        ),
        pytest.param(
            "exact",
            [("A", {"o": {"a": [1, 2]}}, "exact")],
            [("A", {"o": {"a": [1, 3]}, "z": 0})],
            [
                "step 1 (A): argument /o/a/1 was 3, expected 2;"
                " argument /z was 0, expected no such argument"
            ],
            id="G15 nested, and one that is too much",
        ),
        pytest.param(
            "exact",
            ["A", "B", "C"],
            ["A", "B", "X"],
            ["step 3 called X, expected C"],
            id="only the first that is another",
        ),
        pytest.param(
            "in-order",
            ["A", "B", "A"],
            ["A", "X", "B"],
            [
                "expected call 3 (A) came too early, at step 1: it has to come after step 3 (B),"
                " which answers expected call 2"
            ],
            id="the order counts from the last call that answers",
        ),
        pytest.param(
            "in-order",
            ["A", "B", "C"],
            ["A", "B", "A"],
            ["expected call 3 (C) was not made"],
            id="the earliest call answers",
        ),
        pytest.param(
            "any-order",
            ["B", "A", "B", "C"],
            ["B"],
            [
                "expected call 2 (A) was not made",
                "expected call 3 (B) has no call of its own:"
                " step 1 (B) already answers expected call 1",
                "expected call 4 (C) was not made",
            ],
            id="all that have no call are named",
        ),
        pytest.param(
            "subset",
            ["A", "B"],
            ["A", "B", "X"],
            ["step 3 called X, which no expected call allows"],
            id="subset, only what no call allows",
        ),
        pytest.param(
            "in-order",
            ["A", "B"],
            ["B", "A"],
            [
                "expected call 2 (B) came too early, at step 1: it has to come after step 2 (A),"
                " which answers expected call 1"
            ],
            id="the wrong order",
        ),
        pytest.param(
            "in-order",
            ["A", "B"],
            ["A"],
            ["expected call 2 (B) was not made"],
            id="never made",
        ),
        pytest.param(
            "in-order",
            ["A", "A"],
            ["A"],
            [
                "expected call 2 (A) has no call of its own:"
                " step 1 (A) already answers expected call 1"
            ],
            id="made once instead of twice",
        ),
        pytest.param(
            "in-order",
            [("A", {"x": 1}, "exact")],
            [("A", {"x": "1"})],
            ['step 1 (A): argument /x was "1", expected 1'],
            id="G09 text for a number",
        ),
        pytest.param(
            "in-order",
            [("A", {"x": 1}, "exact")],
            [("A", {"x": True})],
            ["step 1 (A): argument /x was true, expected 1"],
            id="G10 a boolean for a number",
        ),
        pytest.param(
            "in-order",
            ["B", ("A", {"x": 1}, "exact")],
            [("A", {"x": 2}), "B"],
            ["step 1 (A): argument /x was 2, expected 1"],
            id="near, but too early",
        ),
        pytest.param(
            "in-order",
            [("A", {"x": 1, "y": 1}, "exact")],
            [("A", {"x": 2, "y": 2}), ("A", {"x": 1, "y": 3})],
            ["step 2 (A): argument /y was 3, expected 1"],
            id="the nearest call is named",
        ),
        pytest.param(
            "in-order",
            [("A", {"x": 1}, "subset")],
            [("A", {})],
            ["step 1 (A): argument /x is missing, expected 1"],
            id="a missing argument",
        ),
        pytest.param(
            "in-order",
            [("A", {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}, "subset")],
            [("A", {})],
            [
                "step 1 (A): argument /a is missing, expected 1;"
                " argument /b is missing, expected 1; argument /c is missing, expected 1;"
                " and 2 more differences"
            ],
            id="many differences",
        ),
        pytest.param(
            "in-order",
            [("A", [1], "exact")],
            [("A", {})],
            ["step 1 (A): all of it was {}, expected [1]"],
            id="the whole arguments",
        ),
        pytest.param(
            "in-order",
            [("A", {"x": 1}, "subset")],
            ["B"],
            ['expected call 1 (A with at least {"x":1}) was not made'],
            id="what was asked for",
        ),
        pytest.param(
            "in-order",
            [("A", {"x": 1}, "exact")],
            ["B"],
            ['expected call 1 (A with {"x":1}) was not made'],
            id="what was asked for exactly",
        ),
        pytest.param(
            "any-order",
            ["A", "A"],
            ["A", "X"],
            [
                "expected call 2 (A) has no call of its own:"
                " step 1 (A) already answers expected call 1"
            ],
            id="G02 one call for two",
        ),
        pytest.param(
            "any-order",
            ["A", "B"],
            ["B"],
            ["expected call 1 (A) was not made"],
            id="any-order",
        ),
        pytest.param(
            "any-order",
            [("A", {"x": 1}, "exact"), ("A", {"x": 2}, "exact")],
            [("A", {"x": 1}), ("A", {"x": 3})],
            ["step 2 (A): argument /x was 3, expected 2"],
            id="a call that answers none is nearest",
        ),
        pytest.param(
            "subset",
            ["A"],
            ["A", "X"],
            ["step 2 called X, which no expected call allows"],
            id="subset, another tool",
        ),
        pytest.param(
            "subset",
            [("A", {"x": 1}, "exact"), ("A", {"x": 1, "y": 2}, "exact")],
            [("A", {"x": 1, "y": 3})],
            ["step 1 (A): argument /y was 3, expected no such argument"],
            id="subset, the nearest",
        ),
        pytest.param(
            "exact",
            [("A", {"x": 1}, "exact")],
            [("A", ABSENT)],
            [
                "the arguments of step 1 (A) cannot be read from the log:"
                " whether they match is unknown"
            ],
            id="R5f withheld",
        ),
        pytest.param(
            "any-order",
            [("A", {"x": 1}, "subset"), ("C", {"x": 1}, "ignore")],
            ["C", ("B", ABSENT), ("A", ABSENT), ("C", ABSENT), ("A", {"x": 2}), ("A", ABSENT)],
            [
                "the arguments of step 3 (A) cannot be read from the log:"
                " whether they match is unknown",
                "the arguments of step 6 (A) cannot be read from the log:"
                " whether they match is unknown",
            ],
            id="R5f only what is compared is missed",
        ),
        pytest.param(
            "exact",
            [("A", {"x": 1}, "exact")],
            [("A", ABSENT), "B"],
            [
                "the arguments of step 1 (A) cannot be read from the log",
                "2 calls were made, 1 expected: step 2 (B) is beyond them",
            ],
            id="R5f withheld, and too many calls",
        ),
        pytest.param(
            "in-order",
            [("A", {"x": 1}, "exact"), ("A", {"x": 2}, "exact")],
            [("A", {"x": 1})],
            ['expected call 2 (A with {"x":2}) was not made'],
            id="in-order, a call that answers another is no wrong answer",
        ),
        pytest.param(
            "in-order",
            ["A\n\x1b[31m"],
            [],
            ["expected call 1 (A\\n\\u001b[31m) was not made"],
            id="R47 a recorded name cannot break the line",
        ),
    ],
)
def test_a_path_that_does_not_fit_says_why(
    mode: TrajectoryMode, calls: Any, seen: Any, said: list[str]
) -> None:
    assert texts(mode, calls, seen) == said


@pytest.mark.parametrize(
    ("mode", "calls", "seen", "said"),
    [
        ("exact", ["A", "B"], ["A", "B"], "exactly the expected calls were made, in order: 2 of 2"),
        ("in-order", ["A"], ["A", "X"], "all 1 expected calls were made, in order, among 2 calls"),
        ("any-order", ["A"], ["A"], "all 1 expected calls were made, in any order, among 1 calls"),
        ("subset", ["A"], [], "none of 0 calls was beyond the 1 expected ones"),
    ],
)
def test_a_path_that_fits_says_so(mode: TrajectoryMode, calls: Any, seen: Any, said: str) -> None:
    assert texts(mode, calls, seen) == [said]


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        pytest.param(
            ["A"],
            [
                "all 1 expected calls were made, in order, among 1 calls",
                "no forbidden tool was called",
            ],
            id="G14 matched, not hit",
        ),
        pytest.param(
            ["A", "F"],
            [
                "step 2 called F, which is forbidden",
                "all 1 expected calls were made, in order, among 2 calls",
            ],
            id="G14 matched, hit",
        ),
        pytest.param(["X"], ["expected call 1 (A) was not made"], id="G14 not matched, not hit"),
        pytest.param(
            ["F"],
            ["step 1 called F, which is forbidden", "expected call 1 (A) was not made"],
            id="G14 not matched, hit",
        ),
    ],
)
def test_g14_forbidden_and_path_are_told_apart(seen: Any, said: list[str]) -> None:
    assert texts("in-order", ["A"], seen, ("F",)) == said


def test_only_the_first_few_reasons_are_given() -> None:
    assert len(reasons("any-order", [f"T{at}" for at in range(50)], [])) == 5
    assert len(reasons("subset", [], ["X"] * 50)) == 5
    assert len(reasons("in-order", [], ["F"] * 50, ("F",))) == 6


def test_the_agreement_beside_a_forbidden_hit_is_no_pass() -> None:
    codes = told.codes(reasons("in-order", ["A"], ["A", "F"], ("F",)))

    assert codes == ["forbidden", "path-matched"]


def test_p02_a_mask_that_an_author_copied_into_an_expectation_is_explained() -> None:
    login = ("shop:login", {"key": "[REDACTED:1]"}, "exact")

    (text,) = texts("in-order", [login], [("shop:login", {"key": "hunter2"})])

    assert text == (
        'step 1 (shop:login): argument /key was "hunter2", expected "[REDACTED]"'
        " (masked in the recording: leave it out of the expectation)"
    )
