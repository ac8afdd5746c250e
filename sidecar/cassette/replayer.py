"""Answers a client from a cassette. It is fed, and answers with facts and lines.

Notifications and the server's own requests come before the answer, as they did when it
was recorded; the answer waits for the client's to each of those requests.
"""

from __future__ import annotations

from collections import deque

from sidecar.cassette.eras import Crossing, crossing, is_modern, missing_in, obstacle, translated
from sidecar.cassette.facts import Fact, Finished, Opened
from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.cassette.matcher import Hit, Matcher, Miss
from sidecar.cassette.misses import explain
from sidecar.cassette.multi_round import RoundLinks
from sidecar.cassette.negotiation import discovered, negotiated
from sidecar.cassette.outcome import FIXTURE_MISS
from sidecar.cassette.subscriptions import Subscriptions, subscription_id
from sidecar.wire.json_text import JsonValue, join
from sidecar.wire.jsonrpc import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NO_RECORDING,
    IdKey,
    Message,
    answer,
    ask,
    failure,
    id_key,
    notify,
)
from sidecar.wire.mcp import (
    ACKNOWLEDGED,
    CANCELLED,
    DISCOVER,
    INITIALIZE,
    INITIALIZED,
    LISTEN,
    MODERN_VERSION,
    PING,
    PROGRESS,
    SET_LEVEL,
    TOOLS_CALL,
    UNSUPPORTED_VERSION,
    members_of,
    modern_version,
    progress_token,
)
from sidecar.wire.typed import NamedTuple

MISS_TEXT = "No recorded answer for this tool call."
"""The fixed text of a miss: short, and the same for every call (RFC 0244 §D, R37)."""


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
        status: Of an answer: the id of its request, and the HTTP status that was recorded;
            None where that is the one which is prescribed.
    """

    facts: tuple[Fact, ...] = ()
    lines: tuple[bytes, ...] = ()
    missed: Missed | None = None
    status: tuple[str | None, int] | None = None


class _Playing:
    """A request whose answer waits for the client's replies; the only mutable value here."""

    __slots__ = ("asked", "call", "hit", "id", "number", "params", "passages", "seed")

    def __init__(self, opened: Opened, message: Message, hit: Hit) -> None:
        self.number = opened.number
        self.call = opened.number if opened.call is None else opened.call
        self.id = message.id
        self.params = message.params
        self.seed = opened.interaction
        self.hit = hit
        self.asked: str | None = None  # the id of our last request
        during = hit.interaction.during
        if hit.again:  # a listen that is served again is still acknowledged
            during = tuple(passage for passage in during if passage.method == ACKNOWLEDGED)
        self.passages = deque(during)


