import sys

import pytest

from tests.proxy.place import is_running, until
from tests.servers.listening import Listening

# Says where two servers are, among other things, and waits; its child does as well.
SERVING = """
import subprocess, sys
print("mcp-sidecar: a b at http://127.0.0.1:1/a%20b/mcp", file=sys.stderr, flush=True)
print("noise", flush=True)
print("mcp-sidecar: c at http://127.0.0.1:1/c/mcp", file=sys.stderr, flush=True)
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
print("child", child.pid, flush=True)
child.wait()
"""


def test_it_knows_where_each_server_is_and_leaves_no_process() -> None:
    with Listening([sys.executable, "-c", SERVING], servers=2) as started:
        started.until_said("child")
        children = [int(line.split()[1]) for line in started.said if line.startswith("child")]
        urls, first = dict(started.urls), started.url

    assert urls == {"a b": "http://127.0.0.1:1/a%20b/mcp", "c": "http://127.0.0.1:1/c/mcp"}
    assert first == "http://127.0.0.1:1/a%20b/mcp"
    assert len(children) == 1
    until(lambda: not is_running(children[0]))


def test_one_that_ends_without_saying_where_it_is_fails_with_its_words() -> None:
    with pytest.raises(TimeoutError, match="no such config"):
        Listening([sys.executable, "-c", "raise SystemExit('no such config')"])


def test_its_end_gives_its_exit_code() -> None:
    ending = "print('http://127.0.0.1:1/mcp', flush=True); raise SystemExit(3)"
    with Listening([sys.executable, "-c", ending]) as started:
        assert started.process.wait(10) == 3
        assert started.end() == 3
