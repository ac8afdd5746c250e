"""One server behind the proxy, as a process: how it starts, how it ends, what it leaves."""

import json
import os
import random
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from sidecar.cassette.interaction import Cassette, Interaction, Response, Server
from sidecar.store.cassettes import save
from sidecar.store.journal import Journal
from sidecar.store.runs import list_runs
from tests.paths import MCP_SIDECAR, PYTHON
from tests.proxy.place import (
    RAW_SERVER,
    Place,
    ProxyClient,
    ended,
    is_running,
    running_in_group,
    said,
    until,
)
from tests.proxy.stage import call, notification, request
from tests.servers.raw_client import EndOfOutputError, RawClient

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
# What a shell has its background jobs ignore, they hand on: the tests, too, may be such a job.
ASKS_FOR_SIGNALS = [
    PYTHON, "-c",
    "import os, signal, sys\n"
    "for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_DFL)\n"
    "os.execv(sys.argv[1], sys.argv[1:])",
]  # fmt: skip


def launched(place: Place, *flags: str) -> RawClient:
    """A proxy whose server stands behind a launcher, like npx."""
    server = " ".join(place.raw_server(*flags))
    # A shell gives what it puts into the background another input, unless told otherwise.
    words = place.words(["sh", "-c", f"exec 3<&0; {server} <&3 & wait"])
    return ProxyClient([*ASKS_FOR_SIGNALS, *words])


# --- its end, when the client's input ends


@pytest.mark.parametrize("code", [0, 3])
def test_its_exit_code_is_the_servers(tmp_path: Path, code: int) -> None:
    place = Place(tmp_path)
    with place.raw("--exit-code", str(code)) as client:
        client.initialize()
        assert ended(client) == code

    assert place.sessions() == [("ended", code)]
    assert place.recorded().complete


def test_a_client_that_says_nothing_leaves_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        assert ended(client) == 0

    assert place.rows() == []
    assert place.recorded().interactions == ()
    assert not is_running(place.started()[0]["pid"])


