"""One HTTP request and its answer, as the recorder is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sidecar.proxy.http.headers import SESSION_HEADER, is_modern
from sidecar.wire.http_status import telling_status
from sidecar.wire.json_text import join
from sidecar.wire.jsonrpc import IdKey, Message, id_key, notify, read_line
from sidecar.wire.mcp import CANCELLED, INITIALIZE, LISTEN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sidecar.proxy.http.relay.recordings import Recording, Recordings

_REFUSED = (401, 403, 404, 405, 407)  # at the door: clients ask again, or elsewhere
_ERROR = 400  # from here on
_ACCEPTED = 202  # an answer may come on another stream


class Asked(NamedTuple):
    """What a client asked for.

    Attributes:
        messages: What its body says; empty where that is nothing that can be read.
        session_id: Which session it named; None where it named none.
        modern: Whether it is of the era that has no sessions.
    """

    messages: Sequence[Message]
    session_id: str | None
    modern: bool

    @property
    def begins_session(self) -> bool:
        """Whether the answer may give a session's id."""
        return self.session_id is None and any(
            message.method == INITIALIZE for message in self.messages
        )

    @property
    def listens(self) -> bool:
        """Whether it stays open for as long as its client likes."""
        return any(message.method == LISTEN for message in self.messages)


def asked(headers: Mapping[str, str], body: bytes) -> Asked:
    """Read what a client asks for; never raises."""
    modern = is_modern(headers)
    session_id = None if modern else headers.get(SESSION_HEADER)
    return Asked(read_line(body) or (), session_id, modern)


class Exchange:
    """One POST and its answer, over however many streams that comes; or one GET.

    The requests are noted at once where the server is known to take them. Else they are
    noted when its answer begins: only then it is known to which session they belong, or
    whether they must be sent again, with better credentials or over another transport.
    """

    def __init__(
        self, recordings: Recordings, asked: Asked, recording: Recording | None = None
    ) -> None:
        """Begin.

        Args:
            recordings: Those of the server.
            asked: What the client asked for.
            recording: Where it belongs, if that is known already.
        """
        self._recordings = recordings
        self._asked = asked
        self._recording: Recording | None = None
        self._status = 200
        self._open: dict[IdKey, str] = {
            id_key(message.id): message.id
            for message in asked.messages
            if message.kind == "request" and message.id is not None
        }
        self._key = self if self._open else None
        self.resumable = False
        known = recording or self._known()
        if known is not None and (known.established or known is recording):
            self._note_requests(known)

    @property
    def waiting(self) -> tuple[str, ...]:
        """The ids, as spelt, of the requests that are not answered yet."""
        return tuple(self._open.values())

    def _known(self) -> Recording | None:
        if self._asked.session_id is not None:
            return self._recordings.of(self._asked.session_id)
        return self._recordings.shared if self._open and not self._asked.begins_session else None

    def _note_requests(self, recording: Recording) -> None:
        self._recording = recording
        self._note_client(self._asked.messages)

    def _note_client(self, messages: Sequence[Message]) -> None:
        if self._recording is not None:
            self._recording.hear(messages, self._key)

    def begun(self, status: int, session_id: str | None = None) -> None:
        """Take the beginning of the answer.

        Args:
            status: The HTTP status.
            session_id: Which session the server says that it is of; None if it says none.
        """
        self._status = status
        if self._recording is None and status not in _REFUSED:
            recording = self._chosen(session_id)
            if recording is not None:
                self._note_requests(recording)
        if self._recording is not None and status < _ERROR:
            self._recording.established = True
            self._recordings.served()

    def refused(self, status: int) -> None:
        """Take that the client gets an error of ours in place of an answer."""
        self._status = status
        if self._recording is None:
            self.begun(status)
        self.ended()

    def _chosen(self, session_id: str | None) -> Recording | None:
        name = session_id if self._asked.begins_session else self._asked.session_id
        if name is not None and self._status < _ERROR and self._asked.messages:
            return self._recordings.begin(name)
        known = None if name is None else self._recordings.of(name)
        return self._recordings.shared if known is None and self._open else known

    def answered(self, messages: Sequence[Message]) -> None:
        """Take the messages of an answer that is a body of its own."""
        self._take([self._fitted(message) for message in messages], is_body=True)

    def streamed(self, messages: Sequence[Message], event_id: str | None) -> None:
        """Take the messages of an event of a stream.

        What comes again to a client that came back is not noted again (H10), but for
        answers: one whose request is still open is none that was seen.
        """
        self._choose_late(messages)
        if event_id is not None and self._recording is not None:
            self.resumable = True
            if self._recording.came_before(event_id, self):
                messages = [message for message in messages if message.kind == "response"]
        self._take(messages)

    def _fitted(self, message: Message) -> Message:
        """Give an error that names no request the id of the only one it can be meant for."""
        is_strange = message.error is not None and id_key(message.id) not in self._open
        if is_strange and len(self._open) == 1:
            return message._replace(id=self.waiting[0])
        return message

    def _take(self, messages: Sequence[Message], *, is_body: bool = False) -> None:
        self._choose_late(messages)
        recording = self._recording
        if recording is None or not messages:
            return
        for message in messages:
            status = self._telling_status(message) if is_body else None
            recording.take(recording.recorder.from_server(message, self._key, http_status=status))
            if message.kind == "response":
                self._open.pop(id_key(message.id), None)
        recording.flush()

    def _choose_late(self, messages: Sequence[Message]) -> None:
        """Find where an answer belongs that says something, if nothing told until now."""
        if self._recording is not None or not messages:
            return
        name = self._asked.session_id
        if name is not None and not self._asked.messages and self._status < _ERROR:
            self._note_requests(self._recordings.begin(name))  # a stream of a session of before
        elif any(message.kind == "response" for message in messages):
            self._note_requests(self._recordings.shared)  # refused, but by a server of MCP

    def _telling_status(self, message: Message) -> int | None:
        return telling_status(self._status, message, modern=self._asked.modern)

    def ended(self) -> None:
        """Take the end of the answer: what is open will not be answered (R22)."""
        if self._recording is not None and self._open and self._status != _ACCEPTED:
            self._recording.failed = True
            self._give_up(self._recording)
        elif self._recording is None and self._open and self._status in _REFUSED:
            self._recordings.refused(self._asked.messages, self._status)
        self._open = {}

    def _give_up(self, recording: Recording) -> None:
        status = self._status if self._status >= _ERROR else None
        recording.take(recording.recorder.gave_up(self._key, http_status=status))
        recording.flush()

    def client_went(self) -> None:
        """Take that the client waits no more; without a session it cannot come back.

        In the era without sessions that is how a request is taken back.
        """
        if self._recording is None:
            return
        if self._asked.modern:
            for ident in self.waiting:
                taken_back = notify(CANCELLED, join({"requestId": ident}))
                self._note_client(read_line(taken_back) or ())
        if self._asked.session_id is None and self._open:
            self._give_up(self._recording)
            self._open = {}
        self._recording.flush()
