"""Answers a client from a cassette. It is fed, and answers with facts and lines.

Notifications and the server's own requests come before the answer, as they did when it
was recorded; the answer waits for the client's to each of those requests.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple, TypeAlias

from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.cassette.matcher import Hit, Matcher, Miss
from sidecar.cassette.misses import explain
from sidecar.cassette.negotiation import negotiated
from sidecar.cassette.recorder import Masks, without_meta
from sidecar.wire.json_text import join
from sidecar.wire.jsonrpc import (
    CONNECTION_CLOSED,
    FIXTURE_MISS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    IdKey,
    Message,
    answer,
    ask,
    failure,
    id_key,
    notify,
)
from sidecar.wire.mcp import (
    CANCELLED,
    DISCOVER,
    INITIALIZE,
    INITIALIZED,
    LISTEN,
    META_SUBSCRIPTION,
    PING,
    PROGRESS,
    SET_LEVEL,
    TOOLS_CALL,
    VOLATILE_META,
    members_of,
    modern_version,
    progress_token,
    rounds,
)

MISS_TEXT = "No recorded answer for this tool call."
"""The fixed text of a miss: short, and the same for every call (RFC 0244 §D, R37)."""


class Opened(NamedTuple):
    """A request came; `entry` is the recording that it consumes, if it does."""

    number: int
    interaction: Interaction
    entry: int | None
    call: int | None


class Finished(NamedTuple):
    """A request is answered.

    Attributes:
        number: As in its `Opened`.
        interaction: With what answers it.
        error_code: Of the event, where it is not told by the answer itself.
        missed: Why nothing recorded answered it, in words; or None.
        more_rounds: Whether the call goes on with another request.
    """

    number: int
    interaction: Interaction
    error_code: str | None = None
    missed: str | None = None
    more_rounds: bool = False


Fact: TypeAlias = Opened | Finished


class Missed(NamedTuple):
    """A request that no recording answers, left to the caller: refuse it, or go live.

    Attributes:
        message: The request.
        miss: Why.
        explanation: Why, in words for a person, secrets masked.
    """

    message: Message
    miss: Miss
    explanation: str


class Step(NamedTuple):
    """What follows from one message.

    Attributes:
        facts: To be journalled, in order, before any line is sent.
        lines: To be sent to the client, in order.
        missed: The request that is still to be answered, if it is one.
    """

    facts: tuple[Fact, ...] = ()
    lines: tuple[bytes, ...] = ()
    missed: Missed | None = None


class _Playing:
    """A request whose answer waits for the client's replies; the only mutable value here."""

    __slots__ = ("hit", "id", "number", "params", "passages", "seed")

    def __init__(self, number: int, message: Message, seed: Interaction, hit: Hit) -> None:
        self.number = number
        self.id = message.id
        self.params = message.params
        self.seed = seed
        self.hit = hit
        self.passages = deque(hit.interaction.during if not hit.again else ())


