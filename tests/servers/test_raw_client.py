"""The raw client: every wait ends, and no answer gets lost."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.servers.raw_client import EndOfOutputError, RawClient

TINY = Path(__file__).with_name("tiny_server.py")


def run(code: str, timeout: float = 10.0) -> RawClient:
    return RawClient([sys.executable, "-c", code], timeout=timeout)


def test_answers_are_found_in_whatever_order_one_asks_for_them() -> None:
    with RawClient([sys.executable, TINY]) as client:
        first, second = (client.start_call("echo", {"text": text}) for text in "ab")

        assert client.read_until(second).value["result"]["content"][0]["text"] == "b"
        assert client.read_until(first).value["result"]["content"][0]["text"] == "a"


def test_ids_are_told_apart_by_their_type() -> None:
    with run('print(\'{"id":1.0}\\n{"id":"1"}\\n{"id":1,"result":2}\')') as client:
        assert client.read_until(1).value == {"id": 1, "result": 2}


@pytest.mark.parametrize("action", ["read", "wait", "send"])
def test_a_silent_server_is_not_waited_for_for_ever(action: str) -> None:
    with run("import time; time.sleep(60)", timeout=0.2) as client:
        waits: dict[str, Callable[[], object]] = {
            "read": client.read,
            "wait": client.wait,
            "send": lambda: client.send(b"x" * 1_000_000),
        }
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            waits[action]()
        assert time.monotonic() - began < 5


def test_the_end_of_the_output_is_told_with_what_stderr_said() -> None:
    with run("import sys; sys.exit('no luck')") as client, pytest.raises(EndOfOutputError) as told:
        client.read_until(1)

    assert "no luck" in str(told.value)


def test_a_line_without_an_end_is_read_at_the_end_of_the_output() -> None:
    with run("print('a\\n\\nb', end='')") as client:
        assert client.read_rest() == [b"a\n", b"\n", b"b"]


def test_neither_side_blocks_when_both_write_much() -> None:
    with RawClient([sys.executable, TINY]) as client:
        text = "x" * 3_000_000
        calls: Sequence[int] = [client.start_call("echo", {"text": text}) for _ in range(3)]

        assert [
            client.read_until(call).value["result"]["content"][0]["text"] == text for call in calls
        ] == [True] * 3


def test_the_block_leaves_no_process_behind() -> None:
    with run("import time; time.sleep(60)") as client:
        pass

    assert client.process.returncode == -9
