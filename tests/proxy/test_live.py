"""A live server behind the proxy: its traffic passes unharmed, and is recorded."""

import json
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from sidecar.cassette.interaction import Response
from sidecar.errors import JournalError
from sidecar.proxy.live import LiveServer
from tests.paths import PYTHON
from tests.proxy.http.odd_server import OddServer, answering
from tests.proxy.place import Place, ProxyClient, ended, quiet, resident_bytes, said, until
from tests.proxy.stage import WAIT_SECONDS, Stage, call, request

# The guard is a fork; where tests run in several processes, these have threads of their own.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")

MEBIBYTE = 1 << 20
SIZES = [65_535, 65_536, 65_537, 200_000, 20_000_000]
CONNECTION_CLOSED = -32000
TOO_LARGE = -32011


def answers(place: Place) -> list[Response | None]:
    return [row.seen.response for row in place.calls()]


def result_of(line: bytes) -> str:
    """The text of a line's `result`, as it is spelt there."""
    return line.decode().partition('"result":')[2].rstrip()[:-1]


def echo_of(size: int) -> tuple[bytes, str]:
    """A call of `echo` whose line has so many bytes, and what it says."""
    text = "é" + "x" * (size - 2 - len(call("big-one", "echo", {"text": ""}).rstrip()))
    return call("big-one", "echo", {"text": text}).replace(rb"\u00e9", "é".encode()), text


# --- noise, line ends, text


