import pytest

from sidecar.cassette.redaction.names import NameKind
from sidecar.cassette.redaction.values import Evidence as E  # noqa: N817 - rows stay on one line
from sidecar.cassette.redaction.values import (
    is_masked,
    is_reference,
    is_secret,
    looks_random,
)

TEXT, ANY = NameKind.TEXT, NameKind.ANY


@pytest.mark.parametrize(
    "value",
    ["", "  ", "${TOKEN}", "$TOKEN", "$(cat x)", "{{ token }}", "${{ secrets.X }}", "<token>",
     "%TOKEN%", "%(token)s", "%s", "***", "xxxxxxxx", "...", "null", "None", "true", "required",
     "{token}",
     "Bearer ${TOKEN}", "token <token>", "YOUR_API_KEY", "your-token-here", "[your token]"],
)  # fmt: skip
def test_a_reference_is_no_secret(value: str) -> None:
    assert is_reference(value)


@pytest.mark.parametrize(
    "value", ["x", "S", "hunter2", "password", "changeme", "Bearer abc", "$2b$12$abc"]
)
def test_a_value_of_its_own_is_no_reference(value: str) -> None:
    assert not is_reference(value)


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ("[REDACTED:1]", True),
        ("Bearer [REDACTED:0123456789abcdef]", True),
        ("[REDACTED] [REDACTED:2]", True),
        ("[REDACTED:1]x", False),
        ("Bearer x", False),
        ("", False),
    ],
)
def test_only_placeholders_and_a_scheme_are_masked(value: str, *, masked: bool) -> None:
    assert is_masked(value) == masked


@pytest.mark.parametrize(
    ("value", "evidence", "kind", "secret"),
    [
        pytest.param("hunter", E.MEMBER, TEXT, True, id="member: the name is enough"),
        pytest.param("/run/x", E.MEMBER, TEXT, True, id="member: a path too"),
        pytest.param("${X}", E.MEMBER, TEXT, False, id="member: a reference"),
        pytest.param("[REDACTED:1]", E.MEMBER, TEXT, False, id="member: masked"),
        pytest.param("hunter", E.SURE, TEXT, True, id="sure"),
        pytest.param("/run/x", E.SURE, TEXT, False, id="sure: a path"),
        pytest.param("vault:a/b#c1", E.SURE, TEXT, False, id="sure: a reference"),
        pytest.param(": {", E.SURE, TEXT, False, id="sure: what is between two strings"),
        pytest.param("access_token", E.SURE, TEXT, False, id="sure: a name"),
        pytest.param("the_name", E.SURE, TEXT, False, id="sure: its own name"),
        pytest.param("hunter", E.QUOTED, TEXT, True, id="quoted"),
        pytest.param("two words", E.QUOTED, TEXT, False, id="quoted: a sentence"),
        pytest.param("Token a1b2", E.QUOTED, TEXT, True, id="quoted: with a scheme"),
        pytest.param("</>", E.QUOTED, TEXT, False, id="quoted: signs"),
        pytest.param("ab", E.QUOTED, TEXT, False, id="quoted: too short"),
        pytest.param("string", E.QUOTED, ANY, False, id="quoted: a type"),
        pytest.param("hunter", E.TIGHT, ANY, True, id="tight: a password"),
        pytest.param("hunter", E.TIGHT, TEXT, False, id="tight: a word"),
        pytest.param("abc123def", E.TIGHT, TEXT, True, id="tight: a token"),
        pytest.param("123456", E.TIGHT, TEXT, False, id="tight: a count"),
        pytest.param("12345678", E.TIGHT, TEXT, True, id="tight: many digits"),
        pytest.param("1234", E.TIGHT, ANY, True, id="tight: a PIN"),
        pytest.param("self.token", E.TIGHT, ANY, False, id="tight: code"),
        pytest.param("argv[1]x", E.TIGHT, ANY, False, id="tight: code with a bracket"),
        pytest.param("a" * 1000, E.TIGHT, TEXT, True, id="tight: longer than a word"),
        pytest.param("hunter22.", E.PROSE, ANY, True, id="prose: a password"),
        pytest.param("hunter", E.PROSE, ANY, False, id="prose: a word"),
        pytest.param("P@ssword!", E.PROSE, TEXT, True, id="prose: with signs"),
        pytest.param("my-app-v2", E.PROSE, TEXT, False, id="prose: a slug"),
        pytest.param("2026-01-01", E.PROSE, ANY, False, id="prose: a date"),
        pytest.param("123456", E.PROSE, ANY, True, id="prose: digits of a password"),
        pytest.param("!!!!!!!", E.PROSE, ANY, False, id="prose: signs"),
        pytest.param("AbCdEfGhIjKlMnOpQrSt", E.PROSE, TEXT, True, id="prose: mixed"),
        pytest.param("a1b2c3d4e5f6a7b8", E.WEAK, TEXT, True, id="weak: a signature"),
        pytest.param("document-2", E.WEAK, TEXT, False, id="weak: a word"),
    ],
)  # fmt: skip
def test_a_value_is_judged_by_how_it_stands_behind_the_name(
    value: str, evidence: E, kind: NameKind, *, secret: bool
) -> None:
    assert is_secret(value, "the_name", kind, evidence) == secret


def test_words_slugs_and_paths_do_not_look_random() -> None:
    words = "authentication token_type_required risk-review-v2 /usr/lib/x1 short 12:30pm"
    random = "abc123def456 9f8e7d6c aB3$xyz"

    assert [word for word in words.split() if looks_random(word)] == []
    assert [word for word in random.split() if not looks_random(word)] == []
