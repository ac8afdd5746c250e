"""A run of the benchmark: how much is measured, and the recordings that sections share."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from bench import contestants
from bench.client import Launch
from bench.contestants import KEEPING, RECORDING, REPLAYING
from bench.measures import Line
from bench.session import Session, sessions
from bench.workload import Request


class Scale(NamedTuple):
    """How much is measured.

    Attributes:
        calls: Small calls of each contestant.
        round_calls: How many of them in one go, before it is the next one's turn.
        warm_up_calls: How many of the first ones do not count.
        starts: Starts of each contestant.
        bigs: Big results of each contestant.
        bursts: Times that many calls are made at once.
        burst_calls: How many at once.
        growth_calls: Calls of one long session.
        growth_edge: How many of its last calls are compared with the first of a new one.
        kept_calls: Calls of the recording that is weighed.
        imports: Starts of each contestant that tell their imports.
        graded_tasks: Tasks of the suite whose log is graded.
        http_calls: Small calls of each contestant over HTTP, in each era.
        http_bigs: Big results of each contestant over HTTP, in each era.
        http_rounds: Times that many clients call at once.
        http_series: Calls of each of `burst_calls` such clients, one after the other.
        http_sessions: Sessions that are opened at once.
        http_events: Events of the stream that is kept open.
    """

    calls: int
    round_calls: int
    warm_up_calls: int
    starts: int
    bigs: int
    bursts: int
    burst_calls: int
    growth_calls: int
    growth_edge: int
    kept_calls: int
    imports: int
    graded_tasks: int
    http_calls: int
    http_bigs: int
    http_rounds: int
    http_series: int
    http_sessions: int
    http_events: int


FULL = Scale(
    *(4000, 25, 100, 25, 9, 25, 50, 10_000, 500, 500, 9, 2000),
    *(1000, 9, 3, 20, 200, 10_000),
)
QUICK = Scale(
    *(1000, 25, 100, 5, 3, 9, 50, 1000, 250, 500, 4, 100),
    *(150, 3, 1, 10, 50, 2000),
)


class Bench:
    """A run of the benchmark: its scale, and a folder with all that it makes.

    Used as a context manager it removes the folder at the end.
    """

    def __init__(self, scale: Scale, parent: Path) -> None:
        self.scale = scale
        parent.mkdir(parents=True, exist_ok=True)
        self._folder = tempfile.TemporaryDirectory(prefix="work-", dir=parent)
        self._count = 0
        self._kept: dict[tuple[str, str], Path] = {}
        self.home = self.new_folder()

    def __enter__(self) -> Self:
        self._make_journal(self.home)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def new_folder(self) -> Path:
        """Make an empty folder."""
        self._count += 1
        folder = Path(self._folder.name, str(self._count))
        folder.mkdir()
        return folder

    def new_home(self) -> Path:
        """Make a folder with a journal in it."""
        home = self.new_folder()
        self._make_journal(home)
        return home

    def _make_journal(self, home: Path) -> None:
        # The first journal of a project costs more than all others: `startup` measures it.
        with self.recording_sessions("warm", KEEPING, home=home):
            pass

    def record_launch(self, who: str) -> Launch:
        """Say how to start a contestant that records into a new file."""
        return contestants.recording(who, self.new_folder() / "recording.jsonl", self.home)

    def replay_launch(self, who: str, recording: Path) -> Launch:
        """Say how to start a contestant that replays a recording of its own."""
        launch = contestants.replaying(who, recording, self.home)
        return launch._replace(folder=self.new_folder())

    @contextlib.contextmanager
    def recording_sessions(
        self, title: str, names: Sequence[str] = RECORDING, *, home: Path | None = None
    ) -> Iterator[dict[str, Session]]:
        """Start contestants that record; what they recorded is then kept under a title.

        Args:
            title: A new one.
            names: The contestants.
            home: The folder of our journal; default that of the whole run.
        """
        files = {name: self.new_folder() / "recording.jsonl" for name in names}
        launches = {
            name: contestants.recording(name, file, home or self.home)
            for name, file in files.items()
        }
        with sessions(launches) as started:
            yield started
        self._kept |= {(title, name): file for name, file in files.items() if name in KEEPING}

    @contextlib.contextmanager
    def replaying_sessions(
        self, title: str, requests: Sequence[Request]
    ) -> Iterator[dict[str, Session]]:
        """Start the contestants that replay what they recorded of some requests."""
        launches = {
            name: self.replay_launch(name, self.recorded(title, requests, name))
            for name in REPLAYING
        }
        with sessions(launches) as started:
            yield started

    def recorded(self, title: str, requests: Sequence[Request], who: str) -> Path:
        """Give a contestant's recording of some requests; one who keeps none gives a new path.

        Args:
            title: What the recording is known under; it is made when it is first asked for.
            requests: What it holds.
            who: The contestant.
        """
        if who not in KEEPING:
            return self.new_folder() / "none.jsonl"
        if (title, who) not in self._kept:
            with self.recording_sessions(title, KEEPING) as started:
                for session in started.values():
                    session.calls(requests)
        return self._kept[title, who]


Section = Callable[[Bench], list[Line]]
"""Measures one thing."""
