"""Replaying: what a small call costs where a recording answers."""

from bench import workload
from bench.contestants import DIRECT
from bench.frame import Bench
from bench.measures import MICRO, Line, median, percentile
from bench.record import CALLS
from bench.session import interleaved


def measure(bench: Bench) -> list[Line]:
    """Make the calls that were recorded, of those who recorded them."""
    scale = bench.scale
    requests = workload.small_calls(scale.warm_up_calls + scale.calls)
    with bench.replaying_sessions(CALLS, requests) as started:
        interleaved(started, requests[: scale.warm_up_calls], round_calls=scale.round_calls)
        timings = interleaved(
            started, requests[scale.warm_up_calls :], round_calls=scale.round_calls
        )
    took = {name: timing.took_ns for name, timing in timings.items()}
    cpu = {
        name: timing.cpu_ns / scale.calls * MICRO
        for name, timing in timings.items()
        if name != DIRECT
    }
    return [
        Line("Replay", "a call, p50", "us", {who: median(ns) * MICRO for who, ns in took.items()}),
        Line(
            "Replay",
            "a call, p95",
            "us",
            {who: percentile(ns, 95) * MICRO for who, ns in took.items()},
        ),
        Line("Replay", "CPU of the proxy, a call", "us", cpu),
    ]
