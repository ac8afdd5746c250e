import json

import pytest

from sidecar.cassette.redaction import json_masking, text_masking
from sidecar.cassette.redaction.assignments import Assignments
from sidecar.cassette.redaction.json_masking import Sweep
from sidecar.cassette.redaction.json_schemas import MAPS, WHOLE
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.shapes import places_of
from sidecar.cassette.redaction.sought import Finder, Kind, Part, Sought


def place(_: bytes) -> bytes:
    return b"[REDACTED]"


def finder(kind: Kind, text: str) -> Finder:
    return Finder(kind, (text,), lambda data: list(places_of([text.encode()], data)))


NAMES = Finder(
    Kind.NAMES, ("password", "key"), lambda data: list(Assignments(("password",)).spans(data))
)


def sweep(*finders: Finder, names: bool = False) -> Sweep:
    return Sweep(Sought(finders, frozenset(["zip"]) if names else None, frozenset(["777"])), place)


def test_each_part_of_a_value_is_searched_for_its_own_kinds() -> None:
    value = {
        "text": "known shape own password=hunter22",
        "inputSchema": {"description": "known shape own password=hunter22", "known": {}},
        "image": {"mimeType": "x", "data": "known shape own password=hunter22"},
        "progressToken": "known shape own",
    }
    walk = sweep(
        finder(Kind.KNOWN, "known"),
        finder(Kind.SHAPES, "shape"),
        finder(Kind.PATTERNS, "own"),
        NAMES,
        names=True,
    )

    masked = json.loads(walk.json_text(json.dumps(value)))

    assert masked == {
        "text": "[REDACTED] [REDACTED] [REDACTED] password=[REDACTED]",
        "inputSchema": {
            "description": "[REDACTED] [REDACTED] [REDACTED] password=hunter22",
            "known": {},
        },
        "image": {"mimeType": "x", "data": "[REDACTED] shape own password=hunter22"},
        "progressToken": "known shape own",
    }
    assert walk.masked == 8


def test_without_names_no_member_is_a_secret_for_its_name() -> None:
    walk = sweep(finder(Kind.KNOWN, "known"))

    assert walk.json_text('{"password":"x","a":"known"}') == '{"password":"x","a":"[REDACTED]"}'
    assert sweep(NAMES, names=True).json_text('{"password":"x","zip":"y","Zip":1234}') == (
        '{"password":"[REDACTED]","zip":"[REDACTED]","Zip":0}'
    )


def test_names_of_members_are_masked_in_their_place() -> None:
    walk = sweep(finder(Kind.KNOWN, "known"))

    assert walk.json_text('{"a":{"known":1,"b":2},"c":{"d":3}}') == (
        '{"a":{"[REDACTED]":1,"b":2},"c":{"d":3}}'
    )


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        pytest.param([1, 777, "a"], [1, 0, "a"], id="a known number"),
        pytest.param(["--api-key", "x", "y"], ["--api-key", "[REDACTED]", "y"], id="an option"),
        pytest.param(["--key=1", "x"], ["--key=1", "x"], id="an option with its value"),
        pytest.param({"pwd": "/srv/x"}, {"pwd": "/srv/x"}, id="a folder"),
        pytest.param({"pwd": "C:\\x"}, {"pwd": "C:\\x"}, id="a folder of Windows"),
        pytest.param({"pwd": "x"}, {"pwd": "[REDACTED]"}, id="no folder"),
        pytest.param({"pwd": 1234}, {"pwd": 0}, id="a number, no folder"),
        pytest.param(
            {"name": "x", "key": "password", "value": "y"},
            {"name": "x", "key": "password", "value": "[REDACTED]"},
            id="labelled",
        ),
        pytest.param(
            {"name": "x", "value": "y"}, {"name": "x", "value": "y"}, id="labelled otherwise"
        ),
        pytest.param({"name": 1, "value": "y"}, {"name": 1, "value": "y"}, id="not labelled"),
        pytest.param({"password": []}, {"password": []}, id="an empty list"),
        pytest.param({"password": 1.5}, {"password": 1.5}, id="a fraction"),
        pytest.param({"password": -1234}, {"password": 0}, id="a negative number"),
        pytest.param({"token": 1234}, {"token": 1234}, id="a count"),
        pytest.param(
            {"password": {"type": "string"}}, {"password": {"type": "string"}}, id="a schema"
        ),
        pytest.param(
            {"properties": {"password": "x"}},
            {"properties": {"password": "[REDACTED]"}},
            id="no schema",
        ),
        pytest.param(
            {"cookies": {"a": "x", "n": 1, "b": {"c": "y"}}},
            {"cookies": {"a": "[REDACTED]", "n": 1, "b": {"c": "y"}}},
            id="strings right below",
        ),
        pytest.param(
            {"text": '{"password": "x"}'}, {"text": '{"password": "[REDACTED]"}'}, id="JSON within"
        ),
        pytest.param(
            {"text": ' "password=hunter22" '},
            {"text": ' "password=[REDACTED]" '},
            id="a string within",
        ),
        pytest.param(
            {"text": '{"password=hunter22"'},
            {"text": '{"password=[REDACTED]"'},
            id="no JSON within",
        ),
        pytest.param({"text": "}{password"}, {"text": "}{password"}, id="nothing like JSON"),
    ],
)
def test_values_are_masked_by_where_they_are(value: object, masked: object) -> None:
    text = json.dumps(value)

    result = sweep(NAMES, names=True).json_text(text)

    if masked == value:
        assert result is text
    else:
        assert json.loads(result) == masked


