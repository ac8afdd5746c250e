"""A live server: its process, and the recorder that studies a copy of its traffic."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence

from sidecar.cassette.recorder import Recorder
from sidecar.proxy.link import START_FAILED, Link, Remark
from sidecar.proxy.options import ProxyOptions
from sidecar.proxy.oversized import is_answer, is_call, too_large
from sidecar.proxy.streams import read_batches, say, tell
from sidecar.proxy.wiring import Wiring
from sidecar.wire.framing import Oversized
from sidecar.wire.jsonrpc import (
    CONNECTION_CLOSED,
    Message,
    failure,
    id_key,
    id_of_oversized,
    read_line,
)

_ENDING_SECONDS = 0.3  # for the exit code and the last words, while the client waits


class LiveServer:
    """Passes bytes to and from a server, unchanged, and records what passes.

    An answer is in the journal before the client gets it. The client's messages are
    taken by `send`, on its reader's thread; the server's come on a thread of their own.
    """

    def __init__(self, wiring: Wiring, on_end: Callable[[], None]) -> None:
        """Prepare; nothing is started before `start`.

        Args:
            wiring: What to run, and where messages and facts go.
            on_end: Called once the server has said its last.
        """
        self._options = wiring.options
        self._client = wiring.client
        self._tape = wiring.tape
        self._recorder = Recorder(wiring.options.server, wiring.masks)
        self._lock = threading.Lock()  # of the recorder, and of the order of its facts
        self._settled = threading.Condition(self._lock)
        self._on_end = on_end
        self._link: Link | None = None
        self._threads: list[threading.Thread] = []
        self._hidden: dict[tuple[str, str] | None, Callable[[], None]] = {}
        self._remarks: dict[bytes, Remark] = {}  # on lines of a server at a URL
        self._exit_code: int | None = None
        self.answered = 0
        self.failure: str | None = None

    def start(self) -> None:
        """Start the server; if that fails, `failure` says why and `send` answers with it."""
        try:
            self._link = _connected(self._options, self._remarks)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self.failure = f"{self._named} could not be started: {reason}"
            self._exit_code = START_FAILED
            say(f"{self.failure}; check the command {self._options.command[0]!r}")
            self._on_end()
            return
        for work in (self._relay, self._link.relay_stderr):
            self._threads.append(threading.Thread(target=work, daemon=True))
        for thread in reversed(self._threads):  # the relay, at its end, joins the other
            thread.start()

    @property
    def _named(self) -> str:
        return f"server {self._options.server!r}"

    def take(self, lines: Sequence[bytes | Oversized]) -> None:
        """Pass lines of the client's on, and record what they say."""
        for line in lines:
            if isinstance(line, Oversized):
                self._refuse(line)
            else:
                self.send(line, None)

    def send(self, line: bytes, messages: list[Message] | None, missed: str | None = None) -> None:
        """Pass the client's line on, and record what it says.

        The line goes out first: what is studied costs the agent nothing while the server
        works. The lock keeps the server's answer waiting until its request is noted; what
        does not go out at once is sent after, without the lock, so that a server that
        waits for us to read can go on.

        Args:
            line: As the client sent it.
            messages: What it says, if it was read already.
            missed: Why it goes to the live server though a recording is replayed.
        """
        stdin = self._link.stdin if self._link is not None and self.failure is None else None
        with self._lock:
            sent = stdin.begin(line) if stdin is not None else 0
            for message in messages or read_line(line) or ():
                named = id_key(message.id) if self._options.url else None
                self._tape.queue(self._recorder.from_client(message, named), missed)
        if stdin is not None and sent < len(line):
            stdin.send(line[sent:])
        if stdin is None or self.failure is not None:
            self._fail_pending()

    def send_hidden(self, line: bytes, ident: str | None, then: Callable[[], None]) -> None:
        """Send a message whose answer the client must not see; `then` runs after it."""
        self._hidden[id_key(ident)] = then
        if self._link is not None:
            self._link.stdin.send(line)

    def _refuse(self, line: Oversized) -> None:
        """Answer a message of the client's that is over the ceiling, to whoever waits."""
        answer = too_large(line, self._options)
        if is_answer(line):
            self._answer_server(line, answer)
        else:
            self._client.send(answer)

    def _answer_server(self, line: Oversized, answer: bytes) -> None:
        if self._link is not None and id_of_oversized(line) is not None:
            self._link.stdin.send(answer)

    def drained(self, seconds: float) -> bool:
        """Wait for the answers that the client still waits for; tell whether none is open."""
        self._tape.flush()
        with self._settled:
            return self._settled.wait_for(self._is_settled, seconds)

    def _is_settled(self) -> bool:
        return not self._recorder.pending or self.failure is not None or self._client.closed

    def finish(self, *, patient: bool) -> int:
        """End the server and all that it started; return its exit code."""
        grace = self._options.grace_seconds
        if self._link is None:
            return 0 if self._exit_code is None else self._exit_code
        code = self._link.stop(grace, patient=patient)
        # What the server has said is still on its way to a client that reads slowly.
        self._threads[0].join(max(grace, self._options.drain_seconds) if patient else grace)
        self._threads[1].join(grace)
        with self._lock:
            self._tape.queue(self._recorder.ended())
        self._tape.flush()
        return code

    def _relay(self) -> None:
        link = self._link
        assert link is not None
        try:
            for batch in read_batches(link.stdout, self._options.max_message_bytes):
                # What came together is written together, and goes on together.
                passed = [line for line in map(self._noted, batch) if line]
                self._tape.flush()
                if passed:
                    self._client.send(passed[0] if len(passed) == 1 else b"".join(passed))
        finally:
            os.close(link.stdout)
            self._ended(link)

    def _noted(self, line: bytes | Oversized) -> bytes | None:
        """Note what the server said; return what goes to the client, if anything does."""
        if isinstance(line, Oversized):
            return self._noted_oversized(line)
        messages = read_line(line)
        if messages is None:
            _noise(line, self._options.server)
            return None
        remark = self._remarks.pop(line, None) if self._remarks else None
        if self._hidden and self._was_hidden(messages):
            return None
        self._note(messages, remark)
        return line

    def _note(self, messages: list[Message], remark: Remark | None = None) -> None:
        status = remark.http_status if remark else None
        with self._lock:
            for message in messages:
                if remark and remark.is_ours:
                    facts = self._recorder.gave_up(id_key(message.id), http_status=status)
                else:
                    facts = self._recorder.from_server(message, http_status=status)
                self._tape.queue(facts)
                self.answered += message.kind == "response"
            self._settled.notify_all()

    def _was_hidden(self, messages: list[Message]) -> bool:
        message = messages[0] if len(messages) == 1 else None
        if message is None or message.kind != "response":
            return False
        then = self._hidden.pop(id_key(message.id), None)
        if then is None:
            return False
        then()
        return True

    def _noted_oversized(self, line: Oversized) -> bytes | None:
        answer = too_large(line, self._options)
        if is_call(line):
            self._answer_server(line, answer)
            return None
        self._note(read_line(answer) or [])
        return answer

    def _ended(self, link: Link) -> None:
        code = link.wait(_ENDING_SECONDS)
        self._threads[1].join(_ENDING_SECONDS)
        words = link.last_words()
        how = "closed its output" if code is None else f"exited with code {code}"
        tail = f"; its last words: {words}" if words else ""
        with self._lock:
            self.failure = f"{self._named} {how}{tail}"
            self._settled.notify_all()
        self._fail_pending()
        self._on_end()

    def _fail_pending(self) -> None:
        """Answer what the client waits for, at once, once the server is gone (S11)."""
        with self._lock:
            waiting = self._recorder.pending
            self._tape.queue(self._recorder.ended())
        self._tape.flush()
        for ident in waiting:
            self._client.send(failure(ident, CONNECTION_CLOSED, self.failure or "server ended"))


def _connected(options: ProxyOptions, remarks: dict[bytes, Remark]) -> Link:
    """Start the server, or get ready to reach it."""
    if options.url is None:
        from sidecar.proxy.child import Child  # noqa: PLC0415  # only one of the two is used

        return Child(options.command, options.env, options.cwd)
    from sidecar.proxy.http.remote.remote import Remote  # noqa: PLC0415  # aiohttp takes half a second

    return Remote(options, remarks)


def _noise(line: bytes, server: str) -> None:
    text = line.strip()
    if text:
        tell(b"[" + server.encode(errors="backslashreplace") + b"] " + text + b"\n")
