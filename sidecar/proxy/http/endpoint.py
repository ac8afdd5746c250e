"""What `serve` is told to do, and what answers for one server of its config."""

from __future__ import annotations

from typing import NamedTuple, Protocol
from urllib.parse import quote

from aiohttp import web

from sidecar.proxy.options import Mode, OnMiss, Transport
from sidecar.store.settings import NO_RULES, Rules
from sidecar.wire.framing import MAX_MESSAGE_BYTES

ENDLESS = web.RequestKey("endless", bool)
"""Set on a request whose answer may never end by itself: nobody waits for it at the end."""

SESSION_QUERY = "session_id"
"""Names a session of the older transport in the URL that its messages are posted to."""

DEFAULT_PORT = 8765
MAX_BODY_BYTES = 64 * 1024 * 1024


class ServedServer(NamedTuple):
    """One server of the config: reached by `url`, started by `command`, or only recorded.

    Attributes:
        name: Its name in the config, verbatim.
        command: Program and arguments; empty where there is none.
        env: Variables that the config gives the program beside our own.
        url: Where it is reached; None where it is started.
        headers: What the config gives every request to `url`.
        transport: Which transport the server speaks at `url`; None where the config does
            not tell.
        cwd: The program's working directory; None takes ours.
    """

    name: str
    command: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    url: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    transport: Transport | None = None
    cwd: str | None = None


class Limits(NamedTuple):
    """How much a client, and for how long a server, is waited for; 0 seconds is for ever.

    Attributes:
        body_bytes: Ceiling of one request's body.
        message_bytes: Ceiling of one message of a server's.
        header_seconds: How long the head of a connection's first request may take.
        upload_seconds: How long a request's body may take.
        connect_seconds: How long a connection to a server may take.
        answer_seconds: How long a server may take to begin an answer. Once it has begun,
            it may be silent for as long as it likes.
        drain_seconds: How long open answers are waited for when we are told to stop.
        grace_seconds: How long a server process may take to end, at each step of stopping.
        connections: How many connections are open at most.
        sessions: How many sessions of one server are open at most.
        idle_seconds: How long a session that is not relayed stays open with nobody using
            it, or listening.
    """

    body_bytes: int = MAX_BODY_BYTES
    message_bytes: int = MAX_MESSAGE_BYTES
    header_seconds: float = 30.0
    upload_seconds: float = 60.0
    connect_seconds: float = 10.0
    answer_seconds: float = 600.0
    drain_seconds: float = 5.0
    grace_seconds: float = 2.0
    connections: int = 4096
    sessions: int = 10_000
    idle_seconds: float = 1800.0

    @property
    def patient_seconds(self) -> float:
        """How long servers may end by themselves, all together; then they are killed."""
        return 3 * self.grace_seconds


class ServeOptions(NamedTuple):
    """What `serve` is told to do.

    Attributes:
        servers: One endpoint each.
        mode: What is done with their traffic.
        journal: The journal's path.
        run: The run's id.
        cassette: The file's path; None where only the journal is written.
        agent_id: Of the events; None takes each client's own name.
        on_miss: In `replay`, whether a miss fails or goes to the live server.
        overwrite: Whether another run's cassette may be replaced.
        host: The address to listen at.
        port: Its port; 0 takes a free one.
        token: What a client must know; None where every client on this machine may ask.
        allowed_hosts: Names, beside the loopback ones, that a client may call us by.
        allowed_origins: Origins, beside the loopback ones, whose pages may ask.
        limits: How much, and for how long.
        redaction: What is masked besides what is known to be a secret.
    """

    servers: tuple[ServedServer, ...]
    mode: Mode
    journal: str
    run: str
    cassette: str | None = None
    agent_id: str | None = None
    on_miss: OnMiss = "fail"
    overwrite: bool = False
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    token: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    limits: Limits = Limits()
    redaction: Rules = NO_RULES


def path_of(server: str, part: str) -> str:
    """Where a server's `mcp`, `sse` or `messages` is, whatever the server's name is."""
    return f"/{quote(server, safe='')}/{part}"


def messages_path(server: str, session_id: str) -> str:
    """Where the messages of a session of the older transport go; its id needs no quotes."""
    return f"{path_of(server, 'messages')}?{SESSION_QUERY}={session_id}"


class Endpoint(Protocol):
    """What answers for one server: `/NAME/mcp`, `/NAME/sse` and `/NAME/messages`.

    Requests that reach it have passed the guard: Host, Origin and token are right. A
    handler is cancelled when its client goes; what it noted until then it must have
    written before it ends.
    """

    async def mcp(self, request: web.Request) -> web.StreamResponse:
        """Answer at the Streamable HTTP endpoint: POST, GET, DELETE and the rest."""

    async def sse(self, request: web.Request) -> web.StreamResponse:
        """Answer at the endpoint of the older HTTP with SSE transport: GET."""

    async def messages(self, request: web.Request) -> web.StreamResponse:
        """Take a message of the older transport: POST, to where its `endpoint` event said."""

    async def close(self, *, patient: bool) -> int:
        """End all sessions in order; called once, when no request is open any more.

        Args:
            patient: Whether servers may end by themselves.

        Returns:
            0; in `replay` 1 if a request missed and failed closed, and 2 if something
            could not be journalled.
        """
