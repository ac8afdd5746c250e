import pytest

from sidecar.cassette.redaction.tables import in_text, may_be_in, secret_columns


def found(text: str) -> list[str]:
    data = text.encode()
    secrets = [data[span.start : span.end].decode() for span in in_text(data)]
    assert not secrets or may_be_in(data)
    return secrets


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        pytest.param(
            "user,password,role\nbob,hunter2,admin\nann,s3cret9,user\n", ["hunter2", "s3cret9"],
            id="CSV",
        ),
        pytest.param(
            'See:\n"id","api_key"\n"1","k3yVal0001"\n\nEnd.', ["k3yVal0001"], id="CSV, quoted"
        ),
        pytest.param(
            "| user | password |\n|---|---|\n| bob | `hunter2` |\n", ["hunter2"], id="Markdown"
        ),
        pytest.param(
            " id | password \n----+----------\n  1 | hunter2\n(1 row)", ["hunter2"], id="psql"
        ),
        pytest.param(
            "+----+----------+\n| id | password |\n+----+----------+\n| 1  | hunter2  |",
            ["hunter2"],
            id="mysql",
        ),
        pytest.param("user\tpassword\r\nbob\thunter2\r\n", ["hunter2"], id="tabs"),
    ],
)  # fmt: skip
def test_columns_whose_heads_name_secrets_hold_some(text: str, secrets: list[str]) -> None:
    assert found(text) == secrets


@pytest.mark.parametrize(
    "text",
    [
        "id,token_count,key\n1,120,north-west1\n",
        "the password, the token, a key\nand so, on, x1\n",
        "user,password\nbob,\nann,***\nx,${PW}\n", "user,password\n", "password\nhunter2\n",
        "def f(user, password):\n    a, b = c1, d2\n", "user,password\none line of 12 words\n",
        "user,password,,,\nbob,hunter2,,,\n", "",
    ],
)  # fmt: skip
def test_other_tables_and_other_lines_hold_none(text: str) -> None:
    assert found(text) == []


def test_heads_may_be_a_list() -> None:
    assert secret_columns(["id", "password", "api_key", "tokens"]) == [
        (1, "password"),
        (2, "api_key"),
    ]
    assert secret_columns([1, "password"]) == []
