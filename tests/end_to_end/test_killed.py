"""Whatever is killed while it records, and whenever: no answered call is lost."""

import json
import os
import random
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from sidecar.store import cassettes
from tests.end_to_end.conftest import TIMEOUT_SECONDS, Project, call, raw_agent

pytestmark = pytest.mark.timeout(300)

CALLS = 150
RANDOM = random.Random(20261130)


class Log:
    """What the agent writes, line by line, up to its end or its death."""

    def __init__(self, path: Path) -> None:
        # Read and write, so that opening waits for nobody; the end is seen by other means.
        self._file = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._rest = b""
        self.lines: list[bytes] = []

    def wait_for(self, count: int) -> None:
        """Wait until the agent has written so many lines."""
        until = time.monotonic() + TIMEOUT_SECONDS
        while len(self.lines) < count:
            left = until - time.monotonic()
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


def pids(project: Project, log: Log, sidecar: subprocess.Popen[bytes]) -> dict[str, int]:
    """The processes of the recording, by what they are."""
    (server,) = project.trace()
    return {
        "server": server["pid"],
        "proxy": server["ppid"],
        "agent": int(log.lines[0]),
        "sidecar": sidecar.pid,
    }


def await_end(pid: int) -> None:
    """Wait until a process is gone; a zombie is."""
    until = time.monotonic() + TIMEOUT_SECONDS
    while is_running(pid):
        assert time.monotonic() < until, f"process {pid} outlives its owner"
        select.select([], [], [], 0.01)


def is_running(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


@pytest.mark.parametrize("victim", ["proxy", "agent", "server", "sidecar"])
@pytest.mark.parametrize("after", sorted(RANDOM.sample(range(CALLS - 10), 3)))
def test_c11_no_answered_call_is_lost(project: Project, victim: str, after: int) -> None:
    pipe = project.folder / "log"
    os.mkfifo(pipe)
    log = Log(pipe)
    requests = [call("raw", "echo", text=f"number {number}") for number in range(CALLS)]
    agent = raw_agent("legacy", *requests, log=pipe)
    sidecar = subprocess.Popen(
        project.command("record", "--cassette", "demo", "--", *agent),
        cwd=project.folder,
        env=project.environ(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    log.wait_for(after + 3)  # its pid, the opening, and some answers
    found = pids(project, log, sidecar)
    os.kill(found[victim], signal.SIGKILL)
    sidecar.wait(TIMEOUT_SECONDS)
    for pid in found.values():
        await_end(pid)
    log.take()

    project.tell("cassette", "save", "last", "--cassette", "saved")
    cassette = cassettes.load(str(project.cassette("saved"))).cassette
    kept = [
        item.response.text
        for item in cassette.interactions
        if item.is_tool_call and item.response is not None and item.response.member == "result"
    ]
    assert after < len(log.answers()) < CALLS
    assert kept[: len(log.answers())] == log.answers()
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
    pipe = project.folder / "log"
    os.mkfifo(pipe)
    log = Log(pipe)
    agent = raw_agent("legacy", *[call("raw", "echo", text="x")] * 1000, log=pipe)
    sidecar = subprocess.Popen(
        project.command("record", "--cassette", "demo", "--", *agent),
        cwd=project.folder,
        env=project.environ(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    log.wait_for(5)
    found = pids(project, log, sidecar)
    sidecar.send_signal(sign)
    sidecar.wait(TIMEOUT_SECONDS)

    (server,) = project.trace()
    for pid in (*found.values(), server["grandchild"]):
        await_end(pid)
