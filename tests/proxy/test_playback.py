"""A recording behind the proxy; and a live server behind it, where that is allowed."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from sidecar.cassette.interaction import Cassette, Interaction, Passage, Response, Server
from sidecar.cassette.matcher import Matcher
from sidecar.errors import JournalError
from sidecar.proxy.playback import Playback
from sidecar.store.cassettes import save
from tests.paths import PYTHON
from tests.proxy.place import Place, ProxyClient, ended, said
from tests.proxy.stage import Stage, call, notification, request, response
from tests.servers.raw_client import RawClient

INVALID_REQUEST = -32600
PARSE_ERROR = -32700
MISS = -32010
OTHER_RUN = "local/01JDPR0XY00000000000000001"
MISS_RESULT = {
    "content": [{"type": "text", "text": "No recorded answer for this tool call."}],
    "isError": True,
}


def recorded_call(tool: str, arguments: str, text: str, **more: Any) -> Interaction:
    params = f'{{"name":"{tool}","arguments":{arguments}}}'
    result = f'{{"content":[{{"type":"text","text":"{text}"}}]}}'
    return Interaction("raw", "tools/call", params, Response("result", result), **more)


def recorded(method: str, result: str, params: str | None = None) -> Interaction:
    return Interaction("raw", method, params, Response("result", result))


def cassette(*items: Interaction) -> Cassette:
    return Cassette(items, {"raw": Server("2025-11-25")})


HELLO = recorded("initialize", '{"protocolVersion":"2025-11-25","capabilities":{}}')
TOOLS = recorded("tools/list", '{"tools":[]}')
COUNTS = cassette(
    HELLO,
    TOOLS,
    recorded_call("counter", '{"k":"a"}', "1"),
    recorded_call("counter", '{"k":"a"}', "2"),
)


class Playing:
    """A playback without a live server, in the test's own process."""

    def __init__(self, folder: Path, tape: Cassette) -> None:
        self.stage = Stage(folder, mode="replay")
        matcher = Matcher(tape.interactions, self.stage.wiring.masks)
        self.playback = Playback(self.stage.wiring, matcher, None)

    def ask(self, line: bytes) -> Any:
        self.playback.take([line])
        return self.stage.client.message()

    def text(self, line: bytes) -> str:
        return said(self.ask(line))

    def close(self) -> None:
        self.stage.close()


Play = Callable[[Cassette], Playing]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    with ExitStack() as stack:
        yield lambda tape: stack.enter_context(closing(Playing(tmp_path, tape)))


# --- answers


def test_a_call_is_answered_once_and_the_answer_is_in_the_journal(play: Play) -> None:
    playing = play(COUNTS)

    first = playing.ask(call("x", "counter", {"k": "a"}))
    again = playing.text(call(2, "counter", {"k": "a"}))
    missed = playing.ask(call(3, "counter", {"k": "a"}))

    assert (first["id"], said(first), again) == ("x", "1", "2")
    assert missed == {"jsonrpc": "2.0", "id": 3, "result": MISS_RESULT}
    assert [(row.state, row.entry, row.missed) for row in playing.stage.rows()] == [
        ("answered", 2, None),
        ("answered", 3, None),
        ("answered", None, "used-up: every recording of this call of raw:counter was served"
         " already"),
    ]  # fmt: skip
    assert playing.playback.finish(patient=True) == 1


def test_what_a_list_says_is_served_as_often_as_asked_for(play: Play) -> None:
    playing = play(COUNTS)

    for ident in range(3):
        assert playing.ask(request(ident, "tools/list"))["result"] == {"tools": []}
    assert playing.ask(request(3, "ping"))["result"] == {}
    assert playing.ask(request(4, "resources/list"))["error"]["code"] == MISS
    assert playing.playback.finish(patient=True) == 1


