"""What passes the proxy is what was sent, byte for byte, both ways; and replays as it was."""

import json
import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.wire.json_text import members
from tests.paths import PYTHON
from tests.proxy.place import RAW_SERVER, Place, ProxyClient, ended, said
from tests.proxy.stage import call, notification, request
from tests.servers.raw_client import RawClient, Reply

LIVE_MODES = ["record", "passthrough"]


class Witness(ProxyClient):
    """A client that remembers every byte."""

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        self.sent: list[bytes] = []
        self.heard: list[bytes] = []

    def send(self, data: bytes) -> None:
        self.sent.append(data)
        super().send(data)

    def read(self, timeout: float | None = None) -> bytes | None:
        line = super().read(timeout)
        if line is not None:
            self.heard.append(line)
        return line


def witness(place: Place, *flags: str, mode: str = "record") -> Witness:
    return Witness(place.words(place.raw_server(*flags), mode=mode))


# --- any JSON, there and back

SPACES = st.sampled_from(["", "", "", " ", "\t", "  ", "\r"])
NUMBERS = st.one_of(
    st.integers().map(str),
    st.sampled_from(["-0", "1.0", "1e2", "1E-7", "1e400", "-0.0", "9007199254740993", "9" * 400]),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)


@st.composite
def strings(draw: st.DrawFn) -> str:
    """A JSON string, each character spelt in one of the ways in which it can be."""
    spelt: list[str] = []
    for letter in draw(st.text(max_size=12)):
        plain = json.dumps(letter, ensure_ascii=False)[1:-1]
        spelt.append(draw(st.sampled_from([plain, json.dumps(letter)[1:-1]])))
    spelt.append(draw(st.sampled_from(["", r"\ud800", r"\/", r"\u0000", r"\uD83C\uDF89", "\x7f"])))
    return '"' + "".join(spelt) + '"'


