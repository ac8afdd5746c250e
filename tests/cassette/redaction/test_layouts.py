import pytest

from sidecar.cassette.redaction import layouts
from sidecar.cassette.redaction.gates import Context
from sidecar.cassette.redaction.layouts import (
    NAMED,
    SHORT,
    is_password,
    may_speak_of_secrets,
)


def found(text: str) -> list[str]:
    data = text.encode()
    contexts = NAMED.found_in(data) + SHORT.found_in(data)
    assert [c for c in contexts if not any(gate in data for gate in c.gates)] == []
    return [data[span.start : span.end].decode() for c in contexts for span in c.find(data)]


CASES = [
    pytest.param("password: |\n  s3cretOne", ["s3cretOne"], id="a YAML block"),
    pytest.param("token: >-\\n    s3cretOne\\n", ["s3cretOne"], id="one in JSON"),
    pytest.param("Password:\n s3cretOne\n", ["s3cretOne"], id="the next line"),
    pytest.param("**API key**: `s3cretOne`", ["s3cretOne"], id="bold Markdown"),
    pytest.param("**Password:** s3cretOne", ["s3cretOne"], id="bold, the colon within"),
    pytest.param("| `api_key` | s3cretOne7x |", ["s3cretOne7x"], id="a row of Markdown"),
    pytest.param("Username: bob\nPassword: letmeinnow", ["letmeinnow"], id="a login"),
    pytest.param("CREATE USER a IDENTIFIED BY 's3cret'", ["s3cret"], id="SQL"),
    pytest.param("setx API_KEY s3cretOne", ["s3cretOne"], id="setx"),
    pytest.param("aws configure set aws_secret_access_key s3cretOne", ["s3cretOne"], id="AWS"),
    pytest.param("gh secret set NPM_TOKEN --body s3cretOne", ["s3cretOne"], id="gh"),
    pytest.param("openssl rsa -passin pass:s3cretOne", ["s3cretOne"], id="openssl"),
    pytest.param("requirepass s3cretOne", ["s3cretOne"], id="Redis"),
    pytest.param("bindpw s3cretOne", ["s3cretOne"], id="LDAP"),
    pytest.param('<input type="password" value="s3cret">', ["s3cret"], id="HTML"),
    pytest.param("a%26password%3Ds3cretOne%26b", ["s3cretOne"], id="percent-encoded"),
    pytest.param("{&quot;token&quot;:&quot;s3cretOne&quot;}", ["s3cretOne"], id="entities"),
    pytest.param('"API_KEY": ["s3cretOne"]', ["s3cretOne"], id="a list"),
    pytest.param('"pw":"hunter2", pw=s3cret1', ["hunter2", "s3cret1"], id="two letters"),
    pytest.param("- name: DB_PASSWORD\n  value: s3cret", ["s3cret"], id="Kubernetes"),
    pytest.param("echo s3cret1 | docker login --password-stdin", ["s3cret1"], id="echo"),
]


@pytest.mark.parametrize(("text", "secrets"), CASES)
def test_secrets_are_found_apart_from_their_names(text: str, secrets: list[str]) -> None:
    assert found(text) == secrets
    assert may_speak_of_secrets(text.encode()) or "pw" in text


@pytest.mark.parametrize(
    "text",
    [
        "password: |\n  ${PASSWORD}", "notes: |\n  a1b2c3d4", "Password:\n required\n",
        "**Password:** required", "**Note**: a1b2c3d4e5", "| password | required |",
        "| token_count | 90817263 |", "Username: string\nPassword: string", "pass:a1b2c3",
        "IDENTIFIED BY '$PW'", "setx PATH C:\\x1", "- name: LOG\n  value: a1b2c3d4",
        "echo $TOKEN | docker login --password-stdin", "page%3Da1b2c3d4e5", '"tags": ["a1b2c3"]',
        "the pw is long", '"pw": 120', "pw=300", "password: |\n  [REDACTED:1]", "| password |",
        '<input type="password" placeholder="a1b2c3">', "", "pw ", "--password-stdin",
    ],
)  # fmt: skip
def test_what_only_looks_alike_has_none(text: str) -> None:
    assert found(text) == []


def test_a_short_name_needs_more_than_a_number() -> None:
    assert is_password("hunter2")
    assert not is_password("120")
    assert not is_password("wide")


def test_every_layout_is_looked_for() -> None:
    contexts = {id(one) for one in vars(layouts).values() if isinstance(one, Context)}

    looked = (*NAMED.kinds, *SHORT.kinds)

    assert contexts == set(map(id, looked))