@pytest.mark.parametrize("ident", ['"1"', '"init-a"', "0", "-5", "9007199254740993", '""', "1.0"])
def test_j01_j04_an_id_comes_back_as_it_was_spelt(play: Play, ident: str) -> None:
    playing = play(COUNTS)

    playing.playback.take([b'{"jsonrpc":"2.0","id":%b,"method":"ping"}\n' % ident.encode()])

    assert playing.stage.client.line() == (
        b'{"jsonrpc":"2.0","id":%b,"result":{}}' % ident.encode()
    )


def test_j05_one_id_for_everything_is_no_trouble(play: Play) -> None:
    playing = play(COUNTS)

    assert [playing.text(call(1, "counter", {"k": "a"})) for _ in range(2)] == ["1", "2"]


def test_j08_a_notification_gets_no_answer_and_uses_nothing_up(play: Play) -> None:
    playing = play(COUNTS)

    params = {"name": "counter", "arguments": {"k": "a"}}
    playing.playback.take([notification("tools/call", params)])
    playing.playback.take([notification("notifications/initialized")])

    assert playing.stage.client.has_nothing()
    assert playing.text(call(1, "counter", {"k": "a"})) == "1"


@pytest.mark.parametrize(
    ("line", "ident", "code"),
    [
        pytest.param(b"[]", None, INVALID_REQUEST, id="J07-an empty batch"),
        pytest.param(b"null", None, INVALID_REQUEST, id="J07-null"),
        pytest.param(b"5", None, INVALID_REQUEST, id="J07-a number"),
        pytest.param(b'"x"', None, INVALID_REQUEST, id="J07-a string"),
        pytest.param(b"{}", None, INVALID_REQUEST, id="J07-an empty object"),
        pytest.param(b'{"jsonrpc":"2.0","id":1}', 1, INVALID_REQUEST, id="J07-no method"),
        pytest.param(b"{not json", None, PARSE_ERROR, id="no JSON"),
        pytest.param(b"\xff\xfe", None, PARSE_ERROR, id="S04-no UTF-8"),
        pytest.param(b"[" * 100_000, None, PARSE_ERROR, id="deep, and cut off"),
    ],
)
def test_j07_what_is_no_request_is_refused(
    play: Play, line: bytes, ident: object, code: int
) -> None:
    playing = play(COUNTS)

    answer = playing.ask(line + b"\n")

    assert (answer["id"], answer["error"]["code"]) == (ident, code)
    assert playing.text(call(1, "counter", {"k": "a"})) == "1"


def test_s02_blank_lines_are_skipped(play: Play) -> None:
    playing = play(COUNTS)

    for blank in (b"\n", b"   \n", b"\r\n"):
        playing.playback.take([blank])

    assert playing.stage.client.has_nothing()


def test_j07_a_batch_is_answered_as_one(play: Play) -> None:
    playing = play(COUNTS)
    calls = [call(1, "counter", {"k": "a"}), notification("x"), call(2, "counter", {"k": "a"})]

    answers = playing.ask(b"[" + b",".join(line.strip() for line in calls) + b"]\n")

    assert [(answer["id"], said(answer)) for answer in answers] == [(1, "1"), (2, "2")]
    assert len(playing.stage.rows()) == 2


def test_j07_a_batch_of_notifications_gets_no_answer(play: Play) -> None:
    playing = play(COUNTS)

    playing.playback.take([b"[" + notification("x").strip() + b"]\n"])

    assert playing.stage.client.has_nothing()


def test_j09_a_call_that_was_cancelled_is_not_answered_and_blocks_nothing(play: Play) -> None:
    taken_back = Interaction(
        "raw", "tools/call", '{"name":"slow","arguments":{}}', None, cancelled=True
    )
    playing = play(cassette(taken_back, recorded_call("counter", "{}", "1")))

    playing.playback.take([call(1, "slow", {})])
    playing.playback.take([notification("notifications/cancelled", {"requestId": 1})])

    assert playing.text(call(2, "counter", {})) == "1"
    assert playing.playback.drained(0)


