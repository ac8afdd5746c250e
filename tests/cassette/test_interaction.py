"""What can be said of an interaction."""

import pytest

from sidecar.cassette.interaction import Interaction, Response
from sidecar.wire.json_text import NotJsonError
from tests.cassette.sessions import call, surface

ERROR = Response("error", '{"code":-32000}')


def test_a_tool_call_knows_its_tool_and_arguments() -> None:
    found = call("log", {"n": 1, "x": 1.5}, server="git")

    assert (found.is_tool_call, found.tool, found.tool_name) == (True, "log", "git:log")
    assert found.arguments == {"n": 1, "x": 1.5}


def test_g12_anything_else_is_no_tool_call() -> None:
    found = surface("tools/list", {}, {"name": "log"})

    assert (found.is_tool_call, found.tool) == (False, "")


def test_j19_absent_arguments_are_an_empty_object() -> None:
    assert call("log").arguments == {}


def test_arguments_that_python_cannot_hold_are_refused() -> None:
    deep = '{"name":"log","arguments":' + "[" * 100_000 + "]" * 100_000 + "}"

    with pytest.raises(NotJsonError):
        _ = Interaction("srv", "tools/call", deep, None).arguments


@pytest.mark.parametrize(
    ("interaction", "state"),
    [
        (call("a"), "answered"),
        (call("a")._replace(response=ERROR, cancelled=True), "answered"),
        (call("a")._replace(response=None), "unanswered"),
        (call("a")._replace(response=None, cancelled=True), "cancelled"),
    ],
    ids=["answered", "answered though cancelled", "unanswered", "cancelled"],
)
def test_an_interaction_knows_how_it_ended(interaction: Interaction, state: str) -> None:
    assert interaction.state == state


@pytest.mark.parametrize(
    ("interaction", "failed"),
    [
        pytest.param(call("a"), False, id="J13 success"),
        pytest.param(call("a", result={"isError": True}), True, id="J13 tool error"),
        pytest.param(call("a", result={"isError": False}), False, id="J13 said to be none"),
        pytest.param(call("a")._replace(response=ERROR), True, id="J13 JSON-RPC error"),
        pytest.param(call("a")._replace(response=None), False, id="unanswered"),
        pytest.param(surface("x", {"isError": True}), False, id="no tool call"),
    ],
)
def test_an_error_is_a_tool_error_or_a_json_rpc_error(
    interaction: Interaction, *, failed: bool
) -> None:
    assert interaction.is_error is failed
