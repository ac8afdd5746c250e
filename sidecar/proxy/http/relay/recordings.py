"""What is kept of one server's traffic over HTTP: one recorder a session."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING

from sidecar.cassette.recorder import Masks, Recorder
from sidecar.errors import JournalError, SidecarError
from sidecar.proxy.streams import say
from sidecar.proxy.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from sidecar.cassette.facts import Fact
    from sidecar.proxy.http.endpoint import ServeOptions
    from sidecar.store.journal import Journal
    from sidecar.store.session import Session
    from sidecar.wire.jsonrpc import Message

_SETTLE_SECONDS = 0.002  # a request is written with its answer if that comes within
_PLACES = 1024  # ids of events that a client may still come back to
_MAX_REFUSED = 100  # requests that are kept of a server that takes none


class Recording:
    """One session: its recorder, and its row in the journal.

    Used by one event loop alone, so nothing here needs a lock.

    Attributes:
        established: Whether the server has taken a request of it.
        failed: Whether a request was not answered that a client waited for: then the run
            is not complete.
        closed: Whether it has ended.
    """

    def __init__(self, recorder: Recorder, tape: Tape | None) -> None:
        """Begin.

        Args:
            recorder: What pairs its messages.
            tape: What writes them; None where the journal takes nothing: the traffic goes on.
        """
        self._recorder = recorder
        self._heard: list[tuple[Message, Hashable]] = []
        self._tape = tape
        self._timer: asyncio.TimerHandle | None = None
        self._places: OrderedDict[str, Hashable] = OrderedDict()
        self.established = False
        self.failed = False
        self.closed = False

    @property
    def recorder(self) -> Recorder:
        """What pairs the messages; it has taken all that was heard."""
        self._study()
        return self._recorder

    def hear(self, messages: Iterable[Message], exchange: Hashable = None) -> None:
        """Take what the client says, to be studied once it is on its way to the server.

        Args:
            messages: In order.
            exchange: Names the HTTP request that carried them.
        """
        self._heard += [(message, exchange) for message in messages]
        if self._heard:
            asyncio.get_running_loop().call_later(0, self._study)

    def take(self, facts: Iterable[Fact]) -> None:
        """Take facts, to be written soon: with the answer, if that comes within a moment."""
        if self.closed or self._tape is None:
            return
        self._tape.queue(facts)
        if self._timer is None and self._tape.waiting:
            # It is let run, whatever is written meanwhile: one for many calls.
            self._timer = asyncio.get_running_loop().call_later(_SETTLE_SECONDS, self._settle)

    def _settle(self) -> None:
        self._timer = None
        self.flush()

    def flush(self) -> None:
        """Write what was heard and taken; when this returns it is in the journal."""
        self._study()
        if self._tape is not None:
            self._tape.flush()

    def came_before(self, event_id: str, exchange: Hashable) -> bool:
        """Remember an event of an exchange's stream; tell whether it was seen there (H10)."""
        seen = self._places.get(event_id) is exchange
        self._places[event_id] = exchange
        if len(self._places) > _PLACES:
            self._places.popitem(last=False)
        return seen

    def exchange_at(self, event_id: str) -> Hashable | None:
        """The exchange whose stream had an event; None if it is not remembered."""
        return self._places.get(event_id)

    def close(self) -> None:
        """End it in order; what is open then was not answered."""
        if self.closed:
            return
        self.take(self.recorder.ended())
        self.flush()
        self.closed = True
        if self._tape is None:
            return
        self._tape.end(exit_code=None, state="failed" if self.failed else "ended")

    def _study(self) -> None:
        heard, self._heard = self._heard, []
        for message, exchange in heard:
            self.take(self._recorder.from_client(message, exchange))


