from collections.abc import Iterator

from sidecar.cassette.redaction.gates import Context, Indexed, Kinds, matches, places
from sidecar.cassette.redaction.masking import Span


def find_number(data: bytes) -> Iterator[Span]:
    return (Span(*found.span(1)) for found in matches(b"no=([0-9]+)", data, b"no="))


def never(_: bytes) -> Iterator[Span]:
    return iter(())


NUMBER = Context((b"no=",), find_number)
MAILED = Context((b"no=", b"nr="), find_number, needs=b"@")
EMPTY = Context((b"no",), never)
KINDS = Kinds(NUMBER, MAILED, EMPTY)


def test_kinds_are_found_where_a_gate_and_what_they_need_are_and_they_find_something() -> None:
    assert KINDS.found_in(b"no=1 @") in ([NUMBER, MAILED], [MAILED, NUMBER])
    assert KINDS.found_in(b"no=1") == [NUMBER]
    assert KINDS.found_in(b"no=x @") == []
    assert KINDS.found_in(b"n =1 @") == []


def test_a_text_that_knows_its_places_is_not_searched() -> None:
    text = Indexed(b"no=1 no=2 @")
    text.places = {b"no=": [5], b"nr=": [], b"no": [0, 5]}

    assert KINDS.found_in(text) == [NUMBER, MAILED]
    assert [found[1] for found in matches(b"no=([0-9]+)", text, b"no=")] == [b"2"]
    assert list(places(text, b"=", b"nr=")) == [2, 7]


def test_places_do_not_overlap() -> None:
    assert list(places(b"a****b**", b"**", b"b")) == [1, 3, 6, 5]
