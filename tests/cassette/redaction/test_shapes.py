import random

import pytest

from sidecar.cassette.redaction import shapes
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.shapes import TOKENS, places_of, tokens_in
from tests.cassette import secrets_corpus as corpus

BY_CONTEXT = {
    "Azure client secret", "Slack webhook", "Discord webhook", "bearer token",
    "basic credentials", "password in a URL", "private key", "HashiCorp token", "Mailchimp key",
    "Asana token", "Google refresh token", "password hash", "shadow hash",
    "token in a URL", "Sentry key", "password with a slash in a URL", "short bearer token",
    "tail of a private key",
}  # fmt: skip
UNBOUND = ("Telegram bot token", "Stripe webhook secret", "Fly.io token")
KINDS = sorted(corpus.SHAPES.keys() - BY_CONTEXT)
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
    return corpus.SHAPES[kind](random.Random(kind)).encode()


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


def test_a_webhook_secret_with_early_slashes_is_found() -> None:
    secret = b"wh" + b"sec_ab/cd+" + b"A1b2C3d4" * 4 + b"="

    assert tokens_in(b"x " + secret) == [Span(2, 2 + len(secret))]
    assert tokens_in(b"x " + secret.replace(b"/", b"\\/")) == [Span(2, 3 + len(secret))]


def test_every_place_of_a_known_token_is_found() -> None:
    assert list(places_of([b"ab", b"c"], b"abxabc")) == [Span(0, 2), Span(3, 5), Span(5, 6)]
