import pytest

from sidecar.cassette.redaction.config_secrets import command_secrets, config_secrets
from sidecar.cassette.redaction.names import secret_environment
from sidecar.cassette.redaction.redactor import Redactor

SECRET = "aB3xK9mQ2z" + "LpWr7t"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAPI_MCP_HEADERS", '{"Authorization":"Bearer S"}'),
        ("CONNECTION", "Server=h;User Id=sa;Password=S;"),
        ("CONFIG", '{"db":{"password":"S"}}'),
        ("EXTRA_HEADER", "X-Api-Key: S"),
        ("OPTIONS", "--token S --verbose"),
        ("ENDPOINT", "https://h.test/x?token=S"),
        ("REMOTE", "https://S@h.test/x"),
        ("MCP_SERVER", "https://h.test/s/S/sse"),
        ("MCP_BASIC", "bob:S"),
        ("BASIC_AUTH", "bob:S"),
        ("BEARER", "S"),
        ("OPAQUE", "S"),
        ("DATABASE_URL", "postgresql://u:S@h/d"),
    ],
)
def test_x08_a_secret_within_a_variable_is_known(name: str, value: str) -> None:
    variables = {name: value.replace("S", SECRET)} if value.count("S") == 1 else {
        name: value[::-1].replace("S", SECRET[::-1], 1)[::-1]
    }  # fmt: skip

    values = (*secret_environment(variables), *config_secrets(variables).values())

    assert SECRET not in Redactor(b"", known_values=values).plain(f"got {SECRET} and more")


@pytest.mark.parametrize(
    "value",
    ["hello world", "https://x.test/a?b=c", "/a/b:/c/d", '{"a": 1}', "info", "8080", "a=b;c=d",
     "https://x.test/12345678-1234-1234-1234-123456789abc/mcp", "host:8080", "--port 80 --verbose",
     "postgresql://u:hunter2x9@h/d"],
)  # fmt: skip
def test_what_needs_no_option_of_its_own_is_none(value: str) -> None:
    assert config_secrets({"SETTING": value}) == {}


@pytest.mark.parametrize(
    "words",
    [
        ["srv", "--key", SECRET], ["srv", f"--key={SECRET}"], ["srv", f"-p{SECRET}"],
        ["srv", "--auth", f"bob:{SECRET}"], ["npx", "remote", f"https://h.test/s/{SECRET}/mcp"],
        ["npx", "remote", "https://h.test", "--header", f"X-Api-Key: {SECRET}"],
        ["srv", "--token", SECRET], ["srv", f'{{"api_key":"{SECRET}"}}'],
    ],
)  # fmt: skip
def test_x08_a_secret_in_a_command_is_known(words: list[str]) -> None:
    assert SECRET in command_secrets(words)


def test_the_other_words_of_a_command_are_none() -> None:
    words = ["npx", "-y", "@scope/server-files@1.2.3", "/srv/data1", "--port", "8080", "-p8080",
             "--key", "${KEY}", "--user", "ann", "https://x.test/mcp/v1"]  # fmt: skip

    assert command_secrets(words) == ()
    assert command_secrets([]) == ()
