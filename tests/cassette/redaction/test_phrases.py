import pytest

from sidecar.cassette.redaction import phrases
from sidecar.cassette.redaction.gates import Context
from sidecar.cassette.redaction.phrases import KINDS


def found(text: str) -> list[str]:
    data = text.encode()
    contexts = KINDS.found_in(data)
    assert [c for c in contexts if not any(gate in data for gate in c.gates)] == []
    return [data[span.start : span.end].decode() for c in contexts for span in c.find(data)]


CASES = [
    pytest.param("machine h.test\n  login ann\n  password s3cret", ["s3cret"], id="netrc"),
    pytest.param("machine h.test login ann password s3cret", ["s3cret"], id="netrc, one line"),
    pytest.param("machine h\\n\\tpassword s3cret\\n", ["s3cret"], id="netrc in JSON"),
    pytest.param("The wifi password is bBlKu8y0Xx. Bye.", ["bBlKu8y0Xx"], id="a sentence"),
    pytest.param('Your API key is "k3yVal000100020003".', ["k3yVal000100020003"], id="a key"),
    pytest.param('the password is "swordfish".', ["swordfish"], id="a quoted word"),
    pytest.param("Your password is `swordfish`, ok", ["swordfish"], id="one in code"),
    pytest.param('a \\"passphrase is \\"swordfish\\"', ["swordfish"], id="one in JSON"),
    pytest.param("Your verification code is 374429. It", ["374429"], id="a code"),
    pytest.param("Login code is: 123-456", ["123-456"], id="a code in parts"),
    pytest.param("G-374429 is your Google verification code", ["374429"], id="a code first"),
    pytest.param("define('DB_PASSWORD', 's3cret');", ["s3cret"], id="PHP"),
    pytest.param('os.setenv(\\"API_KEY\\", \\"s3cret\\")', ["s3cret"], id="a call, in JSON"),
    pytest.param(
        "r.setHeader('Authorization', 'Bearer abc123')",
        ["abc123"],
        id="a header without its scheme",
    ),
    pytest.param("https://x/?a=1&key=k3yVal00010002000300", ["k3yVal00010002000300"], id="a query"),
    pytest.param("https://x/?key=k3yVal0001aB", ["k3yVal0001aB"], id="a short key"),
    pytest.param("/cb?code=k3yVal0001aB&state=1", ["k3yVal0001aB"], id="a login's code"),
    pytest.param("/cb?code=0123456789abcdef0123", ["0123456789abcdef0123"], id="in hexadecimal"),
    pytest.param("?code=4%2F0AeanS0b-x_y1234567890", ["4%2F0AeanS0b-x_y1234567890"], id="Google's"),
    pytest.param("STRIPE_API_KEY   k3yVal0001aBcDeF\n", ["k3yVal0001aBcDeF"], id="no sign"),
    pytest.param("set DB_PASSWORD " + "0a" * 16, ["0a" * 16], id="no sign, hexadecimal"),
    pytest.param("FROM x\nENV NPM_TOKEN s3cret\nRUN y", ["s3cret"], id="a Dockerfile"),
]


@pytest.mark.parametrize(("text", "secrets"), CASES)
def test_secrets_are_found_by_the_words_around_them(text: str, secrets: list[str]) -> None:
    assert found(text) == secrets


@pytest.mark.parametrize(
    "text",
    [
        "machine learning password policies", "machine h login ann password $PASSWORD",
        "The password is required.", "the password is base64-encoded now",
        "my key is under the mat",
        "The primary key is id2345678", "the token is [REDACTED:1]", "the secret is out",
        "The exit code is 137429", "the code is 12345 lines long", "374429 is your order",
        "this is your code", "ENV NODE_ENV production1", "ENV TOKEN $TOKEN",
        "config.set('a', 'b1c')",
        "define('DB_PASSWORD', getenv('DB_PASSWORD'))", "os.setenv('API_KEY', '${KEY}')", "",
        "the password is 'weak'", 'the password is "incorrect"', "the key is `created`",
        'the password is "swordfish', "the token is 'identifier'",
        "https://x/?code=SUMMER2026SALE", "https://x/?code=abc123", "https://x/?code=notFoundError",
        "PRIMARY_KEY k3yVal0001aBcDeF", "API_KEY documentation-of-2026", "API_KEY k3yVal0001aB",
        "KEY k3yVal0001aBcDeF", "https://x/?key=PROJ-1",
        "https://x/?key=3f0c6a0e-8f4b-4f6e-9a63-0b7f1e8d2c11",
        "https://x/?key=quarterly-report-2026-final-v2", "https://x/?monkey=k3yVal00010002000300",
    ],
)  # fmt: skip
def test_what_only_speaks_of_secrets_has_none(text: str) -> None:
    assert found(text) == []


def test_every_phrase_is_looked_for() -> None:
    contexts = [value for value in vars(phrases).values() if isinstance(value, Context)]
    text = "\n".join(str(case.values[0]) for case in CASES)

    assert len(contexts) == 7
    assert {id(c) for c in KINDS.found_in(text.encode())} == {id(c) for c in contexts}
