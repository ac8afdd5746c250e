"""How a recorded negotiation answers a client that asks in its own words.

A handshake cassette answers as it was recorded, save to a client that asks for an older
revision than that: it gets the one it asked for, as servers of both SDKs do, since it may
know none newer (H16). A modern cassette, recorded with `server/discover`, answers an
`initialize` with the same facts in the older shape, and a handshake cassette a
`server/discover` in the newer one.
"""

from __future__ import annotations

from sidecar.cassette.interaction import Interaction, Response
from sidecar.cassette.matcher import Hit
from sidecar.wire.json_text import dump, join
from sidecar.wire.jsonrpc import Message
from sidecar.wire.mcp import (
    DISCOVER,
    HANDSHAKE_VERSIONS,
    INITIALIZE,
    META_SERVER,
    MODERN_VERSION,
    members_of,
)


def negotiated(hit: Hit, message: Message) -> Hit:
    """Fit a recorded answer to the client's negotiation; other hits are left as they are."""
    response = hit.interaction.response
    if message.method != INITIALIZE or response is None or response.member != "result":
        return hit
    wanted = members_of(message.params).get("protocolVersion", "").strip('"')
    recorded = members_of(response.text)
    if hit.interaction.method == DISCOVER:
        text = _initialize_of_discover(recorded, wanted)
    else:
        text = _same_or_older(response.text, recorded, wanted)
    interaction = hit.interaction._replace(method=INITIALIZE, response=Response("result", text))
    return hit._replace(interaction=interaction)


def discovered(initialize: Interaction) -> Interaction:
    """Make a `server/discover` of a recorded `initialize` that was answered by a result."""
    assert initialize.response is not None
    recorded = members_of(initialize.response.text)
    found = {
        "resultType": '"complete"',
        "supportedVersions": dump([MODERN_VERSION]),
        "capabilities": recorded.get("capabilities", "{}"),
    }
    if "instructions" in recorded:
        found["instructions"] = recorded["instructions"]
    found |= {"ttlMs": "0", "cacheScope": '"private"'}
    if "serverInfo" in recorded:
        found["_meta"] = join({META_SERVER: recorded["serverInfo"]})
    return Interaction(initialize.server, DISCOVER, None, Response("result", join(found)))


def _same_or_older(text: str, recorded: dict[str, str], wanted: str) -> str:
    version = recorded.get("protocolVersion", "").strip('"')
    if wanted not in HANDSHAKE_VERSIONS or wanted >= version:  # dates: they sort as text
        return text
    return join({**recorded, "protocolVersion": dump(wanted)})


def _initialize_of_discover(recorded: dict[str, str], wanted: str) -> str:
    version = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
    info = members_of(recorded.get("_meta")).get(META_SERVER, '{"name":"recorded","version":""}')
    found = {
        "protocolVersion": dump(version),
        "capabilities": recorded.get("capabilities", "{}"),
        "serverInfo": info,
    }
    if "instructions" in recorded:
        found["instructions"] = recorded["instructions"]
    return join(found)
