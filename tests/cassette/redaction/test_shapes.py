import base64
import random

import pytest

from sidecar.cassette.redaction import shapes
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.shapes import TOKENS, places_of, tokens_in
from tests.cassette import secrets_corpus as corpus

BY_CONTEXT = {
    "Azure client secret",
    "Slack webhook",
    "Discord webhook",
    "bearer token",
    "basic credentials",
    "password in a URL",
    "private key",
    "HashiCorp token",
    "Mailchimp key",
    "Asana token",
    "Google refresh token",
    "password hash",
    "shadow hash",
    "token in a URL",
    "Sentry key",
    "password with a slash in a URL",
    "short bearer token",
    "tail of a private key",
}
RARER_BY_CONTEXT = {
    "MaxMind key", "OpenShift token", "GitHub token with an escape", "Zapier webhook",
    "Make webhook", "Mattermost webhook", "code of a login",
}  # fmt: skip
UNBOUND = ("Telegram bot token", "Stripe webhook secret", "Fly.io token")
MAKERS = corpus.SHAPES | corpus.RARER
KINDS = sorted(MAKERS.keys() - BY_CONTEXT - RARER_BY_CONTEXT)
LEADS = [
    "",
    " ",
    '"',
    "=",
    "/",
    ":",
    "(",
    "\\n",
    "\\\\t",
    "\\u4e2d",
    "%3D",
    "%253D",
    "\x1b[1;32m",
    "__",
    "é",
    "\n",
]


def made(kind: str) -> bytes:
    return MAKERS[kind](random.Random(kind)).encode()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lead", LEADS)
def test_a_token_is_found_wherever_a_word_begins(kind: str, lead: str) -> None:
    token = made(kind)
    secret = corpus.secret_of(kind, token.decode()).encode()
    before = (f"x {lead}" + token.decode()).encode().removesuffix(secret)

    assert tokens_in(before + secret + b'" y') == [Span(len(before), len(before) + len(secret))]


@pytest.mark.parametrize("kind", KINDS)
def test_a_token_is_not_found_within_a_word_or_cut_short(kind: str) -> None:
    token = made(kind)

    assert tokens_in(b"x" + token) == [] or kind in UNBOUND
    assert tokens_in(token[:12]) == []


@pytest.mark.parametrize("shape", TOKENS, ids=lambda shape: shape.issuer)
def test_every_shape_has_marks_that_differ_from_each_other(shape: shapes.Shape) -> None:
    others = [mark for other in TOKENS if other is not shape for mark in other.marks]

    assert set(shape.marks).isdisjoint(others)
    assert len(set(shape.marks)) == len(shape.marks)


@pytest.mark.parametrize(
    "text",
    [
        "gh" + "p_" + "x" * 36,
        "sk-proj-kickoff-2026-notes-and-more-words",
        "sk-test-environment-number-12",
        "eyJ" + "hbGciOiJub25lIn0" + " no dots here",
        "MTIzNDU2Nzg5MDEyMzQ1Njc4 no dots",
        "npm_config_registry_and_a_long_name",
        "AK" + "IA2345",
        "s.replaceAllThePlaceholders24",
        "test_that_the_camelCase_of_2026_Lives_on_and_on",
        "live_streams_of_the_house_in_2026_and_later_on",
        "sk_test_environment_of_the_house",
        "re_compiled_pattern_of_the_house_24",
        "API-DOCUMENTATIONOFTHEHOUSEOFX",
        "sha256=" + "b" * 43,
        "a" * 19,
        "",
    ],
)
def test_what_only_begins_like_a_token_is_none(text: str) -> None:
    assert tokens_in(text.encode()) == []


def test_a_token_among_very_many_words_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    token = made("npm token")
    words = b"0123456789abcdef0123456789 \\nfedcba9876543210fedcba9876 " * 50
    data = words + b"\\n" + token + b" " + words + token + b"\n"
    places = [Span(at, at + len(token)) for at in (len(words) + 2, 2 * len(words) + len(token) + 3)]

    assert tokens_in(data) == places
    monkeypatch.setattr(shapes, "_MANY", 10)
    assert tokens_in(data) == places


def test_a_private_key_and_a_token_are_found_in_base64_too() -> None:
    for secret in (made("private key"), made("JWT"), made("GitLab token")):
        encoded = base64.b64encode(secret)
        assert tokens_in(b"key: " + encoded + b"\n") == [Span(5, 5 + len(encoded))]


@pytest.mark.parametrize(
    "content",
    [
        b"-----BEGIN CERTIFICATE-----\nMII" + b"a1B2c3D4" * 9,
        b"ghp_ is what they begin with, as is known",
        b"eyJ" + b" a text of its own " * 2,
    ],
)
def test_other_content_in_base64_is_none(content: bytes) -> None:
    assert tokens_in(base64.b64encode(content)) == []
    assert tokens_in(base64.b64encode(content)[:-3] + b"=") == []


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(b"\n", id="a line end"),
        pytest.param(b"\r\n", id="of Windows"),
        pytest.param(b"\\n", id="in JSON"),
        pytest.param(b"\\\\r\\\\n", id="in JSON within a string"),
        pytest.param(b"\n    ", id="indented"),
    ],
)
@pytest.mark.parametrize("kind", ["Anthropic key", "GitHub fine-grained token"])
def test_the_rest_of_a_long_token_is_found_on_the_next_line(kind: str, end: bytes) -> None:
    token = made(kind)
    first, rest = token[:72], token[72:]
    text = b"> " + first + end + rest
    at = len(text) - len(rest)

    assert tokens_in(text + b"\nx") == [Span(2, 74), Span(at, len(text))]
    assert tokens_in(text + b"a\nx") == [Span(2, 74)]
    assert tokens_in(token + end + rest) == [Span(0, len(token))]


def test_a_webhook_secret_with_early_slashes_is_found() -> None:
    secret = b"wh" + b"sec_ab/cd+" + b"A1b2C3d4" * 4 + b"="

    assert tokens_in(b"x " + secret) == [Span(2, 2 + len(secret))]
    assert tokens_in(b"x " + secret.replace(b"/", b"\\/")) == [Span(2, 3 + len(secret))]


def test_every_place_of_a_known_token_is_found() -> None:
    assert list(places_of([b"ab", b"c"], b"abxabc")) == [Span(0, 2), Span(3, 5), Span(5, 6)]
