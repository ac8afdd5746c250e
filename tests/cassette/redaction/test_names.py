import pytest

from sidecar.cassette.redaction.names import (
    NameKind,
    folded,
    is_query_secret,
    name_kind,
    secret_environment,
)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        pytest.param(
            "api_key apiKey X-Api-Key APIKEY openai_api_key OPENAI_API_KEY googleMapsKey appKey "
            "private_key privateKeyPem aws_secret_access_key Ocp-Apim-Subscription-Key api_keys",
            NameKind.TEXT,
            id="keys",
        ),
        pytest.param(
            "token accessToken refresh_token id-token session_token csrfToken GITHUB_TOKEN "
            "authtoken x-auth-token _authToken api_token2 bot.token storageToken",
            NameKind.TEXT,
            id="tokens",
        ),
        pytest.param(
            "password passwd db_password userPassword PGPASSWORD passphrase pwd passcode secret "
            "client_secret clientsecret webhookSecret new_password password2 recovery_code",
            NameKind.ANY,
            id="passwords",
        ),
        pytest.param("cookie Set-Cookie cookies secrets passwords", NameKind.DEEP, id="several"),
        pytest.param(
            "authorization Proxy-Authorization credentials mnemonic pat my_pat pass db_pass "
            "SecretString secret_value seed_phrase",
            NameKind.TEXT,
            id="others",
        ),
        pytest.param(
            "max_tokens page_token next_page_token nextPageToken progressToken syncToken "
            "token_count tokenizer token_type tokenEndpoint eos_token continuationToken pagetoken",
            NameKind.NONE,
            id="harmless tokens",
        ),
        pytest.param(
            "key keys primary_key sort_key public_key publicKey cache-key idempotencyKey keyboard "
            "monkey key_id access_key_id foreignKey routing_key",
            NameKind.NONE,
            id="harmless keys",
        ),
        pytest.param(
            "secretary secret_name secretArn author authority authenticated password_hash "
            "passwordPolicy has_password requirePassword reset_password no_cookies bypass compass "
            "cookie_policy path compat credential_id",
            NameKind.NONE,
            id="other words",
        ),
        pytest.param("", NameKind.NONE, id="empty"),
    ],
)
def test_names_are_read_as_whole_words(names: str, kind: NameKind) -> None:
    assert {name: name_kind(name) for name in names.split()} == dict.fromkeys(names.split(), kind)


def test_digits_and_very_long_texts_are_no_names() -> None:
    assert name_kind("123") is NameKind.NONE
    assert name_kind("x" * 200 + "_password") is NameKind.NONE
    assert name_kind("API Key") is NameKind.TEXT


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("password;", NameKind.ANY),
        ("Password *", NameKind.ANY),
        ("user[password]", NameKind.ANY),
        ("password2024", NameKind.ANY),
        ("api/key", NameKind.TEXT),
        ("(api)key", NameKind.NONE),
        ("password (required)", NameKind.NONE),
        ("password!!!!!", NameKind.NONE),
    ],
)
def test_a_few_signs_may_follow_a_name_and_others_part_it(name: str, kind: NameKind) -> None:
    assert name_kind(name) is kind


def test_a_signature_is_a_secret_in_a_query_only() -> None:
    assert is_query_secret("X-Amz-Signature")
    assert is_query_secret("sig")
    assert is_query_secret("access_token")
    assert not is_query_secret("page_token")
    assert name_kind("signature") is NameKind.NONE


def test_spellings_of_one_name_are_equal_when_folded() -> None:
    assert {folded(name) for name in ("Patient-Id", "patient_id", "patientId", "PATIENT ID")} == {
        "patientid"
    }


def test_x08_variables_are_secrets_by_whole_parts_of_their_names() -> None:
    environ = {
        "OPENAI_API_KEY": "value-01",
        "MY_PAT": "value-02",
        "TOKEN_GITHUB": "value-03",
        "SECRET_KEY_BASE": "value-04",
        "DB_PASSWORD": "value-05",
        "DATABASE_URL": "postgres://app:value-06@db/x",
        "Authorization": "Bearer value-07",
        "x-api-key": " value-08 ",
        "STRIPE_KEY": "value-09",
        "AGAIN_TOKEN": "value-01",
        "PATH": "/usr/bin:/bin",
        "PWD": "/home/ann/work",
        "TOKENIZERS_PARALLELISM": "false-or-so",
        "MAX_TOKENS": "4096000000",
        "PASSWORD_FILE": "/run/secrets/password",
        "SECRET_NAME": "prod-database-1",
        "TOKEN_URL": "https://x.test/token",
        "SSH_AUTH_SOCK": "/tmp/ssh-1/agent",
        "NEXT_PAGE_TOKEN": "value-10",
        "SHORT_TOKEN": "abc12",
        "API_TOKEN": "true",
        "OTHER_SECRET": "1234567",
        "KEYBOARD": "us-international",
        "PLAIN_URL": "https://user@host.test/path",
    }

    assert secret_environment(environ) == (
        "value-01", "value-02", "value-03", "value-04", "value-05", "value-06", "value-07",
        "value-08", "value-09", "value-10",
    )  # fmt: skip
    assert secret_environment({}) == ()
