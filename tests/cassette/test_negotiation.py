"""A recorded negotiation, fitted to a client that asks in its own words."""

import json
from typing import Any

import pytest

from sidecar.cassette.interaction import Interaction, Response
from sidecar.cassette.matcher import Hit
from sidecar.cassette.negotiation import negotiated
from sidecar.wire.jsonrpc import Message
from sidecar.wire.mcp import META_SERVER
from tests.cassette.sessions import asks, compact, message, surface


def initialize(version: str) -> Message:
    return message(asks(1, "initialize", {"protocolVersion": version}))


def initialized(version: str) -> Interaction:
    text = f'{{"serverInfo": {{"x": 1.0}}, "protocolVersion":"{version}"}}'
    return Interaction("srv", "initialize", None, Response("result", text))


@pytest.mark.parametrize(
    ("recorded", "wanted", "answered"),
    [
        pytest.param("2025-11-25", "2025-11-25", None, id="the same"),
        pytest.param("2025-11-25", "2024-11-05", "2024-11-05", id="H16 an older one is echoed"),
        pytest.param("2025-06-18", "2025-11-25", None, id="a newer one the server may not know"),
        pytest.param("2025-11-25", "2026-07-28", None, id="a modern one"),
        pytest.param("2025-11-25", "1999-01-01", None, id="an unknown one"),
    ],
)
def test_an_initialize_is_answered_by_a_version_that_both_know(
    recorded: str, wanted: str, answered: str | None
) -> None:
    hit = Hit(4, initialized(recorded))
    found = negotiated(hit, initialize(wanted))

    if answered is None:
        assert found == hit  # byte for byte
    else:
        text = f'{{"serverInfo":{{"x": 1.0}},"protocolVersion":"{answered}"}}'
        assert found == Hit(4, hit.interaction._replace(response=Response("result", text)))


META: dict[str, Any] = {META_SERVER: {"name": "git", "version": "1"}}


@pytest.mark.parametrize(
    ("discovered", "wanted", "expected"),
    [
        pytest.param(
            {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "_meta": META},
            "2025-06-18",
            {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "git", "version": "1"},
            },
            id="N01 the revision asked for",
        ),
        pytest.param(
            {"instructions": "Be brief", "_meta": META, "ttlMs": 5},
            "2026-07-28",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "serverInfo": {"name": "git", "version": "1"},
                "instructions": "Be brief",
            },
            id="N01 the newest with a handshake, instructions kept",
        ),
        pytest.param(
            {},
            "",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "serverInfo": {"name": "recorded", "version": ""},
            },
            id="N01 a server without a name",
        ),
    ],
)
def test_a_discovery_answers_an_initialize_in_the_older_shape(
    discovered: dict[str, Any], wanted: str, expected: dict[str, Any]
) -> None:
    found = negotiated(Hit(2, surface("server/discover", discovered)), initialize(wanted))

    assert found.interaction == surface("initialize", expected)


@pytest.mark.parametrize(
    ("interaction", "asked"),
    [
        pytest.param(
            surface("tools/list", {"protocolVersion": "2025-11-25"}),
            asks(1, "tools/list", {"protocolVersion": "2024-11-05"}),
            id="another method",
        ),
        pytest.param(
            Interaction("srv", "initialize", None, Response("error", '{"code":-32602}')),
            asks(1, "initialize", {"protocolVersion": "2024-11-05"}),
            id="an error",
        ),
        pytest.param(
            Interaction("srv", "initialize", None, None),
            asks(1, "initialize", {"protocolVersion": "2024-11-05"}),
            id="unanswered",
        ),
        pytest.param(initialized("2025-11-25"), asks(1, "initialize"), id="no version asked for"),
    ],
)
def test_any_other_answer_is_left_as_it_is(interaction: Interaction, asked: Any) -> None:
    assert negotiated(Hit(0, interaction), message(asked)) == Hit(0, interaction)


def test_the_older_version_takes_the_place_of_the_recorded_one() -> None:
    found = negotiated(Hit(0, initialized("2025-11-25")), initialize("2025-03-26"))

    assert found.interaction.response is not None
    assert compact(json.loads(found.interaction.response.text)) == compact(
        {"serverInfo": {"x": 1.0}, "protocolVersion": "2025-03-26"}
    )
