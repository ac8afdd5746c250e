"""Killing any process at any point loses no answered call (design.md, section 3, invariant 3)."""

import json
import os
import random
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from sidecar.store import cassettes
from sidecar.store.journal import Journal
from tests.paths import PYTHON
from tests.proxy.place import Place, Row, ended, is_running, said, until
from tests.servers.raw_client import RawClient

SEEDS = range(8)
WAIT_SECONDS = 20.0
AT_ONCE = 12
CLIENT = str(Path(__file__).with_name("calling_client.py"))


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


def seen(lines: Iterable[bytes | None]) -> set[str]:
    """The keys of the calls whose answers came."""
    found = [json.loads(line) for line in lines if line and line.endswith(b"\n")]
    return {f"key-{message['id']}" for message in found if "result" in message}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("victim", ["proxy", "server"])
def test_kill_9_of_proxy_or_server_loses_no_answered_call(
    tmp_path: Path, victim: str, seed: int
) -> None:
    chance = random.Random(f"{victim} {seed}")
    place = Place(tmp_path)
    with place.raw() as client:
        lines: list[bytes | None] = []
        for number in range(AT_ONCE):
            start(client, number)
        for number in range(AT_ONCE, AT_ONCE + chance.randrange(1, 120)):
            lines.append(client.read())
            start(client, number)
        pid = client.process.pid if victim == "proxy" else place.started()[0]["pid"]
        os.kill(pid, signal.SIGKILL)
        lines += client.read_rest()
        code = client.wait()

    assert code == (-9 if victim == "proxy" else 137)
    assert seen(lines) <= answered(place.calls())
    assert len(seen(lines)) > 0
    until(lambda: not is_running(place.started()[0]["pid"]))
    with_journal_saved(place)


def with_journal_saved(place: Place) -> None:
    """A cassette can be made of what is there, and says that it is not complete."""
    journal = Journal.open(str(place.journal))
    try:
        cassette = cassettes.of_run(journal, place.run)
    finally:
        journal.close()
    calls = [item for item in cassette.interactions if item.response]
    assert len(calls) >= len(answered(place.calls()))
    assert not cassette.complete


@pytest.mark.parametrize("seed", SEEDS)
def test_kill_9_of_the_client_loses_no_answered_call(tmp_path: Path, seed: int) -> None:
    place = Place(tmp_path)
    notes = tmp_path / "notes"
    enough = random.Random(seed).randrange(1, 400)
    with subprocess.Popen(
        [PYTHON, CLIENT, notes, *place.words(place.raw_server())], stderr=subprocess.DEVNULL
    ) as client:
        until(lambda: notes.exists() and notes.read_bytes().count(b"\n") >= enough)
        client.kill()
    (server,) = place.started()
    until(lambda: place.sessions()[0][0] != "running")

    noted = {f"key-{line.decode()}" for line in notes.read_bytes().splitlines()}
    assert noted <= answered(place.calls())
    assert not is_running(server["pid"])
    # The proxy saw the end of its input, as at any other end.
    until(place.cassette.exists)
    assert place.sessions()[0][0] == "ended"


@pytest.mark.parametrize("seed", range(4))
def test_kill_9_of_a_replaying_proxy_loses_no_answered_call(tmp_path: Path, seed: int) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        for number in range(150):
            start(client, number)
        for number in range(150):
            client.read_until(number)
        ended(client)
    again = Place(tmp_path, run="local/01JDPR0XY00000000000000001")
    with again.replay() as client:
        lines: list[bytes | None] = []
        for number in range(random.Random(seed).randrange(1, 140)):
            start(client, number)
            if number > AT_ONCE:
                lines.append(client.read())
        client.process.kill()
        lines += client.read_rest()
        client.wait()

    assert seen(lines) <= answered(again.calls())


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


def test_a_proxy_that_was_killed_leaves_no_lock_behind(tmp_path: Path) -> None:
    place = Place(tmp_path, journal=False)  # killed while the journal is made, too
    for delay in range(6):
        with place.raw() as client:
            client.start_call("counter")
            if delay % 2:
                client.read()
            client.process.kill()
            client.wait()
    with place.raw() as client:
        assert said(client.call("counter").value) == "1"
        assert ended(client) == 0