def test_s17_answers_are_waited_for_when_the_input_has_ended(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw(options=["--drain-seconds", "60"]) as client:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x"}}
        client.send(request(0, "initialize", hello))
        client.send(notification("notifications/initialized"))
        client.send(call(1, "slow", {"seconds": 0.3}))
        client.send(call(2, "echo", {"text": "a"}))
        client.send(call(3, "big", {"bytes": 3_000_000}).rstrip())  # not even a line end
        client.close_stdin()
        lines = client.read_rest()
        assert client.wait() == 0

    # The server was not told of the end before it had answered.
    assert sorted(json.loads(line)["id"] for line in lines) == [0, 1, 2, 3]
    assert b"slow: time" in b"".join(lines)
    assert [row.state for row in place.rows()] == ["answered"] * 4
    assert place.recorded().complete


def test_s17_the_wait_for_answers_is_bounded(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw(options=["--drain-seconds", "0.2"]) as client:
        client.initialize()
        client.start_call("never")
        assert ended(client) == 0

    assert [row.state for row in place.rows()] == ["answered", "unanswered"]
    assert place.sessions() == [("ended", 0)]


def test_s17_the_wait_goes_on_while_answers_come(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw(options=["--drain-seconds", "0.8"]) as client:
        for number in range(1, 9):
            client.start_call("slow", {"key": str(number), "seconds": number * 0.2})
        client.close_stdin()
        texts = [said(json.loads(line)) for line in client.read_rest()]
        assert client.wait() == 0

    # The server was not told of the end before.
    assert texts == [f"{number}: time" for number in range(1, 9)]


def test_the_wait_for_answers_may_have_no_end(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw(options=["--drain-seconds", "inf"]) as client:
        client.start_call("slow", {"seconds": 0.1})
        client.close_stdin()
        assert len(client.read_rest()) == 1
        assert client.wait() == 0


def test_a_client_that_is_gone_is_no_error(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.initialize()
        client.start_call("big", {"bytes": 5_000_000})
        client._stdout.close()
        client.close_stdin()
        assert client.process.wait(20) == 0
        assert "Traceback" not in client.stderr_text()

    assert [row.state for row in place.rows()] == ["answered"] * 2
    assert not is_running(place.started()[0]["pid"])


def test_d04_both_sides_may_end_at_once(tmp_path: Path) -> None:
    for number in range(5):
        place = Place(tmp_path / str(number))
        with place.raw() as client:
            client.initialize()
            client.start_call("exit_after_answer", {"code": 6})
            client.close_stdin()
            lines = client.read_rest()
            assert client.wait() == 6
            assert client.stderr_text() == ""

        assert [json.loads(line)["id"] for line in lines] == [2]
        assert len(place.sessions()) == 1
        assert len(place.recorded().interactions) == 2


def test_a_server_that_does_not_end_with_its_input_is_stopped(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw("--ignore-eof", "--grandchild") as client:
        client.initialize()
        assert ended(client) == 143

    started = place.started()[0]
    assert not is_running(started["grandchild"])
    assert running_in_group(started["pgid"]) == []
    assert place.recorded().complete


# --- its end, when it is told to stop


@pytest.mark.parametrize("sign", SIGNALS, ids=[f"D01-{sign.name}" for sign in SIGNALS])
def test_d01_a_signal_stops_the_server_behind_a_launcher(
    tmp_path: Path, sign: signal.Signals
) -> None:
    place = Place(tmp_path)
    with launched(place, "--ignore-eof", "--grandchild") as client:
        client.initialize()
        started = place.started()[0]
        os.kill(client.process.pid, sign)
        assert client.read_rest() == []
        assert client.wait() == 143
        assert client.stderr_text() == ""

    assert running_in_group(started["pgid"]) == []
    assert not any(map(is_running, [started["pid"], started["grandchild"]]))
    state = "ended" if sign is signal.SIGTERM else "interrupted"
    assert place.sessions() == [(state, 143)]
    assert place.recorded().complete == (sign is signal.SIGTERM)


def test_d01_a_server_that_ignores_term_is_killed(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with launched(place, "--ignore-eof", "--ignore-term", "--grandchild") as client:
        client.initialize()
        started = place.started()[0]
        for _ in range(3):  # a second one does not stop the stopping
            os.kill(client.process.pid, signal.SIGTERM)
        client.wait()

    assert running_in_group(started["pgid"]) == []
    assert len(place.recorded().interactions) == 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mode", ["record", "replay"])
def test_a_signal_in_the_middle_of_work_leaves_a_whole_recording(
    tmp_path: Path, mode: str, seed: int
) -> None:
    place = Place(tmp_path)
    if mode == "replay":
        make_cassette(place, calls=200)
    with place.raw(mode=mode) as client:
        for _ in range(200):
            client.start_call("echo")
        client.read_until(random.Random(seed).randrange(1, 100))
        os.kill(client.process.pid, signal.SIGTERM)
        client.read_rest()
        client.wait()
        assert client.stderr_text() == ""

    assert {row.state for row in place.calls()} <= {"answered", "unanswered"}
    assert place.sessions()[0][0] == "ended"


def make_cassette(place: Place, *, calls: int) -> None:
    """Write a cassette with so many calls of `echo`."""
    params = '{"name":"echo","arguments":{}}'
    response = Response("result", '{"content":[]}')
    items = (Interaction("raw", "tools/call", params, response),) * calls
    save(str(place.cassette), Cassette(items, {"raw": Server()}))


def test_d01_a_proxy_whose_server_is_gone_stops_at_once(tmp_path: Path) -> None:
    # It lingers, so that its client can ask and be told; but not once it is told to stop.
    place = Place(tmp_path)
    with place.client(["/nowhere/server"]) as client:
        until(lambda: "could not be started" in client.stderr_text())
        os.kill(client.process.pid, signal.SIGTERM)
        assert client.wait() == 127


def test_nohup_is_respected(tmp_path: Path) -> None:
    place = Place(tmp_path)
    ignoring = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    with ProxyClient([PYTHON, "-c", ignoring, *place.words(place.raw_server())]) as client:
        client.initialize()
        os.kill(client.process.pid, signal.SIGHUP)
        assert said(client.call("echo", {"text": "still here"}).value) == "still here"
        assert ended(client) == 0


def test_a_client_that_ignores_its_children_gets_the_exit_code(tmp_path: Path) -> None:
    place = Place(tmp_path)
    ignoring = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    words = place.words(place.raw_server("--exit-code", "7"))
    with ProxyClient([PYTHON, "-c", ignoring, *words]) as client:
        client.initialize()
        assert ended(client) == 7


@pytest.mark.parametrize("ignores", ["--ignore-eof", "--ignore-term"])
def test_d02_nothing_is_left_of_a_proxy_that_was_killed(tmp_path: Path, ignores: str) -> None:
    place = Place(tmp_path)
    with launched(place, "--ignore-eof", ignores, "--grandchild") as client:
        client.initialize()
        said(client.call("echo").value)
        started = place.started()[0]
        client.process.kill()
        client.wait()

        until(lambda: running_in_group(started["pgid"]) == [], seconds=20)
    assert not is_running(started["grandchild"])
    # What was answered is there; the cassette can be saved from it.
    assert [row.state for row in place.rows()] == ["answered"] * 2
    assert not place.cassette.exists()


# --- several proxies


def test_s19_sessions_end_in_any_order_and_one_that_fails_harms_no_other(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(place.raw(options=["--server", name])) for name in ("a", "b")
        )
        third = stack.enter_context(place.client(["/nowhere"], options=["--server", "c"]))
        first.initialize()
        second.initialize()
        assert "error" in third.initialize().value
        assert ended(first) == 0
        assert said(second.call("counter").value) == "1"
        fourth = stack.enter_context(place.raw(options=["--server", "d"]))
        fourth.initialize()
        assert ended(third) == 127
        assert said(second.call("counter").value) == "2"
        assert [ended(second), ended(fourth)] == [0, 0]

    assert sorted(place.sessions()) == [("ended", 0)] * 3 + [("failed", 127)]
    assert list(place.recorded().servers) == ["a", "b", "c", "d"]
    assert len(place.recorded().interactions) == 6
    assert not place.recorded().complete


def test_eight_proxies_record_into_one_run_at_once(tmp_path: Path) -> None:
    place = Place(tmp_path, journal=False)
    names = [f"s{number}" for number in range(8)]

    def session(name: str) -> list[str]:
        with place.raw(options=["--server", name], timeout=40.0) as client:
            client.initialize()
            said_all = [said(client.call("counter").value) for _ in range(25)]
            assert ended(client) == 0
            assert client.stderr_text() == ""
        return said_all

    # The journal and the masks' key are made by whichever comes first.
    with ThreadPoolExecutor(8) as work:
        counts = list(work.map(session, names))

    assert counts == [[str(count) for count in range(1, 26)]] * 8
    assert place.sessions() == [("ended", 0)] * 8
    assert [row.state for row in place.calls()] == ["answered"] * 200
    assert len(place.events()) == 400
    cassette = place.recorded()
    assert cassette.complete
    assert sorted(cassette.servers) == names
    for name in names:
        mine = [item for item in cassette.interactions if item.server == name]
        results = [json.loads(item.response.text) for item in mine if item.response]
        assert [result.get("structuredContent") for result in results[1:]] == [
            {"count": count} for count in range(1, 26)
        ]


# --- who the agent is


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        ("raw-client", "raw-client"),
        ("My Agent (beta) é", "My-Agent--beta---"),
        ("a" * 200, "a" * 128),
        ("", "agent"),
    ],
)
@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_the_agents_id_is_the_clients_name_made_to_fit(
    tmp_path: Path, name: str, agent: str, era: str
) -> None:
    place = Place(tmp_path)
    info = {"name": name, "version": "1"}
    with place.raw() as client:
        if era == "handshake":
            hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
            client.request("initialize", hello)
            client.call("echo")
        else:
            meta = {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": info,
            }
            client.request("tools/call", {"name": "echo", "_meta": meta})
        ended(client)

    assert {event.payload["agentId"] for event in place.events()} == {agent}


def test_the_agents_id_can_be_given(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw(options=["--agent-id", "core:writer"]) as client:
        client.initialize()
        client.call("echo")
        ended(client)

    assert {event.payload["agentId"] for event in place.events()} == {"core:writer"}
    with closing(Journal.open(str(place.journal))) as journal:
        assert [run.agent_id for run in list_runs(journal)] == ["core:writer"]


# --- the cassette at the end


def test_another_runs_cassette_is_left_alone_and_a_warning_says_so(tmp_path: Path) -> None:
    place = Place(tmp_path)
    other = Place(tmp_path, run="local/01JDPR0XY00000000000000001")
    with place.raw() as client:
        client.call("echo")
        ended(client)
    before = place.cassette.read_bytes()
    with other.raw() as client:
        client.call("counter")
        assert ended(client) == 0
        assert f"cassette save {other.run}" in client.stderr_text()
    assert place.cassette.read_bytes() == before
    with other.raw(options=["--overwrite"]) as client:
        ended(client)

    assert [item.tool for item in place.recorded().interactions] == ["counter"]


@pytest.mark.parametrize("content", ["", "not a cassette\n"], ids=["of another run", "broken"])
def test_what_record_will_say_of_the_cassette_is_not_said_by_each_proxy_too(
    tmp_path: Path, content: str
) -> None:
    place = Place(tmp_path)
    other = Place(tmp_path, run="local/01JDPR0XY00000000000000001")
    if content:
        place.cassette.write_text(content, "utf-8")
    else:
        with place.raw() as client:
            client.call("echo")
            ended(client)
    before = place.cassette.read_bytes()
    with closing(Journal.open(str(place.journal))) as journal:
        journal.start_run(other.run, mode="record", command='["agent"]')
    with other.raw() as client:
        client.call("echo")
        assert ended(client) == 0
        assert client.stderr_text() == ""

    assert place.cassette.read_bytes() == before


@pytest.mark.parametrize("watched", [True, False])
def test_a_misspelt_variable_is_said_once_by_whoever_runs_the_agent_else_by_the_proxy(
    tmp_path: Path, *, watched: bool
) -> None:
    place = Place(tmp_path)
    if watched:
        with closing(Journal.open(str(place.journal))) as journal:
            journal.start_run(place.run, mode="record", command='["agent"]')
    with place.raw(env={**os.environ, "MCP_SIDECAR_HOEM": "x"}) as client:
        ended(client)
        found = client.stderr_text()

    assert found.count("ignored the unknown environment variable MCP_SIDECAR_HOEM") == (not watched)


@pytest.mark.parametrize("watched", [True, False])
def test_a_miss_is_said_once_by_whoever_runs_the_agent_else_by_the_proxy(
    tmp_path: Path, *, watched: bool
) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.call("echo")
        ended(client)
    replay = Place(tmp_path, run="local/01JDPR0XY00000000000000001")
    with closing(Journal.open(str(place.journal))) as journal:
        journal.start_run(replay.run, mode="replay", command='["agent"]' if watched else None)
    with replay.raw(mode="replay") as client:
        client.call("counter")
        assert ended(client) == 1
        said_by_proxy = client.stderr_text()

    missed = "unknown-tool: no recording has a call of raw:counter"
    assert said_by_proxy == ("" if watched else f"mcp-sidecar: miss: {missed}\n")
    assert [row.missed for row in replay.rows()] == [missed]


def test_a_broken_cassette_is_left_alone_and_costs_no_traffic(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.cassette.write_text("not a cassette\n", "utf-8")
    with place.raw() as client:
        assert said(client.call("echo", {"text": "on"}).value) == "on"
        assert ended(client) == 0
        assert "tape.jsonl:1" in client.stderr_text()

    assert place.cassette.read_text("utf-8") == "not a cassette\n"


def test_passthrough_logs_events_and_makes_no_cassette(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw(mode="passthrough") as client:
        client.initialize()
        client.call("echo")
        ended(client)

    assert [event.type for event in place.events()] == ["agent.tool-called", "agent.tool-returned"]
    assert not place.cassette.exists()


# --- a journal that cannot be used, or breaks mid-way


@pytest.mark.parametrize("mode", ["record", "replay", "passthrough", "auto"])
def test_a_journal_that_cannot_be_used_is_refused_before_anything_starts(
    tmp_path: Path, mode: str
) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        ended(client)
    place.trace.unlink()
    place.journal.write_bytes(b"no database" * 100)
    with place.raw(mode=mode) as client:
        assert client.read_rest() == []
        assert client.wait() == 2
        words = client.stderr_text()

    assert words.startswith(f"mcp-sidecar: {place.journal}: ")
    assert "Traceback" not in words
    assert place.started() == []
    assert place.journal.read_bytes() == b"no database" * 100


@pytest.mark.parametrize("mode", ["record", "passthrough"])
def test_a_pattern_that_is_none_is_refused_before_anything_starts(
    tmp_path: Path, mode: str
) -> None:
    place = Place(tmp_path)
    mark = tmp_path / "started"
    words = place.words(["touch", mark], mode=mode, options=["--mask-pattern", "("])
    with ProxyClient(words) as client:
        assert client.wait() == 2
        assert "(" in client.stderr_text()

    assert not mark.exists()


FULL_DISK = (
    "import os, resource, sys\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)\n"
    "os.execv(sys.argv[2], sys.argv[2:])"
)


def test_a_disk_that_gets_full_costs_the_recording_not_the_traffic(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:  # makes the journal
        ended(client)
    limit = str(600_000)
    with ProxyClient(
        [PYTHON, "-c", FULL_DISK, limit, *place.words([PYTHON, RAW_SERVER])], timeout=20
    ) as client:
        client.initialize()
        for count in range(1, 61):
            assert said(client.call("counter", {"k": "x" * 20_000}).value) == str(count)
        assert ended(client) == 0
        words = client.stderr_text()

    assert words.count("what follows is not recorded") == 1
    assert "Traceback" not in words
    states = [row.state for row in place.calls()]
    assert set(states) <= {"answered", "open"}
    assert 0 < len(states) < 60
    assert place.sessions()[1] != ("ended", 0)


def test_a_disk_that_gets_full_during_a_replay_serves_each_recording_once(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        for _ in range(40):
            client.call("counter", {"k": "x" * 20_000})
        ended(client)
    again = Place(tmp_path, run="local/01JDPR0XY00000000000000001")
    words = again.words((), mode="replay")
    with ProxyClient([PYTHON, "-c", FULL_DISK, "300000", *words]) as client:
        for count in range(1, 41):
            assert said(client.call("counter", {"k": "x" * 20_000}).value) == str(count)
        assert ended(client) == 2  # not measured: the run's log is not whole
        told = client.stderr_text()

    assert told.count("what follows is not recorded") == 1
    assert "miss" not in told


@pytest.mark.parametrize("harm", ["removed", "replaced"])
def test_a_journal_that_is_lost_mid_way_costs_no_traffic(tmp_path: Path, harm: str) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.initialize()
        assert said(client.call("counter").value) == "1"
        for file in place.journal.parent.glob("journal.db*"):
            file.unlink() if harm == "removed" else file.write_bytes(b"x" * 10_000)
        for count in range(2, 12):
            assert said(client.call("counter").value) == str(count)
        assert ended(client) == 0
        assert "Traceback" not in client.stderr_text()


# --- bad input


def test_help_needs_nothing(tmp_path: Path) -> None:
    done = subprocess.run([MCP_SIDECAR, "proxy", "--help"], capture_output=True, check=True)

    assert done.stdout.startswith(b"Usage: mcp-sidecar proxy")
    assert list(tmp_path.iterdir()) == []


def test_the_output_ends_when_the_proxy_has_ended(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.close_stdin()
        with pytest.raises(EndOfOutputError):
            client.read_until(1)


# --- in the midst of a replay


@pytest.mark.parametrize("mode", ["record", "auto", "passthrough"])
def test_a_wrapped_server_stays_off_while_its_agent_is_replayed(tmp_path: Path, mode: str) -> None:
    place = Place(tmp_path)
    save(str(place.cassette), Cassette((), {"raw": Server()}))
    with Journal.open(str(place.journal)) as journal:
        journal.start_run(place.run, mode="replay", command='["agent"]')

    with place.raw(mode=mode) as client:
        assert ended(client) == 2
        assert "the agent's run is a replay" in client.stderr_text()

    assert place.started() == []
    assert place.sessions() == []


def test_once_that_replay_is_over_the_server_is_live_again(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with Journal.open(str(place.journal)) as journal:
        journal.start_run(place.run, mode="replay", command='["agent"]')
        journal.finish_run(place.run, state="ended")

    with place.raw() as client:
        client.initialize()
        assert ended(client) == 0

    assert len(place.started()) == 1
