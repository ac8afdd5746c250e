"""A message that is over the ceiling is answered in its place."""

import json

import pytest

from sidecar.proxy.options import ProxyOptions
from sidecar.proxy.oversized import is_answer, is_call, too_large
from sidecar.wire.framing import Oversized

OPTIONS = ProxyOptions("far", "record", (), None, "", "", max_message_bytes=10)


def over(text: bytes) -> Oversized:
    return Oversized(text, text, len(text))


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (b'{"id":1,"method":"tools/call","params":{"result":1', (True, False)),
        (b'{"jsonrpc":"2.0","method":"x","params":{"a":"xxx', (True, False)),
        (b'{"id":1,"result":{"method":"xxx', (False, True)),
        (b'{"id":1,"error":{"code":1,"message":"xxx', (False, True)),
        (b"xxxxxxxxxxxxxxx", (False, False)),
    ],
)
def test_what_it_is_can_be_seen_at_its_beginning(text: bytes, kinds: tuple[bool, bool]) -> None:
    assert (is_call(over(text)), is_answer(over(text))) == kinds


def test_the_error_names_its_request_and_what_to_do(capfd: pytest.CaptureFixture[str]) -> None:
    found = json.loads(too_large(over(b'{"id":"a","method":"tools/call"'), OPTIONS))

    assert (found["id"], found["error"]["code"]) == ("a", -32011)
    text = found["error"]["message"]
    assert text.endswith("over the ceiling of 10; raise it with --max-message-bytes")
    assert capfd.readouterr().err == f"mcp-sidecar: server 'far': {text}\n"
