"""What was asked of a server over HTTP and is not answered yet, and what goes to the client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, MutableMapping
from http import HTTPStatus

from sidecar.proxy.link import Remark
from sidecar.proxy.streams import say, tell
from sidecar.wire.http_status import telling_status
from sidecar.wire.jsonrpc import (
    CONNECTION_CLOSED,
    IdKey,
    Message,
    answer,
    failure,
    id_key,
    read_line,
)
from sidecar.wire.mcp import (
    CANCELLED,
    DISCOVER,
    INITIALIZE,
    INITIALIZED,
    members_of,
    modern_version,
)

OLDER = (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
"""What a server may refuse a request with because it speaks an older revision."""

_MOST_TOLD = 100


class Errand:
    """One line of the client's, as one HTTP request.

    Attributes:
        line: What the client said.
        messages: The messages in it; none where it is no JSON.
        asked: Requests in it that wait for an answer, by id.
        opens: Whether it begins a session.
        notifies: Whether its place among the client's lines matters: it holds a notification.
        version: The revision that its requests name, where they are of the modern era.
        task: What carries it, where that is a task of its own.
    """

    def __init__(self, line: bytes) -> None:
        """Read a line."""
        self.line = line.strip()
        self.messages = read_line(line) or []
        requests = [message for message in self.messages if message.kind == "request"]
        self.asked: dict[IdKey, Message] = {id_key(request.id): request for request in requests}
        self.opens = any(request.method == INITIALIZE for request in requests)
        self.notifies = any(message.kind == "notification" for message in self.messages)
        versions = (modern_version(request.params) for request in requests if not self.opens)
        self.version = next((version for version in versions if version), None)
        self.task: asyncio.Task[None] | None = None

    @property
    def awaits(self) -> bool:
        """Whether an answer is awaited; the refusal of what is no message at all is one."""
        return bool(self.asked) or not self.messages

    @property
    def probes(self) -> bool:
        """Whether it asks which revisions the server speaks."""
        return any(message.method == DISCOVER for message in self.messages)

    @property
    def is_initialized(self) -> bool:
        """Whether it says that the session has begun."""
        return any(message.method == INITIALIZED for message in self.messages)

    @property
    def takes_back(self) -> str | None:
        """The id of the request that it takes back, if it does that."""
        only = self.messages[0] if len(self.messages) == 1 else None
        if only is None or only.method != CANCELLED:
            return None
        return members_of(only.params).get("requestId")


class Lines:
    """The pipe to whoever reads what the server says."""

    def __init__(self, pipe: asyncio.StreamWriter, remarks: MutableMapping[bytes, Remark]) -> None:
        """Take the pipe, and where remarks on its lines are left."""
        self._pipe = pipe
        self._remarks = remarks

    async def send(self, line: bytes, remark: Remark | None = None) -> None:
        """Write a line; a remark on it is there before it is."""
        if remark is not None:
            self._remarks[line] = remark
        self._pipe.write(line)
        await self._pipe.drain()


class Errands:
    """The errands that are open, and the one way from the server to the client.

    Attributes:
        reached: Whether the server has said anything yet.
        failed: Whether something got no answer.
    """

    def __init__(
        self, server: str, lines: Lines, learn: Callable[[Message, Message], None]
    ) -> None:
        """Begin.

        Args:
            server: Its name, for texts.
            lines: Where lines go.
            learn: Gets each request with its answer, before the answer goes on.
        """
        self._server = server
        self._lines = lines
        self._learn = learn
        self._asking: dict[IdKey, list[Errand]] = {}
        self._told: set[str] = set()
        self.reached = False
        self.failed = False

    def opened(self, errand: Errand) -> None:
        """Take one more."""
        for key in errand.asked:
            self._asking.setdefault(key, []).append(errand)

    def asking(self, ident: str | None) -> Errand | None:
        """Find the oldest errand in which a request with this id waits."""
        return next(iter(self._asking.get(id_key(ident), ())), None)

    def settled(self, ident: str | None, own: Errand | None = None) -> Message | None:
        """Let the request with this id wait no longer: the one in `own`, else the oldest."""
        key = id_key(ident)
        errand = own if own is not None and key in own.asked else self.asking(ident)
        if errand is None:
            return None
        self._asking[key].remove(errand)
        if not self._asking[key]:
            del self._asking[key]
        return errand.asked.pop(key)

    async def deliver(self, data: bytes, own: Errand | None, status: int | None = None) -> bool:
        """Pass on what the server said.

        Args:
            data: A message's JSON, or a batch's, in any layout.
            own: The errand on whose response it came; None for other streams.
            status: Of the response that has it as its body; None for an event of a stream.

        Returns:
            Whether it was a message; only that is passed on.
        """
        line = _one_line(data)
        messages = read_line(line) or []
        if all(message.kind == "opaque" for message in messages):
            if status is None:
                tell(b"[" + self._server.encode(errors="backslashreplace") + b"] " + line)
            return False
        self.reached = True
        if len(messages) == 1:
            line, messages[0] = _addressed(line, messages[0], own)
        remark = _remark(messages, own, status)
        for message in messages:
            asked = self.settled(message.id, own) if message.kind == "response" else None
            if asked is not None:
                self._learn(asked, message)
        await self._lines.send(line, remark)
        return True

    async def give_up(self, errand: Errand, why: str, status: int | None = None) -> None:
        """Answer what waits in an errand with an error of ours, which is said on stderr, too.

        Args:
            errand: Whose requests the server will not answer.
            why: In words.
            status: Of the response that came instead.
        """
        self.failed = True
        # That is how servers of the handshake era say that they know nothing of discovery.
        is_expected = errand.probes and status in OLDER
        text = self._named(why) if is_expected else self.tell(why)
        for request in list(errand.asked.values()):
            self.settled(request.id, errand)
            line = failure(request.id, CONNECTION_CLOSED, text)
            await self._lines.send(line, Remark(is_ours=True, http_status=status))

    def tell(self, what: str) -> str:
        """Say something of the server on standard error, but not again; return the whole text."""
        text = self._named(what)
        if text not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(text)
            say(text)
        return text

    def _named(self, what: str) -> str:
        return f"server {self._server!r}: {what}"


def _one_line(data: bytes) -> bytes:
    """Put a message on one line; within JSON's strings there are no line ends."""
    line = data.strip()
    if b"\n" in line or b"\r" in line:
        line = line.replace(b"\r", b" ").replace(b"\n", b" ")
    return line + b"\n"


def _addressed(line: bytes, message: Message, own: Errand | None) -> tuple[bytes, Message]:
    """Give an error its request's id, where the server refused before it read the id."""
    if (
        message.error is None
        or own is None
        or len(own.asked) != 1
        or id_key(message.id) in own.asked
    ):
        return line, message
    (request,) = own.asked.values()
    return answer(request.id, error=message.error), message._replace(id=request.id)


def _remark(messages: list[Message], own: Errand | None, status: int | None) -> Remark | None:
    if own is None or status is None or len(messages) != 1 or messages[0].kind != "response":
        return None
    telling = telling_status(status, messages[0], modern=own.version is not None)
    return None if telling is None else Remark(is_ours=False, http_status=telling)
