"""Killing any process at any point loses no answered call (invariant 3), and leaves no process."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from sidecar.store import cassettes
from sidecar.store.journal import Journal
from tests.end_to_end.conftest import TIMEOUT_SECONDS, Project, call, raw_agent
from tests.paths import PYTHON, ROOT
from tests.proxy.place import Place, Row, ended, is_running, said, until
from tests.servers.raw_client import RawClient

pytestmark = pytest.mark.timeout(300)

AT_ONCE = 12
CLIENT = str(Path(__file__).with_name("calling_client.py"))


@pytest.mark.parametrize(
    ("mode", "steps"), [pytest.param("record", 25), pytest.param("replay", 20)]
)
def test_c11_a_proxy_that_is_killed_at_any_statement_loses_no_answered_call(
    tmp_path: Path, mode: str, steps: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.end_to_end.dying_proxy", str(tmp_path), mode],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
        cwd=ROOT,
    )

    seen = [int(line) for line in done.stdout.split()]
    assert done.returncode == 0, done.stderr
    assert len(seen) > steps
    assert (seen[0], seen[-1]) == (0, 4)
    assert {1, 2, 3} & set(seen)  # some were killed in the middle


# --- at once: what the journal has is at least what the client saw


def answered(rows: Iterable[Row]) -> set[str]:
    """The keys of the calls that the journal has answers to."""
    return {
        json.loads(row.seen.params or "")["arguments"]["k"]
        for row in rows
        if row.state == "answered"
    }


def start(client: RawClient, number: int) -> None:
    client.start("tools/call", {"name": "counter", "arguments": {"k": f"key-{number}"}},
                 request_id=number)  # fmt: skip


def seen_in(lines: Iterable[bytes | None]) -> set[str]:
    """The keys of the calls whose answers came."""
    found = [json.loads(line) for line in lines if line and line.endswith(b"\n")]
    return {f"key-{message['id']}" for message in found if "result" in message}


@pytest.mark.parametrize("count", [1, 60])
@pytest.mark.parametrize("victim", ["proxy", "server"])
def test_c11_with_many_calls_open_a_kill_loses_no_answered_one(
    tmp_path: Path, victim: str, count: int
) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        lines: list[bytes | None] = []
        for number in range(AT_ONCE):
            start(client, number)
        for number in range(AT_ONCE, AT_ONCE + count):
            lines.append(client.read())
            start(client, number)
        pid = client.process.pid if victim == "proxy" else place.started()[0]["pid"]
        os.kill(pid, signal.SIGKILL)
        lines += client.read_rest()
        code = client.wait()

    assert code == (-9 if victim == "proxy" else 137)
    assert len(seen_in(lines)) >= count
    assert seen_in(lines) <= answered(place.calls())
    until(lambda: not is_running(place.started()[0]["pid"]), seconds=TIMEOUT_SECONDS)
    with Journal.open(str(place.journal)) as journal:
        cassette = cassettes.of_run(journal, place.run)
    assert len([item for item in cassette.interactions if item.response]) >= len(seen_in(lines))
    assert not cassette.complete


@pytest.mark.parametrize("count", [1, 200])
def test_c11_a_client_that_is_killed_loses_no_answered_call(tmp_path: Path, count: int) -> None:
    place = Place(tmp_path)
    notes = tmp_path / "notes"
    with subprocess.Popen(
        [PYTHON, CLIENT, notes, *place.words(place.raw_server())], stderr=subprocess.DEVNULL
    ) as client:
        until(
            lambda: notes.exists() and notes.read_bytes().count(b"\n") >= count,
            seconds=TIMEOUT_SECONDS,
        )
        client.kill()
    (server,) = place.started()
    until(lambda: place.sessions()[0][0] != "running", seconds=TIMEOUT_SECONDS)

    noted = {f"key-{line.decode()}" for line in notes.read_bytes().splitlines()}
    assert noted <= answered(place.calls())
    assert not is_running(server["pid"])
    # The proxy saw the end of its input, as at any other end.
    until(place.cassette.exists, seconds=TIMEOUT_SECONDS)
    assert place.sessions()[0][0] == "ended"


def test_a_run_goes_on_after_a_proxy_of_it_was_killed(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        assert said(client.call("counter").value) == "1"
        client.process.kill()
        client.wait()
    with place.raw() as client:
        assert said(client.call("counter").value) == "1"
        assert ended(client) == 0

    assert [row.state for row in place.calls()] == ["answered"] * 2
    cassette = place.recorded()
    assert len(cassette.interactions) == 2
    assert not cassette.complete


# --- the processes of `record`


class Log:
    """What the agent writes, line by line, up to its end or its death."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        # Read and write, so that opening waits for nobody; the end is seen by other means.
        self._file = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._rest = b""
        self.lines: list[bytes] = []

    def wait_for(self, count: int) -> None:
        """Wait until the agent has written so many lines."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while len(self.lines) < count:
            left = end - time.monotonic()
            assert left > 0, f"only {len(self.lines)} lines came"
            select.select([self._file], [], [], left)
            self.take()

    def take(self) -> None:
        """Take what is there."""
        try:
            data = self._rest + os.read(self._file, 1 << 20)
        except BlockingIOError:
            return
        *lines, self._rest = data.split(b"\n")
        self.lines += lines

    def answers(self) -> list[str]:
        """The results that the agent got, as it got them."""
        return [line.decode() for line in self.lines if b'"content"' in line]


def recording(project: Project, *agent: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        project.command("record", "--cassette", "demo", "--", *agent),
        cwd=project.folder,
        env=project.environ(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def pids(project: Project, log: Log, sidecar: subprocess.Popen[bytes]) -> dict[str, int]:
    """The processes of the recording, by what they are."""
    (server,) = project.trace()
    return {
        "server": server["pid"],
        "proxy": server["ppid"],
        "agent": int(log.lines[0]),
        "sidecar": sidecar.pid,
    }


def await_ends(found: Iterable[int]) -> None:
    for pid in found:
        until(lambda pid=pid: not is_running(pid), seconds=TIMEOUT_SECONDS)  # type: ignore[misc]


@pytest.mark.parametrize("victim", ["proxy", "agent", "server", "sidecar"])
def test_c11_whatever_is_killed_of_a_recording_no_answered_call_is_lost(
    project: Project, victim: str
) -> None:
    log = Log(project.folder / "log")
    requests = [call("raw", "echo", text=f"number {number}") for number in range(40)]
    agent = raw_agent("legacy", *requests, call("raw", "never"), log=project.folder / "log")
    sidecar = recording(project, *agent)

    log.wait_for(2 + len(requests))  # its pid, the opening, the answers
    found = pids(project, log, sidecar)
    os.kill(found[victim], signal.SIGKILL)
    sidecar.wait(TIMEOUT_SECONDS)
    await_ends(found.values())
    log.take()

    project.tell("cassette", "save", "last", "--cassette", "saved")
    cassette = cassettes.load(str(project.cassette("saved"))).cassette
    kept = [
        item.response.text
        for item in cassette.interactions
        if item.is_tool_call and item.response is not None and item.response.member == "result"
    ]
    assert len(log.answers()) == len(requests)
    assert kept == log.answers()
    assert not cassette.complete
    assert json.loads(kept[0])["content"][0]["text"] == "number 0"


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_d02_a_recording_that_is_ended_leaves_no_process(
    project: Project, sign: signal.Signals
) -> None:
    raw = project.servers["raw"]
    args = raw["args"]
    assert isinstance(args, list)
    deaf = {**raw, "args": [*args, "--ignore-eof", "--ignore-term", "--grandchild"]}
    project.write_config(".mcp.json", {"raw": deaf})
    log = Log(project.folder / "log")
    calls = [call("raw", "echo", text="x")] * 1000
    sidecar = recording(project, *raw_agent("legacy", *calls, log=project.folder / "log"))

    log.wait_for(5)
    found = pids(project, log, sidecar)
    sidecar.send_signal(sign)
    sidecar.wait(TIMEOUT_SECONDS)

    (server,) = project.trace()
    await_ends([*found.values(), server["grandchild"]])
