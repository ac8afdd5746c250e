import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.cassette.redaction.known_values import KnownValues
from sidecar.cassette.redaction.masking import Span
from tests.cassette import secrets_corpus as corpus


def found(known: KnownValues, text: str) -> list[str]:
    data = text.encode()
    return [data[span.start : span.end].decode() for span in known.spans(data)]


@pytest.mark.parametrize(
    "value", ['a/b+c="d"é', "plain-Value_1234", "tab\tline\n&<>'x", "密码-is-here 😀"]
)
@pytest.mark.parametrize("form", corpus.encodings("x"))
def test_x05_a_value_is_found_in_every_form(form: str, value: str) -> None:
    spelt = corpus.encodings(value)[form]

    spans = list(KnownValues([value]).spans(f"-- {spelt} --".encode()))

    data = f"-- {spelt} --".encode()
    rest = data.decode() if not spans else _without(data, spans)
    assert spans
    assert spelt not in rest
    assert rest.strip('- \\"') == "" or "base64" in form


def _without(data: bytes, spans: list[Span]) -> str:
    for span in sorted(spans, reverse=True):
        data = data[: span.start] + data[span.end :]
    return data.decode()


def test_forms_of_one_value_share_a_placeholder() -> None:
    known = KnownValues(["a/b-c-d-e"])

    spans = list(known.spans(b"a/b-c-d-e a%2Fb-c-d-e a\\/b-c-d-e"))

    assert {span.secret for span in spans} == {b"a/b-c-d-e"}
    assert len(spans) == 3


def test_a_short_value_is_found_as_a_word_of_its_own_only() -> None:
    known = KnownValues(["abc1", "xyz"])

    assert found(known, "abc1 xabc1 abc12 (abc1) \\nabc1 \\u4e2dabc1 xyz") == ["abc1"] * 4


def test_a_value_of_signs_only_is_found() -> None:
    assert found(KnownValues(["!@#$%^&*"]), "a !@#$%^&* %21%40%23%24%25%5E%26%2A b") == [
        "!@#$%^&*",
        "%21%40%23%24%25%5E%26%2A",
    ]


def test_no_value_no_needle() -> None:
    known = KnownValues(["", "abc"])

    assert known.needles_in(b"abc") == []
    assert known.numbers == frozenset()
    assert KnownValues(["12345", "1234x"]).numbers == {"12345"}


@pytest.mark.parametrize("alphabet", ["standard", "url"])
@pytest.mark.parametrize("before", range(3))
def test_within_a_long_document_only_the_value_is_starred(before: int, alphabet: str) -> None:
    value = "open/sesame?now>"
    content = bytes(3000 + before) + value.encode() + "ÿþ".encode() * 1000
    encode = base64.b64encode if alphabet == "standard" else base64.urlsafe_b64encode
    data = encode(content)

    (span,) = KnownValues([value]).spans(data)

    masked = data[: span.start] + span.instead + data[span.end :]
    assert base64.b64decode(masked.translate(bytes.maketrans(b"-_", b"+/"))) == content.replace(
        value.encode(), b"*" * len(value)
    )
    assert list(KnownValues([value]).spans(masked)) == []


def test_where_a_long_document_cannot_be_decoded_the_value_is_masked() -> None:
    value = "open/sesame?now>"
    data = b"A" * 2000 + base64.b64encode(value.encode())[:-4].replace(b"/", b"\\/") + b"A" * 2000

    spans = list(KnownValues([value[:-3]]).spans(data))

    assert [span.instead for span in spans] == [b""]


@given(st.text(min_size=8), st.text(max_size=5), st.text(max_size=5))
def test_any_value_is_found_within_json(value: str, before: str, after: str) -> None:
    known = KnownValues([value])

    for text in (json.dumps([before + value + after]), json.dumps(json.dumps({"a": value}))):
        assert list(known.spans(text.encode())) != []
