"""The raw server, seen without the sidecar: its eras, its framing, its process."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.servers.conftest import Start
from tests.servers.raw_client import EndOfOutputError, RawClient

NOISE = [
    b"Server v1.2 ready\n",
    b"debug {not json\n",
    b"\n",
    b"   \n",
    b"\r\n",
    b"\xff\xfe\n",
]


def said(value: dict[str, Any]) -> str:
    text = value["result"]["content"][0]["text"]
    assert isinstance(text, str)
    return text


# --- eras


@pytest.mark.parametrize(
    ("offered", "agreed"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
def test_a_handshake_agrees_on_a_known_revision(start: Start, offered: str, agreed: str) -> None:
    assert start().initialize(offered).value["result"]["protocolVersion"] == agreed


def test_the_newest_revision_needs_no_handshake(start: Start) -> None:
    client = start()

    found = client.discover().value["result"]
    called = client.call("echo", {"text": "hi"}).value["result"]

    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["resultType"] == "complete"
    assert called == {"resultType": "complete", "content": [{"type": "text", "text": "hi"}]}


def test_lists_say_how_long_they_may_be_kept_only_in_the_newest_revision(start: Start) -> None:
    modern, legacy = start(), start()
    modern.discover()
    legacy.initialize()

    assert modern.request("tools/list").value["result"]["cacheScope"] == "private"
    assert set(legacy.request("tools/list").value["result"]) == {"tools"}


@pytest.mark.parametrize(
    ("era", "method", "code"),
    [("legacy", "server/discover", -32601), ("modern", "initialize", -32022)],
)
def test_a_server_of_one_era_refuses_the_other(
    start: Start, era: str, method: str, code: int
) -> None:
    assert start("--era", era).request(method, {}).value["error"]["code"] == code


@pytest.mark.parametrize(
    ("method", "params", "member"),
    [
        ("ping", None, None),
        ("logging/setLevel", {"level": "info"}, None),
        ("resources/list", None, "resources"),
        ("resources/templates/list", None, "resourceTemplates"),
        ("resources/read", {"uri": "raw://readme"}, "contents"),
        ("prompts/list", None, "prompts"),
        ("prompts/get", {"name": "greet", "arguments": {"who": "you"}}, "messages"),
    ],
)
def test_the_surface_has_more_than_tools(
    client: RawClient, method: str, params: dict[str, Any] | None, member: str | None
) -> None:
    assert list(client.request(method, params).value["result"]) == ([member] if member else [])


def test_pages_of_a_list_add_up(start: Start) -> None:
    whole, paged = start(), start("--page-size", "10")
    whole.initialize()
    paged.initialize()

    page = paged.request("tools/list").value["result"]
    sizes, tools = [len(page["tools"])], page["tools"]
    while "nextCursor" in page:
        page = paged.request("tools/list", {"cursor": page["nextCursor"]}).value["result"]
        sizes.append(len(page["tools"]))
        tools += page["tools"]

    assert sizes[:-1] == [10] * (len(sizes) - 1)
    assert len(sizes) > 2
    assert tools == whole.request("tools/list").value["result"]["tools"]


def test_extras_are_at_every_level_of_the_surface(start: Start) -> None:
    client = start("--vendor")

    hello = client.initialize().value["result"]
    listed = client.request("tools/list").value["result"]

    extra = {"a": 1}
    assert hello["x-vendor"] == hello["serverInfo"]["x-vendor"] == extra
    assert hello["capabilities"]["tools"]["x-vendor"] == extra
    assert listed["x-vendor"] == listed["tools"][0]["inputSchema"]["x-vendor"] == extra


# --- messages


@pytest.mark.parametrize("request_id", ["1", "init-a", 0, -5, 9007199254740993, ""])
def test_an_id_comes_back_with_its_type(client: RawClient, request_id: object) -> None:
    assert client.request("ping", request_id=request_id).value["id"] == request_id


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"[]", -32600),
        (b"null", -32600),
        (b"5", -32600),
        (b'"x"', -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b"{not json", -32700),
        (b"[" * 100_000, -32700),
    ],
)
def test_what_is_no_request_is_refused(client: RawClient, sent: bytes, code: int) -> None:
    client.send(sent + b"\n")

    line = client.read()

    assert line is not None
    assert json.loads(line)["error"]["code"] == code


def test_a_batch_is_answered_element_by_element(client: RawClient) -> None:
    client.send(b'[{"jsonrpc":"2.0","id":"a","method":"ping"},')
    client.send(b'{"jsonrpc":"2.0","id":"b","method":"ping"}]\n')

    assert client.read_until("a").value["result"] == {}
    assert client.read_until("b").value["result"] == {}


def test_a_notification_gets_no_answer(client: RawClient) -> None:
    client.notify("tools/call", {"name": "echo", "arguments": {}})

    assert client.request("ping").before == ()


def test_an_unknown_method_and_an_unknown_tool_are_protocol_errors(client: RawClient) -> None:
    assert client.request("nope").value["error"]["code"] == -32601
    assert client.call("nope").value["error"]["code"] == -32602


# --- how it writes


def test_noise_comes_before_each_message(start: Start) -> None:
    client = start("--noise")

    assert [message.line for message in client.request("ping").before] == NOISE
    assert [message.line for message in client.request("ping").before] == NOISE


def test_messages_may_end_in_crlf(start: Start) -> None:
    assert start("--crlf").request("ping").line == b'{"jsonrpc":"2.0","id":1,"result":{}}\r\n'


def test_bytes_may_come_one_by_one(start: Start) -> None:
    client = start("--byte-by-byte")

    assert said(client.call("echo", {"text": "é🎉"}).value) == "é🎉"


def test_stderr_is_flooded_with_lines_and_then_without(start: Start) -> None:
    client = start("--stderr-flood")

    client.request("ping")
    first = client.stderr_text()
    client.request("ping")
    second = client.stderr_text()[len(first) :]

    assert (len(first) >= 262_144, "\n" in first) == (True, True)
    assert (len(second) >= 262_144, "\n" in second, "\r" in second) == (True, False, True)


def test_files_hold_what_was_received_and_sent(start: Start, tmp_path: Path) -> None:
    client = start("--received", tmp_path / "in", "--sent", tmp_path / "out")

    client.send(b' {"jsonrpc":"2.0", "id":1, "method":"ping"}\r\n')
    answer = client.read()

    assert (tmp_path / "in").read_bytes() == b' {"jsonrpc":"2.0", "id":1, "method":"ping"}\r\n'
    assert (tmp_path / "out").read_bytes() == answer


def test_the_server_tells_what_it_received(client: RawClient) -> None:
    lines = client.call("received").value["result"]["structuredContent"]["lines"]

    assert [json.loads(line)["method"] for line in lines] == [
        "initialize",
        "notifications/initialized",
        "tools/call",
    ]


# --- the process


def test_a_start_leaves_a_trace(start: Start, tmp_path: Path) -> None:
    client = start("--trace", tmp_path / "trace", "--grandchild")

    ids = client.call("pids").value["result"]["structuredContent"]

    assert json.loads((tmp_path / "trace").read_text(encoding="utf-8")) == ids
    assert ids["pid"] == client.process.pid
    assert (ids["ppid"], ids["pgid"]) == (os.getpid(), client.process.pid)


def test_a_grandchild_holds_the_output_open(start: Start) -> None:
    client = start("--grandchild")
    grandchild = client.call("pids").value["result"]["structuredContent"]["grandchild"]
    client.close_stdin()

    assert client.wait() == 0
    with pytest.raises(TimeoutError):
        client.read(0.05)
    os.kill(grandchild, signal.SIGKILL)
    assert client.read() is None


def test_a_start_can_fail_with_a_traceback(start: Start, tmp_path: Path) -> None:
    client = start("--start-fail", "--trace", tmp_path / "trace")

    assert client.wait() == 1
    assert client.read_rest() == []
    assert client.stderr_text().endswith("RuntimeError: no such database\n")
    assert (tmp_path / "trace").exists()


def test_the_end_of_the_input_ends_it_after_its_answers(start: Start) -> None:
    client = start("--exit-code", "5")
    slow = client.start_call("slow", token=1)
    client.read_request("notifications/progress")
    client.close_stdin()

    assert said(client.read_until(slow).value) == "slow: end of input"
    assert client.wait() == 5


def test_it_can_outlive_the_end_of_its_input_and_a_polite_signal(start: Start) -> None:
    client = start("--ignore-eof", "--ignore-term")
    client.request("ping")
    client.close_stdin()
    client.process.terminate()

    with pytest.raises(TimeoutError):
        client.wait(0.2)
    client.process.kill()
    assert client.wait() == -signal.SIGKILL


def test_a_signal_ends_it_otherwise(start: Start) -> None:
    client = start("--ignore-eof")
    client.request("ping")
    client.process.terminate()

    assert client.wait() == -signal.SIGTERM


def test_it_does_not_live_for_ever(start: Start) -> None:
    assert start("--ignore-eof", "--lifetime", "0.2").wait() == 9


def test_a_crash_answers_nobody(client: RawClient) -> None:
    slow = client.start_call("slow")
    client.start_call("crash")

    with pytest.raises(EndOfOutputError):
        client.read_until(slow)
    assert client.wait() == -signal.SIGKILL


def test_it_can_leave_right_after_an_answer(client: RawClient) -> None:
    assert said(client.call("exit_after_answer", {"code": 3}).value) == "bye"
    assert client.wait() == 3


def test_it_can_stay_silent(client: RawClient) -> None:
    client.start_call("never")
    client.close_stdin()

    assert client.read_rest() == []


def test_its_environment_and_folder_are_those_given(start: Start, tmp_path: Path) -> None:
    client = start(env={"FOO": "1", "PATH": os.defpath}, cwd=tmp_path)

    found = client.call("env", {"names": ["FOO", "HOME"]}).value["result"]["structuredContent"]

    assert found == {"FOO": "1"}
    assert said(client.call("cwd").value) == str(tmp_path.resolve())
