"""What a proxy is told to do."""

from __future__ import annotations

from sidecar.store.settings import NO_RULES, Rules
from sidecar.wire.framing import MAX_MESSAGE_BYTES
from sidecar.wire.typed import Literal, NamedTuple, TypeAlias

Mode: TypeAlias = Literal["record", "replay", "auto", "passthrough"]
OnMiss: TypeAlias = Literal["fail", "live"]
Transport: TypeAlias = Literal["http", "sse"]
"""How a server at a URL speaks: Streamable HTTP, or the older HTTP with SSE (2024-11-05)."""

MODES: tuple[Mode, ...] = ("record", "replay", "auto", "passthrough")
TRANSPORTS: tuple[Transport, ...] = ("http", "sse")


class ProxyOptions(NamedTuple):
    """One server behind the sidecar.

    Attributes:
        server: Its name in the agent's config.
        mode: What is done with its traffic.
        command: Program and arguments of the live server; may be empty in `replay`.
        cassette: The file's path; None where only the journal is written.
        journal: The journal's path.
        run: The run's id.
        env: Variables that the command gets beside this process's own.
        cwd: The command's working directory; None takes ours.
        url: Of a live server that is reached over HTTP, in place of a command.
        headers: For each request to it, names and values; the values are secrets.
        transport: How it speaks; None tries Streamable HTTP first, as the protocol says.
        agent_id: Of the events; None takes the client's own name.
        on_miss: In `replay`, whether a miss fails or goes to the live server.
        overwrite: Whether another run's cassette may be replaced.
        max_message_bytes: Ceiling of one message.
        drain_seconds: How long answers are waited for after the client's input ended.
        grace_seconds: How long a server may take to end, at each step of stopping it.
        connect_seconds: How long a connection to `url` may take.
        answer_seconds: How long the server there may take to begin an answer, 0 for ever;
            from then on it may take its time.
        config_entry: The id of the config's entry that starts it, where `wrap` wrote one.
        redaction: What is masked besides what is known to be a secret.
    """

    server: str
    mode: Mode
    command: tuple[str, ...]
    cassette: str | None
    journal: str
    run: str
    env: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None
    url: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    transport: Transport | None = None
    agent_id: str | None = None
    on_miss: OnMiss = "fail"
    overwrite: bool = False
    max_message_bytes: int = MAX_MESSAGE_BYTES
    drain_seconds: float = 5.0
    grace_seconds: float = 2.0
    connect_seconds: float = 10.0
    answer_seconds: float = 600.0
    config_entry: str | None = None
    redaction: Rules = NO_RULES
