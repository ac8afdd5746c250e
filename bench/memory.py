"""Peak memory of the proxy."""

from bench import workload
from bench.frame import Bench
from bench.measures import Line
from bench.session import peaks

_SMALL, _BIG = "small calls, for memory", "small calls and a big one"


def measure(bench: Bench) -> list[Line]:
    """Make some small calls, look, then ask for 5 MB and look again."""
    count = bench.scale.kept_calls
    small, big = workload.small_calls(count), workload.big_calls(1, first=count)
    with bench.recording_sessions(_BIG) as started:
        for session in started.values():
            session.calls(small)
        after_small = peaks(started)
        for session in started.values():
            session.calls(big)
        after_big = peaks(started)
    with bench.replaying_sessions(_SMALL, small) as started:
        for session in started.values():
            session.calls(small)
        replayed_small = peaks(started)
    with bench.replaying_sessions(_BIG, small + big) as started:
        for session in started.values():
            session.calls(small + big)
        replayed_big = peaks(started)
    return [
        Line("Peak memory", f"record, {count} calls", "MB", after_small),
        Line("Peak memory", "record, and a 5 MB result", "MB", after_big),
        Line("Peak memory", f"replay, {count} calls", "MB", replayed_small),
        Line("Peak memory", "replay, and a 5 MB result", "MB", replayed_big),
    ]
