"""Why a path does not fit its mode: which call, which argument, expected and seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, assert_never

from sidecar.cassette.arguments import Absent, Difference, differences
from sidecar.grading.candidates import CallIndex, Compiled, ObservedCall
from sidecar.grading.matching import NONE, bits
from sidecar.grading.reasons import Reason, differing, named, shown
from sidecar.suite.model import Trajectory

_MAX_REASONS = 5
_NEAREST_OF = 50  # calls that are compared to name the nearest; bounds the cost of a failure


class Comparison(NamedTuple):
    """What an explanation is made from.

    Attributes:
        expected: The expected trajectory.
        calls: Its calls, compiled.
        seen: The observed calls.
        columns: A maximum matching: of each expected call its observed one, or `NONE`.
        unknown: Whether the path would fit if withheld arguments matched.
    """

    expected: Trajectory
    calls: Sequence[Compiled]
    seen: CallIndex
    columns: Sequence[int]
    unknown: bool


def explain(path: Comparison) -> list[Reason]:
    """Say why the calls do not fit; at least one reason, at most a handful."""
    if path.unknown:
        return _withheld(path)
    match path.expected.match:
        case "exact":
            found = _exact(path)
        case "in-order":
            found = _in_order(path)
        case "any-order":
            found = _any_order(path)
        case "subset":
            found = _subset(path)
        case _:
            assert_never(path.expected.match)
    return [reason for reason, _ in zip(found, range(_MAX_REASONS), strict=False)]


def _withheld(path: Comparison) -> list[Reason]:
    compared = {call.tool for call in path.calls if call.matching != "ignore"}
    return [
        Reason(
            "withheld",
            f"the arguments of {_step(place, call)} cannot be read from the log:"
            " whether they match is unknown",
            step=place + 1,
            tool=call.tool,
        )
        for place, call in enumerate(path.seen.observed)
        if call.tool in compared and path.seen.text(place) is None
    ][:_MAX_REASONS]


def _exact(path: Comparison) -> Iterator[Reason]:
    observed, calls = path.seen.observed, path.calls
    for place, call in enumerate(calls[: len(observed)]):
        if not _sure(path, place) >> place & 1:
            yield _instead(path, place, call)
            break
    if len(observed) > len(calls):
        extra = observed[len(calls)]
        yield Reason(
            "unexpected-call",
            f"{len(observed)} calls were made, {len(calls)} expected:"
            f" {_step(len(calls), extra)} is beyond them",
            step=len(calls) + 1,
            tool=extra.tool,
        )
    elif len(observed) < len(calls):
        yield Reason(
            "missing-call",
            f"{len(observed)} calls were made, {len(calls)} expected:"
            f" {_wanted(path, len(observed))} was not made",
            tool=calls[len(observed)].tool,
        )


def _instead(path: Comparison, place: int, call: Compiled) -> Reason:
    seen = path.seen.observed[place]
    if seen.tool == call.tool:
        return _differs(path, place, call, _compared(path, place, call))
    return Reason(
        "other-call",
        f"step {place + 1} called {named(seen.tool)}, expected {_described(call)}",
        step=place + 1,
        tool=seen.tool,
        expected=call.tool,
        seen=seen.tool,
    )


def _in_order(path: Comparison) -> Iterator[Reason]:
    after = 0
    taken: set[int] = set()
    for number in range(len(path.calls)):
        sure = _sure(path, number)
        rest = sure >> after
        if not rest:
            yield _not_after(path, number, after, taken)
            return
        after += (rest & -rest).bit_length()
        taken.add(after - 1)


def _not_after(path: Comparison, number: int, after: int, taken: set[int]) -> Reason:
    call = path.calls[number]
    sure = _sure(path, number)
    if sure:
        early = max(bits(sure))
        last = path.seen.observed[after - 1]
        if early == after - 1:
            return _taken(path, number, early, number)
        return Reason(
            "out-of-order",
            f"{_wanted(path, number)} came too early, at step {early + 1}: it has to come"
            f" after {_step(after - 1, last)}, which answers expected call {number}",
            step=early + 1,
            tool=call.tool,
        )
    nearest = _nearest(path, call, range(after, len(path.seen.observed)))
    # A call that answers another expected one is no wrong answer to this one.
    skipped = [place for place in range(after) if place not in taken]
    return nearest or _nearest(path, call, skipped) or _never(path, number)


def _any_order(path: Comparison) -> Iterator[Reason]:
    taken_by = {column: number for number, column in enumerate(path.columns)}
    for number, column in enumerate(path.columns):
        if column != NONE:
            continue
        sure = _sure(path, number)
        if sure:
            place = next(bits(sure))
            yield _taken(path, number, place, taken_by[place] + 1)
            continue
        free = [place for place in range(len(path.seen.observed)) if place not in taken_by]
        yield _nearest(path, path.calls[number], free) or _never(path, number)


def _taken(path: Comparison, number: int, place: int, by: int) -> Reason:
    return Reason(
        "call-taken",
        f"{_wanted(path, number)} has no call of its own:"
        f" {_step(place, path.seen.observed[place])} already answers expected call {by}",
        step=place + 1,
        tool=path.calls[number].tool,
    )


def _subset(path: Comparison) -> Iterator[Reason]:
    covered = 0
    for number in range(len(path.calls)):
        covered |= _sure(path, number)
    for place, seen in enumerate(path.seen.observed):
        if covered >> place & 1:
            continue
        found = [
            (call, _compared(path, place, call))
            for call in [call for call in path.calls if call.tool == seen.tool][:_NEAREST_OF]
        ]
        if found:
            call, nearest = min(found, key=lambda pair: len(pair[1]))
            yield _differs(path, place, call, nearest)
        else:
            yield Reason(
                "unexpected-call",
                f"step {place + 1} called {named(seen.tool)}, which no expected call allows",
                step=place + 1,
                tool=seen.tool,
            )


def _sure(path: Comparison, number: int) -> int:
    return path.seen.candidates(path.calls[number]).sure


def _compared(path: Comparison, place: int, call: Compiled) -> tuple[Difference, ...]:
    if path.seen.text(place) is None:
        return ()
    return differences(call.matching, call.arguments, path.seen.inputs(place))


def _nearest(path: Comparison, call: Compiled, places: Sequence[int]) -> Reason | None:
    """Name the call of the same tool whose arguments come closest."""
    same = [place for place in places if path.seen.observed[place].tool == call.tool]
    found = [(place, _compared(path, place, call)) for place in same[:_NEAREST_OF]]
    if not found:
        return None
    place, nearest = min(found, key=lambda pair: len(pair[1]))
    return _differs(path, place, call, nearest)


def _differs(path: Comparison, place: int, call: Compiled, found: tuple[Difference, ...]) -> Reason:
    seen = path.seen.observed[place]
    if not found:
        return Reason(
            "withheld",
            f"the arguments of {_step(place, seen)} cannot be read from the log",
            step=place + 1,
            tool=seen.tool,
        )
    first = found[0]
    return Reason(
        "arguments-differ",
        differing(found, _step(place, seen)),
        step=place + 1,
        tool=call.tool,
        pointer=first.pointer,
        expected=None if isinstance(first.expected, Absent) else shown(first.expected),
        seen=None if isinstance(first.seen, Absent) else shown(first.seen),
    )


def _never(path: Comparison, number: int) -> Reason:
    return Reason(
        "missing-call", f"{_wanted(path, number)} was not made", tool=path.calls[number].tool
    )


def _step(place: int, call: ObservedCall) -> str:
    return f"step {place + 1} ({named(call.tool)})"


def _wanted(path: Comparison, number: int) -> str:
    return f"expected call {number + 1} ({_described(path.calls[number])})"


def _described(call: Compiled) -> str:
    if call.matching == "ignore":
        return named(call.tool)
    how = "" if call.matching == "exact" else " at least"
    return f"{named(call.tool)} with{how} {shown(call.arguments)}"
