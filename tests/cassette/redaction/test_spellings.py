import random

import pytest

from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cassette.redaction.spellings import PERCENT, with_unicode_escapes
from tests.cassette import secrets_corpus as corpus

TOKEN = corpus.SHAPES["GitHub personal token"](random.Random("spelt"))


def found(text: str) -> list[Span]:
    data = text.encode()
    percent = list(PERCENT.find(data))
    assert not percent or any(gate in data for gate in PERCENT.gates)
    return percent + list(with_unicode_escapes(data))


@pytest.mark.parametrize(
    "spelt",
    [
        pytest.param(TOKEN.replace("_", "%5F"), id="percent"),
        pytest.param(TOKEN.replace("_", "%5f"), id="percent, small"),
        pytest.param(TOKEN.replace("_", "%255F"), id="percent, twice"),
        pytest.param(TOKEN.replace("_", "%255f"), id="percent, twice, small"),
        pytest.param("%67" + TOKEN[1:].replace("_", "%5F"), id="two of them"),
        pytest.param(TOKEN.replace("_", "%5F")[:-1] + f"%{ord(TOKEN[-1]):X}", id="and the last"),
        pytest.param("\\u0067" + TOKEN[1:], id="JSON"),
        pytest.param("\\\\u0067" + TOKEN[1:], id="JSON within a string"),
        pytest.param(TOKEN.replace("_", "\\u005f"), id="the sign"),
    ],
)
def test_a_token_with_escapes_is_found_as_it_is_spelt(spelt: str) -> None:
    first = len("a b_c%5Fd ")
    after = first + len(spelt) + 1

    assert found(f"a b_c%5Fd {spelt} {spelt}=") == [
        Span(first, first + len(spelt)),
        Span(after, after + len(spelt)),
    ]


@pytest.mark.parametrize(
    "text",
    ["a%5Fb %2D", "100%20of", "%3D%26", TOKEN, "\\u00e9\\u003c", "%5", "50%30s", "%", "\\u00", ""],
)
def test_other_escapes_spell_none(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "before",
    [
        "?next=https%3A%2F%2Fx%3Ftoken%3D",
        "%20",
        "%22",
        "%2520",
        "100%-",
        "100%25-",
        "%%",
        "a%5Fb%20",
    ],
)
def test_other_escapes_before_a_token_do_not_hide_it(before: str) -> None:
    spelt = TOKEN.replace("_", "%5F")

    assert [found(before + spelt)[-1].end, len(found(before + spelt))] == [
        len(before) + len(spelt),
        1,
    ]
    assert (before + spelt)[found(before + spelt)[0].start :].lstrip("-") == spelt


@pytest.mark.parametrize("sign", ["%5F", "%5f", "%255F", "%255f"])
def test_such_a_token_within_json_is_masked(sign: str) -> None:
    spelt = TOKEN.replace("_", sign)

    masked = Redactor(b"").json_text(f'{{"q":"see %22{spelt}"}}')

    assert masked.startswith('{"q":"see %22[REDACTED:')


@pytest.mark.parametrize(
    "escape",
    [f"%{before}{code}" for before in ("", "25") for code in ("5F", "5f", "2D", "2d", "2E", "2e")],
)
def test_each_spelling_of_a_sign_has_a_gate(escape: str) -> None:
    assert escape.encode() in PERCENT.gates


def test_many_escapes_are_read_once() -> None:
    assert found("%5F" * 20_000 + "a" * 20_000 + "%5F" * 20_000) == []
