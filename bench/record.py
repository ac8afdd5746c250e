"""Recording: what a small call costs more than without a proxy."""

from bench import workload
from bench.contestants import DIRECT
from bench.frame import Bench
from bench.measures import MICRO, Line, added, median, percentile
from bench.session import interleaved

CALLS = "small calls"


def measure(bench: Bench) -> list[Line]:
    """Call two small tools in turn, through each contestant."""
    scale = bench.scale
    requests = workload.small_calls(scale.warm_up_calls + scale.calls)
    with bench.recording_sessions(CALLS) as started:
        interleaved(started, requests[: scale.warm_up_calls], round_calls=scale.round_calls)
        timings = interleaved(
            started, requests[scale.warm_up_calls :], round_calls=scale.round_calls
        )
    middle = {name: median(timing.took_ns) * MICRO for name, timing in timings.items()}
    slow = {name: percentile(timing.took_ns, 95) * MICRO for name, timing in timings.items()}
    cpu = {
        name: timing.cpu_ns / scale.calls * MICRO
        for name, timing in timings.items()
        if name != DIRECT
    }
    return [
        Line("Record", "a call, p50", "us", middle, judged=False),
        Line("Record", "a call, p95", "us", slow, judged=False),
        Line("Record", "added p50", "us", added(middle, DIRECT)),
        Line("Record", "added p95", "us", added(slow, DIRECT)),
        Line("Record", "CPU of the proxy, a call", "us", cpu),
    ]
