import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.cassette.redaction.name_search import (
    NameSearch,
    flag_words,
    fold,
    near_signs,
    unescaped,
    without_content,
)
from sidecar.cassette.redaction.names import SECRET_KEYS, NameKind, name_kind


def words(text: str, *names: str) -> set[str]:
    return NameSearch(names).words_in(fold(text.encode()))


def test_folding_leaves_small_letters_and_signs() -> None:
    assert fold("\"X-Api_Key\" => 'Sé7' <a>".encode()) == b"xapikey::sa:"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param('{"api_key": "x"}', {"key"}, id="a member"),
        pytest.param('{\\"Api-Key\\" : 1}', {"key"}, id="a member within a string"),
        pytest.param("DB_PASSWORD=x", {"password"}, id="a variable"),
        pytest.param("<passwd>x</passwd>", {"passwd"}, id="an element"),
        pytest.param("access token: x, Set-Cookie: y", {"token", "cookie"}, id="prose"),
        pytest.param('{"key": 1, "author": 2, "tokenizer": 3}', set(), id="other names"),
        pytest.param("the token and the password", set(), id="no sign"),
        pytest.param('{"name": "API_KEY", "value": "x"}', {"key"}, id="a label"),
        pytest.param(
            '{"value": "x", "key": "Authorization"}', {"authorization"}, id="a label behind"
        ),
        pytest.param('{"name": "API_KEY", "type": "x"}', set(), id="a label of nothing"),
        pytest.param("=" * 100 + "token" + "=" * 100, {"token"}, id="a ruler"),
    ],
)
def test_deciding_words_are_found_where_something_is_assigned(text: str, found: set[str]) -> None:
    assert words(text) == found


def test_further_names_are_found_too() -> None:
    assert words('{"patientId": 1}', "Patient-Id") == {"id"}
    assert words('{"other": 1}', "Patient-Id") == set()
    assert words('{"other": 1}', "Id") == {"id"}  # too short to be told from others
    assert words('{"other": 1}', "é") == set()


@given(
    st.sampled_from(["", "x_", "my", "db.", "X-"]),
    st.sampled_from(
        [
            *(f"{key}{end}" for key in sorted(SECRET_KEYS) for end in ("_key", "Keys", "-key-pem")),
            "token", "password", "clientSecret", "SECRETS",
            "Secret_Value", "passphrase", "mnemonic",
            "recovery codes", "backup-code", "credentials", "pat", "db_pass", "PWD", "cookies",
            "passwordConfirmation", "authorization", "seedPhrase", "passcode", "passwd2",
        ]
    ),
    st.sampled_from(['": ', "=", " := ", " => ", '\\": ']),
)  # fmt: skip
def test_every_name_of_a_secret_is_found(before: str, name: str, sign: str) -> None:
    if name_kind(before + name) is not NameKind.NONE:
        assert words(f"{before}{name}{sign}x")


def test_options_whose_value_is_the_next_word_are_found() -> None:
    assert flag_words(b'srv --api-key S --token=x --db-password "y" -- --max-tokens 3') == {
        "api",
        "key",
        "password",
        "pass",
    }
    assert flag_words(b'["--auth-token","S"] -----') == {"auth", "token"}


def test_a_large_text_with_few_signs_is_reduced_to_what_is_before_them() -> None:
    small, dense = b"a: b", b"a: b " * 20_000
    large = b"x" * 70_000 + b"token=y" + b"x" * 70_000 + b"b: <c>"

    assert near_signs(small) is small
    assert near_signs(dense) is dense
    assert len(near_signs(large)) < 600
    assert words(near_signs(large).decode()) == {"token"}


@pytest.mark.parametrize("text", ["plain", "a\\nb", "\\u0041\\u003c\\u00e9\\u00", "\\u00zz\\u4e2d"])
def test_escapes_of_ascii_characters_are_written_out(text: str) -> None:
    data = unescaped(text.encode())

    assert data == text.replace("\\u0041", "A").replace("\\u003c", "<").encode()


def test_an_image_is_left_out_of_the_search() -> None:
    image = "iVBORw0KGgo" * 2000
    text = json.dumps({"token": "x", "data": image, "b": "y " * 9000, "c": image})

    assert without_content(text.encode()).decode() == text.replace(image, "")
    assert without_content(b'{"a":"b"}') == b'{"a":"b"}'
    assert without_content(b"x" * 9000) == b"x" * 9000
