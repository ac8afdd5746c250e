"""Starting: from making the process until `initialize` is answered."""

from collections.abc import Callable

from bench import contestants, workload
from bench.client import Launch
from bench.contestants import DIRECT, OURS, RECORDING, REPLAYING
from bench.frame import Bench
from bench.measures import MILLI, Line, added, median, rotated
from bench.session import Session

_TITLE = "a short session"
_FIRST_EVER = 3


def measure(bench: Bench) -> list[Line]:
    """Start each contestant again and again, in turn."""
    title, calls = _TITLE, workload.small_calls(10)
    start, start_cpu = _starts(bench, RECORDING, bench.record_launch)
    play, play_cpu = _starts(
        bench,
        REPLAYING,
        lambda who: bench.replay_launch(who, bench.recorded(title, calls, who)),
    )
    return [
        Line("Start-up", "record", "ms", start, judged=False),
        Line("Start-up", "record, added", "ms", added(start, DIRECT)),
        Line("Start-up", "record, CPU of the proxy", "ms", start_cpu),
        Line("Start-up", "replay", "ms", play),
        Line("Start-up", "replay, CPU of the proxy", "ms", play_cpu),
        Line("Start-up", "record, first ever", "ms", _first(bench), judged=False),
    ]


def _starts(
    bench: Bench, names: tuple[str, ...], launch: Callable[[str], Launch]
) -> tuple[dict[str, float], dict[str, float]]:
    """Give the median time and processor time of starts, ms; the first of each is for free."""
    took: dict[str, list[int]] = {name: [] for name in names}
    cpu: dict[str, list[int]] = {name: [] for name in names}
    for turn in range(bench.scale.starts + 1):
        for name in rotated(names, turn):
            session = _started_once(launch(name))
            if turn > 0:
                took[name].append(session.start_ns)
                cpu[name].append(session.start_cpu_ns)
    return (
        {name: median(values) * MILLI for name, values in took.items()},
        {name: median(values) * MILLI for name, values in cpu.items() if name != DIRECT},
    )


def _first(bench: Bench) -> dict[str, float]:
    """Start where there is no journal yet: once in a project's life it is made, and migrated."""
    took = []
    for _ in range(_FIRST_EVER):
        file = bench.new_folder() / "recording.jsonl"
        home = bench.new_folder() / ".sidecar"
        took.append(_started_once(contestants.recording(OURS, file, home)).start_ns)
    return {OURS: median(took) * MILLI}


def _started_once(launch: Launch) -> Session:
    session = Session(launch)
    try:
        session.client.close()
    finally:
        session.client.kill()
    return session
