"""Recordings in small, for tests of what becomes of them."""

from __future__ import annotations

import json
from typing import Any

from sidecar.cassette.interaction import Cassette, Interaction, Passage, Response, Server


class NoMasks:
    """A redactor that masks nothing."""

    def json_text(self, text: str) -> str:
        return text


def text_result(text: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **more}


def call(
    tool: str,
    arguments: Any = None,
    result: Any = None,
    *,
    error: Any = None,
    during: tuple[Passage, ...] = (),
) -> Interaction:
    """A `tools/call` that was answered by a result, or by a JSON-RPC error."""
    server, _, name = tool.partition(":")
    params = {"name": name, **({} if arguments is None else {"arguments": arguments})}
    if error is not None:
        response = Response("error", json.dumps(error))
    else:
        response = Response("result", json.dumps(result or text_result("ok")))
    return Interaction(server, "tools/call", json.dumps(params), response, during=during)


def failed_call(tool: str, arguments: Any = None, text: str = "no such thing") -> Interaction:
    return call(tool, arguments, text_result(text, isError=True))


def unanswered(interaction: Interaction, *, cancelled: bool = False) -> Interaction:
    return interaction._replace(response=None, cancelled=cancelled)


def request(server: str, method: str, result: Any, params: Any = None) -> Interaction:
    """Anything but a `tools/call`."""
    text = None if params is None else json.dumps(params)
    return Interaction(server, method, text, Response("result", json.dumps(result)))


def recording(*interactions: Interaction, complete: bool = True) -> Cassette:
    servers = {one.server: Server("2025-11-25") for one in interactions}
    return Cassette(interactions, servers, complete, run="local/01J00000000000000000000000")
