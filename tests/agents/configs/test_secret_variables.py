"""The variables of an entry that its proxy is told to mask."""

import json

import pytest

from sidecar.agents.configs.document import read_servers
from sidecar.agents.configs.secret_variables import secret_variables
from sidecar.agents.configs.wrapping import unwrap
from sidecar.cli.proxy import parse
from tests.agents.configs.samples import wrapped

PATH = "/p/.vscode/mcp.json"
RANDOM = "x7Gh29KdmQ41zVbN"


def config(env: object) -> bytes:
    """A config of VS Code's with one server."""
    entry = {"command": "srv", "args": ["-v"], "env": env}
    return json.dumps({"servers": {"git": entry}}, indent=2).encode()


@pytest.mark.parametrize(
    ("value", "is_secret"),
    [
        pytest.param(RANDOM, True, id="random"),
        pytest.param("eu-west-1", False, id="word"),
        pytest.param("${env:API_TOKEN}", True, id="another variable's secret"),
        pytest.param("Bearer ${GITHUB_TOKEN:-none}", True, id="secret with a default"),
        pytest.param("$DB_PASSWORD", True, id="shell"),
        pytest.param("${{ secrets.API_KEY }}", True, id="Continue's"),
        pytest.param("${env:LOG_LEVEL}", False, id="another variable"),
        pytest.param("${workspaceFolder}/.env", False, id="folder"),
        pytest.param("${input:key}", True, id="input of VS Code's"),
        pytest.param(7, False, id="number"),
    ],
)
def test_x08_what_is_secret_is_told_by_value_or_by_what_it_is_filled_in_from(
    value: object, *, is_secret: bool
) -> None:
    document = read_servers(PATH, config({"PLAIN": value}))
    (entry,) = document.entries

    found = secret_variables(entry.node, document.client)

    assert found == (("PLAIN",) if is_secret else ())


@pytest.mark.parametrize("env", [None, {}], ids=["null", "empty"])
def test_an_entry_without_variables_has_no_secret_ones(env: object) -> None:
    document = read_servers(PATH, config(env))

    assert secret_variables(document.entries[0].node, document.client) == ()


def test_w11_x08_a_wrapped_entry_masks_them_and_is_brought_back() -> None:
    data = config({"ONE": RANDOM, "REGION": "eu-west-1", "TWO": "${env:API_TOKEN}"})

    once = wrapped(read_servers(PATH, data))
    again = wrapped(read_servers(PATH, once.data))

    words = json.loads(once.text)["servers"]["git"]["args"]
    assert parse(words[1:], "/").redaction.environment == ("ONE", "TWO")
    assert words[-2:] == ["srv", "-v"]
    assert RANDOM not in words
    assert again.data == once.data
    assert [one.state for one in again.outcomes] == ["unchanged"]
    assert unwrap(read_servers(PATH, once.data)).data == data
