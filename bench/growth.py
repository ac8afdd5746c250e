"""A long session: whether its last calls cost what the first ones of a new session do."""

from collections.abc import Mapping, Sequence

from bench import workload
from bench.contestants import DIRECT, KEEPING
from bench.frame import Bench, Scale
from bench.measures import Line, median
from bench.session import Session, Timing, in_turns, interleaved, peaks
from bench.workload import Request

FLAT = 1.1
"""Up to here both cost the same: no two measurements are ever quite equal."""

_LONG, _NEW = "a long session", "a new session beside it"

_Parts = dict[str, tuple[Session, Sequence[Request]]]


def measure(bench: Bench) -> list[Line]:
    """Record a long session, then replay it.

    Its last calls are made in turns with those of a new one, which has a journal of its own:
    whatever else goes on in the machine, both have the same share of it.
    """
    scale = bench.scale
    requests = workload.small_calls(scale.warm_up_calls + scale.growth_calls)
    recorded, recorded_memory = _record(bench, requests)
    replayed, replayed_memory = _replay(bench, requests)
    return [
        *_lines(f"Growth, {scale.growth_calls} calls recorded", recorded, recorded_memory),
        *_lines(f"Growth, {scale.growth_calls} calls replayed", replayed, replayed_memory),
    ]


def _record(
    bench: Bench, requests: Sequence[Request]
) -> tuple[dict[str, Timing], dict[str, float]]:
    names = (DIRECT, *KEEPING)
    with bench.recording_sessions(_LONG, names) as long:
        _play(bench.scale, long, requests[: -bench.scale.growth_edge])
        home = bench.new_home()
        with bench.recording_sessions(_NEW, names, home=home) as new:
            timings = _compared(bench.scale, long, new, requests)
        return timings, peaks(long)


def _replay(
    bench: Bench, requests: Sequence[Request]
) -> tuple[dict[str, Timing], dict[str, float]]:
    with bench.replaying_sessions(_LONG, requests) as long:
        _play(bench.scale, long, requests[: -bench.scale.growth_edge])
        with bench.replaying_sessions(_LONG, requests) as new:
            timings = _compared(bench.scale, long, new, requests)
        return timings, peaks(long)


def _play(scale: Scale, started: Mapping[str, Session], requests: Sequence[Request]) -> None:
    # Processor time and memory are looked at after each go: rarely, so that it takes no time.
    interleaved(started, requests, round_calls=scale.growth_edge)


def _compared(
    scale: Scale,
    long: Mapping[str, Session],
    new: Mapping[str, Session],
    requests: Sequence[Request],
) -> dict[str, Timing]:
    warm, edge = scale.warm_up_calls, scale.growth_edge
    _play(scale, new, requests[:warm])
    parts: _Parts = {f"long {who}": (session, requests[-edge:]) for who, session in long.items()}
    parts |= {f"new {who}": (session, requests[warm : warm + edge]) for who, session in new.items()}
    return in_turns(parts, round_calls=scale.round_calls)


def _lines(section: str, timings: Mapping[str, Timing], memory: Mapping[str, float]) -> list[Line]:
    names = [name.removeprefix("new ") for name in timings if name.startswith("new ")]
    middle = {
        who: median(timings[f"long {who}"].took_ns) / median(timings[f"new {who}"].took_ns)
        for who in names
    }
    cpu = {
        who: timings[f"long {who}"].cpu_ns / timings[f"new {who}"].cpu_ns
        for who in names
        if who != DIRECT
    }
    return [
        Line(section, "p50, last / first calls", "x", middle, flat=FLAT),
        Line(section, "CPU, last / first calls", "x", cpu, flat=FLAT),
        Line(section, "peak memory", "MB", memory),
    ]