class Replayer:
    """Replays one server's part of a cassette to one client."""

    def __init__(self, server: str, matcher: Matcher) -> None:
        self._server = server
        self._matcher = matcher
        self._count = 0
        self._asked_count = 0
        self._waiting: dict[IdKey, _Playing | None] = {}  # by the id of our own request
        self._rounds = RoundLinks()
        self._subscriptions = Subscriptions()
        self._until_initialized: list[Passage] = []
        self._is_pinned = False  # the client spoke modern without asking whether it may
        self._protocols: frozenset[str] | None = None

    def from_client(self, message: Message) -> Step:
        """Take one message of the client."""
        if message.kind == "request":
            return self._requested(message)
        if message.kind == "response":
            return self._replied(message)
        if message.kind == "notification":
            return self._notified(message)
        return Step(lines=(failure(message.id, INVALID_REQUEST, "Not a JSON-RPC message"),))

    def _notified(self, message: Message) -> Step:
        if message.method == CANCELLED:
            return self._cancelled(message)
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
            text = f'{{"code":{NO_RECORDING},"message":"No recorded answer for this request"}}'
            response = Response("error", text)
        facts = (
            Opened(number, seed, self._call_of(message)),
            Finished(
                number,
                seed._replace(response=response),
                error_code=FIXTURE_MISS,
                missed=missed.explanation,
            ),
        )
        return Step(facts, (_answer_line(message.id, response),))

    def _requested(self, message: Message) -> Step:
        if message.method == PING and not is_modern(message.params):
            return Step(lines=(answer(message.id, result="{}"),))
        if is_modern(message.params):
            refused = self._unknown_version(message)
            if refused is not None:
                return refused
            self._is_pinned |= message.method != DISCOVER
        seed = self._seed(message)
        taken = self._matcher.take(self._server, seed.method, seed.params)
        if isinstance(taken, Miss):
            return self._unrecorded(message, seed, taken)
        if message.method == DISCOVER and taken.interaction.is_error and self._is_pinned:
            return self._translated_negotiation(message, seed) or self._hit(message, seed, taken)
        way = crossing(taken.interaction, message.params)
        found = (message, seed, taken)
        return self._hit(*found) if way is None else self._crossed(*found, way)

    def _unknown_version(self, message: Message) -> Step | None:
        """Refuse a revision that neither we nor the recorded server speak (H16)."""
        requested = modern_version(message.params)
        if requested == MODERN_VERSION:
            return None
        if self._protocols is None:
            self._protocols = self._matcher.protocols(self._server)
        if requested in self._protocols:
            return None
        data: JsonValue = {
            "supported": sorted({MODERN_VERSION, *self._protocols}),
            "requested": requested,
        }
        text = "Unsupported protocol version"
        return Step(lines=(failure(message.id, UNSUPPORTED_VERSION, text, data),))

    def _hit(self, message: Message, seed: Interaction, taken: Hit) -> Step:
        hit = negotiated(taken, message)
        number = self._number()
        if message.method == LISTEN:
            self._subscriptions.opened(message.id or "null", _place_of(hit.interaction))
        entry = None if hit.again else hit.entry
        opened = Opened(number, seed, self._call_of(message), entry)
        return self._played(_Playing(opened, message, hit), [opened])

    def _crossed(self, message: Message, seed: Interaction, taken: Hit, way: Crossing) -> Step:
        """Answer from a recording of the other era, if that can be."""
        hindered = obstacle(taken.interaction, way)
        if hindered is None:
            fitted = translated(taken.interaction, way, message.params)
            return self._hit(message, seed, taken._replace(interaction=fitted))
        if not taken.again:
            self._matcher.give_back(taken.entry)
        return _missed(message, seed, Miss("other-era", taken.entry, obstacle=hindered))

    def _unrecorded(self, message: Message, seed: Interaction, miss: Miss) -> Step:
        """Answer what a server without the feature would, else leave it to the caller."""
        if message.method == SET_LEVEL:
            return Step(lines=(answer(message.id, result="{}"),))
        translated_step = self._translated_negotiation(message, seed)
        if translated_step is not None:
            return translated_step
        if message.method in (DISCOVER, PING):
            # As a server of the other era does; clients then fall back to the handshake.
            return Step(lines=(failure(message.id, METHOD_NOT_FOUND, "Method not found"),))
        hindered = missing_in(message.method or "", message.params)
        if hindered is not None and miss.reason == "not-recorded":
            miss = Miss("other-era", obstacle=hindered)
        return _missed(message, seed, miss)

    def _translated_negotiation(self, message: Message, seed: Interaction) -> Step | None:
        """Answer a negotiation by a recorded one of the other era; None if that is not it.

        A client that begins with `server/discover` may know the handshake, too, and then
        speaks as was recorded; so only one that does not is told in its own words.
        """
        if message.method == INITIALIZE:
            found = self._matcher.look(self._server, DISCOVER)
        elif message.method == DISCOVER and self._is_pinned:
            initialize = self._matcher.look(self._server, INITIALIZE)
            found = None if initialize is None else discovered(initialize)
        else:
            return None
        if found is None or found.response is None:
            return None
        opened = Opened(self._number(), seed)
        hit = negotiated(Hit(-1, found, again=True), message)
        return self._played(_Playing(opened, message, hit), [opened])

    def _played(self, playing: _Playing, facts: list[Fact]) -> Step:
        """Send what came before the answer, up to the next request of the server's."""
        lines: list[bytes] = []
        while playing.passages:
            passage = playing.passages.popleft()
            lines += self._passage_lines(passage, playing)
            if passage.asked:
                # Where the client never replied, the server did not wait for it either.
                waits = passage.reply is not None
                self._waiting[id_key(playing.asked)] = playing if waits else None
                if waits:
                    return Step(tuple(facts), tuple(lines))
        return self._finished(playing, facts, lines)

    def _finished(self, playing: _Playing, facts: list[Fact], lines: list[bytes]) -> Step:
        recorded = playing.hit.interaction
        response = recorded.response
        if response is None and (recorded.cancelled or recorded.method == LISTEN):
            # It stays open, as it did.
            return Step((*facts, _unanswered(playing)), tuple(lines))
        more = False
        if response is not None and response.member == "result" and recorded.is_tool_call:
            more = self._rounds.goes_on(playing.params, response.text, playing.call)
        elif response is not None and recorded.method == LISTEN:
            text = self._subscriptions.replayed(response.text) or response.text
            response = response._replace(text=text)
        done = playing.seed._replace(response=response)
        facts.append(Finished(playing.number, done, more_rounds=more))
        lines.append(_recorded_line(playing.id, response))
        status = None if recorded.http_status is None else (playing.id, recorded.http_status)
        return Step(tuple(facts), (*lines, *self._afterwards(playing)), status=status)

    def _afterwards(self, playing: _Playing) -> tuple[bytes, ...]:
        if playing.hit.again:
            return ()
        after = list(playing.hit.interaction.after)
        if playing.hit.interaction.method == INITIALIZE:
            self._until_initialized = after
            return ()
        return self._unasked(after)

    def _unasked(self, passages: list[Passage]) -> tuple[bytes, ...]:
        """Send what came between requests; nothing waits for replies to it."""
        lines: list[bytes] = []
        for passage in passages:
            lines += self._passage_lines(passage, None)
        return tuple(lines)

    def _passage_lines(self, passage: Passage, playing: _Playing | None) -> list[bytes]:
        if passage.asked:
            self._asked_count += 1
            ident = f'"sidecar-{self._asked_count}"'
            self._waiting[id_key(ident)] = None
            if playing is not None:
                playing.asked = ident
            return [ask(ident, passage.method, passage.params)]
        fitted = self._fitted(passage, playing)
        return [] if fitted is None else [notify(fitted.method, fitted.params)]

    def _fitted(self, passage: Passage, playing: _Playing | None) -> Passage | None:
        """Fit a notification to this client's tokens and ids; None if it is not meant by it."""
        if passage.params is None:
            return passage
        found = members_of(passage.params)
        if passage.method == PROGRESS:  # none without a token, none after the answer (J10)
            name, ident = "progressToken", progress_token(playing.params) if playing else None
        elif passage.method == CANCELLED:
            name, ident = "requestId", self._taken_back(found.get("requestId"), playing)
        else:
            params = self._subscriptions.replayed(passage.params)
            return None if params is None else passage._replace(params=params)
        if ident is None:
            return None
        return passage._replace(params=join({**found, name: ident}))

    def _taken_back(self, place: str | None, playing: _Playing | None) -> str | None:
        """Find the id of what the server takes back: a listen, or its own last request."""
        if place is not None:
            return self._subscriptions.id_at(place)
        return playing.asked if playing else None

    def _replied(self, message: Message) -> Step:
        playing = self._waiting.pop(id_key(message.id), None)
        return self._played(playing, []) if playing is not None else Step()

    def _cancelled(self, message: Message) -> Step:
        """Take a request back: one that waits for replies of the client is not answered."""
        ident = members_of(message.params).get("requestId")
        self._subscriptions.closed(ident)
        for key, playing in self._waiting.items():
            if playing is not None and id_key(playing.id) == id_key(ident):
                self._waiting[key] = None  # its reply is still ours
                playing.seed = playing.seed._replace(cancelled=True)
                return Step((_unanswered(playing),))
        return Step()

    def _call_of(self, message: Message) -> int | None:
        return self._rounds.call_of(message.params) if message.method == TOOLS_CALL else None

    def _seed(self, message: Message) -> Interaction:
        params = self._matcher.kept(message.params)
        return Interaction(self._server, message.method or "", params, None)

    def _number(self) -> int:
        self._count += 1
        return self._count - 1


def _missed(message: Message, seed: Interaction, miss: Miss) -> Step:
    return Step(missed=Missed(message, miss, explain(seed, miss)))


def _place_of(listen: Interaction) -> str | None:
    acknowledged = (item.params for item in listen.during if item.method == ACKNOWLEDGED)
    return subscription_id(next(acknowledged, None))


def _unanswered(playing: _Playing) -> Finished:
    seed = playing.seed
    cancelled = seed.cancelled or playing.hit.interaction.cancelled
    return Finished(playing.number, seed._replace(cancelled=cancelled))


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
