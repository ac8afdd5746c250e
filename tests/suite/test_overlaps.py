"""Recorded calls that ran at the same time."""

from typing import Any

import pytest

from sidecar.suite.calls import Span, recorded_calls
from sidecar.suite.loosening import IgnoredArgument, loosened
from sidecar.suite.overlaps import overlap_remarks
from sidecar.suite.wanted import Remark, Wanted
from tests.suite.recordings import call


def said(*calls: tuple[str, Any, Span | None], **wanted: Any) -> list[str]:
    """What is said of calls: tool, arguments, when they began and ended."""
    found = recorded_calls(
        [call(tool, arguments) for tool, arguments, _ in calls], [span for *_, span in calls]
    )
    chosen = Wanted("a-task", **wanted)
    expected = [loosened(one.arguments, chosen.ignored) for one in found]
    remarks = list(overlap_remarks(found, expected, chosen))
    assert {remark.code for remark in remarks} <= {"parallel"}
    return [remark.text.partition(" ran at")[0] for remark in remarks]


A, B = ("a:x", {"n": 1}), ("a:x", {"n": 2})
C: tuple[str, dict[str, int]] = ("b:y", {})


@pytest.mark.parametrize(
    ("spans", "groups"),
    [
        pytest.param([(0, 1), (2, 3), (4, 5)], [], id="one after the other"),
        pytest.param([(0, 2), (2, 3), (3, 5)], [], id="end and beginning at once"),
        pytest.param([(0, 3), (2, 4), (5, 6)], ["call 1 (a:x) and call 2 (a:x)"], id="two"),
        pytest.param(
            [(0, 9), (2, 3), (4, 5)], ["call 1 (a:x), call 2 (a:x) and call 3 (b:y)"], id="three"
        ),
        pytest.param(
            [(0, 3), (2, 5), (4, 6)], ["call 1 (a:x), call 2 (a:x) and call 3 (b:y)"], id="a chain"
        ),
        pytest.param([(0, 3), None, (2, 4)], ["call 1 (a:x) and call 3 (b:y)"], id="one unknown"),
        pytest.param([None, None, None], [], id="no time is known"),
    ],
)
def test_calls_that_overlap_are_named(spans: list[Span | None], groups: list[str]) -> None:
    calls = [(*one, span) for one, span in zip([A, B, C], spans, strict=True)]

    assert said(*calls) == groups


def test_each_group_is_named_by_itself_and_many_are_counted() -> None:
    together = [("a:x", {"n": n}, (0, 5)) for n in range(7)]

    assert said(*together, (*A, (6, 8)), (*C, (7, 9))) == [
        "call 1 (a:x), call 2 (a:x), call 3 (a:x), call 4 (a:x), call 5 (a:x) and 2 more",
        "call 8 (a:x) and call 9 (b:y)",
    ]


def test_equal_calls_may_change_places() -> None:
    ignored = (IgnoredArgument("a:x", "/n"),)

    assert said((*A, (0, 3)), (*A, (1, 2))) == []
    assert said((*A, (0, 3)), (*B, (1, 2)), ignored=ignored) == []


@pytest.mark.parametrize(
    ("trajectory", "count"),
    [("in-order", 1), ("exact", 1), ("any-order", 0), ("subset", 0), (None, 0)],
)
def test_only_a_path_with_an_order_is_warned_of(trajectory: Any, count: int) -> None:
    assert len(said((*A, (0, 3)), (*B, (1, 2)), trajectory=trajectory)) == count


def test_the_warning_says_what_to_do() -> None:
    found = recorded_calls([call(*A), call(*C)], [(0, 3), (1, 2)])
    expected = [loosened(one.arguments, ()) for one in found]

    assert list(overlap_remarks(found, expected, Wanted("a-task"))) == [
        Remark(
            "parallel",
            "call 1 (a:x) and call 2 (b:y) ran at the same time, so another run may make them in "
            "another order, and fail; --trajectory any-order does not compare the order",
        )
    ]
