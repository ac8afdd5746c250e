"""A result of 5 MB."""

from collections.abc import Mapping

from bench import workload
from bench.contestants import DIRECT
from bench.frame import Bench
from bench.measures import MILLI, Line, median
from bench.session import Timing, interleaved

_TITLE = "big results"


def measure(bench: Bench) -> list[Line]:
    """Ask for it, one at a time; the first one does not count."""
    requests = workload.big_calls(bench.scale.bigs + 1)
    with bench.recording_sessions(_TITLE) as started:
        interleaved(started, requests[:1], round_calls=1)
        recorded = interleaved(started, requests[1:], round_calls=1)
    with bench.replaying_sessions(_TITLE, requests) as started:
        interleaved(started, requests[:1], round_calls=1)
        replayed = interleaved(started, requests[1:], round_calls=1)
    return [
        Line("5 MB result", "record", "ms", _took(recorded)),
        Line("5 MB result", "record, CPU of the proxy", "ms", _cpu(recorded)),
        Line("5 MB result", "replay", "ms", _took(replayed)),
        Line("5 MB result", "replay, CPU of the proxy", "ms", _cpu(replayed)),
    ]


def _took(timings: Mapping[str, Timing]) -> dict[str, float]:
    return {name: median(timing.took_ns) * MILLI for name, timing in timings.items()}


def _cpu(timings: Mapping[str, Timing]) -> dict[str, float]:
    return {
        name: timing.cpu_ns / len(timing.took_ns) * MILLI
        for name, timing in timings.items()
        if name != DIRECT
    }
