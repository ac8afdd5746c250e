"""Pairs what client and server say into interactions. It is fed, and answers with facts."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

from sidecar.cassette.facts import Fact, Finished, Noted, Opened, Passed, Phase
from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.cassette.multi_round import RoundLinks
from sidecar.cassette.subscriptions import Subscriptions, subscription_id
from sidecar.wire.json_text import join, without
from sidecar.wire.jsonrpc import IdKey, Message, id_key
from sidecar.wire.mcp import (
    ACKNOWLEDGED,
    CANCELLED,
    LISTEN,
    PROGRESS,
    TOOLS_CALL,
    VOLATILE_META,
    members_of,
    progress_token,
    without_meta,
)
from sidecar.wire.typed import Protocol

_MOST_TAKEN_BACK = 64
"""A late answer still counts, but most servers give none, and clients take back without end."""


class Masks(Protocol):
    """What takes secrets out of whatever is kept; a `Redactor`."""

    def json_text(self, text: str) -> str:
        """Return a JSON text with its secrets masked; the same object if it has none."""


class _Open:
    """An interaction that may still change; the only mutable value here."""

    __slots__ = (
        "after",
        "call",
        "cancelled",
        "during",
        "exchange",
        "http_status",
        "id",
        "key",
        "number",
        "response",
        "seed",
        "settled",
        "token",
    )

    def __init__(self, number: int, message: Message, seed: Interaction, call: int | None) -> None:
        self.number = number
        self.id = message.id or "null"
        self.key = id_key(message.id)
        self.seed = seed
        self.call = call
        self.exchange: Hashable = None
        self.http_status: int | None = None
        self.token: IdKey = None
        self.during: list[Passage] = []
        self.after: list[Passage] = []
        self.response: Response | None = None
        self.cancelled = False
        self.settled = False  # open, but what comes next is no longer about it

    def interaction(self) -> Interaction:
        return self.seed._replace(
            response=self.response,
            during=tuple(self.during),
            after=tuple(self.after),
            cancelled=self.cancelled and self.response is None,
            http_status=self.http_status,
        )


class Recorder:
    """Records one server's session.

    Requests and answers are paired by direction, id type and id; where one id is in
    flight twice, in order. What a server sends besides answers belongs to the call whose
    progress token it carries, else to the newest open request, else to the last one that
    was settled: `after` its answer, or `during` it where it was cancelled or is a listen;
    before any request, to the first.

    Over HTTP each request comes with an exchange of its own, which its answer and what is
    said on the way to it share: that is stronger than ids, which clients use twice (J05).
    """

    def __init__(self, server: str, masks: Masks) -> None:
        self._server = server
        self._masks = masks
        self._count = 0
        self._open: dict[IdKey, deque[_Open]] = {}
        self._order: list[_Open] = []  # open ones, oldest first
        self._taken_back: deque[_Open] = deque()  # those of the open ones, oldest first
        self._last: _Open | None = None  # the last settled one
        self._early: list[Passage] = []
        self._asked: dict[IdKey, deque[tuple[_Open | None, list[Passage], int]]] = {}
        self._rounds = RoundLinks()
        self._subscriptions = Subscriptions()

    @property
    def pending(self) -> tuple[str, ...]:
        """The ids, as spelt, of requests that the client still waits for.

        A `subscriptions/listen` is open for as long as its client likes, and is none.
        """
        return tuple(
            held.id for held in self._order if not held.cancelled and held.seed.method != LISTEN
        )

    def from_client(self, message: Message, exchange: Hashable = None) -> list[Fact]:
        """Take what the client said.

        Args:
            message: A message of its.
            exchange: Names the HTTP request that carried it; None over stdio.
        """
        if message.kind == "request":
            return [self._opened(message, exchange)]
        if message.kind == "response":
            return self._replied(message)
        if message.method == CANCELLED:
            return self._cancelled(message)
        return []

    def from_server(
        self, message: Message, exchange: Hashable = None, *, http_status: int | None = None
    ) -> list[Fact]:
        """Take what the server said.

        Args:
            message: A message of its.
            exchange: Names the HTTP request on whose response it came; None over stdio,
                and on a stream that belongs to no request.
            http_status: Of that response, where it is not the one that is prescribed for
                such an answer (`sidecar.wire.http_status`).
        """
        if message.kind == "response":
            return self._answered(message, exchange, http_status)
        if message.kind in ("request", "notification"):
            return self._passed(message, exchange)
        return []

    def gave_up(self, exchange: Hashable, *, http_status: int | None = None) -> list[Fact]:
        """Take the end of an exchange: what is open of it will not be answered any more.

        Args:
            exchange: As in `from_client`.
            http_status: Of the response that had no answer, if there was a response.
        """
        facts: list[Fact] = []
        for held in [held for held in self._order if held.exchange == exchange]:
            self._close(held)
            held.http_status = http_status
            facts.append(Finished(held.number, held.interaction(), more_rounds=False))
        return facts

    def ended(self) -> list[Fact]:
        """Take the end of the session: what is open stays without an answer."""
        facts: list[Fact] = [
            Finished(held.number, held.interaction(), more_rounds=False) for held in self._order
        ]
        self._order, self._open = [], {}
        self._taken_back.clear()
        return facts

    def _opened(self, message: Message, exchange: Hashable) -> Opened:
        params = None if message.params is None else self._kept_params(message.params)
        seed = Interaction(self._server, message.method or "", params, None)
        call = self._rounds.call_of(params) if message.method == TOOLS_CALL else None
        held = _Open(self._count, message, seed, call)
        held.exchange = exchange
        self._count += 1
        held.token = id_key(progress_token(message.params))
        held.during, self._early = self._early, []
        self._open.setdefault(held.key, deque()).append(held)
        self._order.append(held)
        if message.method == LISTEN:
            self._subscriptions.opened(held.id)
        return Opened(held.number, held.interaction() if held.during else seed, call)

    def _answered(
        self, message: Message, exchange: Hashable, http_status: int | None
    ) -> list[Fact]:
        waiting = self._open.get(id_key(message.id))
        if not waiting:
            return []
        own = (held for held in waiting if exchange is not None and held.exchange == exchange)
        # A cancelled request is not answered, unless no other has its id.
        oldest = next((held for held in waiting if not held.cancelled), waiting[0])
        held = next(own, oldest)
        self._close(held)
        self._last = held
        held.response = self._response(message)
        held.http_status = http_status
        if held.seed.method == LISTEN:
            text = self._subscriptions.recorded(held.response.text)
            held.response = held.response._replace(text=text)
        return [Finished(held.number, held.interaction(), self._goes_on(held))]

    def _close(self, held: _Open) -> None:
        waiting = self._open[held.key]
        waiting.remove(held)
        if not waiting:
            del self._open[held.key]
        self._order.remove(held)
        if held.cancelled:
            self._taken_back.remove(held)

    def _response(self, message: Message) -> Response:
        if message.error is not None:
            return Response("error", self._masks.json_text(message.error))
        return Response("result", self._masks.json_text(message.result or "null"))

    def _goes_on(self, held: _Open) -> bool:
        response = held.response
        if held.seed.method != TOOLS_CALL or response is None or response.member == "error":
            return False
        call = held.number if held.call is None else held.call
        return self._rounds.goes_on(held.seed.params, response.text, call)

    def _cancelled(self, message: Message) -> list[Fact]:
        wanted = members_of(message.params).get("requestId")
        waiting = self._open.get(id_key(wanted)) or ()
        held = next((held for held in waiting if not held.cancelled), None)
        if held is None:
            return []
        held.cancelled = True
        self._taken_back.append(held)
        self._settle(held)
        return [Noted(held.number, held.interaction()), *self._given_up()]

    def _given_up(self) -> list[Fact]:
        """Wait no longer for a late answer to what was taken back long ago."""
        if len(self._taken_back) <= _MOST_TAKEN_BACK:
            return []
        oldest = self._taken_back[0]
        self._close(oldest)
        return [Finished(oldest.number, oldest.interaction(), more_rounds=False)]

    def _settle(self, held: _Open) -> None:
        held.settled = True
        self._last = held

    def _passed(self, message: Message, exchange: Hashable) -> list[Fact]:
        held = self._owner(message, exchange)
        passage = Passage(
            message.method or "", self._passage_params(message), message.id is not None
        )
        if held is None and message.method == PROGRESS:
            return []  # of a request that nobody saw
        place = self._place(held)
        place.append(passage)
        if message.id is not None:
            waiting = self._asked.setdefault(id_key(message.id), deque())
            waiting.append((held, place, len(place) - 1))
        if held is not None and message.method == ACKNOWLEDGED:
            self._settle(held)
        return _told_after_answer(held, place, len(place) - 1)

    def _place(self, held: _Open | None) -> list[Passage]:
        if held is None:
            return self._early
        return held.during if held.response is None else held.after

    def _owner(self, message: Message, exchange: Hashable) -> _Open | None:
        if exchange is not None:
            own = (held for held in self._order if held.exchange == exchange)
            return next(own, self._last)
        if message.method == PROGRESS:
            token = id_key(members_of(message.params).get("progressToken"))
            named = (held for held in self._order if token is not None and held.token == token)
            return next(named, self._last)
        if message.method == ACKNOWLEDGED:
            ident = id_key(subscription_id(message.params))
            listens = (held for held in self._order if held.seed.method == LISTEN)
            return next((held for held in listens if id_key(held.id) == ident), self._last)
        running = (held for held in reversed(self._order) if not held.settled)
        return next(running, self._last)

    def _replied(self, message: Message) -> list[Fact]:
        waiting = self._asked.get(id_key(message.id))
        if not waiting:
            return []
        held, place, index = waiting.popleft()
        if not waiting:
            del self._asked[id_key(message.id)]
        place[index] = place[index]._replace(reply=self._response(message))
        return _told_after_answer(held, place, index)

    def _kept_params(self, params: str) -> str:
        return self._masks.json_text(without_meta(params, VOLATILE_META))

    def _passage_params(self, message: Message) -> str | None:
        if message.params is None:
            return None
        params = message.params
        if message.method == PROGRESS:
            params = without(params, ("progressToken",))
        elif message.method == CANCELLED:
            params = self._cancelled_params(params)
        return self._masks.json_text(self._subscriptions.recorded(params))

    def _cancelled_params(self, params: str) -> str:
        """Write a listen's place for its id; the id of a request of the server's goes."""
        found = members_of(params)
        place = self._subscriptions.place_of(found.pop("requestId", None))
        return join(found if place is None else {"requestId": place, **found})


def _told_after_answer(held: _Open | None, place: list[Passage], index: int) -> list[Fact]:
    if held is None or held.response is None:
        return []
    phase: Phase = "during" if place is held.during else "after"
    return [Passed(held.number, phase, index, place[index])]