class Recordings:
    """The sessions of one server.

    Traffic without a session shares one recording: all of the era that has none, and
    that of servers which give none.
    """

    def __init__(self, options: ServeOptions, server: str, journal: Journal, masks: Masks) -> None:
        self._options = options
        self._server = server
        self._journal = journal
        self._masks = masks
        self._shared: Recording | None = None
        self._sessions: OrderedDict[str, Recording] = OrderedDict()
        self._unnamed: set[Recording] = set()
        self._has_lost = False  # a session that the journal did not take
        self._has_served = False  # the server took a request, of whomever
        self._refused: list[tuple[Sequence[Message], int]] = []
        self._told: set[str] = set()

    @property
    def shared(self) -> Recording:
        """The recording of all that has no session."""
        if self._shared is None:
            self._shared = self._started()
        return self._shared

    def of(self, session_id: str) -> Recording | None:
        """The recording of a session; None if none is known."""
        found = self._sessions.get(session_id)
        if found is not None:
            self._sessions.move_to_end(session_id)
        return found

    def begin(self, session_id: str) -> Recording:
        """Begin the recording of a session, if it has not begun."""
        found = self.of(session_id)
        if found is None:
            found = self._sessions[session_id] = self._started()
            if len(self._sessions) > self._options.limits.sessions:
                self._sessions.popitem(last=False)[1].close()
        return found

    def begin_unnamed(self) -> Recording:
        """Begin a recording that whoever asked for it ends with `end_unnamed`."""
        self.served()
        recording = self._started()
        self._unnamed.add(recording)
        return recording

    def end(self, session_id: str) -> None:
        """End a session's recording."""
        found = self._sessions.pop(session_id, None)
        if found is not None:
            found.close()

    def end_unnamed(self, recording: Recording) -> None:
        """End one that has no name."""
        self._unnamed.discard(recording)
        recording.close()

    def served(self) -> None:
        """Take it that the server takes requests; those that it refused before were no news."""
        self._has_served = True
        self._refused = []

    def refused(self, messages: Sequence[Message], status: int) -> None:
        """Take it that requests were turned away, by no answer of MCP.

        They are asked again then, with better credentials or over another transport; so
        they are recorded, as not answered, only where the server took none at all.

        Args:
            messages: What was asked.
            status: The HTTP status.
        """
        method = messages[0].method or "a message"
        self.tell_once(f"server {self._server!r} turned {method} away with HTTP status {status}")
        if not self._has_served and len(self._refused) < _MAX_REFUSED:
            self._refused.append((messages, status))

    def tell_once(self, text: str) -> None:
        """Say something on standard error, unless it was said of this server before."""
        if text not in self._told and len(self._told) < _MAX_REFUSED:
            self._told.add(text)
            say(text)

    def _record_refused(self) -> None:
        for messages, status in self._refused:
            exchange = object()
            self.shared.hear(messages, exchange)
            facts = self.shared.recorder.gave_up(exchange, http_status=status)
            self.shared.take(facts)
            self.shared.failed = True

    def close(self) -> None:
        """End them all."""
        self._record_refused()
        shared = [] if self._shared is None else [self._shared]
        for recording in (*self._sessions.values(), *self._unnamed, *shared):
            recording.close()
        if self._has_lost:
            self._tell_loss()

    def _started(self) -> Recording:
        return Recording(Recorder(self._server, self._masks), self._started_tape())

    def _started_tape(self) -> Tape | None:
        try:
            session = self._session()
        except JournalError as error:
            if not self._has_lost:
                say(f"{error}; sessions are not recorded meanwhile, and the run stays incomplete")
            self._has_lost = True
            return None
        return Tape(session, names_agent=self._options.agent_id is None)

    def _tell_loss(self) -> None:
        """Leave a session in the journal that did not end in order, for those it did not take."""
        try:
            self._session().close(exit_code=None, state="failed")
        except SidecarError as error:
            say(str(error))

    def _session(self) -> Session:
        options = self._options
        return self._journal.start_session(
            options.run, server=self._server, mode=options.mode, agent_id=options.agent_id
        )
