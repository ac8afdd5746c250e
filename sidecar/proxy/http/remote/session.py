"""What a client of a server at a URL has learned of it, and says in the headers of requests."""

from __future__ import annotations

from sidecar.proxy.http.headers import SESSION_HEADER
from sidecar.proxy.http.remote.errands import Errand
from sidecar.wire.json_text import string_at_once
from sidecar.wire.jsonrpc import Message
from sidecar.wire.mcp import INITIALIZE, TOOLS_CALL, TOOLS_LIST, members_of, read_tool_call
from sidecar.wire.routing_headers import (
    PROTOCOL_VERSION,
    Mirrored,
    argument_headers,
    is_plain,
    mirrored_by_tool,
    routing_headers,
)


class RemoteSession:
    """One client's session, where the era has any; else what its requests have in common.

    Attributes:
        id: The session's, if the server gave it one.
    """

    def __init__(self) -> None:
        """Begin with nothing known."""
        self.id: str | None = None
        self._version: str | None = None
        self._is_modern = False
        self._mirrored: dict[str, Mirrored] = {}

    @property
    def is_modern(self) -> bool:
        """Whether the client's last request was of 2026-07-28 or later."""
        return self._is_modern

    def sending(self, errand: Errand) -> dict[str, str]:
        """Take note of what the client says next, and give the headers that say it, too."""
        if errand.opens:
            self.id, self._version, self._is_modern = None, None, False
            return {}
        if errand.asked:
            self._is_modern = errand.version is not None
        if not self._is_modern:
            return self.headers()
        if errand.version and is_plain(errand.version):
            self._version = errand.version
        headers = {PROTOCOL_VERSION: self._version or ""}
        for message in errand.messages[:1]:
            headers |= routing_headers(message) if message.method else {}
            headers |= self._argument_headers(message)
        return headers

    def headers(self) -> dict[str, str]:
        """The headers of requests that carry no message: which session, which revision."""
        headers = {SESSION_HEADER: self.id, PROTOCOL_VERSION: self._version}
        return {name: value for name, value in headers.items() if value}

    def learn(self, asked: Message, answer: Message) -> None:
        """Take an answer of the server's: what revision it speaks, which tools it has."""
        if asked.method == INITIALIZE:
            version = members_of(answer.result).get("protocolVersion", "")
            spelt = string_at_once(version) if version[:1] == '"' else ""
            self._version = spelt if is_plain(spelt) else None
        elif asked.method == TOOLS_LIST:
            self._mirrored |= mirrored_by_tool(answer.result)

    def _argument_headers(self, message: Message) -> dict[str, str]:
        if message.method != TOOLS_CALL:
            return {}
        call = read_tool_call(message.params)
        return argument_headers(self._mirrored.get(call.name, {}), call.arguments)
