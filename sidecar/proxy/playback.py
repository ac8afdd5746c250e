"""Answers a client from a cassette, and from a live server only where that is allowed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from sidecar.cassette.matcher import Matcher
from sidecar.cassette.replayer import Missed, Replayer, Step
from sidecar.errors import JournalError
from sidecar.proxy.streams import say
from sidecar.proxy.wiring import Wiring
from sidecar.wire.framing import Oversized
from sidecar.wire.jsonrpc import (
    INVALID_REQUEST,
    MESSAGE_TOO_LARGE,
    PARSE_ERROR,
    Message,
    failure,
    id_of_oversized,
    read_line,
)
from sidecar.wire.mcp import INITIALIZE, INITIALIZED
from sidecar.wire.typed import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sidecar.proxy.live import LiveServer

StartLive: TypeAlias = "Callable[[Callable[[], None]], LiveServer]"
"""Makes a live server, not started yet, that calls what it is given when it has ended."""

OnStatus: TypeAlias = "Callable[[str | None, int], None]"
"""Told the id of a request and the HTTP status recorded for its answer, before it is sent."""


class Playback:
    """What stands behind the client in `replay` and `auto`.

    Without `start_live` nothing is started, opened or contacted, whatever happens.
    """

    def __init__(
        self,
        wiring: Wiring,
        matcher: Matcher,
        start_live: StartLive | None,
        *,
        on_status: OnStatus | None = None,
        alone: bool = False,
    ) -> None:
        """Begin.

        Args:
            wiring: Where messages and facts go.
            matcher: Of what is played; other servers' entries never match.
            start_live: What makes a live server, where one may be needed.
            on_status: Told of HTTP statuses.
            alone: Whether what other sessions of the run have served does not count here.
        """
        self._options = wiring.options
        self._client = wiring.client
        self._tape = wiring.tape
        self._is_watched = wiring.is_watched
        self._matcher = matcher
        self._replayer = Replayer(wiring.options.server, matcher)
        self._live = _Opening(start_live) if start_live else None
        self._on_status = on_status
        self._alone = alone
        self.misses = 0

    @property
    def failure(self) -> str | None:
        """Why the live server is gone, if one was needed and is."""
        return self._live.failure if self._live else None

    @property
    def answered(self) -> int:
        """How many answers came from a live server; one is counted for the recording."""
        return 1 + (self._live.answered if self._live else 0)

    def take(self, lines: Sequence[bytes | Oversized]) -> None:
        """Take lines of the client's; those that came together are one transaction."""
        answers: list[bytes] = []
        done = 0
        try:
            with self._transaction(needed=len(lines) > 1 and not self._live):
                for line in lines:
                    answers += self._answers(line)
                    done += 1
        except JournalError as error:
            self._tape.give_up(error)
            for line in lines[done:]:
                answers += self._answers(line)
        if answers:
            self._client.send(b"".join(answers))

    def drained(self, seconds: float) -> bool:
        """Wait for what a live server still has to answer; tell whether nothing is open."""
        return self._live is None or self._live.drained(seconds)

    def finish(self, *, patient: bool) -> int:
        """End; 1 if a request missed and failed closed, else the live server's code."""
        code = self._live.finish(patient=patient) if self._live else 0
        return 1 if self.misses else code

    def _answers(self, line: bytes | Oversized) -> Sequence[bytes]:
        """Take a line: a message, or a batch of them; return the lines to send."""
        if isinstance(line, Oversized):
            text = f"A message of {line.size} bytes is over the ceiling"
            return (failure(id_of_oversized(line), MESSAGE_TOO_LARGE, text),)
        messages = read_line(line)
        if messages is None:
            return (failure(None, PARSE_ERROR, "Not JSON"),) if line.strip() else ()
        if self._live:
            self._live.note(line, messages)
        if len(messages) == 1 and not line.lstrip().startswith(b"["):
            return self._step(messages[0], line)
        return self._batch_answers(messages)

    def _batch_answers(self, messages: list[Message]) -> Sequence[bytes]:
        if not messages:
            return (failure(None, INVALID_REQUEST, "An empty batch"),)
        lines: list[bytes] = []
        for message in messages:
            lines += self._step(message, message.text.encode() + b"\n")
        return (b"[" + b",".join(line.strip() for line in lines) + b"]\n",) if lines else ()

    def _step(self, message: Message, line: bytes) -> tuple[bytes, ...]:
        """Take one message; journal what follows from it, and return the lines to send."""
        if message.kind == "notification" or not self._is_ours(message):
            if self._live:
                self._live.pass_on(line, message)
            if message.kind == "response":
                return ()
        step = self._journalled(message)
        if step.missed is not None and self._live:
            self._go_live(self._live, line, step.missed)
            return ()
        if step.status is not None and self._on_status is not None:
            self._on_status(*step.status)
        return step.lines

    def _go_live(self, live: _Opening, line: bytes, missed: Missed) -> None:
        if self._options.mode == "auto":  # what is not recorded yet is no miss there
            live.send(line, missed.message, None)
            return
        self._say(f"miss, answered live: {missed.explanation}")
        live.send(line, missed.message, missed.explanation)

    def _is_ours(self, message: Message) -> bool:
        return message.kind != "response" or self._replayer.owns_reply(message)

    def _journalled(self, message: Message) -> Step:
        """Answer a message in one transaction: two proxies of a run never serve one entry."""
        arrived_ns = time.monotonic_ns()
        step: Step | None = None
        try:
            with self._transaction(needed=message.kind != "notification"):
                self._learn_of_others(message)
                step = self._answered(message)
                self._tape.write(step.facts, arrived_ns)
        except JournalError as error:
            self._tape.give_up(error)
        return self._answered(message) if step is None else step

    def _transaction(self, *, needed: bool) -> AbstractContextManager[object]:
        if self._tape.broken or not needed:
            return nullcontext()
        return self._tape.session.transaction()

    def _learn_of_others(self, message: Message) -> None:
        if message.kind == "request" and not self._tape.broken and not self._alone:
            for entry in self._tape.session.served_by_others():
                self._matcher.consume(entry)

    def _answered(self, message: Message) -> Step:
        step = self._replayer.from_client(message)
        if step.missed is None or self._live:
            return step
        self.misses += 1
        self._say(f"miss: {step.missed.explanation}")
        return self._replayer.refuse(step.missed)

    def _say(self, text: str) -> None:
        if not self._is_watched:
            say(text)


