"""Serves a cassette to an MCP client within one process: for people's own tests."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import jsonrpc_message_adapter

from sidecar.cassette.interaction import Cassette, Interaction
from sidecar.cassette.matcher import Matcher
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cassette.replayer import Replayer
from sidecar.errors import UsageError
from sidecar.wire.jsonrpc import Message, read_line

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import TracebackType

    from mcp.client._transport import TransportStreams


class CassetteServer:
    """A recorded server, as a transport of the SDK's `Client`.

    `async with Client(CassetteServer(cassette)) as client:` answers as the recording does:
    each recorded tool call once, in recorded order; what is not recorded is a tool error.

    Attributes:
        misses: Why requests were not answered, in words, as they came.
    """

    def __init__(self, cassette: Cassette, *, server: str | None = None) -> None:
        """Take a cassette.

        Args:
            cassette: What to serve; it is not changed, and can be served again.
            server: Whose part; may be left out where the cassette has only one server.

        Raises:
            UsageError: If the cassette has no such server, or it has several and none was
                named.
        """
        self._server = _chosen(cassette, server)
        self._cassette = cassette
        # In memory only: nothing masked is kept, so the key of the masks does not matter.
        self._matcher = Matcher(cassette.interactions, Redactor(b"in-process"))
        self._replayer = Replayer(self._server, self._matcher)
        self._connection: AbstractAsyncContextManager[TransportStreams] | None = None
        self.misses: list[str] = []

    @property
    def leftover(self) -> tuple[Interaction, ...]:
        """The recorded tool calls of this server that nobody has asked for yet."""
        places = self._matcher.leftover()
        recorded = (self._cassette.interactions[place] for place in places)
        return tuple(item for item in recorded if item.server == self._server)

    async def __aenter__(self) -> TransportStreams:
        self._connection = self._connected()
        return await self._connection.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._connection is not None
        await self._connection.__aexit__(kind, error, trace)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[TransportStreams]:
        async with (
            create_client_server_memory_streams() as (client, (incoming, outgoing)),
            anyio.create_task_group() as tasks,
        ):

            async def answer() -> None:
                async for received in incoming:
                    if isinstance(received, SessionMessage):
                        for line in self._lines(received):
                            message = jsonrpc_message_adapter.validate_json(line)
                            await outgoing.send(SessionMessage(message))

            tasks.start_soon(answer)
            try:
                yield client
            finally:
                tasks.cancel_scope.cancel()

    def _lines(self, received: SessionMessage) -> list[bytes]:
        text = received.message.model_dump_json(by_alias=True, exclude_none=True)
        lines: list[bytes] = []
        for message in read_line(text.encode()) or ():
            lines += self._answers(message)
        return lines

    def _answers(self, message: Message) -> tuple[bytes, ...]:
        step = self._replayer.from_client(message)
        if step.missed is not None:
            self.misses.append(step.missed.explanation)
            step = self._replayer.refuse(step.missed)
        return step.lines


def _chosen(cassette: Cassette, server: str | None) -> str:
    known = list(dict.fromkeys(item.server for item in cassette.interactions))
    if server is None and len(known) == 1:
        return known[0]
    if server is None or server not in known:
        asked = "no server was named" if server is None else f"there is no server {server!r}"
        raise UsageError(
            f"{asked}, and the cassette has {', '.join(known) or 'none'}",
            hint="name one of them with server=",
        )
    return server