def test_j10_progress_has_the_token_of_the_caller(play: Play) -> None:
    step = Passage("notifications/progress", '{"progress":1,"total":1}')
    playing = play(cassette(*(recorded_call("p", "{}", "x", during=(step,)) for _ in range(2))))

    progress = playing.ask(call(1, "p", {}, _meta={"progressToken": "t9"}))
    done = playing.stage.client.message()
    without = playing.ask(call(2, "p", {}))

    assert progress["params"] == {"progressToken": "t9", "progress": 1, "total": 1}
    assert (done["id"], without["id"]) == (1, 2)
    assert playing.stage.client.has_nothing()


@pytest.mark.parametrize("method", ["roots/list", "sampling/createMessage", "elicitation/create"])
def test_j11_what_the_server_asked_is_asked_again_and_the_answer_waits(
    play: Play, method: str
) -> None:
    asked = Passage(method, '{"message":"Who?"}', asked=True, reply=Response("result", "{}"))
    playing = play(cassette(recorded_call("ask", "{}", "done", during=(asked,)), TOOLS))

    question = playing.ask(call(1, "ask", {}))
    between = playing.ask(request(2, "tools/list"))
    assert playing.stage.client.has_nothing()
    playing.playback.take([response("nobody-asked", {})])
    assert playing.stage.client.has_nothing()
    answer = playing.ask(response(question["id"], {"anything": True}))

    assert (question["method"], question["params"]) == (method, {"message": "Who?"})
    assert question["id"] not in (1, 2)
    assert between["id"] == 2
    assert (answer["id"], said(answer)) == (1, "done")


def test_j17_numbers_are_not_rounded(play: Play) -> None:
    result = '{"content":[],"structuredContent":{"big":1915883588174806058,"huge":1e400}}'
    params = '{"name":"n","arguments":{"id":9007199254740993}}'
    exact = Interaction("raw", "tools/call", params, Response("result", result))
    playing = play(cassette(exact))

    near = playing.ask(call(1, "n", {"id": 9007199254740992}))
    playing.playback.take(
        [
            b'{"id":2,"method":"tools/call","params":{"name":"n",'
            b'"arguments":{"id":9007199254740993.0}}}\n'
        ]
    )

    assert near["result"] == MISS_RESULT
    assert playing.stage.client.line() == b'{"jsonrpc":"2.0","id":2,"result":%b}' % result.encode()


def test_n01_a_cassette_without_it_answers_discovery_as_an_older_server(play: Play) -> None:
    playing = play(COUNTS)

    assert playing.ask(request(1, "server/discover"))["error"]["code"] == -32601
    assert playing.playback.finish(patient=True) == 0


def test_s03_a_message_over_the_ceiling_is_refused(tmp_path: Path) -> None:
    place = Place(tmp_path)
    save(str(place.cassette), COUNTS)
    with place.replay("--max-message-bytes", "1000") as client:
        over = client.call("counter", {"k": "a" * 1000}).value
        assert said(client.call("counter", {"k": "a"}).value) == "1"
        assert ended(client) == 0

    assert (over["id"], over["error"]["code"]) == (1, -32011)


# --- the journal


