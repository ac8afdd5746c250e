"""Pairs what client and server say into interactions. It is fed, and answers with facts."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple, Protocol, TypeAlias

from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.wire.json_text import NotJsonError, join, members, without
from sidecar.wire.jsonrpc import IdKey, Message, id_key
from sidecar.wire.mcp import (
    CANCELLED,
    META_SUBSCRIPTION,
    PROGRESS,
    TOOLS_CALL,
    VOLATILE_META,
    members_of,
    progress_token,
    rounds,
)


class Masks(Protocol):
    """What takes secrets out of whatever is kept; a `Redactor`."""

    def json_text(self, text: str) -> str:
        """Return a JSON text with its secrets masked; the same object if it has none."""


class Opened(NamedTuple):
    """A request came. `call` is the number of the call that it goes on with, if it does."""

    number: int
    interaction: Interaction
    call: int | None


class Finished(NamedTuple):
    """A request was answered, or never will be. `more_rounds`: the call itself goes on."""

    number: int
    interaction: Interaction
    more_rounds: bool


class Noted(NamedTuple):
    """Something more came after the answer, or the request was cancelled."""

    number: int
    interaction: Interaction


Fact: TypeAlias = Opened | Finished | Noted


class _Open:
    """An interaction that may still change; the only mutable value here."""

    __slots__ = (
        "after",
        "call",
        "cancelled",
        "during",
        "id",
        "number",
        "response",
        "seed",
        "token",
    )

    def __init__(self, number: int, ident: str, seed: Interaction, call: int | None) -> None:
        self.number = number
        self.id = ident
        self.seed = seed
        self.call = call
        self.token: IdKey = None
        self.during: list[Passage] = []
        self.after: list[Passage] = []
        self.response: Response | None = None
        self.cancelled = False

    def interaction(self) -> Interaction:
        return self.seed._replace(
            response=self.response,
            during=tuple(self.during),
            after=tuple(self.after),
            cancelled=self.cancelled and self.response is None,
        )


class Recorder:
    """Records one server's session.

    Requests and answers are paired by direction, id type and id; where one id is in
    flight twice, in order. What a server sends besides answers belongs to the call whose
    progress token it carries, else to the newest open request, else to the last answered
    one (`after`); before any request, to the first.
    """

    def __init__(self, server: str, masks: Masks) -> None:
        self._server = server
        self._masks = masks
        self._count = 0
        self._open: dict[IdKey, deque[_Open]] = {}
        self._order: list[_Open] = []  # open ones, oldest first
        self._last: _Open | None = None  # the last answered one
        self._early: list[Passage] = []
        self._asked: dict[IdKey, deque[tuple[_Open | None, list[Passage], int]]] = {}
        self._states: dict[str, int] = {}  # requestState -> number of the call's first round

    @property
    def pending(self) -> tuple[str, ...]:
        """The ids, as spelt, of requests that the client still waits for."""
        return tuple(held.id for held in self._order if not held.cancelled)

    def from_client(self, message: Message) -> list[Fact]:
        """Take what the client said."""
        if message.kind == "request":
            return [self._opened(message)]
        if message.kind == "response":
            return self._replied(message)
        if message.method == CANCELLED:
            return self._cancelled(message)
        return []

    def from_server(self, message: Message) -> list[Fact]:
        """Take what the server said."""
        if message.kind == "response":
            return self._answered(message)
        if message.kind in ("request", "notification"):
            return self._passed(message)
        return []

    def ended(self) -> list[Fact]:
        """Take the end of the session: what is open stays without an answer."""
        facts: list[Fact] = [
            Finished(held.number, held.interaction(), more_rounds=False) for held in self._order
        ]
        self._order, self._open = [], {}
        return facts

    def _opened(self, message: Message) -> Opened:
        params = None if message.params is None else self._kept_params(message.params)
        seed = Interaction(self._server, message.method or "", params, None)
        call = None
        if message.method == TOOLS_CALL:
            state = rounds(message.params).state
            call = self._states.pop(state, None) if state else None
        held = _Open(self._count, message.id or "null", seed, call)
        self._count += 1
        held.token = id_key(progress_token(message.params))
        held.during, self._early = self._early, []
        self._open.setdefault(id_key(message.id), deque()).append(held)
        self._order.append(held)
        return Opened(held.number, held.interaction(), call)

    def _answered(self, message: Message) -> list[Fact]:
        waiting = self._open.get(id_key(message.id))
        if not waiting:
            return []
        held = waiting.popleft()
        if not waiting:
            del self._open[id_key(message.id)]
        self._order.remove(held)
        self._last = held
        if message.error is not None:
            held.response = Response("error", self._masks.json_text(message.error))
        else:
            held.response = Response("result", self._masks.json_text(message.result or "null"))
        return [Finished(held.number, held.interaction(), self._goes_on(held, message.result))]

    def _goes_on(self, held: _Open, result: str | None) -> bool:
        if held.seed.method != TOOLS_CALL or result is None:
            return False
        asked = rounds(result)
        if asked.asks_input and asked.state:
            self._states[asked.state] = held.number if held.call is None else held.call
        return asked.asks_input

    def _cancelled(self, message: Message) -> list[Fact]:
        wanted = members_of(message.params).get("requestId")
        waiting = self._open.get(id_key(wanted)) if wanted else None
        if not waiting:
            return []
        held = waiting[0]
        held.cancelled = True
        return [Noted(held.number, held.interaction())]

    def _passed(self, message: Message) -> list[Fact]:
        is_progress = message.method == PROGRESS
        token = members_of(message.params).get("progressToken") if is_progress else None
        passage = Passage(
            message.method or "", self._passage_params(message), message.id is not None
        )
        held = self._owner(id_key(token))
        if held is None:
            place = self._early
        else:
            place = held.after if held.response is not None else held.during
        place.append(passage)
        if message.id is not None:
            waiting = self._asked.setdefault(id_key(message.id), deque())
            waiting.append((held, place, len(place) - 1))
        return _noted_after_answer(held)

    def _owner(self, token: IdKey) -> _Open | None:
        for held in self._order:
            if token is not None and held.token == token:
                return held
        return self._order[-1] if self._order else self._last

    def _replied(self, message: Message) -> list[Fact]:
        waiting = self._asked.get(id_key(message.id))
        if not waiting:
            return []
        held, place, index = waiting.popleft()
        if message.error is not None:
            reply = Response("error", self._masks.json_text(message.error))
        else:
            reply = Response("result", self._masks.json_text(message.result or "null"))
        place[index] = place[index]._replace(reply=reply)
        return _noted_after_answer(held)

    def _kept_params(self, params: str) -> str:
        return self._masks.json_text(without_meta(params, VOLATILE_META))

    def _passage_params(self, message: Message) -> str | None:
        if message.params is None:
            return None
        params = message.params
        if message.method == PROGRESS:
            params = _without(params, ("progressToken",))
        return self._masks.json_text(without_meta(params, (META_SUBSCRIPTION,)))


def _noted_after_answer(held: _Open | None) -> list[Fact]:
    if held is None or held.response is None:
        return []
    return [Noted(held.number, held.interaction())]


def without_meta(params: str, names: tuple[str, ...]) -> str:
    """Take members out of `_meta`, and `_meta` itself where nothing is left in it.

    Args:
        params: The JSON text of a message's params.
        names: Members of `_meta` that are not kept.

    Returns:
        The same text if it has none of them.
    """
    if '"_meta"' not in params:
        return params
    try:
        found = members(params) or {}
        meta = found.get("_meta")
        kept = meta and without(meta, names)
    except NotJsonError:
        return params
    if kept is None or kept == meta:
        return params
    if kept == "{}":
        return without(params, ("_meta",))
    return join({**found, "_meta": kept})


def _without(params: str, names: tuple[str, ...]) -> str:
    try:
        return without(params, names)
    except NotJsonError:
        return params