class _Opening:
    """A live server that is started at the first miss, with the client's opening messages."""

    def __init__(self, start: StartLive) -> None:
        self._start = start
        self._server: LiveServer | None = None
        self._lock = threading.Lock()
        self._initialize: tuple[bytes, Message] | None = None
        self._initialized: bytes | None = None
        self._queue: list[Callable[[], None]] | None = None

    @property
    def failure(self) -> str | None:
        return self._server.failure if self._server else None

    @property
    def answered(self) -> int:
        return self._server.answered if self._server else 0

    def note(self, line: bytes, messages: list[Message]) -> None:
        """Keep the client's opening messages."""
        for message in messages:
            if message.method == INITIALIZE:
                self._initialize = (line, message)
            elif message.method == INITIALIZED:
                self._initialized = line

    def pass_on(self, line: bytes, message: Message) -> None:
        """Pass on what a running server should see: notifications, and replies to it."""
        server = self._server
        if server is not None:
            self._when_open(lambda: server.send(line, [message]))

    def send(self, line: bytes, message: Message, missed: str | None) -> None:
        """Have the server answer a request, starting it if it is not there yet."""
        server = self._server or self._started(message)
        self._when_open(lambda: server.send(line, [message], missed))

    def drained(self, seconds: float) -> bool:
        return self._server is None or self._server.drained(seconds)

    def finish(self, *, patient: bool) -> int:
        return self._server.finish(patient=patient) if self._server else 0

    def _started(self, message: Message) -> LiveServer:
        server = self._server = self._start(self._open)
        if self._initialize is None or message.method == INITIALIZE:
            server.start()
            return server
        line, initialize = self._initialize
        self._queue = []  # before the start: a server may end at once
        if self._initialized is not None:
            greeting = self._initialized
            self._queue.append(lambda: server.send(greeting, None))
        server.start()
        server.send_hidden(line, initialize.id, self._open)
        return server

    def _when_open(self, work: Callable[[], None]) -> None:
        with self._lock:
            if self._queue is not None:
                self._queue.append(work)
                return
        work()

    def _open(self) -> None:
        # On a thread of its own, since the caller's has to read what the server says.
        threading.Thread(target=self._opened, daemon=True).start()

    def _opened(self) -> None:
        with self._lock:
            queue, self._queue = self._queue or [], None
            for work in queue:
                work()