def test_a_journal_that_breaks_while_it_is_written_serves_no_entry_twice(
    play: Play, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    playing = play(COUNTS)

    def full(*_: object) -> None:
        raise JournalError("the disk is full")

    monkeypatch.setattr(playing.stage.tape.session, "add", full)
    found = [playing.text(call(ident, "counter", {"k": "a"})) for ident in range(2)]

    assert found == ["1", "2"]
    assert playing.stage.tape.broken
    assert capfd.readouterr().err.count("what follows is not recorded") == 1


def test_two_proxies_of_a_run_share_what_is_left(tmp_path: Path) -> None:
    place = Place(tmp_path)
    save(str(place.cassette), COUNTS)
    with place.replay() as first, place.replay() as second:
        assert said(first.call("counter", {"k": "a"}).value) == "1"
        assert said(second.call("counter", {"k": "a"}).value) == "2"
        assert first.call("counter", {"k": "a"}).value["result"] == MISS_RESULT
        assert [ended(first), ended(second)] == [1, 0]


# --- nothing live


WATCHER = """
import sys
CALLS = "posix_spawn", "fork", "forkpty", "exec", "spawn", "system", "startfile"
def watch(event, arguments):
    group, _, call = event.partition(".")
    if group in ("socket", "subprocess", "pty") or (group == "os" and call in CALLS):
        sys.stderr.write(f"LIVE {event} {arguments!r}\\n")
sys.addaudithook(watch)
from sidecar.cli.main import main
sys.exit(main())
"""


def asks_everything(client: RawClient) -> None:
    """Hits, misses of every kind, and nonsense."""
    client.initialize()
    client.request("tools/list")
    for arguments in ({"k": "a"}, {"k": "a"}, {"k": "a"}, {"k": "b"}):
        client.call("counter", arguments)
    client.call("no_such_tool")
    client.request("resources/list")
    client.send(b"nonsense\n[]\n")
    client.request("server/discover")


@pytest.mark.parametrize("tape", ["recorded", "empty"])
def test_r08_a_replay_starts_no_process_and_opens_no_socket(tmp_path: Path, tape: str) -> None:
    place = Place(tmp_path)
    save(str(place.cassette), COUNTS if tape == "recorded" else cassette())
    words = place.words(place.raw_server(), mode="replay")
    with ProxyClient([PYTHON, "-c", WATCHER, *words[1:]]) as client:
        asks_everything(client)
        sockets = [file for file in open_files(client.process.pid) if file.startswith("socket:")]
        assert ended(client) == 1
        words_said = client.stderr_text()

    assert "LIVE" not in words_said
    assert "miss: " in words_said
    assert sockets == []
    assert place.started() == []  # the server's command leaves a trace where it is run


def open_files(pid: int) -> list[str]:
    """What a process has open; empty where the system does not tell."""
    folder = Path(f"/proc/{pid}/fd")
    return [str(file.readlink()) for file in folder.iterdir()] if folder.exists() else []


def test_the_watcher_would_see_a_live_server(tmp_path: Path) -> None:
    place = Place(tmp_path)
    words = place.words(place.raw_server())
    with ProxyClient([PYTHON, "-c", WATCHER, *words[1:]]) as client:
        client.initialize()
        assert "LIVE os.posix_spawn" in client.stderr_text()
        assert len(place.started()) == 1
        ended(client)


def test_r09_a_cassette_that_is_not_there_is_an_error_and_nothing_is_made(tmp_path: Path) -> None:
    place = Place(tmp_path, journal=False)
    with place.raw(mode="replay") as client:
        assert client.read_rest() == []
        assert client.wait() == 2
        assert f"{place.cassette}: there is no such cassette" in client.stderr_text()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "place_told"),
    [
        pytest.param("", "tape.jsonl", id="R09-empty"),
        pytest.param('{"log":{"entries":[]}}\n', "tape.jsonl:1", id="foreign"),
        pytest.param('{"cassette":99,"servers":{}}\n', "tape.jsonl:1", id="newer"),
        pytest.param(
            '{"cassette":1,"servers":{},"complete":true}\n{"server":\n{"server":"raw"}\n',
            "tape.jsonl:2",
            id="R25-broken in the middle",
        ),
    ],
)
@pytest.mark.parametrize("mode", ["replay", "auto"])
def test_a_cassette_that_cannot_be_used_is_an_error_and_stays(
    tmp_path: Path, content: str, place_told: str, mode: str
) -> None:
    place = Place(tmp_path)
    place.cassette.write_text(content, "utf-8")
    with place.raw(mode=mode) as client:
        assert client.read_rest() == []
        assert client.wait() == 2
        assert place_told in client.stderr_text()

    assert place.cassette.read_text("utf-8") == content
    assert place.started() == []


