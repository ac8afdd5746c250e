"""A project folder in which a test's proxies work, and what they leave there."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from sidecar.cassette.interaction import Cassette, Interaction
from sidecar.store import cassettes, recorded, runs
from sidecar.store.journal import Journal
from tests.paths import MCP_SIDECAR, PYTHON, ROOT
from tests.servers.raw_client import RawClient

RUN = "local/01JDPR0XY00000000000000000"
RAW_SERVER = str(ROOT / "tests" / "servers" / "raw_server.py")
WAIT_SECONDS = 30.0
_POLL_SECONDS = 0.01


@cache
def empty_journal() -> bytes:
    """A journal's file, made once: making one is what takes longest."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "journal.db")
        Journal.open(str(file)).close()
        return file.read_bytes()


class ProxyClient(RawClient):
    """A raw client that, once the proxy is gone, signals nothing that may have got its id."""

    def kill(self) -> None:
        if self.process.poll() is None:
            super().kill()
            return
        for stream in (self._stdin, self._stdout, self._errors):
            with suppress(OSError):
                stream.close()


class Row(NamedTuple):
    """One interaction as the journal has it."""

    state: str
    missed: str | None
    seen: Interaction


class Event(NamedTuple):
    """One event, without its envelope."""

    type: str
    payload: dict[str, Any]


class Place:
    """A project folder: `.sidecar`, a cassette, and the files in which a raw server notes things.

    Attributes:
        folder: The project folder.
        cassette: The cassette's file.
        received: What raw servers got, byte for byte.
        sent: What they sent.
        trace: A line for each that was started.
    """

    def __init__(self, folder: Path, *, run: str = RUN, journal: bool = True) -> None:
        """Take a folder.

        Args:
            folder: The project folder.
            run: The run of its proxies.
            journal: Whether there is an empty journal already: to make one takes a proxy
                the half second that it usually does not.
        """
        self.folder = folder
        self.run = run
        if journal and not self.journal.exists():
            self.journal.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.journal.write_bytes(empty_journal())
        self.cassette = folder / "tape.jsonl"
        self.received = folder / "received"
        self.sent = folder / "sent"
        self.trace = folder / "trace"

    @property
    def journal(self) -> Path:
        """The journal's file."""
        return self.folder / ".sidecar" / "journal.db"

    def words(
        self, command: Sequence[str | Path], *, mode: str = "record", options: Sequence[str] = ()
    ) -> list[str]:
        """The command line of a proxy before `command`; later options win."""
        return [
            MCP_SIDECAR, "proxy", "--server", "raw", "--mode", mode, "--run", self.run,
            "--project", str(self.folder), "--cassette", str(self.cassette), *options,
            *map(str, command),
        ]  # fmt: skip

    def client(
        self,
        command: Sequence[str | Path],
        *,
        mode: str = "record",
        options: Sequence[str] = (),
        **client: Any,
    ) -> RawClient:
        """A client of a proxy before `command`."""
        return ProxyClient(self.words(command, mode=mode, options=options), **client)

    def raw(
        self, *flags: str, mode: str = "record", options: Sequence[str] = (), **client: Any
    ) -> RawClient:
        """A client of a proxy before the raw server, which keeps `received`, `sent`, `trace`."""
        return self.client(self.raw_server(*flags), mode=mode, options=options, **client)

    def replay(self, *options: str, **client: Any) -> RawClient:
        """A client of a proxy that replays the cassette; there is no live server."""
        return self.client((), mode="replay", options=options, **client)

    def raw_server(self, *flags: str) -> list[str]:
        """The raw server's own command line."""
        kept = ("--received", self.received, "--sent", self.sent, "--trace", self.trace)
        return [PYTHON, RAW_SERVER, *map(str, kept), *flags]

    def rows(self) -> list[Row]:
        """The run's interactions in the journal, by now, as another process reads them."""
        with closing(Journal.open(str(self.journal))) as journal:
            return [
                Row(row.state, row.missed, row.interaction)
                for row in recorded.of_run(journal.connection, self.run)
            ]

    def calls(self) -> list[Row]:
        """The run's tool calls in the journal, by now."""
        return [row for row in self.rows() if row.seen.is_tool_call]

    def events(self) -> list[Event]:
        """The run's events, by now."""
        with closing(Journal.open(str(self.journal))) as journal:
            found = [json.loads(line) for line in runs.events(journal, self.run)]
        return [Event(event["type"], event["payload"]) for event in found]

    def sessions(self) -> list[tuple[str, int | None]]:
        """How the run's sessions stand: state and exit code."""
        with closing(Journal.open(str(self.journal))) as journal:
            return journal.connection.rows(
                "SELECT state, exit_code FROM sessions WHERE run_id = ? ORDER BY id", [self.run]
            )

    def session_runs(self) -> list[tuple[str, str]]:
        """All sessions of the journal: server and run."""
        with closing(Journal.open(str(self.journal))) as journal:
            return journal.connection.rows("SELECT server, run_id FROM sessions ORDER BY id")

    def recorded(self) -> Cassette:
        """The cassette; there must be no warning about it."""
        loaded = cassettes.load(str(self.cassette))
        assert loaded.warnings == ()
        return loaded.cassette

    def started(self) -> list[dict[str, Any]]:
        """Each raw server that was started: pid, ppid, pgid, grandchild."""
        if not self.trace.exists():
            return []
        return [json.loads(line) for line in self.trace.read_text("utf-8").splitlines()]


def ended(client: RawClient) -> int:
    """End a client's input, as clients do; returns the proxy's exit code."""
    client.close_stdin()
    return client.wait()


def said(value: dict[str, Any]) -> str:
    """The text of a tool's answer."""
    text = value["result"]["content"][0]["text"]
    assert isinstance(text, str)
    return text


def until(happened: Callable[[], object], *, seconds: float = WAIT_SECONDS) -> None:
    """Wait, bounded, until something is so that no stream tells of."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(_POLL_SECONDS)


def quiet(measure: Callable[[], object], *, looks: int = 20) -> Callable[[], bool]:
    """For `until`: whether a measure was the same for so many looks at it."""
    seen: list[object] = []

    def is_quiet() -> bool:
        seen.append(measure())
        return len(seen) > looks and len(set(seen[-looks:])) == 1

    return is_quiet


def resident_bytes(pid: int) -> int:
    """The memory that a process takes now."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        return int(status.read_text("utf-8").partition("VmRSS:")[2].split()[0]) * 1024
    asked = ["ps", "-o", "rss=", "-p", str(pid)]
    return int(subprocess.run(asked, capture_output=True, check=True, text=True).stdout) * 1024


def is_running(pid: int) -> bool:
    """Whether a process is there, and is no zombie that somebody else has yet to reap."""
    return any(found == pid for found, _ in _processes())


def running_in_group(group: int) -> list[int]:
    """The processes of a group, zombies left out."""
    return [pid for pid, found in _processes() if found == group]


def _processes() -> list[tuple[int, int]]:
    """Process id and group of everything that runs."""
    if not Path("/proc/self/stat").exists():
        asked = ["ps", "-A", "-o", "pid=,pgid=,stat="]
        listed = subprocess.run(asked, capture_output=True, check=True, text=True).stdout
        words = [line.split() for line in listed.splitlines()]
        return [(int(pid), int(group)) for pid, group, state in words if state[0] != "Z"]
    found: list[tuple[int, int]] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, _, group = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()[:3]
            if state != "Z":
                found.append((int(folder.name), int(group)))
    return found
