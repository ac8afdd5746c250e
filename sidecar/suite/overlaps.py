"""Recorded calls that ran at the same time: which of them came first was chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sidecar.suite.calls import RecordedCall
from sidecar.suite.loosening import Loosened
from sidecar.suite.wanted import Remark, Wanted

_SHOWN = 5  # calls that are named; the others are counted


def overlap_remarks(
    calls: Sequence[RecordedCall], expected: Sequence[Loosened], wanted: Wanted
) -> Iterator[Remark]:
    """Warn of calls whose recorded order a good agent need not keep.

    Args:
        calls: The calls, in recorded order.
        expected: What is expected of each one's arguments.
        wanted: What the task should be.
    """
    if wanted.trajectory not in ("in-order", "exact"):
        return
    what = {call.number: (call.tool, one) for call, one in zip(calls, expected, strict=True)}
    for group in _overlapping(calls):
        first = what[group[0].number]
        if all(what[call.number] == first for call in group):
            continue  # they may change places
        yield Remark(
            "parallel",
            f"{_names(group)} ran at the same time, so another run may make them in another "
            "order, and fail; --trajectory any-order does not compare the order",
        )


def _overlapping(calls: Sequence[RecordedCall]) -> Iterator[tuple[RecordedCall, ...]]:
    """Group the calls of which each began before another of its group had ended."""
    timed = sorted(((call.span, call) for call in calls if call.span), key=lambda pair: pair[0])
    group: list[RecordedCall] = []
    end_ns = 0
    for (began_ns, ended_ns), call in timed:
        if group and began_ns >= end_ns:
            if len(group) > 1:
                yield tuple(group)
            group = []
        end_ns = max(end_ns, ended_ns) if group else ended_ns
        group.append(call)
    if len(group) > 1:
        yield tuple(group)


def _names(group: Sequence[RecordedCall]) -> str:
    names = [call.name for call in group]
    if len(names) > _SHOWN:
        return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"
