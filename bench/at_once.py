"""Many calls at once: sent in one write, timed until the last answer."""

from collections.abc import Mapping, Sequence

from bench import workload
from bench.frame import Bench
from bench.measures import MILLI, Line, median, rotated
from bench.session import Session
from bench.workload import Request

_TITLE = "calls at once"


def measure(bench: Bench) -> list[Line]:
    """Call with other arguments each; the first burst does not count."""
    scale = bench.scale
    requests = workload.echo_calls((scale.bursts + 1) * scale.burst_calls)
    section = f"{scale.burst_calls} calls at once"
    with bench.recording_sessions(_TITLE) as started:
        recorded = _bursts(started, requests, scale.burst_calls)
    with bench.replaying_sessions(_TITLE, requests) as started:
        replayed = _bursts(started, requests, scale.burst_calls)
    return [
        Line(section, "record", "ms", recorded),
        Line(section, "replay", "ms", replayed),
    ]


def _bursts(
    started: Mapping[str, Session], requests: Sequence[Request], size: int
) -> dict[str, float]:
    took: dict[str, list[int]] = {name: [] for name in started}
    for turn, begin in enumerate(range(0, len(requests), size)):
        for name in rotated(list(started), turn):
            took[name] += started[name].burst(requests[begin : begin + size]).took_ns
    return {name: median(values[1:]) * MILLI for name, values in took.items()}