def test_s01_s02_noise_goes_to_standard_error_and_answers_to_the_client(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw("--noise") as client:
        hello = client.initialize()
        echoed = client.call("echo", {"text": "hi"})
        junk = client.call("junk_line")
        code = ended(client)
        errors = client.stderr_text()

    assert (hello.before, echoed.before, junk.before) == ((), (), ())
    assert b"".join([hello.line, echoed.line, junk.line]) == place.sent.read_bytes()
    assert errors.splitlines() == [
        "[raw] Server v1.2 ready",
        "[raw] debug {not json",
        "[raw] \ufffd\ufffd",
    ] * 2 + ["[raw] \ufffd\ufffd", *errors.splitlines()[7:]]
    assert len(errors.splitlines()) == 10
    assert [item.method for item in place.recorded().interactions] == [
        "initialize",
        "tools/call",
        "tools/call",
    ]
    assert code == 0


def test_s02_blank_lines_of_the_client_reach_the_server(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.send(b"\n   \n\r\n")
        assert said(client.call("echo", {"text": "on"}).value) == "on"
        ended(client)

    assert place.received.read_bytes().startswith(b"\n   \n\r\n")
    assert len(place.rows()) == 1


def test_s04_text_may_come_byte_by_byte(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw("--byte-by-byte") as client:
        line = client.call("echo", {"text": "é🎉"}).line
        ended(client)

    assert line == place.sent.read_bytes()
    assert "é🎉".encode() in line


@pytest.mark.parametrize("mode", ["record", "replay"])
def test_s05_text_is_utf8_whatever_the_locale_says(tmp_path: Path, mode: str) -> None:
    place = Place(tmp_path)
    words = "日本語🎉 עברית"
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}
    with place.raw(env=env) as client:
        line = client.call("echo", {"text": words}).line
        ended(client)
    if mode == "replay":
        with place.replay(env=env) as client:
            line = client.call("echo", {"text": words}).line

    assert json.loads(line)["result"]["content"][0]["text"] == words
    assert words.encode() in line
    assert place.cassette.read_bytes().count(words.encode()) == 2


# --- sizes


@pytest.mark.parametrize("size", SIZES)
def test_s03_a_large_result_passes_and_is_kept(tmp_path: Path, size: int) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        line = client.call("big", {"line_bytes": size, "fill": "y"}).line
        assert said(client.call("echo", {"text": "on"}).value) == "on"
        assert ended(client) == 0
    with place.replay() as client:
        again = client.call("big", {"line_bytes": size, "fill": "y"}).line

    assert len(line) == size + 1
    assert place.sent.read_bytes().startswith(line)
    assert result_of(line) == result_of(again)


@pytest.mark.parametrize("size", SIZES)
def test_s03_large_arguments_pass_and_are_kept(tmp_path: Path, size: int) -> None:
    place = Place(tmp_path)
    line, text = echo_of(size)
    with place.raw() as client:
        client.send(line)
        assert said(client.read_until("big-one").value) == text
        assert ended(client) == 0
    with place.replay() as client:
        client.send(line)
        assert said(client.read_until("big-one").value) == text

    assert len(line) == size + 1
    assert place.received.read_bytes() == line


def test_s03_a_result_over_the_ceiling_is_an_error_for_its_request(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw(options=["--max-message-bytes", "10000"]) as client:
        fits = client.call("big", {"line_bytes": 10_000})
        over = client.call("big", {"line_bytes": 10_001})
        assert said(client.call("echo", {"text": "on"}).value) == "on"
        assert ended(client) == 0
        errors = client.stderr_text()

    text = "A message of 10001 bytes is over the ceiling of 10000; raise it with"
    assert len(fits.line) == 10_001
    assert over.value["error"]["code"] == TOO_LARGE
    assert over.value["error"]["message"].startswith(text)
    assert text in errors
    assert [response and response.member for response in answers(place)] == [
        "result",
        "error",
        "result",
    ]


def test_s03_arguments_over_the_ceiling_are_an_error_for_their_request(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw(options=["--max-message-bytes", "10000"]) as client:
        over = client.call("echo", {"text": "x" * 300_000})
        assert said(client.call("echo", {"text": "on"}).value) == "on"
        assert ended(client) == 0

    assert over.value["error"]["code"] == TOO_LARGE
    assert place.received.read_bytes().count(b"\n") == 1
    assert len(place.calls()) == 1


SERVER_THAT_ASKS = """
import json, sys
print(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "roots/list", "params": {"x": "y" * SIZE}}))
print(json.dumps({"jsonrpc": "2.0", "method": "notifications/x", "params": {"x": "y" * SIZE}}))
sys.stdout.flush()
sys.stderr.write("got " + sys.stdin.readline())
sys.stderr.flush()
for line in sys.stdin: print(line, end="", flush=True)
"""


def test_s03_j11_a_question_over_the_ceiling_is_answered_to_the_server(tmp_path: Path) -> None:
    # The client's own id 7 is another request: it must not get this error.
    place = Place(tmp_path)
    command = [PYTHON, "-c", SERVER_THAT_ASKS.replace("SIZE", "20000")]
    with place.client(command, options=["--max-message-bytes", "10000"]) as client:
        until(lambda: "got " in client.stderr_text())
        client.send(b'{"jsonrpc":"2.0","id":"end","method":"ping"}\n')
        first = client.read()
        words = client.stderr_text()

    told = json.loads(words.partition("got ")[2].splitlines()[0])
    assert (told["id"], told["error"]["code"]) == (7, TOO_LARGE)
    assert first == b'{"jsonrpc":"2.0","id":"end","method":"ping"}\n'


def test_s03_j11_a_reply_over_the_ceiling_is_an_error_for_the_server(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw(options=["--max-message-bytes", "10000"]) as client:
        asking = client.start_call("ask_roots", {"id": 1})
        client.read_request("roots/list")
        client.answer(1, {"roots": ["x" * 20_000]})
        answer = client.read_until(asking)

    told = answer.value["result"]["structuredContent"]["answer"]
    assert told["error"]["code"] == TOO_LARGE


# --- standard error


def test_s10_a_flood_on_standard_error_is_passed_on_and_holds_nothing_up(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw("--stderr-flood") as client:
        client.initialize()
        for _ in range(3):
            client.call("echo")
        ended(client)
        errors = client.stderr_text()

    with ProxyClient(place.raw_server("--stderr-flood")) as client:
        client.initialize()
        for _ in range(3):
            client.call("echo")
        ended(client)
        assert errors == client.stderr_text()


# --- several at once


def test_s15_large_answers_at_once_stay_whole_for_a_slow_reader(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        calls = [client.start_call("big", {"bytes": MEBIBYTE}) for _ in range(16)]
        until(lambda: len(place.calls()) >= 1)  # the first waits for the reader
        found = {call: client.read_until(call) for call in calls}
        assert ended(client) == 0

    assert {len(said(reply.value)) for reply in found.values()} == {MEBIBYTE}
    assert sorted(reply.line for reply in found.values()) == sorted(
        place.sent.read_bytes().splitlines(keepends=True)
    )


def test_a_slow_call_holds_up_no_other(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        slow = client.start_call("slow", {"key": "a"}, token=1)
        client.read_request("notifications/progress")
        assert [said(client.call("counter").value) for _ in range(3)] == ["1", "2", "3"]
        client.call("release", {"key": "a"})
        assert said(client.read_until(slow).value) == "a: released"
        ended(client)

    # The cassette has them in the order in which they were asked for.
    tools = [item.tool for item in place.recorded().interactions]
    assert tools == ["slow", "counter", "counter", "counter", "release"]


def test_an_open_call_is_in_the_journal_while_it_is_waited_for(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.start_call("slow", {"key": "a"}, token=1)
        client.read_request("notifications/progress")

        until(lambda: [row.state for row in place.calls()] == ["open"])
        assert [event.type for event in place.events()] == ["agent.tool-called"]


def test_an_answered_call_is_in_the_journal_before_the_client_sees_the_answer(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.initialize()
        for count in range(1, 31):
            line = client.call("counter").line

            found = place.calls()
            assert len(found) == count
            assert found[-1].state == "answered"
            assert found[-1].seen.response == Response("result", result_of(line))


def test_a_client_that_does_not_read_makes_the_server_wait(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.initialize()
        for _ in range(40):
            client.start_call("big", {"bytes": MEBIBYTE})
        until(quiet(lambda: place.sent.stat().st_size))

        # Some are on their way, in pipes and buffers; the others wait in the server.
        assert [row.state for row in place.calls()].count("answered") < 10
        assert resident_bytes(client.process.pid) < 60 * MEBIBYTE
        client.close_stdin()
        assert sum(map(len, client.read_rest())) > 40 * MEBIBYTE


def test_a_server_that_does_not_read_makes_the_client_wait(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.client(["sleep", "60"], timeout=1.0) as client:
        with pytest.raises(TimeoutError):
            client.send(call(1, "echo", {"text": "x" * 10_000}) * 5000)

        assert resident_bytes(client.process.pid) < 60 * MEBIBYTE


# --- a server that ends


def test_s11_calls_in_flight_fail_at_once_when_the_server_dies(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.initialize()
        waiting = client.start_call("never", {"a": 1})
        dying = client.start_call("crash")
        failures = [client.read_until(call).value["error"] for call in (waiting, dying)]
        assert client.read_rest() == []
        code = client.wait()
    with place.replay() as client:
        client.initialize()
        again = [client.call(*call).value["error"] for call in (("never", {"a": 1}), ("crash",))]
        ended(client)

    text = "server 'raw' exited with code 137"
    assert failures == [{"code": CONNECTION_CLOSED, "message": text}] * 2
    assert code == 137
    assert place.sessions()[0] == ("failed", 137)
    assert [item.response for item in place.recorded().interactions[1:]] == [None, None]
    assert not place.recorded().complete
    assert [error["code"] for error in again] == [CONNECTION_CLOSED] * 2


def test_s11_the_last_words_of_a_server_are_told(tmp_path: Path) -> None:
    place = Place(tmp_path)
    script = "read line; echo 'no memory left' >&2; echo bye >&2; exit 9"
    with place.client(["sh", "-c", script]) as client:
        error = client.call("anything").value["error"]
        assert client.wait() == 9

    message = "server 'raw' exited with code 9; its last words: no memory left\nbye"
    assert error == {"code": CONNECTION_CLOSED, "message": message}
    ((kind, payload), returned) = place.events()
    assert (kind, returned.type) == ("agent.tool-called", "agent.tool-returned")
    assert returned.payload["error"]["code"] == "sidecar.unanswered"
    assert "memory" not in json.dumps(payload) + json.dumps(returned.payload)


def test_s11_a_server_that_only_closes_its_output_is_gone_too(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.client(["sh", "-c", "exec >&-; exec sleep 60"]) as client:
        error = client.call("anything").value["error"]

    assert error == {"code": CONNECTION_CLOSED, "message": "server 'raw' closed its output"}


def test_an_answer_cut_of_its_line_end_does_not_run_into_the_next(tmp_path: Path) -> None:
    place = Place(tmp_path)
    script = """read one; read two; printf '{"jsonrpc":"2.0","id":1,"result":{}}'"""
    with place.client(["sh", "-c", script]) as client:
        first, second = client.start("ping"), client.start("ping")
        assert client.read_until(first).value["result"] == {}
        assert client.read_until(second).value["error"]["code"] == CONNECTION_CLOSED


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        pytest.param(
            ["/nowhere/server"],
            127,
            "server 'raw' could not be started: No such file or directory",
            id="S12-not found",
        ),
        pytest.param(
            ["sh", "-c", "echo 'Traceback: no such database' >&2; exit 1"],
            1,
            "server 'raw' exited with code 1; its last words: Traceback: no such database",
            id="S12-ends at once",
        ),
        pytest.param(["true"], 0, "server 'raw' exited with code 0", id="S12-ends in peace"),
    ],
)
def test_s12_a_server_that_does_not_start_is_told_to_the_client(
    tmp_path: Path, command: list[str], code: int, message: str
) -> None:
    place = Place(tmp_path)
    with place.client(command) as client:
        assert client.initialize().value["error"] == {"code": CONNECTION_CLOSED, "message": message}
        # It may try again; then it is told the same.
        assert client.request("ping").value["error"]["message"] == message
        assert client.read_rest() == []
        assert client.wait() == code
        assert ("could not be started" in message) == ("check the command" in client.stderr_text())

    assert [row.state for row in place.rows()] == ["unanswered"] * 2


def test_s12_a_server_that_ends_before_it_is_asked_is_told_at_the_first_question(
    tmp_path: Path,
) -> None:
    # The threads that serve it may come to their end in any order.
    for _ in range(5):
        with closing(Stage(tmp_path, ["sh", "-c", "echo gone >&2; exit 3"])) as stage:
            over = threading.Event()
            live = LiveServer(stage.wiring, over.set)
            live.start()
            assert over.wait(WAIT_SECONDS)
            live.take([request(1, "ping")])

            message = "server 'raw' exited with code 3; its last words: gone"
            assert stage.client.message()["error"]["message"] == message
            assert live.finish(patient=True) == 3


def test_e04_a_server_that_ends_after_an_answer_ends_the_proxy(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.initialize()
        assert said(client.call("exit_after_answer", {"code": 4}).value) == "bye"
        # The client sees the end as it would unwrapped; nothing starts the server again.
        assert client.read() is None
        assert client.wait() == 4

    assert len(place.started()) == 1
    assert place.sessions() == [("failed", 4)]


def test_e02_a_server_is_started_once_and_sees_nothing_but_the_clients_messages(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path)
    sent = [request(0, "tools/list"), *(call(ident, "counter") for ident in range(1, 51))]
    with place.raw() as client:
        for ident, line in enumerate(sent):
            client.send(line)
            client.read_until(ident)
        ended(client)

    assert len(place.started()) == 1
    assert place.received.read_bytes() == b"".join(sent)


# --- a journal that breaks costs the recording, never the traffic


def test_a_journal_that_breaks_is_told_once_and_traffic_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with closing(Stage(tmp_path, ["cat"])) as stage:
        live = LiveServer(stage.wiring, lambda: None)
        live.start()
        broken = JournalError("the disk is full", place="journal.db", hint="make room")
        monkeypatch.setattr(stage.tape.session, "add", _raising(broken))
        for ident in range(3):
            live.take([b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % ident])
            live.take([request(ident, "ping")])
            assert stage.client.lines(2)
        live.finish(patient=True)

        assert stage.tape.broken
        assert stage.interactions() == []
    assert capfd.readouterr().err == (
        "mcp-sidecar: journal.db: the disk is full; make room; what follows is not recorded, "
        "and the run stays incomplete\n"
    )


def _raising(error: Exception) -> Any:
    def fail(*_: object) -> Any:
        raise error

    return fail


def test_a_server_works_in_the_folder_that_it_is_given(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "there").mkdir()
    with closing(Stage(tmp_path, ["sh", "-c", "pwd; cat"])) as stage:
        for folder in ("there", "gone"):
            options = stage.wiring.options._replace(cwd=str(tmp_path / folder))
            live = LiveServer(stage.wiring._replace(options=options), lambda: None)
            live.start()
            live.finish(patient=True)

    told = capfd.readouterr().err.splitlines()
    assert told[0] == f"[raw] {tmp_path.resolve() / 'there'}"
    assert f"could not be started: its working directory '{tmp_path / 'gone'}': No such" in told[1]


# --- its end


def test_nothing_is_left_open_of_servers_that_ended(tmp_path: Path) -> None:
    with closing(Stage(tmp_path, ["sh", "-c", "echo on >&2; cat"])) as stage, OddServer() as server:
        at_url = stage.wiring.options._replace(url=server.url, command=())
        before = sorted(Path("/dev/fd").iterdir()), threading.active_count()
        for options in (stage.wiring.options, at_url) * 2:
            live = LiveServer(stage.wiring._replace(options=options), lambda: None)
            live.start()
            live.finish(patient=True)

        # The server's own end of a connection is on another thread.
        until(lambda: (sorted(Path("/dev/fd").iterdir()), threading.active_count()) == before)


def test_s17_the_end_waits_for_a_client_that_reads_slowly(tmp_path: Path) -> None:
    line = call(1, "echo", {"text": "x" * MEBIBYTE})
    with closing(Stage(tmp_path, ["cat"])) as stage:
        live = LiveServer(stage.wiring, lambda: None)
        live.start()
        with ThreadPoolExecutor() as work:
            work.submit(live.take, [line]).result(WAIT_SECONDS)
            ending = work.submit(live.finish, patient=True)
            child = live._link
            assert child is not None
            until(lambda: child.wait(0) is not None)
            with pytest.raises(TimeoutError):
                ending.result(4 * stage.wiring.options.grace_seconds)

            # All is said, and the server is gone; but the client has it only in part.
            assert stage.client.line() + b"\n" == line
            assert ending.result(WAIT_SECONDS) == 0


def test_what_was_open_at_the_end_is_known_to_be_unanswered(tmp_path: Path) -> None:
    with closing(Stage(tmp_path, ["sh", "-c", "cat >/dev/null"])) as stage:
        live = LiveServer(stage.wiring, lambda: None)
        live.start()
        live.take([call(1, "echo")])
        live.finish(patient=True)

        assert [row.state for row in stage.rows()] == ["unanswered"]


# --- a server at a URL


@contextmanager
def reached(tmp_path: Path, answers: dict[str, Any]) -> Iterator[tuple[Stage, LiveServer]]:
    """A live server behind HTTP that answers like this, and the stage before it."""
    with OddServer(answers) as server, closing(Stage(tmp_path)) as stage:
        options = stage.wiring.options._replace(url=server.url)
        live = LiveServer(stage.wiring._replace(options=options), lambda: None)
        live.start()
        yield stage, live
        live.finish(patient=True)


def kept(stage: Stage) -> list[tuple[str, Response | None, int | None]]:
    """How the journal has its interactions: method, answer and HTTP status."""
    rows = stage.interactions()
    return [(one.method, one.response, one.http_status) for one in rows]


def test_h06_what_a_server_at_a_url_never_answered_is_kept_as_that(tmp_path: Path) -> None:
    answers = {"prompts/list": answering(status=503), "tools/call": answering(status=202)}
    with reached(tmp_path, answers) as (stage, live):
        for ident, method in enumerate(["ping", "prompts/list", "tools/call"]):
            live.take([request(ident, method)])
            message = stage.client.message()
            assert message["id"] == ident
            assert ("error" in message) == (ident > 0)
        assert live.failure is None
        assert live.drained(WAIT_SECONDS)

        assert kept(stage) == [
            ("ping", Response("result", '{"params": null}'), None),
            ("prompts/list", None, 503),
            ("tools/call", None, 202),
        ]


def test_a_status_that_tells_something_is_kept_with_the_answer(tmp_path: Path) -> None:
    error = '{"code":-32600,"message":"Session not found"}'
    body = f'{{"jsonrpc":"2.0","id":"server-error","error":{error}}}'
    gone = answering(status=404, text=body, content_type="application/json")
    with reached(tmp_path, {"tools/call": gone}) as (stage, live):
        live.take([call(7, "echo")])
        assert stage.client.message()["id"] == 7

        assert kept(stage) == [("tools/call", Response("error", error), 404)]
