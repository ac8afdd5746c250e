"""What was found of one era over HTTP, and the lines that say so. Pure.

A line with a limit is a ratio to the bare server, whose calls were made in turns with ours, or
counts wrong answers.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from bench.contestants import DIRECT, OURS
from bench.measures import MICRO, MILLI, Line, median

RECORD, REPLAY = "record", "replay"
"""The sidecar, as a contestant, by what it does."""

SLOWER, REPLAYED, BIGGER, FLAT = 1.25, 1.0, 2.0, 1.1
"""The limits: of a recorded call, a replayed one and a recorded result of 5 MB, over direct
ones; and of the memory at the end of a long stream, over that at its beginning."""

_PYPI, _NPM = "mcp-cassette (PyPI)", "mcp-cassette (npm)"
_CALL_RECORDED = {_PYPI: 11.8, _NPM: 9.4}
_CALL_REPLAYED = {_PYPI: 1.64, _NPM: 1.31}
_BIG_RECORDED = {_PYPI: 5600.0, _NPM: 12_300.0}
_AT_ONCE_RECORDED = {_PYPI: 812.0, _NPM: 544.0}
"""What peers took for the same, milliseconds, in another run."""


class AtOnce(NamedTuple):
    """Calls of many clients at once.

    Attributes:
        took_ns: Until the last answer.
        wrong: How many answers were not the right ones, or were none.
    """

    took_ns: int
    wrong: int


Crowd: TypeAlias = Mapping[str, Sequence[AtOnce]]
"""The same calls of many clients, of each contestant, in each round."""


class OneByOne(NamedTuple):
    """Calls one after the other, of each contestant.

    Attributes:
        small_ns: What each small call took.
        big_ns: What each big result took.
        cpu_ns: Processor time of the sidecar for all small calls.
    """

    small_ns: Mapping[str, Sequence[int]]
    big_ns: Mapping[str, Sequence[int]]
    cpu_ns: Mapping[str, int]


class Size(NamedTuple):
    """How much was asked at once.

    Attributes:
        clients: Those that called at once.
        series: How often each of them called.
        sessions: Those that came at once.
        session_calls: How often each of them called.
        events: Of the long stream.
    """

    clients: int
    series: int
    sessions: int
    session_calls: int
    events: int


class Found(NamedTuple):
    """All that was found of an era.

    Attributes:
        one_by_one: Calls one after the other.
        calling: Clients that were there, and called at once.
        coming: Clients that came at once, called and went.
        growth: What the sidecar held at the end of a long stream, over that at its beginning.
    """

    one_by_one: OneByOne
    calling: Crowd
    coming: Crowd
    growth: float


def lines(section: str, size: Size, found: Found) -> list[Line]:
    """Write what was found of an era."""
    stream = f"{size.events:,} events: memory, last / first"
    return [
        *_one_by_one(section, found.one_by_one),
        *_calling(section, size, found.calling),
        *_coming(section, size, found.coming),
        Line(section, stream, "x", {OURS: found.growth}, limit=FLAT),
    ]


def last_over_first(held: Sequence[int]) -> float:
    """Compare the last quarter of the values with the first one, by their medians."""
    quarter = max(len(held) // 4, 1)
    return median(held[-quarter:]) / median(held[:quarter])


def _one_by_one(section: str, found: OneByOne) -> list[Line]:
    small = {who: median(took) * MILLI for who, took in found.small_ns.items()}
    big = {who: median(took) * MILLI for who, took in found.big_ns.items()}
    cpu = {who: took / len(found.small_ns[who]) * MICRO for who, took in found.cpu_ns.items()}
    return [
        _took(section, "a call, p50", RECORD, small)._replace(elsewhere=_CALL_RECORDED),
        _over_direct(section, "a call, p50", RECORD, small)._replace(limit=SLOWER),
        Line(section, "record, CPU of the proxy, a call", "us", {OURS: cpu[RECORD]}),
        _took(section, "a call, p50", REPLAY, small)._replace(elsewhere=_CALL_REPLAYED),
        _over_direct(section, "a call, p50", REPLAY, small)._replace(limit=REPLAYED),
        Line(section, "replay, CPU of the proxy, a call", "us", {OURS: cpu[REPLAY]}),
        _took(section, "5 MB result", RECORD, big)._replace(elsewhere=_BIG_RECORDED),
        _over_direct(section, "5 MB result", RECORD, big)._replace(limit=BIGGER),
        _took(section, "5 MB result", REPLAY, big),
        _over_direct(section, "5 MB result", REPLAY, big),
    ]


def _calling(section: str, size: Size, found: Crowd) -> list[Line]:
    what = f"{size.clients} calls at once"
    took = {who: value / size.series for who, value in _medians(found).items()}
    return [
        _took(section, what, RECORD, took)._replace(elsewhere=_AT_ONCE_RECORDED),
        _over_direct(section, what, RECORD, took),
        _took(section, what, REPLAY, took),
        _over_direct(section, what, REPLAY, took),
        *_wrong(section, f"{size.clients * size.series:,} such calls", found),
    ]


def _coming(section: str, size: Size, found: Crowd) -> list[Line]:
    what = f"{size.sessions} sessions at once"
    took = _medians(found)
    return [
        _took(section, what, RECORD, took),
        _over_direct(section, what, RECORD, took),
        _took(section, what, REPLAY, took),
        _over_direct(section, what, REPLAY, took),
        *_wrong(section, f"{size.sessions * size.session_calls:,} calls in them", found),
    ]


def _medians(found: Crowd) -> dict[str, float]:
    return {who: median([each.took_ns for each in rounds]) * MILLI for who, rounds in found.items()}


def _took(section: str, what: str, does: str, took: Mapping[str, float]) -> Line:
    return Line(section, f"{does}, {what}", "ms", {DIRECT: took[DIRECT], OURS: took[does]})


def _over_direct(section: str, what: str, does: str, took: Mapping[str, float]) -> Line:
    ratio = took[does] / took[DIRECT]
    return Line(section, f"{does}, {what} / direct", "x", {OURS: ratio})


def _wrong(section: str, what: str, found: Crowd) -> list[Line]:
    count = {who: float(sum(each.wrong for each in rounds)) for who, rounds in found.items()}
    return [
        Line(section, f"{does}, wrong of {what}", "", {OURS: count[does]}, limit=0)
        for does in (RECORD, REPLAY)
    ]
