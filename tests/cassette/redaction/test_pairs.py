import pytest

from sidecar.cassette.redaction.pairs import PAIR, in_items
from sidecar.cassette.redaction.redactor import Redactor

VALUE = "aB3xK9mQ2zW7pLd4"


@pytest.mark.parametrize(
    ("items", "found"),
    [
        pytest.param(["X-Api-Key", VALUE], [1], id="a pair"),
        pytest.param(
            ["Host", "x", "x-auth-token", VALUE, "Accept", "*/*"], [3], id="a row of pairs"
        ),
        pytest.param(["Authorization", VALUE], [1], id="a word of its own"),
        pytest.param(["API_KEY", VALUE, "client_secret", VALUE], [1, 3], id="two"),
        pytest.param(["token", VALUE], [], id="a single word"),
        pytest.param(["page-token", VALUE], [], id="none of a secret"),
        pytest.param(["api_key", "client_secret", "max_tokens"], [], id="names only"),
        pytest.param(["api_key", "created-at-2026"], [], id="no random value"),
        pytest.param(["api_key", 7, None], [], id="no text"),
        pytest.param(["api_key"], [], id="a name"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_an_item_is_a_secret_by_the_name_before_it(items: list[object], found: list[int]) -> None:
    assert list(in_items(items)) == found


@pytest.mark.parametrize(
    "text",
    [
        f'["X-Api-Key","{VALUE}"]', f'x ["x-auth-token", "{VALUE}"',
        f'[\\"API_KEY\\",\\"{VALUE}\\"]',
        f'["Authorization",\n "{VALUE}"]', f'{{\\\\\\"x-api-key\\\\\\",\\\\n \\\\\\"{VALUE}\\\\\\"',
    ],
)  # fmt: skip
def test_pairs_are_found_in_a_text(text: str) -> None:
    data = text.encode()

    assert any(gate in data for gate in PAIR.gates)
    assert [data[span.start : span.end].decode() for span in PAIR.find(data)] == [VALUE]


@pytest.mark.parametrize(
    "text", ['["monkey","abc"]', f'["key","{VALUE}"]', '["api_key","client_secret"]', '"a-key",""']
)
def test_other_items_are_none(text: str) -> None:
    assert list(PAIR.find(text.encode())) == []


@pytest.mark.parametrize(
    "name",
    [
        "Authorization", "Proxy-Authorization", "X-Api-Key", "API_KEY", "auth-token", "AUTH_TOKEN",
        "client-secret", "CLIENT_SECRET", "db-password", "DB_PASSWORD", "db-passwd", "DB_PASSWD",
        "key-passphrase", "KEY_PASSPHRASE", "user-passcode", "USER_PASSCODE",
    ],
)  # fmt: skip
def test_each_name_that_tells_is_looked_for(name: str) -> None:
    assert list(in_items([name, VALUE])) == [1]
    assert VALUE not in Redactor(b"").json_text(f'["{name}","{VALUE}"]')
    assert VALUE not in Redactor(b"").json_text(f'{{"text":"[\\"{name}\\", \\"{VALUE}\\"] x"}}')