@st.composite
def objects(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    """An object; a name may be there twice."""
    members = draw(st.lists(st.tuples(strings(), values), max_size=4))
    return joined(draw, "{", [f"{name}{draw(SPACES)}:{value}" for name, value in members], "}")


@st.composite
def arrays(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    return joined(draw, "[", draw(st.lists(values, max_size=4)), "]")


def joined(draw: st.DrawFn, begin: str, items: Sequence[str], end: str) -> str:
    return begin + draw(SPACES) + f",{draw(SPACES)}".join(items) + draw(SPACES) + end


VALUES = st.recursive(
    st.one_of(st.sampled_from(["null", "true", "false"]), NUMBERS, strings()),
    lambda inner: st.one_of(objects(inner), arrays(inner)),
    max_leaves=12,
)
IDS = st.one_of(NUMBERS, strings(), st.sampled_from(["0", "1", '"1"', "1.0", "null", "true", "{}"]))
METHODS = st.sampled_from(
    ['"tools/call"', '"initialize"', '"notifications/progress"', '"notifications/cancelled"',
     '"ping"', '"x"', "5", r'"tools\/call"']
)  # fmt: skip
CALLS = st.one_of(
    VALUES,
    st.builds('{{"name":{},"arguments":{},"_meta":{}}}'.format, strings(), VALUES, VALUES),
    st.builds('{{"requestId":{},"progressToken":{}}}'.format, IDS, IDS),
    st.builds('{{"_meta":{{"progressToken":{}}},"requestState":{}}}'.format, IDS, VALUES),
)


@st.composite
def messages(draw: st.DrawFn) -> str:
    """A message as JSON-RPC has them, more or less: members in any order, or left out."""
    members = [
        ("jsonrpc", st.sampled_from(['"2.0"', "2"])),
        ("id", IDS),
        ("method", METHODS),
        ("params", CALLS),
        ("result", VALUES),
        ("error", VALUES),
        ("x-vendor", VALUES),
    ]
    chosen = draw(st.lists(st.sampled_from(members), max_size=6))
    return joined(draw, "{", [f'"{name}":{draw(value)}' for name, value in chosen], "}")


LINES = st.one_of(messages(), messages(), arrays(messages()), VALUES)


@pytest.mark.parametrize(("mode", "examples"), [("record", 40), ("passthrough", 10)])
def test_whatever_is_json_comes_back_as_it_was_sent(
    tmp_path: Path, mode: str, examples: int
) -> None:
    # A server that says all it hears: so each line goes through both ways, and is recorded
    # both ways, as a request and as one of the server's own.
    place = Place(tmp_path)
    # Nobody answers its requests, so there is nothing to wait for at the end.
    with place.client(["cat"], mode=mode, options=["--drain-seconds", "0"]) as client:

        @settings(max_examples=examples)
        @given(st.lists(LINES, min_size=1, max_size=8))
        def there_and_back(lines: list[str]) -> None:
            data = [line.encode() + b"\n" for line in lines]
            client.send(b"".join(data))
            assert [client.read() for _ in data] == data

        there_and_back()
        client.close_stdin()
        client.read_rest()
        assert client.wait() == 0
        assert "Traceback" not in client.stderr_text()

    assert place.sessions() == [("ended", 0)]
    if mode == "record":
        assert len(place.recorded().interactions) == len(place.rows())


@pytest.mark.parametrize("mode", LIVE_MODES)
def test_s04_what_is_no_json_goes_to_the_server_and_not_to_the_client(
    tmp_path: Path, mode: str
) -> None:
    place = Place(tmp_path)
    noise = b"{not json\n\xff\xfe\n\x00\n{} {}\n{'a':1}\n[1,]\n"
    with place.client(["tee", str(place.received)], mode=mode) as client:
        client.send(noise + b'{"end":1}\n')
        assert client.read() == b'{"end":1}\n'
        ended(client)

    assert place.received.read_bytes() == noise + b'{"end":1}\n'


@pytest.mark.parametrize("depth", [100, 480, 900, 2000, 20_000])
@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")])
def test_depth_is_no_harm(tmp_path: Path, depth: int, begin: str, end: str) -> None:
    place = Place(tmp_path)
    value = begin * depth + "1" + end * depth
    lines = [
        f'{{"id":1,"method":"tools/call","params":{{"name":"x","arguments":{value}}}}}\n',
        f'{{"id":1,"result":{value}}}\n',
        f'{{"method":"notifications/x","params":{value}}}\n',
        f"{value}\n",
    ]
    with place.client(["cat"]) as client:
        for line in lines:
            client.send(line.encode())
            assert client.read() == line.encode()
        assert ended(client) == 0
        assert "Traceback" not in client.stderr_text()
    with place.replay() as client:
        client.send(lines[0].encode() + b'{"id":2,"method":"ping"}\n')
        while b'"id":2' not in (client.read() or b'"id":2'):
            pass  # the question that `cat` had asked
        ended(client)
        assert "Traceback" not in client.stderr_text()


# --- an odd server, recorded and replayed

FAILURES = ["structured", "text", "image_first", "empty", "missing", "null", "false"]
ODD_ANSWERS = ["float_id", "both", "spaced", "array_result", "no_version"]
IDENTS: list[object] = ["1", "init-a", 0, -5, 9007199254740993, ""]

CALLS_OF_ALL_KINDS: list[bytes] = [
    *(request(ident, "tools/list") for ident in IDENTS),  # J01
    *(call(f"fail-{one}", "fail", {"variant": one}) for one in FAILURES),  # J13, J14
    *(call(n, "odd_answer", {"variant": one}) for n, one in enumerate(ODD_ANSWERS, 100)),  # J04
    call(110, "rpc_error"),
    call(111, "odd_numbers"),  # J17
    call(112, "vendor"),  # J12
    call(113, "blocks"),  # J15
    call(114, "params"),
    call(115, "params", {}),
    call(116, "params", [1]),
    call(117, "add", {"a": 9007199254740993, "b": 0}),
    call(118, "progress", {}, _meta={"progressToken": "t1"}),  # J10
    call(119, "log", {"count": 2}),
    call(120, "echo", {"text": "\ud83c\udf89 \u2028"}),
    call(121, "no_such_tool"),
    request(122, "no/such/method", {"x": 1}),
    request(123, "resources/read", {"uri": "raw://readme"}),
    request(124, "prompts/get", {"name": "greet", "arguments": {"who": "you"}}),
]
HELLO = request(
    "hello",
    "initialize",
    {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "w", "x": 1}},
)


def converse(client: RawClient) -> list[Reply]:
    """Say it all, one after the other; the answers, and what came before each."""
    found: list[Reply] = []
    for line in (HELLO, notification("notifications/initialized"), *CALLS_OF_ALL_KINDS):
        client.send(line)
        ident = json.loads(line).get("id")
        if ident is not None:
            found.append(client.read_where(_answers(ident), deadline=_deadline(client)))
    return found


def _answers(ident: object) -> Any:
    def wanted(message: dict[str, Any]) -> bool:
        return "method" not in message and message.get("id") == ident

    return wanted


def _deadline(client: RawClient) -> float:
    return time.monotonic() + client.timeout


def content(reply: Reply) -> dict[str, str]:
    """The texts of `result` and `error`, as they are spelt."""
    found = members(reply.line.decode()) or {}
    return {name: found[name] for name in ("result", "error") if name in found}


@pytest.mark.parametrize("mode", LIVE_MODES)
@pytest.mark.parametrize("flags", [(), ("--vendor", "--crlf"), ("--noise", "--byte-by-byte")])
def test_all_bytes_are_the_same_on_both_sides(
    tmp_path: Path, mode: str, flags: tuple[str, ...]
) -> None:
    place = Place(tmp_path)
    with witness(place, *flags, mode=mode) as client:
        converse(client)
        client.close_stdin()
        client.read_rest()
        assert client.wait() == 0
        # J12: unknown members, J15: unknown blocks, J17: numbers, J14: no content at all.
        assert b"".join(client.heard) == place.sent.read_bytes()
        assert b"".join(client.sent) == place.received.read_bytes()


@pytest.fixture
def odd(tmp_path: Path) -> tuple[Place, list[Reply]]:
    """A place with a recording of all that, and the answers that were recorded."""
    place = Place(tmp_path)
    with place.raw("--vendor") as client:
        replies = converse(client)
        assert ended(client) == 0
    return place, replies


def test_a_recording_replays_as_it_was(odd: tuple[Place, list[Reply]]) -> None:
    place, recorded = odd
    with place.replay() as client:
        replayed = converse(client)
        assert ended(client) == 0

    # A message that is odd as a message is told in order; what it says is what it said.
    plain = [{**content(reply)} for reply in recorded]
    for reply in plain:
        if len(reply) == 2:  # both: an error is what counts
            del reply["result"]
    assert [content(reply) for reply in replayed] == plain
    assert [_without_ids(reply) for reply in replayed] == [_without_ids(r) for r in recorded]


def _without_ids(reply: Reply) -> list[Any]:
    return [message.value for message in reply.before]


def test_j13_j14_four_outcomes_are_told_apart(odd: tuple[Place, list[Reply]]) -> None:
    place, _ = odd
    found: dict[str, str] = {}
    for event in place.events():
        if event.type == "agent.tool-returned":
            outcome = event.payload.get("error", {}).get("code", "ok")
            found.setdefault(str(len(found)), outcome)
    outcomes = list(found.values())

    assert outcomes[: len(FAILURES)] == ["mcp_error"] * 6 + ["ok"]
    assert outcomes[len(FAILURES) : len(FAILURES) + len(ODD_ANSWERS)] == [
        "ok",
        "mcp_error",
        "ok",
        "ok",
        "ok",
    ]
    assert outcomes[len(FAILURES) + len(ODD_ANSWERS)] == "mcp_error"  # a JSON-RPC error
    assert outcomes[-1] == "mcp_error"  # no such tool


def test_the_same_session_recorded_again_is_the_same_file(tmp_path: Path) -> None:
    files: list[list[bytes]] = []
    for number, run in enumerate(["local/01JDPR0XY00000000000000001", "local/" + "2" * 26]):
        place = Place(tmp_path / str(number), run=run)
        with place.raw() as client:
            converse(client)
            ended(client)
        files.append(place.cassette.read_bytes().splitlines())

    assert files[0][1:] == files[1][1:]
    assert files[0][0] != files[1][0]


def test_j01_an_id_comes_back_as_it_was_sent(odd: tuple[Place, list[Reply]]) -> None:
    place, recorded = odd
    with place.replay() as client:
        replayed = converse(client)

    for replies in (recorded, replayed):
        found = [reply.value["id"] for reply in replies[1 : 1 + len(IDENTS)]]
        assert list(zip(map(type, found), found, strict=True)) == [
            (type(ident), ident) for ident in IDENTS
        ]


def test_j04_an_answer_under_the_same_number_spelt_differently_is_the_answer(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.send(call(7, "odd_answer", {"variant": "float_id"}))
        assert (client.read() or b"").startswith(b'{"jsonrpc":"2.0","id":7.0,')
        ended(client)
    with place.replay() as client:
        client.send(call(7, "odd_answer", {"variant": "float_id"}))
        assert (client.read() or b"").startswith(b'{"jsonrpc":"2.0","id":7,')


@pytest.mark.parametrize(
    ("tool", "kept"),
    [
        pytest.param("vendor", ['"x-vendor":{"a":1}', '"x/m":1', '"com.example/trace":"t-1"'],
                     id="J12-unknown members"),
        pytest.param("blocks", ['"type":"widget"', '"size":[1,2]', '"type":"audio"'],
                     id="J15-unknown blocks"),
        pytest.param("odd_numbers", ["1915883588174806058", '"huge":1e400', '"hundred":1e2',
                                     '"one":1.0', '"minus":-0', r"\u00e9t\u00e9", r"\/"],
                     id="J17-numbers and escapes"),
        pytest.param("fail", ['"isError":true', '"code":"RATE_LIMITED"'], id="J13-isError"),
    ],
)  # fmt: skip
def test_what_only_its_bytes_tell_is_kept_and_replayed(
    tmp_path: Path, tool: str, kept: list[str]
) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        recorded = client.call(tool).line.decode()
        ended(client)
    with place.replay() as client:
        replayed = client.call(tool).line.decode()

    file = place.cassette.read_text("utf-8")
    for text in kept:
        assert text in recorded
        assert text in replayed
        assert text in file


def test_s06_what_the_proxy_says_itself_ends_in_one_newline(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw("--crlf", options=["--max-message-bytes", "10000"]) as client:
        assert client.call("echo").line.endswith(b"}\r\n")  # as the server says it
        over = client.call("big", {"bytes": 20_000}).line
        dead = client.call("crash").line
        client.wait()
    with place.replay() as client:
        lines = [over, dead, *(client.call(tool).line for tool in ("echo", "crash", "unknown"))]

    assert [line for line in lines if b"\r" in line or line.count(b"\n") != 1] == []
    assert [line[-2:] for line in lines] == [b"}\n"] * 5


# --- J05, J07: ids and batches


def test_j05_answers_to_one_id_in_flight_twice_are_paired_in_order(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.send(call(1, "counter", {"k": "a"}) + call(1, "counter", {"k": "b"}) * 2)
        lines = [client.read() for _ in range(3)]
        ended(client)

    assert b"".join(filter(None, lines)) == place.sent.read_bytes()
    results = [row.seen.response for row in place.calls()]
    assert [json.loads(found.text)["structuredContent"] for found in results if found] == [
        {"count": 1},
        {"count": 1},
        {"count": 2},
    ]


@pytest.mark.parametrize("mode", LIVE_MODES)
def test_j07_batches_and_odd_values_pass_and_each_call_is_recorded(
    tmp_path: Path, mode: str
) -> None:
    place = Place(tmp_path)
    batch = b"[" + call(1, "counter").strip() + b", " + call(2, "counter").strip() + b" ]\n"
    odd = b'[]\nnull\n5\n"x"\n{}\n{"jsonrpc":"2.0","id":3}\n'
    with place.raw(mode=mode) as client:
        client.send(batch)
        assert [said(client.read_until(ident).value) for ident in (1, 2)] == ["1", "2"]
        client.send(odd)
        refused = [json.loads(client.read() or b"") for _ in range(6)]
        ended(client)

    assert place.received.read_bytes() == batch + odd
    assert [answer["error"]["code"] for answer in refused] == [-32600] * 6
    assert [row.state for row in place.calls()] == ["answered"] * 2


def test_j07_a_batch_from_the_server_is_recorded_element_by_element(tmp_path: Path) -> None:
    place = Place(tmp_path)
    script = (
        "read a; read b; "
        """echo '[{"id":2,"result":{"n":2}}, {"method":"x"}, {"id":1,"result":{"n":1}}]'; cat"""
    )
    with place.client(["sh", "-c", script]) as client:
        client.send(call(1, "a") + call(2, "b"))
        assert client.read() == (
            b'[{"id":2,"result":{"n":2}}, {"method":"x"}, {"id":1,"result":{"n":1}}]\n'
        )
        ended(client)

    assert [row.seen.response for row in place.calls()] == [
        Response("result", '{"n":1}'),
        Response("result", '{"n":2}'),
    ]


# --- J09: cancelling


def test_j09_cancelling_passes_and_is_recorded(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.send(call("gone", "slow", {"key": "a"}, _meta={"progressToken": 1}))
        client.read_request("notifications/progress")
        client.notify("notifications/cancelled", {"requestId": "gone"})
        client.send(call("done", "echo"))
        client.read_until("done")
        client.notify("notifications/cancelled", {"requestId": "done"})  # too late
        client.notify("notifications/cancelled", {"requestId": "unknown"})
        client.notify("notifications/cancelled", {})
        client.send(call("never", "never"))
        client.notify("notifications/cancelled", {"requestId": "never"})
        client.close_stdin()
        assert client.read_rest() == []  # nothing is waited for: all is taken back
        assert client.wait() == 0
    assert [row.state for row in place.calls()] == ["cancelled", "answered", "cancelled"]
    assert place.received.read_bytes().count(b"notifications/cancelled") == 5

    with place.replay() as client:
        client.send(call("gone", "slow", {"key": "a"}))
        client.notify("notifications/cancelled", {"requestId": "gone"})
        client.send(call("done", "echo") + call("never", "never"))
        client.read_until("done")
        assert ended(client) == 0


def test_j09_a_late_answer_to_a_cancelled_call_is_passed_on_and_recorded(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw("--late-answers") as client:
        slow = client.start_call("slow", {"key": "a"}, token=1)
        client.read_request("notifications/progress")
        client.notify("notifications/cancelled", {"requestId": slow})
        assert said(client.read_until(slow).value) == "a: cancelled"
        ended(client)

    assert [row.state for row in place.calls()] == ["answered"]


# --- J10, J11: what comes from the server in between


def test_j10_progress_replays_with_the_callers_own_token(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        recorded = client.call("progress", token="t1")
        ended(client)
    with place.replay() as client:
        replayed = client.call("progress", token="t9")
        assert ended(client) == 0
    with place.replay("--run", "local/01JDPR0XY00000000000000001") as client:
        without = client.call("progress")

    assert [message.value["params"]["progressToken"] for message in recorded.before] == ["t1"] * 3
    assert [message.value for message in replayed.before] == [
        json.loads(message.line.replace(b'"t1"', b'"t9"')) for message in recorded.before
    ]
    assert without.before == ()


@pytest.mark.parametrize(
    ("tool", "method"),
    [
        ("ask_roots", "roots/list"),
        ("ask_sampling", "sampling/createMessage"),
        ("ask_elicitation", "elicitation/create"),
    ],
)
def test_j11_a_question_of_the_server_is_its_own_and_is_asked_again(
    tmp_path: Path, tool: str, method: str
) -> None:
    place = Place(tmp_path)
    with place.raw() as client:
        client.send(call(1, tool, {"id": 1}))  # both sides use id 1
        asked = client.read_request(method)
        client.answer(1, {"told": "this"})
        answered = client.read_until(1)
        ended(client)
    with place.replay() as client:
        client.send(call(1, tool, {"id": 1}))
        again = client.read_request(method)
        client.send(request(2, "ping"))
        assert client.read_until(2).before == ()  # the answer waits for the client's
        client.answer(again.value["id"], {"told": "something else"})
        replayed = client.read_until(1)
        assert ended(client) == 0

    assert again.value["params"] == asked.value["params"]
    assert content(replayed) == content(answered)
    (interaction,) = place.recorded().interactions
    params = json.dumps(asked.value["params"], ensure_ascii=False, separators=(",", ":"))
    reply = Response("result", '{"told":"this"}')
    assert interaction.during == (Passage(method, params, asked=True, reply=reply),)


@pytest.mark.parametrize("after", [False, True])
def test_e03_a_list_that_changes_replays_with_its_change(tmp_path: Path, *, after: bool) -> None:
    def session(client: RawClient) -> tuple[list[bytes | None], list[list[str]]]:
        client.initialize()
        lists = [client.request("tools/list")]
        adding = client.start_call("add_tool", {"name": "late", "after": after})
        lines = [client.read(), client.read()]
        lists.append(client.request("tools/list"))
        assert said(client.call("late", {"text": "here"}).value) == "here"
        assert ended(client) == 0
        assert adding == 3
        names = [[tool["name"] for tool in one.value["result"]["tools"]] for one in lists]
        return lines, names

    place = Place(tmp_path)
    with place.raw() as client:
        recorded = session(client)
    with place.replay() as client:
        replayed = session(client)

    assert replayed == recorded
    lines, (before, then) = recorded
    changed = [b"list_changed" in (line or b"") for line in lines]
    assert changed == ([False, True] if after else [True, False])
    assert set(then) - set(before) == {"late"}


# --- S13: what the server is given


def test_s13_the_servers_environment_is_what_the_client_gave(tmp_path: Path) -> None:
    place = Place(tmp_path)
    # As short as clients of the SDK make it: Python would add LC_CTYPE where no locale is set.
    given_env = {"PATH": os.environ["PATH"], "FOO": "1", "BAR": "é=2", "MCP_SIDECAR_RUN": ""}
    direct = subprocess.run(
        ["env"], env=given_env, cwd=tmp_path, capture_output=True, check=True, timeout=20
    )
    with place.client(["env"], mode="passthrough", env=given_env, cwd=tmp_path) as client:
        ended(client)
        lines = client.stderr_text().splitlines()

    wrapped = [line.removeprefix("[raw] ") for line in lines]
    assert sorted(wrapped) == sorted(direct.stdout.decode().splitlines())


def test_s13_secrets_of_the_environment_pass_and_are_not_kept(tmp_path: Path) -> None:
    place = Place(tmp_path)
    secret = "b8f1-not-for-anyone-42c7"
    env = {**os.environ, "SHOP_API_KEY": secret, "FOO": "1"}
    with place.raw(env=env, cwd=tmp_path) as client:
        found = client.call("env", {"names": ["SHOP_API_KEY", "FOO"]}).value
        where = said(client.call("cwd").value)
        ended(client)

    assert found["result"]["structuredContent"] == {"SHOP_API_KEY": secret, "FOO": "1"}
    assert where == str(tmp_path.resolve())
    for file in (place.cassette, *place.journal.parent.iterdir()):
        assert secret.encode() not in file.read_bytes(), file
    result = place.recorded().interactions[0].response
    assert result is not None
    assert '"SHOP_API_KEY":"[REDACTED:1]","FOO":"1"' in result.text


# --- two of one kind


def test_servers_of_one_run_do_not_mix(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with ExitStack() as stack:
        clients = [
            stack.enter_context(place.raw(options=["--server", name])) for name in ("a", "b")
        ]
        for _ in range(3):
            for index, client in enumerate(clients):
                client.call("counter", {"k": str(index)})
        for client in clients:
            ended(client)

    items = place.recorded().interactions
    assert [item.server for item in items] == ["a", "b"] * 3
    with place.replay("--server", "a") as client:
        assert said(client.call("counter", {"k": "0"}).value) == "1"
        assert client.call("counter", {"k": "1"}).value["result"]["isError"] is True


def test_interactions_hold_no_ids_and_no_tokens(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with ProxyClient(place.words([PYTHON, RAW_SERVER])) as client:
        client.send(call("an-id", "progress", {}, _meta={"progressToken": "a-token", "x": 1}))
        client.read_until("an-id")
        ended(client)

    (item,) = place.recorded().interactions
    step = '{"progress":%d,"total":3,"message":"step %d"}'
    assert item == Interaction(
        "raw",
        "tools/call",
        '{"name":"progress","arguments":{},"_meta":{"x":1}}',
        Response("result", '{"content":[{"type":"text","text":"done"}]}'),
        during=tuple(Passage("notifications/progress", step % (n, n)) for n in (1, 2, 3)),
    )
