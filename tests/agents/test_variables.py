"""The variables of a config are filled in as its clients fill them in."""

from dataclasses import replace

import pytest

from sidecar.agents.config import AgentConfig, ServerEntry
from sidecar.agents.variables import filled_in
from sidecar.errors import ConfigError

ENVIRON = {"NAME": "value", "EMPTY": "", "HOST": "example.test"}
STARTED = ServerEntry("near", "srv", (), {}, {}, "mcp.json:1")
REACHED = ServerEntry("far", "", (), {}, {}, "mcp.json:2", url="http://h/mcp")


def filled(server: ServerEntry) -> ServerEntry:
    (one,) = filled_in(AgentConfig((server,), {}), ENVIRON).servers
    return one


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${NAME}", "value"),
        ("a ${NAME}/${NAME} b", "a value/value b"),
        ("${NAME:-other}", "value"),
        ("${UNSET:-other}", "other"),
        ("${EMPTY:-other}", "other"),
        ("${UNSET:-}", ""),
        ("${env:NAME}", "value"),
        ("${env:UNSET:-other}", "other"),
        ("${EMPTY}", ""),
        ("$NAME", "$NAME"),
        ("${input:key}", "${input:key}"),
        ("${}", "${}"),
    ],
)
def test_a_variable_stands_for_its_value(text: str, expected: str) -> None:
    assert filled(replace(STARTED, args=(text,))).args == (expected,)


def test_every_member_that_a_server_is_started_or_reached_with_is_filled_in() -> None:
    started = replace(
        STARTED, command="${NAME}", args=("-${NAME}",), env={"A": "${NAME}"}, cwd="/${NAME}"
    )
    reached = replace(REACHED, url="https://${HOST}/mcp", headers={"Key": "Bearer ${NAME}"})

    assert filled(started) == replace(
        STARTED, command="value", args=("-value",), env={"A": "value"}, cwd="/value"
    )
    assert filled(reached) == replace(
        REACHED, url="https://example.test/mcp", headers={"Key": "Bearer value"}
    )


@pytest.mark.parametrize(
    ("server", "member"),
    [
        (replace(STARTED, command="${UNSET}"), "command"),
        (replace(STARTED, args=("${UNSET}",)), "args"),
        (replace(STARTED, env={"A": "${UNSET}"}), "env"),
        (replace(STARTED, cwd="${UNSET}"), "cwd"),
        (replace(REACHED, url="${UNSET}"), "url"),
        (replace(REACHED, headers={"A": "${UNSET}"}), "headers"),
    ],
)
def test_a_variable_that_is_not_set_is_refused_with_its_place(
    server: ServerEntry, member: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        filled(server)

    assert caught.value.problem == (
        f"`{member}` of the server {server.name!r} needs the variable UNSET, which is not set"
    )
    assert caught.value.place == server.place
    assert caught.value.hint == "set it, or write ${UNSET:-DEFAULT}"


OWN = "Bearer ${input:token}"


def test_a_header_that_only_the_client_fills_in_is_left_to_it_where_it_is_passed_on() -> None:
    server = replace(REACHED, headers={"Authorization": OWN, "Key": "${env:NAME}"})

    (relayed,) = filled_in(AgentConfig((server,), {}), ENVIRON, passes_headers=True).servers

    assert relayed.headers == {"Key": "value"}


@pytest.mark.parametrize(
    ("server", "passes_headers"),
    [
        pytest.param(replace(REACHED, headers={"A": OWN}), False, id="a header"),
        pytest.param(replace(REACHED, url="https://h/${input:token}"), True, id="a URL"),
        pytest.param(replace(REACHED, url="https://h/{file:~/x}"), True, id="a file"),
        pytest.param(replace(REACHED, headers={"A": "${{ secrets.X }}"}), False, id="a secret"),
    ],
)
def test_what_only_the_client_could_fill_in_is_refused_where_the_sidecar_asks(
    server: ServerEntry, *, passes_headers: bool
) -> None:
    with pytest.raises(ConfigError) as caught:
        filled_in(AgentConfig((server,), {}), ENVIRON, passes_headers=passes_headers)

    assert any(
        f"holds {own}, which only an agent's client fills in" in caught.value.problem
        for own in ("${input:token}", "{file:~/x}", "${{ secrets.X }}")
    )
    assert caught.value.place == server.place


def test_a_url_that_is_none_once_filled_in_is_refused() -> None:
    with pytest.raises(ConfigError, match="'value/mcp' is no URL of a server"):
        filled(replace(REACHED, url="${NAME}/mcp"))
