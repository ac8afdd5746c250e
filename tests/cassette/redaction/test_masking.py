import pytest

from sidecar.cassette.redaction.masking import Masked, Span, mask, mask_pieces


def place(secret: bytes) -> bytes:
    return b"<" + secret + b">"


@pytest.mark.parametrize(
    ("data", "spans", "masked"),
    [
        pytest.param(b"a b c", [], Masked(b"a b c", 0, touching=False), id="nothing"),
        pytest.param(b"a b c", [Span(2, 3)], Masked(b"a <b> c", 1, touching=False), id="one"),
        pytest.param(b"abc", [Span(1, 2)], Masked(b"a<b>c", 1, touching=True), id="touching"),
        pytest.param(b"a+", [Span(0, 1)], Masked(b"<a>+", 1, touching=True), id="touching base64"),
        pytest.param(
            b"%61 b", [Span(0, 3, b"a")], Masked(b"<a> b", 1, touching=False), id="encoded"
        ),
        pytest.param(
            b'"n":123}',
            [Span(4, 7, instead=b"0")],
            Masked(b'"n":0}', 1, touching=False),
            id="number",
        ),
        pytest.param(
            b"- abcd -",
            [Span(2, 5, b"x"), Span(4, 6, b"y"), Span(2, 5, b"x")],
            Masked(b"- <abcd> -", 1, touching=False),
            id="overlapping",
        ),
        pytest.param(
            b"- abcd -",
            [Span(3, 4, b"x"), Span(2, 6, b"y")],
            Masked(b"- <y> -", 1, touching=False),
            id="one within the other",
        ),
        pytest.param(
            b"p=[REDACTED:1]",
            [Span(2, 14), Span(3, 11), Span(12, 13)],
            Masked(b"p=[REDACTED:1]", 0, touching=False),
            id="a placeholder and what is within it",
        ),
        pytest.param(
            b"p ab[REDACTED:1]c ",
            [Span(2, 17)],
            Masked(b"p <ab[REDACTED:1]c> ", 1, touching=False),
            id="around a placeholder",
        ),
        pytest.param(
            b"[REDACTED:1]cd ",
            [Span(5, 14)],
            Masked(b"<[REDACTED:1]cd> ", 1, touching=False),
            id="across the end of a placeholder",
        ),
    ],
)
def test_spans_are_masked(data: bytes, spans: list[Span], masked: Masked) -> None:
    assert mask(data, spans, place) == masked


def test_which_of_two_secrets_at_one_place_is_named_does_not_depend_on_their_order() -> None:
    spans = [Span(0, 3, b"a b"), Span(0, 3, b"a+b")]

    assert mask(b"a+b", spans, place) == mask(b"a+b", spans[::-1], place)


@pytest.mark.parametrize(
    ("pieces", "spans", "masked"),
    [
        pytest.param([b"ab", b"cd"], [], [b"ab", b"cd"], id="nothing"),
        pytest.param([b"ab", b"cd"], [Span(1, 3)], [b"a<bc>", b"d"], id="over two"),
        pytest.param(
            [b"ab", b"", b"cd", b"ef"], [Span(1, 5)], [b"a<bcde>", b"", b"", b"f"], id="over all"
        ),
        pytest.param([b"ab", b"cd"], [Span(0, 1), Span(2, 4)], [b"<a>b", b"<cd>"], id="in each"),
        pytest.param([b"a-b-c"], [Span(0, 1), Span(4, 5)], [b"<a>-b-<c>"], id="two in one"),
    ],
)
def test_x07_a_span_over_pieces_is_masked_where_it_begins(
    pieces: list[bytes], spans: list[Span], masked: list[bytes]
) -> None:
    assert mask_pieces(pieces, spans, place) == masked