def test_a_mask_that_touches_a_word_is_noted() -> None:
    walk = sweep(finder(Kind.KNOWN, "known"))
    assert walk.text("a known b", Part.SCHEMA) == "a [REDACTED] b"
    assert not walk.touching
    assert walk.text("aknown b") == "a[REDACTED] b"
    assert walk.touching


def test_a_text_with_any_part_that_only_a_walk_tells_apart_is_walked() -> None:
    parts = {*WHOLE, *MAPS, *json_masking._PROTOCOL, text_masking.PROTOCOL_PREFIX, "mimeType"}

    assert [part for part in parts if not any(few in part for few in text_masking._WALKED)] == []


@pytest.fixture
def _all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_masking, "_LARGE_CHARS", 0)


@pytest.mark.usefixtures("_all_are_large")
@pytest.mark.parametrize(
    ("text", "masked"),
    [
        pytest.param(
            '{ "a": "known", "n": 1.0e2 }', '{ "a": "[REDACTED]", "n": 1.0e2 }', id="spliced"
        ),
        pytest.param('{ "a": "other" }', '{ "a": "other" }', id="nothing"),
        pytest.param('{ "a": "nknown" }', '{ "a": "n[REDACTED]" }', id="within a word"),
        pytest.param('{ "a": "known\\n" }', '{"a":"[REDACTED]\\n"}', id="before an escape"),
        pytest.param(
            '{ "a": "\\"known\\"" }', '{ "a": "\\"[REDACTED]\\"" }', id="in escaped quotes"
        ),
        pytest.param('{ "mimeType": "known" }', '{"mimeType":"[REDACTED]"}', id="with content"),
        pytest.param(
            '{ "inputSchema": "known" }', '{"inputSchema":"[REDACTED]"}', id="with a schema"
        ),
    ],
)
def test_a_large_text_is_masked_where_it_stands_if_that_is_safe(text: str, masked: str) -> None:
    assert sweep(finder(Kind.KNOWN, "known")).json_text(text) == masked


@pytest.mark.usefixtures("_all_are_large")
def test_the_letter_of_an_escape_is_no_part_of_a_secret() -> None:
    text = '{ "a": "x\\nknown" }'

    assert sweep(finder(Kind.KNOWN, "nknown")).json_text(text) is text


@pytest.mark.usefixtures("_all_are_large")
def test_a_large_text_that_its_finders_do_not_explain_is_walked() -> None:
    unsure = finder(Kind.KNOWN, "known")._replace(explains=lambda _: False)

    assert sweep(unsure).json_text('{ "a": "known" }') == '{"a":"[REDACTED]"}'


def test_the_spans_of_a_plain_text_are_those_of_all_finders() -> None:
    walk = sweep(finder(Kind.KNOWN, "ab"), finder(Kind.SHAPES, "cd"))

    assert walk.spans("ab cd é ab") == [Span(0, 2), Span(9, 11), Span(3, 5)]