def test_c01_a_broken_last_line_is_dropped_with_a_warning(tmp_path: Path) -> None:
    place = Place(tmp_path)
    save(str(place.cassette), COUNTS)
    whole = place.cassette.read_bytes()
    place.cassette.write_bytes(whole + b'{"server":"raw","requ')
    with place.replay() as client:
        assert said(client.call("counter", {"k": "a"}).value) == "1"
        assert ended(client) == 0
        assert "tape.jsonl" in client.stderr_text()

    assert place.cassette.read_bytes() == whole + b'{"server":"raw","requ'


# --- live where nothing is recorded


def record(place: Place) -> None:
    with place.raw() as client:
        client.initialize()
        client.request("tools/list")
        assert said(client.call("counter", {"k": "a"}).value) == "1"
        ended(client)
    for file in (place.received, place.sent, place.trace):
        file.unlink()


def test_auto_serves_what_is_recorded_and_starts_nothing_for_it(tmp_path: Path) -> None:
    place = Place(tmp_path)
    record(place)
    before = place.cassette.read_bytes()
    again = Place(tmp_path, run=OTHER_RUN)
    with again.raw(mode="auto") as client:
        client.initialize()
        for _ in range(3):
            client.request("tools/list")
        assert said(client.call("counter", {"k": "a"}).value) == "1"
        assert ended(client) == 0
        assert client.stderr_text() == ""

    assert again.started() == []
    assert place.cassette.read_bytes() == before


def test_auto_starts_the_server_at_the_first_miss_with_the_clients_opening(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path)
    record(place)
    before = place.cassette.read_text("utf-8").splitlines()
    again = Place(tmp_path, run=OTHER_RUN)
    with again.raw(mode="auto") as client:
        hello = client.initialize()
        client.request("tools/list")
        client.request("tools/list")
        assert again.started() == []
        new = client.call("echo", {"text": "new"})
        assert again.started() != []
        assert said(client.call("counter", {"k": "a"}).value) == "1"  # the recorded one
        assert said(client.call("counter", {"k": "a"}).value) == "1"  # the live one's first
        assert said(client.call("echo", {"text": "more"}).value) == "more"
        assert ended(client) == 0

    assert (hello.before, new.before) == ((), ())
    received = [json.loads(line) for line in again.received.read_bytes().splitlines()]
    assert [(message.get("id"), message["method"]) for message in received] == [
        (1, "initialize"),
        (None, "notifications/initialized"),
        (4, "tools/call"),
        (6, "tools/call"),
        (7, "tools/call"),
    ]
    after = place.cassette.read_text("utf-8").splitlines()
    assert after[1 : len(before)] == before[1:]  # the first line names the run
    added = [json.loads(line)["request"]["params"] for line in after[len(before) :]]
    assert added == [
        {"name": "echo", "arguments": {"text": "new"}},
        {"name": "counter", "arguments": {"k": "a"}},
        {"name": "echo", "arguments": {"text": "more"}},
    ]
    assert [row.missed for row in again.rows()] == [None] * 7
    assert len(again.started()) == 1


def test_what_auto_added_is_replayed(tmp_path: Path) -> None:
    place = Place(tmp_path)
    record(place)
    again = Place(tmp_path, run=OTHER_RUN)
    with again.raw(mode="auto") as client:
        client.initialize()
        client.call("echo", {"text": "new"})
        ended(client)
    with Place(tmp_path, run="local/01JDPR0XY00000000000000002").replay() as client:
        client.initialize()
        assert said(client.call("echo", {"text": "new"}).value) == "new"
        assert said(client.call("counter", {"k": "a"}).value) == "1"
        assert ended(client) == 0


