"""What a cassette is made of: requests, what answered them, and what came in between."""

from __future__ import annotations

from sidecar.cassette.arguments import ArgsMatch
from sidecar.wire.json_text import JsonValue, parse_plain
from sidecar.wire.mcp import TOOLS_CALL, is_tool_error, read_tool_call
from sidecar.wire.typed import Literal, NamedTuple, TypeAlias

State: TypeAlias = Literal["open", "answered", "cancelled", "unanswered"]
"""`open` only while it is recorded; `unanswered`: the server ended without answering."""


class Response(NamedTuple):
    """What answered a request.

    Attributes:
        member: Which member of the JSON-RPC response it is.
        text: That member's JSON text, as the server spelt it.
    """

    member: Literal["result", "error"]
    text: str


class Passage(NamedTuple):
    """A message from the server that is no answer: a notification, or a request.

    Attributes:
        method: Its JSON-RPC method.
        params: The text of its params, without ids and tokens; None where absent.
        asked: Whether it is a request, which the client answers.
        reply: What the client answered; None for a notification, or where nothing came.
    """

    method: str
    params: str | None = None
    asked: bool = False
    reply: Response | None = None


class Interaction(NamedTuple):
    """One request and what answered it.

    Attributes:
        server: The server's name in the agent's config.
        method: JSON-RPC method, for example `tools/call`.
        params: The text of the params, redacted and without ids; None where absent.
        response: What answered; None when nothing did.
        args_match: How a call's arguments are compared with these when it is replayed.
        during: What the server sent between request and answer, in order.
        after: What the server sent between the answer and the next request, in order.
        cancelled: Whether the client took the request back.
        http_status: The HTTP status that carried the answer, or came in place of one; None
            over stdio, and where it is the one that the protocol prescribes for it.
        session: Which of its server's sessions in the run it is of: 0 for the one that made
            the first request, and so on.
    """

    server: str
    method: str
    params: str | None
    response: Response | None
    args_match: ArgsMatch = "exact"
    during: tuple[Passage, ...] = ()
    after: tuple[Passage, ...] = ()
    cancelled: bool = False
    http_status: int | None = None
    session: int = 0

    @property
    def is_tool_call(self) -> bool:
        """Whether it is a `tools/call`: the only kind that is consumed by a replay."""
        return self.method == TOOLS_CALL

    @property
    def tool(self) -> str:
        """The tool's own name; empty where this is no `tools/call`."""
        return read_tool_call(self.params).name if self.is_tool_call else ""

    @property
    def tool_name(self) -> str:
        """`<server>:<tool>`, both verbatim, as suites and events name it."""
        return f"{self.server}:{self.tool}"

    @property
    def arguments(self) -> JsonValue:
        """The call's arguments with floats, `{}` where absent (J19).

        Raises:
            NotJsonError: If they nest too deep, or hold an integer too long for Python.
        """
        return parse_plain(read_tool_call(self.params).arguments)

    @property
    def state(self) -> State:
        """Whether it was answered, and if not, why."""
        if self.response is not None:
            return "answered"
        return "cancelled" if self.cancelled else "unanswered"

    @property
    def is_error(self) -> bool:
        """Whether a tool error or a JSON-RPC error answered it."""
        if self.response is None:
            return False
        return self.response.member == "error" or (
            self.is_tool_call and is_tool_error(self.response.text)
        )


class Server(NamedTuple):
    """What a cassette's first line says of a server.

    Attributes:
        protocol: The protocol revision it spoke, for example `2026-07-28`; empty if no
            request told.
    """

    protocol: str = ""


class Cassette(NamedTuple):
    """The interactions of a run, in the order in which requests reached the proxies.

    Attributes:
        interactions: Of all servers.
        servers: By name, in the order in which they were first seen.
        complete: Whether every proxy of the run ended in order and the agent did too.
        run: The id of the run; None in a cassette that no run wrote.
        unknown: Lines of kinds that a later version may write: the number of
            interactions before each, and its text. Kept, never used.
    """

    interactions: tuple[Interaction, ...]
    servers: dict[str, Server]
    complete: bool = True
    run: str | None = None
    unknown: tuple[tuple[int, str], ...] = ()
