"""Runs a proxy that is killed as it begins its n-th statement in the journal, for each n in turn.

    python -m tests.end_to_end.dying_proxy FOLDER MODE

It ends with the first proxy that outlives its work. Of each one a line goes to standard output:
how many answers its client saw. What the client saw must be in the journal, whatever n is; else
the program fails. A program of its own, since it forks.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

# Before the forks, which would each import them again.
import sidecar.proxy.live  # noqa: F401
import sidecar.proxy.playback  # noqa: F401
import sidecar.proxy.stdio  # noqa: F401
from sidecar.cli.proxy import proxy
from sidecar.store import cassettes
from sidecar.store.journal import Journal
from tests.proxy.place import Place, is_running

CALLS = 4
AT_ONCE = 2
WAIT_SECONDS = 60.0
_FAILED = 9

_connect: Callable[..., sqlite3.Connection] = sqlite3.connect


def main(folder: str, mode: str) -> None:
    place = Place(Path(folder))
    if mode == "replay":
        _played(place, "record", sys.maxsize)
    statement = 0
    died = True
    while died:
        place.run = f"local/{statement:026d}"
        if mode == "record":
            place.cassette.unlink(missing_ok=True)
        seen, died = _played(place, mode, statement)
        _check(place, seen, died=died)
        os.write(1, b"%d\n" % len(seen))
        statement += 1
    until = time.monotonic() + WAIT_SECONDS
    for server in place.started():
        while is_running(server["pid"]):
            assert time.monotonic() < until, "a server outlives its proxy"
            select.select([], [], [], 0.01)


def _played(place: Place, mode: str, statement: int) -> tuple[set[str], bool]:
    """Have a client work with a proxy; return the keys of its answers, and whether it died."""
    proxy_in, to_proxy = os.pipe()
    from_proxy, proxy_out = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.dup2(proxy_in, 0)
            os.dup2(proxy_out, 1)
            os.closerange(3, max(proxy_in, to_proxy, from_proxy, proxy_out) + 1)
            _die_at(statement)
            proxy(place.words(place.raw_server(), mode=mode)[2:])
            os._exit(0)
        finally:
            os._exit(_FAILED)
    os.close(proxy_in)
    os.close(proxy_out)
    seen = _asked(to_proxy, from_proxy)
    os.close(from_proxy)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL), f"the proxy ended with status {status}"
    return seen, os.WIFSIGNALED(status)


def _asked(to_proxy: int, from_proxy: int) -> set[str]:
    """Ask a few at a time, until all is answered or the proxy is gone; close its input."""
    seen: set[str] = set()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        for number in range(CALLS):
            params = {"name": "counter", "arguments": {"k": f"key-{number}"}}
            asked = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            os.write(to_proxy, json.dumps(asked).encode() + b"\n")
            if number >= AT_ONCE:
                seen |= _read(from_proxy, 1)
        os.close(to_proxy)
    except BrokenPipeError:
        os.close(to_proxy)
    return seen | _read(from_proxy, sys.maxsize)


def _read(source: int, count: int) -> set[str]:
    """Read so many lines, or up to the end; return the keys of the answers."""
    seen: set[str] = set()
    line = b""
    while count:
        ready, _, _ = select.select([source], [], [], WAIT_SECONDS)
        assert ready, "nothing came in time"
        letter = os.read(source, 1)  # so that none of the next line is taken
        if not letter:
            break
        line += letter
        if letter == b"\n":
            message = json.loads(line)
            line = b""
            count -= 1
            if "result" in message:
                seen.add(f"key-{message['id']}")
    return seen


def _check(place: Place, seen: set[str], *, died: bool) -> None:
    rows = place.calls()
    kept = {
        json.loads(row.seen.params or "")["arguments"]["k"]
        for row in rows
        if row.state == "answered"
    }
    assert seen <= kept, f"{sorted(seen - kept)} was answered, and is not in the journal"
    if rows:
        with Journal.open(str(place.journal)) as journal:
            found = cassettes.of_run(journal, place.run)
        assert len([item for item in found.interactions if item.response]) == len(kept)
        assert found.complete is (place.sessions()[0][0] == "ended")
    assert died or len(seen) == CALLS


def _die_at(statement: int) -> None:
    left = statement

    def count(_text: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def connected(*arguments: object, **options: object) -> sqlite3.Connection:
        connection = _connect(*arguments, **options)
        connection.set_trace_callback(count)
        return connection

    sqlite3.connect = connected  # type: ignore[assignment]  # in this child alone


if __name__ == "__main__":
    main(*sys.argv[1:])
