"""What is kept of one server's traffic over HTTP: one recorder a session."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING

from sidecar.cassette.recorder import Masks, Recorder
from sidecar.errors import SidecarError
from sidecar.proxy.streams import say
from sidecar.proxy.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from sidecar.cassette.facts import Fact
    from sidecar.proxy.http.endpoint import ServeOptions
    from sidecar.store.journal import Journal

_SETTLE_SECONDS = 0.002  # a request is written with its answer if that comes within
_PLACES = 1024  # ids of events that a client may still come back to


class Recording:
    """One session: its recorder, and its row in the journal.

    Used by one event loop alone, so nothing here needs a lock.

    Attributes:
        recorder: What pairs the messages.
        established: Whether the server has taken a request of it.
        failed: Whether a request was not answered that a client waited for: then the run
            is not complete.
        closed: Whether it has ended.
    """

    def __init__(self, recorder: Recorder, tape: Tape) -> None:
        self.recorder = recorder
        self._tape = tape
        self._timer: asyncio.TimerHandle | None = None
        self._places: OrderedDict[str, Hashable] = OrderedDict()
        self.established = False
        self.failed = False
        self.closed = False

    def take(self, facts: Iterable[Fact]) -> None:
        """Take facts, to be written soon: with the answer, if that comes within a moment."""
        if self.closed:
            return
        self._tape.queue(facts)
        if self._timer is None and self._tape.waiting:
            self._timer = asyncio.get_running_loop().call_later(_SETTLE_SECONDS, self.flush)

    def flush(self) -> None:
        """Write what was taken; when this returns it is in the journal."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
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
        state = "failed" if self._tape.broken or self.failed else "ended"
        try:
            self._tape.session.close(exit_code=None, state=state)
        except SidecarError as error:
            say(str(error))


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

    def close(self) -> None:
        """End them all."""
        shared = [] if self._shared is None else [self._shared]
        for recording in (*self._sessions.values(), *self._unnamed, *shared):
            recording.close()

    def _started(self) -> Recording:
        options = self._options
        session = self._journal.start_session(
            options.run, server=self._server, mode=options.mode, agent_id=options.agent_id
        )
        tape = Tape(session, names_agent=options.agent_id is None)
        return Recording(Recorder(self._server, self._masks), tape)
