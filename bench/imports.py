"""What a proxy imports from its start to the end of a short session, and how long that takes."""

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from bench import workload
from bench.client import Launch
from bench.contestants import KEEPING, RELAY, environment
from bench.frame import Bench
from bench.measures import Line, rotated
from bench.session import sessions

CALLS = workload.small_calls(2)

_TITLE = "a session for imports"
_TELL = ("-X", "importtime")
_MARK = "import time:"
_BARE = "bare Python"


Imports: TypeAlias = dict[str, int]
"""What `-X importtime` told: modules, and what each took without those that it imported, us."""


def measure(bench: Bench) -> list[Line]:
    """Play a short session with each proxy, and see what it imports that bare Python does not."""
    record = _all_imports(bench, (RELAY, *KEEPING), bench.record_launch)
    replay = _all_imports(
        bench,
        KEEPING,
        lambda who: bench.replay_launch(who, bench.recorded(_TITLE, CALLS, who)),
    )
    return [*_lines("record", record), *_lines("replay", replay)]


def parsed(report: str) -> Imports:
    """Read what `-X importtime` wrote; other lines among it are left out."""
    found: Imports = {}
    for line in report.splitlines():
        if line.startswith(_MARK) and "self [us]" not in line:
            own, _cumulative, name = line.removeprefix(_MARK).split("|")
            found[name.strip()] = int(own)
    return found


def least(runs: Sequence[Imports]) -> Imports:
    """Give each module's shortest time: what delays one now and then is not its own."""
    found: Imports = {}
    for run in runs:
        for name, took in run.items():
            found[name] = min(took, found.get(name, took))
    return found


def beyond(found: Imports, bare: Imports) -> Imports:
    """Leave out what bare Python imports too."""
    return {name: took for name, took in found.items() if name not in bare}


def _lines(mode: str, found: Mapping[str, Imports]) -> list[Line]:
    modules = {who: beyond(one, found[_BARE]) for who, one in found.items() if who != _BARE}
    took = {who: sum(one.values()) / 1000 for who, one in modules.items()}
    counts = {who: float(len(one)) for who, one in modules.items()}
    names = {who: sorted(one) for who, one in modules.items()}
    section = "Imports beyond bare Python"
    return [
        Line(section, f"{mode}, time", "ms", took),
        Line(section, f"{mode}, modules", "", counts, judged=False, detail=names),
    ]


def _all_imports(
    bench: Bench, names: Sequence[str], launch: Callable[[str], Launch]
) -> dict[str, Imports]:
    """Give what each imports, and bare Python."""
    found: dict[str, list[Imports]] = {name: [] for name in (_BARE, *names)}
    for turn in range(bench.scale.imports):
        for name in rotated(list(found), turn):
            one = _bare() if name == _BARE else _of_session(launch(name))
            found[name].append(one)
    return {name: least(runs) for name, runs in found.items()}


def _bare() -> Imports:
    command = [sys.executable, *_TELL, "-c", "pass"]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=60, check=True
    )
    return parsed(done.stderr)


def _of_session(launch: Launch) -> Imports:
    argv = launch.argv[1:] if launch.argv[0] == sys.executable else launch.argv
    with sessions({"": launch._replace(argv=[sys.executable, *_TELL, *argv])}) as started:
        started[""].calls(CALLS)
    return parsed(launch.words.read_text("utf-8", "replace"))
