"""The one process that looks after all servers of a proxy."""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.paths import PYTHON
from tests.proxy.place import is_running, running_in_group, until

WAIT_SECONDS = 20.0

SEVERAL = """
import os, sys, threading
from sidecar.proxy import guard
from sidecar.proxy.child import Child
if sys.argv[1] == "kept":
    guard.keep()
if sys.argv[1] == "threads":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
children = [Child(["sleep", "60"]) for _ in range(3)]
gone = children.pop()
gone.stop(0.2, patient=False)
print(*(child._pid for child in children), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("how", ["kept", "alone", "threads"])
def test_d02_all_servers_of_a_killed_proxy_are_stopped(how: str) -> None:
    with subprocess.Popen(
        [PYTHON, "-c", SEVERAL, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        pids = [int(word) for word in process.stdout.readline().split()]
        assert len(pids) == 2
        assert all(map(is_running, pids))
        process.send_signal(signal.SIGKILL)
        process.wait(WAIT_SECONDS)

    for pid in pids:
        until(lambda pid=pid: not running_in_group(pid))  # type: ignore[misc]


COUNTED = """
import sys
from sidecar.proxy import guard
from sidecar.proxy.child import Child
if sys.argv[1] == "kept":
    guard.keep()
seen = set()
for _ in range(2):
    first, second = Child(["cat"]), Child(["cat"])
    seen.add(guard._guard._pid)
    first.stop(5)
    seen.add(guard._guard._pid)
    second.stop(5)
print(len(seen), guard._guard._pipe >= 0)
"""


@pytest.mark.parametrize(("how", "seen"), [("alone", "2 False"), ("kept", "1 True")])
def test_there_is_one_guard_for_as_long_as_there_are_servers(how: str, seen: str) -> None:
    done = subprocess.run(
        [PYTHON, "-c", COUNTED, how],
        capture_output=True, text=True, check=True, timeout=WAIT_SECONDS,
    )  # fmt: skip

    assert done.stdout.strip() == seen


def test_a_guard_that_somebody_killed_does_no_harm() -> None:
    code = (
        "import os, signal\n"
        "signal.signal(signal.SIGPIPE, signal.SIG_IGN)\n"
        "from sidecar.proxy import guard\n"
        "from sidecar.proxy.child import Child\n"
        "guard.keep()\n"
        "os.kill(guard._guard._pid, signal.SIGKILL)\n"
        "os.waitpid(guard._guard._pid, 0)\n"
        "print(Child(['cat']).stop(5))\n"
    )

    done = subprocess.run(
        [PYTHON, "-c", code], capture_output=True, text=True, check=True, timeout=WAIT_SECONDS
    )

    assert done.stdout == "0\n"
