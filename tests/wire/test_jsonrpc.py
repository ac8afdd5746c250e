"""JSON-RPC messages, read without loss and without ever failing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.wire.framing import LineBuffer, Oversized
from sidecar.wire.jsonrpc import (
    Message,
    answer,
    ask,
    failure,
    id_key,
    id_of_oversized,
    notify,
    read_line,
)

LONG = "7" * 5000
DEEP = "[" * 100_000 + "]" * 100_000

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)
NAMES = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "other"])
MESSAGES = st.dictionaries(NAMES, JSON, max_size=4)


def only(line: bytes | str) -> Message:
    """The one message of a line."""
    messages = read_line(line if isinstance(line, bytes) else line.encode())

    assert messages is not None
    (message,) = messages
    return message


@given(st.binary() | st.text().map(str.encode) | st.text('{}[]",:\\0e.-n \n').map(str.encode))
def test_s04_whatever_the_line_it_is_read(line: bytes) -> None:
    read_line(line)


@given(st.one_of(MESSAGES, JSON, st.lists(MESSAGES, max_size=3)))
def test_j07_any_json_is_read_as_messages(value: Any) -> None:
    text = json.dumps(value)
    found = read_line(text.encode() + b"\n")

    assert found is not None
    if isinstance(value, list):
        assert [json.loads(message.text) for message in found] == json.loads(text) or "NaN" in text
    else:
        assert [message.text for message in found] == [text]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"", id="S02 empty"),
        pytest.param(b" \t\r\n", id="S02 blank"),
        pytest.param(b"Server v1.2 ready\n", id="S01 a banner"),
        pytest.param(b"debug {not json\n", id="S01 half of a message"),
        pytest.param(b'{"id":1,"result":{}', id="S01 cut off"),
        pytest.param(b"[1,2", id="S01 a batch, cut off"),
        pytest.param(b'{"a":1} {"b":2}\n', id="two in one line"),
        pytest.param(b"\xff\xfe\n", id="S04 not UTF-8"),
        pytest.param(b'{"id":1,"result":"\xff"}\n', id="S04 not UTF-8 within"),
        pytest.param(b"[" * 100_000, id="brackets only"),
    ],
)
def test_what_is_no_json_is_no_message(line: bytes) -> None:
    assert read_line(line) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a": 1e2}}',
            Message("request", "", "1", "tools/call", '{"a": 1e2}'),
            id="request",
        ),
        pytest.param(
            '{"id":"a\\u0062","method":"m\\u0065thod"}',
            Message("request", "", '"a\\u0062"', "method"),
            id="request without params or version",
        ),
        pytest.param(
            '{"jsonrpc":"2.0","method":"notifications/x","params":[1]}',
            Message("notification", "", None, "notifications/x", "[1]"),
            id="J08 notification",
        ),
        pytest.param(
            '{"id":null,"method":"tools/call"}',
            Message("notification", "", None, "tools/call"),
            id="J08 a null id is none",
        ),
        pytest.param(
            '{"id":1,"result":{"x": 1.0, "x": 2},"more":true}',
            Message("response", "", "1", result='{"x": 1.0, "x": 2}'),
            id="result",
        ),
        pytest.param(
            '{"id":1,"result":null}', Message("response", "", "1", result="null"), id="null result"
        ),
        pytest.param(
            '{"id":1,"error":{"code":-32050,"data":{"retryAfter":3}}}',
            Message("response", "", "1", error='{"code":-32050,"data":{"retryAfter":3}}'),
            id="R23 error",
        ),
        pytest.param(
            '{"id":null,"error":{"code":-32700}}',
            Message("response", "", None, error='{"code":-32700}'),
            id="error without an id",
        ),
        pytest.param(
            '{"id":1,"result":{},"error":null}',
            Message("response", "", "1", result="{}"),
            id="result beside a null error",
        ),
        pytest.param(
            '{"id":1,"result":null,"error":{"code":1}}',
            Message("response", "", "1", result="null", error='{"code":1}'),
            id="error beside a null result",
        ),
        pytest.param(
            f'{{"id":{LONG},"result":[{LONG},1e400]}}',
            Message("response", "", LONG, result=f"[{LONG},1e400]"),
            id="J17 5,000 digits",
        ),
        pytest.param(
            f'{{"id":7,"result":{DEEP}}}',
            Message("response", "", "7", result=DEEP),
            id="100,000 levels",
        ),
        pytest.param(
            '{"id":7,"result":"\\ud800"}',
            Message("response", "", "7", result='"\\ud800"'),
            id="lone surrogate",
        ),
        pytest.param(
            '{"id":7,"result":NaN}', Message("response", "", "7", result="NaN"), id="not a number"
        ),
        pytest.param("{}", Message("opaque", ""), id="J07 empty object"),
        pytest.param(
            '{"jsonrpc":"2.0","id":1}', Message("opaque", "", "1"), id="J07 an id and no more"
        ),
        pytest.param('{"id":1,"method":5}', Message("opaque", "", "1"), id="method is no name"),
        pytest.param("null", Message("opaque", ""), id="J07 null"),
        pytest.param("5", Message("opaque", ""), id="J07 number"),
        pytest.param('"x"', Message("opaque", ""), id="J07 string"),
        pytest.param(LONG, Message("opaque", ""), id="J07 5,000 digits"),
    ],
)
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "  \r\n"], ids=["none", "LF", "CRLF", "space"])
def test_a_line_is_read_as_a_message(text: str, message: Message, end: str) -> None:
    assert only(f" {text}{end}") == message._replace(text=text)


def test_j07_a_batch_is_read_message_by_message_as_it_was_spelt() -> None:
    first = '{"id":1,"result":{"a":1e2,"a": "\\u00e9"}}'
    deep = f'{{"id":2,"result":{DEEP}}}'

    assert read_line(f'[{first} , {deep},5,[{{"id":3}}]]\r\n'.encode()) == [
        Message("response", first, "1", result='{"a":1e2,"a": "\\u00e9"}'),
        Message("response", deep, "2", result=DEEP),
        Message("opaque", "5"),
        Message("opaque", '[{"id":3}]'),
    ]


def test_j07_a_batch_may_be_empty_or_too_deep() -> None:
    assert read_line(b"[]\n") == []
    assert read_line(f"[{DEEP}]".encode()) == [Message("opaque", DEEP)]


IDS = ['"1"', "1", '"init-a"', "0", "-5", "9007199254740993", "9007199254740992", '""', "1.5", LONG]


@pytest.mark.parametrize("ident", IDS, ids=lambda ident: ident[:20])
def test_j01_ids_of_other_types_or_values_are_others(ident: str) -> None:
    assert [other for other in IDS if id_key(other) == id_key(ident)] == [ident]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "1.0"),
        ("100", "1e2"),
        ("0", "-0"),
        ("9007199254740993", "9007199254740993.0"),
        ('"ab"', '"a\\u0062"'),
    ],
)
def test_j04_an_id_is_the_same_in_any_spelling(one: str, other: str) -> None:
    assert id_key(one) == id_key(other)


@pytest.mark.parametrize("ident", ["true", "[1]", '{"a":1}', "NaN"])
def test_an_id_of_no_legal_type_is_equal_to_its_like(ident: str) -> None:
    assert id_key(ident) == id_key(ident)
    assert id_key(ident) != id_key("1")


def test_no_id_has_no_key() -> None:
    assert id_key(None) is None


@pytest.mark.parametrize("ident", [*IDS, "1.0", '"\\u00e9"'], ids=lambda ident: ident[:20])
def test_j01_an_answer_has_the_id_as_it_was_spelt(ident: str) -> None:
    assert (
        answer(ident, result="{}") == f'{{"jsonrpc":"2.0","id":{ident},"result":{{}}}}\n'.encode()
    )


@pytest.mark.parametrize("ident", ["NaN", "Infinity", "-Infinity"])
def test_j01_an_answer_to_an_id_that_is_no_json_is_json(ident: str) -> None:
    assert answer(ident, result="{}") == b'{"jsonrpc":"2.0","id":null,"result":{}}\n'


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(
            answer("1", result='{"a": 1e2}'),
            '{"jsonrpc":"2.0","id":1,"result":{"a": 1e2}}',
            id="result",
        ),
        pytest.param(
            answer("1", error='{"code":1}'),
            '{"jsonrpc":"2.0","id":1,"error":{"code":1}}',
            id="error",
        ),
        pytest.param(
            answer(None, result="{}"), '{"jsonrpc":"2.0","id":null,"result":{}}', id="no id"
        ),
        pytest.param(
            failure('"a"', -32000, "gone \ud800"),
            '{"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"gone \\ud800"}}',
            id="failure",
        ),
        pytest.param(
            failure(None, -32000, "gone", {"a": 1}),
            '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"gone","data":{"a":1}}}',
            id="failure with data",
        ),
        pytest.param(
            ask('"s1"', "roots/list", None),
            '{"jsonrpc":"2.0","id":"s1","method":"roots/list"}',
            id="request",
        ),
        pytest.param(
            ask("1", 'a"b', '{"x":1.0}'),
            '{"jsonrpc":"2.0","id":1,"method":"a\\"b","params":{"x":1.0}}',
            id="request with params",
        ),
        pytest.param(notify("n", None), '{"jsonrpc":"2.0","method":"n"}', id="notification"),
        pytest.param(
            notify("n", "[1]"), '{"jsonrpc":"2.0","method":"n","params":[1]}', id="with params"
        ),
        pytest.param(
            answer('"\ud800"', result='"é\ud800"'),
            '{"jsonrpc":"2.0","id":"\\ud800","result":"\\u00e9\\ud800"}',
            id="what UTF-8 cannot write is escaped",
        ),
    ],
)
def test_s06_a_line_is_written(line: bytes, expected: str) -> None:
    assert line == expected.encode() + b"\n"


BODY = "x" * 20_000


@pytest.mark.parametrize(
    ("text", "ident"),
    [
        pytest.param(f'{{"jsonrpc":"2.0","id":1,"result":"{BODY}"}}', "1", id="id first"),
        pytest.param(
            f'{{"jsonrpc": "2.0", "id": "a\\u0062", "result": "{BODY}"}}',
            '"a\\u0062"',
            id="with spaces, as Python writes",
        ),
        pytest.param(f'{{"result":"{BODY}","jsonrpc":"2.0","id":7}}', "7", id="id last"),
        pytest.param(f'{{"result":"{BODY}" , "id" : 7 }}', "7", id="id last, with spaces"),
        pytest.param(
            f'{{"result":"{BODY}","id":9007199254740993.0,"jsonrpc":"2.0"}}',
            "9007199254740993.0",
            id="id among the last, as spelt",
        ),
        pytest.param(
            f'{{"id":-5,"result":{{"x":"{BODY}","id":3}}}}', "-5", id="another one nested"
        ),
        pytest.param(f'{{"result":{{"x":"{BODY}","id":3}}}}', None, id="only a nested one"),
        pytest.param(
            f'{{"params":{{"id":3,"x":"{BODY}"}},"method":"a"}}', None, id="a nested one, first"
        ),
        pytest.param(f'{{"id":null,"x":"{BODY}"}}', None, id="null"),
        pytest.param(f'{{"id":[1],"x":"{BODY}"}}', None, id="no simple value"),
        pytest.param(f'{{"x":"{BODY}\\"id\\":5}}', None, id="text that looks like one"),
        pytest.param(f'[{{"id":1,"x":"{BODY}"}}]', None, id="a batch"),
        pytest.param(f'"{BODY}"', None, id="no object"),
        pytest.param('{"id":12' + "3" * 20_000 + "}", None, id="an id that is too long itself"),
    ],
)
def test_s03_the_id_of_a_message_over_the_ceiling_is_found(text: str, ident: str | None) -> None:
    (line,) = LineBuffer(10_000).feed(text.encode() + b"\n")

    assert isinstance(line, Oversized)
    assert id_of_oversized(line) == ident


def test_the_ends_of_an_oversized_message_may_cut_a_character() -> None:
    text = '{"id":5,"é":"' + "é" * 20_000 + '"}'
    (line,) = LineBuffer(10_000).feed(text.encode() + b"\n")

    assert isinstance(line, Oversized)
    assert id_of_oversized(line) == "5"
    assert id_of_oversized(line._replace(head=line.head[:4095], tail=line.tail[1:])) == "5"
