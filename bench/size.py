"""How big a recording is."""

from bench import workload
from bench.contestants import KEEPING
from bench.frame import Bench
from bench.measures import Line

_TITLE = "a session to weigh"
_KILO = 1e-3  # bytes to kB


def measure(bench: Bench) -> list[Line]:
    """Weigh the file that is left of a session of small calls."""
    count = bench.scale.kept_calls
    requests = workload.small_calls(count)
    sizes = {
        name: bench.recorded(_TITLE, requests, name).stat().st_size * _KILO for name in KEEPING
    }
    return [Line("Recording", f"size of {count} calls", "kB", sizes)]
