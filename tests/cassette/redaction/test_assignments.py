import json

import pytest

from sidecar.cassette.redaction.assignments import Assignments
from sidecar.cassette.redaction.masking import mask

WORDS = (
    "token", "secret", "password", "passwd", "pwd", "phrase", "code", "cookie", "key", "pass",
    "authorization", "credential", "pat", "mnemonic", "sig", "signature",
)  # fmt: skip


def masked(text: str) -> str:
    assignments = Assignments(WORDS)
    spans = list(assignments.spans(text.encode()))
    if spans:
        assert assignments.any_in(text.encode())
        assert assignments.any_in(json.dumps(text).encode())
    return mask(text.encode(), spans, lambda _: b"[R]").data.decode()


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param("password=hunter22", "password=[R]", id="tight"),
        pytest.param("password=correcthorse", "password=[R]", id="tight, a word"),
        pytest.param("the password: hunter22.", "the password: [R].", id="a sentence"),
        pytest.param("db:\n  password: correcthorse\n", "db:\n  password: [R]\n", id="YAML"),
        pytest.param(
            "db:\\n  password: correcthorse\\n", "db:\\n  password: [R]\\n", id="YAML, escaped"
        ),
        pytest.param("A=1\\nDB_PASSWORD=x y", "A=1\\nDB_PASSWORD=[R] y", id="a variable"),
        pytest.param('API_KEY="two words"', 'API_KEY="[R]"', id="a quoted variable"),
        pytest.param('"api_key": "x\\"y", "b": 1', '"api_key": "[R]", "b": 1', id="a member"),
        pytest.param(
            '\\"api_key\\": \\"x\\\\\\"y\\"', '\\"api_key\\": \\"[R]\\"', id="a member, escaped"
        ),
        pytest.param('{"password": 123456, ', '{"password": 0, ', id="a number stays one"),
        pytest.param('so {"mfa_code": 123456}', 'so {"mfa_code": 0}', id="a code that is a number"),
        pytest.param("{'token': 'x'}", "{'token': '[R]'}", id="Python"),
        pytest.param("f(api_key=b'abc')", "f(api_key=b'[R]')", id="bytes"),
        pytest.param(
            'h["Authorization"] = "Bearer x"', 'h["Authorization"] = "Bearer [R]"', id="an item"
        ),
        pytest.param(
            "Authorization: Basic dXNl rest", "Authorization: Basic [R] rest", id="a header"
        ),
        pytest.param(
            'Authorization: Digest username=ann, response=af12"',
            'Authorization: Digest [R]"',
            id="a header of several parts",
        ),
        pytest.param("Cookie: a=b; c=d\nX: y", "Cookie: [R]\nX: y", id="cookies"),
        pytest.param("Cookie: a=b; c=d\\r\\nX: y", "Cookie: [R]\\r\\nX: y", id="cookies, escaped"),
        pytest.param('cookie="a=b c"', 'cookie="[R]"', id="quoted cookies"),
        pytest.param("<password>a b</password>", "<password>[R]</password>", id="XML"),
        pytest.param(
            '<add key="ApiKey" value="x"/>', '<add key="ApiKey" value="[R]"/>', id="attributes"
        ),
        pytest.param('"name":"API_KEY","value":"x"', '"name":"API_KEY","value":"[R]"', id="beside"),
        pytest.param("srv --api-key S3 -v", "srv --api-key [R] -v", id="an option"),
        pytest.param('"--api-key","S"', '"--api-key","[R]"', id="an option in a list"),
        pytest.param("srv --token=S", "srv --token=[R]", id="an option with a sign"),
        pytest.param("https://x/?token=S&a=1", "https://x/?token=[R]&a=1", id="a query"),
        pytest.param("a;Password=S;b", "a;Password=[R];b", id="a connection string"),
        pytest.param("?sig=a1b2c3d4e5f6a7b8&x", "?sig=[R]&x", id="a signature"),
        pytest.param("API key: abc123def", "API key: [R]", id="a name of two words"),
        pytest.param("\\nAPI key: abc123def", "\\nAPI key: [R]", id="a name of two words, escaped"),
        pytest.param("password := 'hunter'", "password := '[R]'", id="Go"),
        pytest.param("password => 'hunter'", "password => '[R]'", id="Ruby"),
        pytest.param(
            "password='a' token='b1c'", "password='a' token='[R]'", id="too short, quoted"
        ),
        pytest.param('"pwd": "/srv", "pwd": "x"', '"pwd": "/srv", "pwd": "[R]"', id="a folder"),
        pytest.param("password=a\\nb", "password=a\\nb", id="cut at an escaped line end"),
        pytest.param('password="abc', 'password="abc', id="an open quote"),
    ],
)
def test_values_behind_names_are_found(text: str, result: str) -> None:
    assert masked(text) == result


