"""Variables that the sidecar fills in, and those that only a client knows."""

import pytest

from sidecar.agents.configs.clients import Where, client_of
from sidecar.agents.configs.filling import (
    CLIENTS_OWN,
    FILLED_IN,
    as_ours,
    holds_clients_own,
)


@pytest.mark.parametrize(
    ("text", "name", "default"),
    [
        ("${NAME}", "NAME", None),
        ("${env:NAME}", "NAME", None),
        ("${NAME:-x}", "NAME", "x"),
        ("${input:-x}", "input", "x"),
    ],
)
def test_variables_of_the_environment_are_filled_in(
    text: str, name: str, default: str | None
) -> None:
    found = FILLED_IN.fullmatch(text)

    assert found is not None
    assert found.groups() == (name, default)
    assert not CLIENTS_OWN.search(text)


@pytest.mark.parametrize("text", ["${input:key}", "a ${command:x.y} b", "${config:a}"])
def test_what_a_client_asks_for_is_its_own(text: str) -> None:
    assert CLIENTS_OWN.search(text)
    assert not FILLED_IN.search(text)
    assert holds_clients_own(text, client_of("vscode"))
    assert not holds_clients_own(text, client_of("cline"))


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("continue", "Bearer ${{ secrets.X }}"),
        ("opencode", "{file:~/.key}"),
        ("generic", "https://$HOST/mcp"),
    ],
)
def test_secrets_and_files_of_a_client_are_its_own(client: str, text: str) -> None:
    assert holds_clients_own(text, client_of(client))
    assert client == "generic" or CLIENTS_OWN.search(text)


@pytest.mark.parametrize(
    ("client", "where", "text", "ours"),
    [
        ("opencode", "words", "https://{env:X}/mcp", "https://${X}/mcp"),
        ("gemini", "words", "https://$X/mcp", "https://${X}/mcp"),
        ("gemini", "env", "${X}", "${X}"),
        ("vscode", "words", "${env:X}", "${env:X}"),
        ("vscode", "words", "{env:X} $X", "{env:X} $X"),
        ("goose", "words", "$X", "$X"),
        ("goose", "env", "$X", "$X"),
        ("goose", "headers", "$X", "${X}"),
        ("generic", "words", "{env:X}", "{env:X}"),
        ("generic", "headers", "{env:X} $Y ${env:Z}", "${X} ${Y} ${env:Z}"),
        ("cline", "headers", "$X", "$X"),
    ],
)
def test_what_a_client_fills_in_is_written_as_ours_where_it_does_so(
    client: str, where: Where, text: str, ours: str
) -> None:
    assert as_ours(text, client_of(client), where) == ours
    if client != "generic":
        assert not holds_clients_own(text, client_of(client))
