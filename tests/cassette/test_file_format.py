"""The cassette file: written, read, and refused with its place named."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.cassette.file_format import (
    Loaded,
    header_line,
    interaction_line,
    lines,
    passages_text,
    read,
    read_passages,
)
from sidecar.cassette.interaction import Cassette, Interaction, Passage, Response, Server
from sidecar.errors import CassetteError
from sidecar.wire.json_text import NotJsonError
from tests.cassette.sessions import call, compact, notice, question, surface, written

HEADER = '{"cassette":1,"servers":{"srv":{}},"complete":true}\n'
LINE = interaction_line(call("echo", {"a": 1}, "hi"))
OTHER = interaction_line(surface("tools/list", {}))


def loaded(text: str | bytes) -> Loaded:
    return read(text if isinstance(text, bytes) else text.encode(), "c.jsonl")


def refused(text: str | bytes) -> CassetteError:
    with pytest.raises(CassetteError) as caught:
        loaded(text)
    return caught.value


def one(line: str) -> Interaction:
    (found,) = loaded(HEADER + line).cassette.interactions
    return found


def test_a_cassette_is_one_json_object_a_line_with_keys_in_a_fixed_order() -> None:
    cassette = Cassette(
        (
            Interaction("git", "tools/list", None, Response("result", '{"tools": [1e2]}')),
            call(
                "log",
                {"n": 1},
                server="git",
                args_match="subset",
                during=(
                    notice("notifications/x", a=1),
                    question("roots/list", {"roots": []}),
                    question("roots/list"),
                    Passage("a/b", None, asked=True, reply=Response("error", '{"code":1}')),
                ),
                after=(Passage("notifications/y"),),
            ),
            Interaction("tíme", "tools/call", '{"name":"now"}', None, cancelled=True),
            Interaction("tíme", "tools/call", '{"name":"now"}', None),
            Interaction("tíme", "x", "[1]", Response("error", '{"code": -1}')),
        ),
        {"git": Server("2025-11-25"), "tíme": Server()},
        complete=False,
        run="local/01J",
    )

    assert written(cassette) == (
        '{"cassette":1,"run":"local/01J",'
        '"servers":{"git":{"protocol":"2025-11-25"},"tíme":{}},"complete":false}\n'
        '{"server":"git","request":{"method":"tools/list"},'
        '"response":{"result":{"tools": [1e2]}}}\n'
        '{"server":"git","request":{"method":"tools/call",'
        '"params":{"name":"log","arguments":{"n":1}}},'
        '"response":{"result":{"content":[{"type":"text","text":"ok"}]}},"argsMatch":"subset",'
        '"during":[{"notification":{"method":"notifications/x","params":{"a":1}}},'
        '{"request":{"method":"roots/list"},"response":{"result":{"roots":[]}}},'
        '{"request":{"method":"roots/list"},"response":null},'
        '{"request":{"method":"a/b"},"response":{"error":{"code":1}}}],'
        '"after":[{"notification":{"method":"notifications/y"}}]}\n'
        '{"server":"tíme","request":{"method":"tools/call","params":{"name":"now"}},'
        '"response":null,"during":[{"cancelled":true}]}\n'
        '{"server":"tíme","request":{"method":"tools/call","params":{"name":"now"}},'
        '"response":null}\n'
        '{"server":"tíme","request":{"method":"x","params":[1]},'
        '"response":{"error":{"code": -1}}}\n'
    )
    assert loaded(written(cassette)) == Loaded(cassette, ())


def test_the_lines_of_a_cassette_are_its_text() -> None:
    cassette = Cassette((call("a"), call("b")), {})

    assert list(lines(cassette)) == [
        header_line(cassette),
        interaction_line(call("a")),
        interaction_line(call("b")),
    ]


TEXTS = st.sampled_from(
    [
        "null",
        "1e2",
        "7" * 5000,
        '{"a": [1.0,\t2] ,"a":"\\u00e9\\ud800"}',
        '{"name":"x","arguments":{}}',
        '"é🎉\u2028\x7f"',
        "[" * 2000 + "]" * 2000,
        "{}",
    ]
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
RESPONSES = (
    st.none()
    | TEXTS.map(lambda text: Response("result", text))
    | TEXTS.map(lambda text: Response("error", text))
)
NOTICES = st.tuples(NAMES, st.none() | TEXTS).map(lambda given_: Passage(*given_))
QUESTIONS = st.tuples(NAMES, st.none() | TEXTS, st.just(value=True), RESPONSES).map(
    lambda given_: Passage(*given_)
)
PASSAGES = st.lists(NOTICES | QUESTIONS, max_size=3).map(tuple)
INTERACTIONS = st.tuples(
    NAMES,
    NAMES,
    st.none() | TEXTS,
    RESPONSES,
    st.sampled_from(["exact", "subset", "ignore"]),
    PASSAGES,
    PASSAGES,
    st.booleans(),
).map(lambda given_: Interaction(*given_))
UNKNOWN = st.tuples(st.just(0), st.sampled_from(['{"kind":"future-thing"}', '{ "a": 1e2 }']))
CASSETTES = st.tuples(
    st.lists(INTERACTIONS, max_size=3).map(tuple),
    st.dictionaries(NAMES, NAMES.map(Server), max_size=3),
    st.booleans(),
    st.none() | NAMES,
    st.lists(UNKNOWN, max_size=2).map(tuple),
).map(lambda given_: Cassette(*given_))


@given(CASSETTES)
def test_what_is_written_is_read_as_the_same(cassette: Cassette) -> None:
    text = written(cassette)
    found = loaded(text).cassette

    assert found == cassette
    assert written(found) == text
    assert text.count("\n") == 1 + len(cassette.interactions) + len(cassette.unknown)


def test_a_line_break_between_json_tokens_does_not_break_the_line() -> None:
    params = '{"name":"a",\n"arguments":\r\n{"x":"y\\n"}}'

    assert one(interaction_line(call("a")._replace(params=params))).params == (
        '{"name":"a", "arguments":\r {"x":"y\\n"}}'
    )


def test_names_that_utf_8_cannot_write_are_escaped() -> None:
    odd = Interaction("\ud800", "a\ud800é", None, None)
    line = interaction_line(odd)

    assert line.isascii()
    assert one(line) == odd


@pytest.mark.parametrize(
    ("text", "places"),
    [
        pytest.param(HEADER + LINE, [], id="none"),
        pytest.param(HEADER + '{"kind":"future-thing"}\n' + LINE, [0], id="R26 first"),
        pytest.param(HEADER + LINE + '{"kind": 1e2}\n' + OTHER, [1], id="R26 in the middle"),
        pytest.param(HEADER + LINE + '{"a":1}\n{"b":2}\n', [1, 1], id="R26 at the end"),
    ],
)
def test_lines_of_unknown_kinds_are_kept_where_they_were(text: str, places: list[int]) -> None:
    found = loaded(text)

    assert [place for place, _ in found.cassette.unknown] == places
    assert found.warnings == (
        (f"c.jsonl: {len(places)} lines of an unknown kind are kept, not used",) if places else ()
    )
    assert written(found.cassette) == text


def test_an_unknown_item_of_what_came_during_a_call_is_skipped() -> None:
    text = (
        '[{"future":1}, 5,{"notification":{"method":"n","params":{"a": 1.0}}},{"cancelled":true}]'
    )

    assert read_passages(text) == ((Passage("n", '{"a": 1.0}'),), True)
    assert read_passages("[]") == ((), False)
    assert passages_text(()) == "[]"


def test_what_came_during_a_call_keeps_its_spelling() -> None:
    params = '{"a":1e2,"b":1,"b":"\\u00e9"}'
    item = f'{{"request":{{"method":"m","params":{params}}},"response":{{"result":1.0}}}}'

    passages, _ = read_passages(f"[{item}]")
    assert passages_text(passages) == f"[{item}]"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param(HEADER + LINE + OTHER[:-10], [LINE], id="cut off"),
        pytest.param(HEADER + LINE + OTHER[:-10] + "\n", [LINE], id="cut off, and ended"),
        pytest.param(HEADER + OTHER[:1], [], id="one byte of a line"),
        pytest.param((HEADER + LINE).encode() + b'{"a":"\xc3', [LINE], id="within a character"),
        pytest.param(HEADER + LINE + "[1]\n", [LINE], id="no object"),
    ],
)
def test_r26_a_broken_last_line_is_dropped_with_a_warning(
    text: str | bytes, kept: list[str]
) -> None:
    found = loaded(text)

    assert [interaction_line(item) for item in found.cassette.interactions] == kept
    assert not found.cassette.complete
    assert found.warnings == (
        f"c.jsonl:{len(kept) + 2}: the last line is broken and was dropped; "
        "the file was cut off while it was written",
    )


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param(HEADER, 0, id="no interaction"),
        pytest.param(HEADER.rstrip(), 0, id="no line end"),
        pytest.param(HEADER + LINE.rstrip(), 1, id="no last line end"),
        pytest.param((HEADER + LINE + OTHER).replace("\n", "\r\n"), 2, id="CRLF"),
        pytest.param(HEADER + LINE + "\n \n", 1, id="blank lines at the end"),
        pytest.param(HEADER + LINE.replace('{"server"', '{ "server"'), 1, id="white space"),
    ],
)
def test_small_things_do_no_harm(text: str, count: int) -> None:
    found = loaded(text)

    assert (len(found.cassette.interactions), found.warnings) == (count, ())
    assert found.cassette.complete


LEFT = "restore the file, or record it again; it was left as it is"


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        pytest.param("", "c.jsonl", "the file is empty", id="C01 empty"),
        pytest.param(" \n\n", "c.jsonl", "the file is empty", id="C01 blank"),
        pytest.param(b"\xff\xfe", "c.jsonl:1", "not UTF-8 text", id="C01 foreign bytes"),
        pytest.param("PK", "c.jsonl:1", "the line is not JSON", id="C01 foreign text"),
        pytest.param("[]", "c.jsonl:1", "not a JSON object", id="C01 foreign JSON"),
        pytest.param("\n" + HEADER, "c.jsonl:1", "the line is not JSON", id="blank first line"),
        pytest.param(
            '{"a":1}\n' + LINE,
            "c.jsonl:1",
            "this is no cassette: its first line has no `cassette` member",
            id="C01 a foreign object",
        ),
        pytest.param(
            '{"cassette":"1"}',
            "c.jsonl:1",
            "this is no cassette: its first line has no `cassette` member",
            id="version is no number",
        ),
        pytest.param(
            '{"cassette":0}',
            "c.jsonl:1",
            "this is no cassette: its first line has no `cassette` member",
            id="version 0",
        ),
        pytest.param('{"cassette":1,"run":5}', "c.jsonl:1", "`run` is no string", id="run"),
        pytest.param(
            '{"cassette":1,"run":1.5}', "c.jsonl:1", "`run` is no string", id="run, a number"
        ),
        pytest.param(
            '{"cassette":1,"servers":[]}', "c.jsonl:1", "`servers` is no object", id="servers"
        ),
        pytest.param(HEADER[:-3], "c.jsonl:1", "the line is not JSON", id="C01 cut in its header"),
        pytest.param(
            HEADER + LINE[:-5] + "\n" + OTHER, "c.jsonl:2", "the line is not JSON", id="R26 middle"
        ),
        pytest.param(
            HEADER + LINE + "\n" + OTHER, "c.jsonl:3", "the line is not JSON", id="a blank line"
        ),
        pytest.param(
            (HEADER + LINE).encode() + b'{"a":"\xff"}\n' + OTHER.encode(),
            "c.jsonl:3",
            "not UTF-8 text",
            id="C01 a byte that is no UTF-8",
        ),
        pytest.param(
            HEADER + LINE + "5\n" + OTHER, "c.jsonl:3", "not a JSON object", id="no object"
        ),
        pytest.param(
            HEADER + "<<<<<<< ours\n" + LINE + "=======\n" + OTHER + ">>>>>>> theirs\n",
            "c.jsonl:2",
            "a merge conflict is left in the file",
            id="C01 merge conflict",
        ),
        pytest.param(
            "<<<<<<< ours\n" + HEADER + "=======\n",
            "c.jsonl:1",
            "a merge conflict is left in the file",
            id="C01 merge conflict in the header",
        ),
        pytest.param(
            HEADER + LINE + "=======\n" + OTHER,
            "c.jsonl:3",
            "a merge conflict is left in the file",
            id="C01 the middle of a merge conflict",
        ),
    ],
)
def test_a_broken_cassette_is_refused_with_file_and_line(
    text: str | bytes, place: str, problem: str
) -> None:
    error = refused(text)

    assert (error.place, error.problem) == (place, problem)
    assert error.hint == ("record it again, or restore it" if place == "c.jsonl" else LEFT)


def test_an_http_status_that_says_something_is_kept() -> None:
    odd = call("echo", result="late")._replace(http_status=500)

    line = interaction_line(odd)

    assert line.endswith('"httpStatus":500}\n')
    assert one(line) == odd


@pytest.mark.parametrize("text", ['"500"', "5", "1e2", "5000", "null"])
def test_an_http_status_that_is_none_is_refused(text: str) -> None:
    error = refused(HEADER + LINE.replace('"request"', f'"httpStatus":{text},"request"') + OTHER)

    assert error.place == "c.jsonl:2"
    assert error.problem == "`httpStatus` is no HTTP status"


def test_the_session_is_kept_but_for_the_first() -> None:
    first = call("echo")
    second = first._replace(session=1)

    assert "session" not in interaction_line(first)
    assert interaction_line(second).endswith(',"session":1}\n')
    assert one(interaction_line(second)) == second


@pytest.mark.parametrize("text", ['"1"', "-1", "1.0", "1e2", "null", "7" * 5000])
def test_a_session_that_is_no_number_is_refused(text: str) -> None:
    error = refused(HEADER + LINE.replace('"request"', f'"session":{text},"request"') + OTHER)

    assert error.place == "c.jsonl:2"
    assert error.problem == "`session` is no number of a session, which is 0 or more"


@pytest.mark.parametrize("version", ["2", "10", "7" * 5000], ids=["2", "10", "5,000 digits"])
def test_a_newer_format_is_refused_with_the_way_out(version: str) -> None:
    error = refused(f'{{"cassette":{version},"servers":{{}}}}\n')

    assert error.place == "c.jsonl:1"
    assert error.problem == f"format {version} is newer than this version reads (1)"
    assert error.hint == "upgrade mcp-sidecar"


RESPONSES_OF_ANOTHER_SHAPE: list[Any] = [{}, {"result": 1, "error": 2}, {"other": 1}, 5, []]


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        pytest.param({"server": ...}, "`server` is missing or no string", id="no server"),
        pytest.param({"server": 1.5}, "`server` is missing or no string", id="server"),
        pytest.param(
            {"response": ...},
            "`response` is missing; where nothing answered it is null",
            id="R26 no response",
        ),
        pytest.param({"request": {}}, "`request` has no `method` that is a string", id="no method"),
        pytest.param(
            {"request": {"method": 1.5}}, "`request` has no `method` that is a string", id="method"
        ),
        pytest.param({"request": 5}, "`request` has no `method` that is a string", id="request"),
        *(
            pytest.param(
                {"response": response},
                "`response` holds exactly one of `result` and `error`, or is null",
                id=f"response {compact(response)}",
            )
            for response in RESPONSES_OF_ANOTHER_SHAPE
        ),
        pytest.param(
            {"argsMatch": "fuzzy"}, "`argsMatch` is none of exact, subset, ignore", id="argsMatch"
        ),
        pytest.param(
            {"argsMatch": None}, "`argsMatch` is none of exact, subset, ignore", id="argsMatch null"
        ),
        pytest.param({"during": {}}, "`during` and `after` are arrays", id="during"),
        pytest.param({"after": None}, "`during` and `after` are arrays", id="after"),
        pytest.param(
            {"during": [{"notification": 5}]},
            "`notification` has no `method` that is a string",
            id="notification",
        ),
        pytest.param(
            {"after": [{"request": {"method": "m"}, "response": 5}]},
            "`response` holds exactly one of `result` and `error`, or is null",
            id="reply",
        ),
    ],
)
@pytest.mark.parametrize("last", [False, True], ids=["in the middle", "last"])
def test_a_line_of_the_wrong_shape_is_refused_wherever_it_stands(
    members: dict[str, Any], problem: str, *, last: bool
) -> None:
    found = {"server": "srv", "request": {"method": "m"}, "response": None, **members}
    line = compact({name: item for name, item in found.items() if item is not ...})

    error = refused(HEADER + LINE + line + "\n" + ("" if last else OTHER))
    assert (error.place, error.problem, error.hint) == ("c.jsonl:3", problem, LEFT)


def test_a_request_without_anything_else_is_enough() -> None:
    assert one('{"server":"s","request":{"method":"m"},"response":null}') == Interaction(
        "s", "m", None, None
    )


@pytest.mark.parametrize(
    ("header", "cassette"),
    [
        pytest.param(
            '{"cassette":1}', Cassette((), {}, complete=False), id="P01 not said to be whole"
        ),
        pytest.param(
            '{"cassette":1,"complete":"true","servers":{"a":{"protocol":5},"b":{"x":1},"c":7}}',
            Cassette((), {"a": Server(), "b": Server(), "c": Server()}, complete=False),
            id="odd values",
        ),
        pytest.param(
            '{"complete":true,"run":null,"new":1,"cassette":1}',
            Cassette((), {}, complete=True),
            id="another order, and a member of later times",
        ),
    ],
)
def test_a_header_is_read_with_patience(header: str, cassette: Cassette) -> None:
    assert loaded(header) == Loaded(cassette, ())


@given(st.binary() | st.text('{}[]",:\n<=>cassette1', max_size=40).map(str.encode))
def test_whatever_the_file_it_is_read_or_refused(data: bytes) -> None:
    for text in (data, HEADER.encode() + data, HEADER.encode() + data + b"\n" + LINE.encode()):
        places = []
        try:
            read(text, "c.jsonl")
        except CassetteError as error:
            places.append(error.place)
        assert all(place and place.startswith("c.jsonl") for place in places)


@pytest.mark.parametrize("text", ["{}", "nonsense", "[1"])
def test_passages_of_another_shape_are_refused(text: str) -> None:
    with pytest.raises(NotJsonError):
        read_passages(text)


def test_c02_bytes_in_base64_come_back_as_they_were() -> None:
    blob = base64.b64encode(bytes(range(256))).decode()
    recorded = call("image", result={"content": [{"type": "image", "data": blob}]})

    assert one(interaction_line(recorded)) == recorded


def test_c01_a_conflict_mark_in_the_last_line_is_no_cut_off_line() -> None:
    text = HEADER + LINE + ">>>>>>> other\n"

    with pytest.raises(CassetteError, match=r"c\.jsonl:3: a merge conflict"):
        read(text.encode(), "c.jsonl")
