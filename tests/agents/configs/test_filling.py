"""Variables that the sidecar fills in, and those that only a client knows."""

import pytest

from sidecar.agents.configs.clients import client_of
from sidecar.agents.configs.filling import CLIENTS_OWN, FILLED_IN, holds_clients_own


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
