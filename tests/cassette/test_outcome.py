"""How a call ended, as its event tells it."""

import pytest

from sidecar.cassette.interaction import Interaction, Response
from sidecar.cassette.outcome import error_code
from tests.cassette.sessions import call, surface, text_result

ERROR = Response("error", '{"code":-32000}')


@pytest.mark.parametrize(
    ("interaction", "code"),
    [
        pytest.param(call("a"), None, id="J13 success"),
        pytest.param(call("a", result=text_result("", isError=False)), None, id="J13 said so"),
        pytest.param(
            call("a", result=text_result("", isError=True)), "mcp_error", id="J13 tool error"
        ),
        pytest.param(call("a")._replace(response=ERROR), "mcp_error", id="J13 JSON-RPC error"),
        pytest.param(call("a")._replace(response=None), "sidecar.unanswered", id="S11 unanswered"),
        pytest.param(
            call("a")._replace(response=None, cancelled=True),
            "sidecar.unanswered",
            id="J09 cancelled",
        ),
        pytest.param(call("a", result=text_result("", resultType="complete")), None, id="complete"),
        pytest.param(
            call("a", result=text_result("", resultType="later")),
            "sidecar.unanswered",
            id="N05 unknown",
        ),
        pytest.param(
            call("a", result={"resultType": "input_required"}), "sidecar.unanswered", id="N04 asks"
        ),
        pytest.param(surface("x", {"resultType": "later"}), None, id="no call"),
    ],
)
def test_a_call_ended_well_badly_or_not_at_all(interaction: Interaction, code: str | None) -> None:
    assert error_code(interaction) == code