def test_auto_needs_no_opening_in_the_newest_era(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.discover()
        client.call("echo", {"text": "old"})
        ended(client)
    place.received.unlink()
    again = Place(tmp_path, run=OTHER_RUN)
    with again.raw(mode="auto") as client:
        client.discover()
        assert said(client.call("echo", {"text": "old"}).value) == "old"
        assert said(client.call("echo", {"text": "new"}).value) == "new"
        ended(client)

    (line,) = again.received.read_bytes().splitlines()
    assert json.loads(line)["params"]["arguments"] == {"text": "new"}


@pytest.mark.parametrize("there", [False, True])
def test_auto_records_all_of_a_server_that_is_not_recorded_yet(
    tmp_path: Path, *, there: bool
) -> None:
    # Its client must not be told that an older server answers, only since nothing is known.
    place = Place(tmp_path)
    other = Interaction("other", "tools/list", None, Response("result", '{"tools":[]}'))
    if there:
        save(str(place.cassette), Cassette((other,), {"other": Server()}))
    with place.raw(mode="auto") as client:
        assert client.discover().value["result"]["supportedVersions"] == ["2026-07-28"]
        assert said(client.call("echo", {"text": "new"}).value) == "new"
        ended(client)

    items = place.recorded().interactions
    assert [(item.server, item.method) for item in items if item.server == "raw"] == [
        ("raw", "server/discover"),
        ("raw", "tools/call"),
    ]
    assert (items[0] == other) == there


def test_on_miss_live_answers_live_and_says_so(tmp_path: Path) -> None:
    place = Place(tmp_path)
    record(place)
    before = place.cassette.read_bytes()
    again = Place(tmp_path, run=OTHER_RUN)
    with again.raw(mode="replay", options=["--on-miss", "live"]) as client:
        client.initialize()
        assert said(client.call("counter", {"k": "a"}).value) == "1"
        assert said(client.call("echo", {"text": "new"}).value) == "new"
        assert ended(client) == 0
        told = client.stderr_text()

    miss = "unknown-tool: no recording has a call of raw:echo"
    assert told == f"mcp-sidecar: miss, answered live: {miss}\n"
    assert place.cassette.read_bytes() == before
    assert [row.missed for row in again.calls()] == [None, miss]
    served, live = (event for event in again.events() if event.type == "agent.tool-returned")
    assert "x-sidecar-miss" not in served.payload
    assert live.payload["x-sidecar-miss"] is True
    assert live.payload["outcome"]["content"][0]["text"] == "new"


@pytest.mark.parametrize("options", [["--mode", "auto"], ["--on-miss", "live"]])
@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["/nowhere/server"], "could not be started"),
        (["sh", "-c", "echo no >&2; exit 3"], "exited with code 3; its last words: no"),
    ],
)
def test_s12_a_live_server_that_does_not_start_is_told_and_the_recording_still_served(
    tmp_path: Path, options: list[str], command: list[str], message: str
) -> None:
    place = Place(tmp_path)
    save(str(place.cassette), COUNTS)
    with place.client(command, mode="replay", options=options) as client:
        client.initialize()
        for _ in range(2):
            assert message in client.call("echo").value["error"]["message"]
        assert said(client.call("counter", {"k": "a"}).value) == "1"
        assert ended(client) != 0


def test_many_calls_may_wait_for_the_live_server_to_open(tmp_path: Path) -> None:
    # More than its pipes hold: it answers while it is still being told.
    place = Place(tmp_path)
    save(str(place.cassette), COUNTS)
    with place.raw(mode="auto") as client:
        client.initialize()
        texts = [f"{number} " + "x" * 10_000 for number in range(100)]
        calls = [client.start_call("echo", {"text": text}) for text in texts]
        assert [said(client.read_until(call).value) for call in calls] == texts
        assert ended(client) == 0


def test_questions_of_the_live_server_are_answered_by_the_client(tmp_path: Path) -> None:
    place = Place(tmp_path)
    save(str(place.cassette), COUNTS)
    with place.raw(mode="auto") as client:
        client.initialize()
        asking = client.start_call("ask_roots", {"id": 1})
        assert client.read_request("roots/list").value["id"] == 1
        client.answer(1, {"roots": []})
        answer = client.read_until(asking).value
        ended(client)

    assert answer["result"]["structuredContent"] == {"answer": {"result": {"roots": []}}}
    assert place.recorded().interactions[-1].during[0].reply == Response("result", '{"roots":[]}')
