"""The environment variables of the sidecar."""

import re

import pytest

from sidecar.store.environment import PREFIX, not_ambient, unknown_variables
from tests import paths


@pytest.mark.parametrize(
    ("names", "said"),
    [
        pytest.param([], None, id="none"),
        pytest.param(["HOME", "SIDECAR_HOME", "mcp_sidecar_home"], None, id="others"),
        pytest.param(
            ["MCP_SIDECAR_HOME", "MCP_SIDECAR_EVENTS_FILE", "MCP_SIDECAR_HEADER_1"],
            None,
            id="known",
        ),
        pytest.param(["MCP_SIDECAR_HOEM"], "variable MCP_SIDECAR_HOEM: MCP_SIDECAR_HOME, ", id="a"),
        pytest.param(
            ["MCP_SIDECAR_X", "MCP_SIDECAR_RUN", "MCP_SIDECAR_"],
            "variables MCP_SIDECAR_, MCP_SIDECAR_X: MCP_SIDECAR_HOME, ",
            id="two",
        ),
    ],
)
def test_unknown_variables_are_named_and_the_known_ones_too(
    names: list[str], said: str | None
) -> None:
    found = unknown_variables(dict.fromkeys(names, "1"))

    if said is None:
        assert found is None
    else:
        assert found is not None
        assert found.startswith(f"ignored the unknown environment {said}")
        assert "MCP_SIDECAR_MEMORY_FILE" in found


def test_every_variable_that_the_code_or_the_readme_names_is_known() -> None:
    files = [*(paths.ROOT / "sidecar").rglob("*.py"), paths.ROOT / "README.md"]
    found = {
        name
        for file in files
        for name in re.findall(PREFIX + "[A-Z_]+", file.read_text(encoding="utf-8"))
    }

    assert "MCP_SIDECAR_HOME" in found
    assert unknown_variables(dict.fromkeys(found, "1")) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HOSTNAME", "worker-7d9f8b6c5d-x2x4z"),
        ("XDG_SESSION_COOKIE", "x7Gh29KdmQ41zVbN"),
        ("TERMINAL_SESSION_ID", "x7Gh29KdmQ41zVbN"),
        ("MCP_SIDECAR_HEADER_1", "x7Gh29KdmQ41zVbN"),
        ("DATA", "/srv/x7Gh29KdmQ41zVbN"),
        ("GREETING", "hello x7Gh29KdmQ41zVbN"),
        ("EMPTY", ""),
    ],
)
def test_what_is_around_every_process_is_nothing_that_a_config_gave(name: str, value: str) -> None:
    assert not_ambient({name: value, "RND": "x7Gh29KdmQ41zVbN"}) == {"RND": "x7Gh29KdmQ41zVbN"}