class Replayer:
    """Replays one server's part of a cassette to one client."""

    def __init__(self, server: str, matcher: Matcher, masks: Masks) -> None:
        self._server = server
        self._matcher = matcher
        self._masks = masks
        self._count = 0
        self._asked_count = 0
        self._waiting: dict[IdKey, _Playing | None] = {}  # by the id of our own request
        self._calls: dict[str, int] = {}  # requestState -> number of the call's first round
        self._until_initialized: list[Passage] = []

    def from_client(self, message: Message) -> Step:
        """Take one message of the client."""
        if message.kind == "request":
            return self._requested(message)
        if message.kind == "response":
            return self._replied(message)
        if message.kind == "opaque":
            return Step(lines=(failure(message.id, INVALID_REQUEST, "Not a JSON-RPC message"),))
        if message.method == CANCELLED:
            self._forget(message)
        if message.method == INITIALIZED and self._until_initialized:
            passages, self._until_initialized = self._until_initialized, []
            return Step(lines=self._unasked(passages))
        return Step()

    def owns_reply(self, message: Message) -> bool:
        """Tell whether a response of the client answers a request of this replayer."""
        return id_key(message.id) in self._waiting

    def refuse(self, missed: Missed) -> Step:
        """Answer a miss, failing closed: a tool error for a call, else JSON-RPC -32010."""
        message = missed.message
        number, seed = self._number(), self._seed(message)
        if message.method == TOOLS_CALL:
            response = Response("result", _miss_result(message.params))
        else:
            text = f'{{"code":{FIXTURE_MISS},"message":"No recorded answer for this request"}}'
            response = Response("error", text)
        facts = (
            Opened(number, seed, None, None),
            Finished(
                number,
                seed._replace(response=response),
                "sidecar.fixture_miss",
                missed.explanation,
            ),
        )
        return Step(facts, (_answer_line(message.id, response),))

    def _requested(self, message: Message) -> Step:
        if message.method == PING:
            return Step(lines=(answer(message.id, result="{}"),))
        taken = self._matcher.take(self._server, message.method or "", message.params)
        if isinstance(taken, Miss):
            return self._unrecorded(message, taken)
        hit = negotiated(taken, message)
        number, seed = self._number(), self._seed(message)
        call = self._call_of(message)
        opened = Opened(number, seed, None if hit.again else hit.entry, call)
        return self._played(_Playing(number, message, seed, hit), [opened])

    def _unrecorded(self, message: Message, miss: Miss) -> Step:
        """Answer what a server without the feature would, else leave it to the caller."""
        if message.method == DISCOVER:
            # As a server of the handshake era does; clients then fall back to it.
            return Step(lines=(failure(message.id, METHOD_NOT_FOUND, "Method not found"),))
        if message.method == SET_LEVEL:
            return Step(lines=(answer(message.id, result="{}"),))
        if message.method == INITIALIZE:
            found = self._matcher.take(self._server, DISCOVER, None)
            if isinstance(found, Hit):
                hit = negotiated(found, message)
                seed = self._seed(message)
                opened = Opened(number := self._number(), seed, None, None)
                return self._played(_Playing(number, message, seed, hit), [opened])
        asked = self._seed(message)
        return Step(missed=Missed(message, miss, explain(asked, miss)))

    def _played(self, playing: _Playing, facts: list[Fact]) -> Step:
        """Send what came before the answer, up to the next request of the server's."""
        lines: list[bytes] = []
        while playing.passages:
            passage = playing.passages.popleft()
            line = self._passage_line(passage, playing)
            if line is not None:
                lines.append(line)
            if passage.asked:
                self._waiting[self._last_asked()] = playing
                return Step(tuple(facts), tuple(lines))
        return self._finished(playing, facts, lines)

    def _finished(self, playing: _Playing, facts: list[Fact], lines: list[bytes]) -> Step:
        recorded = playing.hit.interaction
        if recorded.response is None and (recorded.cancelled or recorded.method == LISTEN):
            return Step(tuple(facts), tuple(lines))  # it stays open, as it did
        code = None if recorded.response else "sidecar.unanswered"
        asked = rounds(recorded.response.text) if recorded.response else None
        more = bool(asked and asked.asks_input and recorded.is_tool_call)
        if more and asked and asked.state:
            self._calls[asked.state] = playing.number
        done = playing.seed._replace(response=recorded.response)
        facts.append(Finished(playing.number, done, code, more_rounds=more))
        lines.append(_recorded_line(playing.id, recorded.response))
        return Step(tuple(facts), (*lines, *self._afterwards(playing)))

    def _afterwards(self, playing: _Playing) -> tuple[bytes, ...]:
        if playing.hit.again:
            return ()
        after = [item for item in playing.hit.interaction.after if item.method != PROGRESS]
        if playing.hit.interaction.method == INITIALIZE:
            self._until_initialized = after
            return ()
        return self._unasked(after)

    def _unasked(self, passages: list[Passage]) -> tuple[bytes, ...]:
        lines: list[bytes] = []
        for passage in passages:
            line = self._passage_line(passage, None)
            if line is not None:
                lines.append(line)
            if passage.asked:
                self._waiting[self._last_asked()] = None
        return tuple(lines)

    def _passage_line(self, passage: Passage, playing: _Playing | None) -> bytes | None:
        if passage.asked:
            self._asked_count += 1
            return ask(self._asked_text(), passage.method, passage.params)
        params = passage.params
        if passage.method == PROGRESS:
            token = progress_token(playing.params) if playing else None
            if token is None:
                return None
            params = join({"progressToken": token, **(members_of(params))})
        elif playing is not None and playing.seed.method == LISTEN:
            params = _with_subscription(params, playing.id)
        return notify(passage.method, params)

    def _replied(self, message: Message) -> Step:
        key = id_key(message.id)
        if key not in self._waiting:
            return Step()
        playing = self._waiting.pop(key)
        return self._played(playing, []) if playing is not None else Step()

    def _forget(self, message: Message) -> None:
        wanted = id_key(members_of(message.params).get("requestId"))
        for key, playing in list(self._waiting.items()):
            if playing is not None and id_key(playing.id) == wanted:
                del self._waiting[key]

    def _call_of(self, message: Message) -> int | None:
        state = rounds(message.params).state if message.method == TOOLS_CALL else None
        return self._calls.pop(state, None) if state else None

    def _seed(self, message: Message) -> Interaction:
        params = message.params
        if params is not None:
            params = self._masks.json_text(without_meta(params, VOLATILE_META))
        return Interaction(self._server, message.method or "", params, None)

    def _number(self) -> int:
        self._count += 1
        return self._count - 1

    def _asked_text(self) -> str:
        return f'"sidecar-{self._asked_count}"'

    def _last_asked(self) -> IdKey:
        return id_key(self._asked_text())


def _recorded_line(ident: str | None, response: Response | None) -> bytes:
    if response is None:
        return failure(ident, CONNECTION_CLOSED, "The server ended before it answered")
    return _answer_line(ident, response)


def _answer_line(ident: str | None, response: Response) -> bytes:
    if response.member == "error":
        return answer(ident, error=response.text)
    return answer(ident, result=response.text)


def _miss_result(params: str | None) -> str:
    era = '"resultType":"complete",' if modern_version(params) else ""
    return f'{{{era}"content":[{{"type":"text","text":"{MISS_TEXT}"}}],"isError":true}}'


def _with_subscription(params: str | None, ident: str | None) -> str:
    found = members_of(params)
    meta = members_of(found.get("_meta"))
    return join({**found, "_meta": join({**meta, META_SUBSCRIPTION: ident or "null"})})