@pytest.mark.parametrize(
    "text",
    [
        "password: must be long", "Password:", "password=", "password: \n", "token = get_token()",
        "api_key: str = None", "password > 8", "a->password", "token == 'abc'", "token::type",
        "token://x", "arn:secret:name12", "password=[REDACTED:1]",
        "Authorization: Bearer [REDACTED:1]",
        '"password": "[REDACTED:1]"', "Cookie: [REDACTED:1]", "cookie: chocolate", "key=value12345",
        "next_page_token=abc123def", "x.page token: abc123def", "--token TOKEN",
        "--password to set",
        '"password": true,', '"password": 12,', '"token": 12345,', "sig=a1b2c3d4e5f6a7b8",
        "?sig=short1", '"name": "API_KEY", "value": null', "password='a\nb'", "token='=='",
        "if password: x1y2z3w4()", "<password/>", "Authorization: required",
    ],
)  # fmt: skip
def test_what_speaks_of_a_secret_is_none(text: str) -> None:
    assert masked(text) == text


def test_further_names_are_secrets() -> None:
    data = b'{"patientId": "p1", "patient": "x"} patient-id=abc'
    assignments = Assignments(("id",), frozenset(["patientid"]))

    assert mask(data, assignments.spans(data), lambda _: b"[R]").data == (
        b'{"patientId": "[R]", "patient": "x"} patient-id=[R]'
    )


def test_a_label_counts_only_with_a_value_near() -> None:
    assignments = Assignments(WORDS)

    assert assignments.any_in(b'{"name": "API_KEY", "type": 1, "value": "x"}')
    assert assignments.any_in(b'{"value": "x", "key": "DB_PASSWORD"}')
    assert not assignments.any_in(b'{"name": "API_KEY", "type": 1}')
    assert not assignments.any_in(b'{"name": "page_token", "type": 1, "value": "x"}')
    assert not assignments.any_in(b'{"title": "API_KEY", "type": 1, "value": "x"}')


@pytest.mark.parametrize(
    ("text", "explained"),
    [
        ('{"password":"x","a":1}', True),
        ('{"text":"password=\\"hunter22\\""}', True),
        ('{"password":["x"]}', False),
        ('{"password":{"value":"x"}}', False),
        ('["token=","abc123def"]', False),
        ('{"name":"API_KEY","type":1,"value":"x"}', False),
        ('{"name":"API_KEY","value":"x"}', False),
        ('["--api-key","x"]', False),
        ('{"cmd":"srv --api-key S3"}', True),
        ("{}", True),
    ],
)
def test_a_text_is_explained_if_each_name_has_a_value_that_is_found(
    text: str, *, explained: bool
) -> None:
    assert Assignments(WORDS).explains(text.encode()) == explained


def test_very_many_harmless_names_are_remembered_and_forgotten() -> None:
    assignments = Assignments(WORDS)
    text = ",".join(f'"n{index}_page_token": 1, "page_token": 2' for index in range(3000))

    assert not assignments.any_in(text.encode())
    assert len(assignments._harmless) <= 1001
