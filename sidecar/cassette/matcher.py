"""Which recorded interaction answers a request: the first unconsumed one that matches.

Tool calls are consumed, once each, in recorded order (RFC 0244 §D, R36). Every other
request is surface: repeated ones walk the recorded answers, and the last is served again.
An index keeps loading and replaying linear in the number of interactions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from sidecar.cassette.arguments import ABSENT, Absent, Difference, canonical, differences, matches
from sidecar.cassette.interaction import Interaction
from sidecar.cassette.placeholders import MARK, unify
from sidecar.cassette.recorder import Masks
from sidecar.wire.json_text import JsonValue, NotJsonError, join, parse, without
from sidecar.wire.jsonrpc import INVALID_PARAMS
from sidecar.wire.mcp import (
    DISCOVER,
    HEADER_MISMATCH,
    INITIALIZE,
    META_REQUIRED,
    META_VERSION,
    TOOLS_CALL,
    UNSUPPORTED_VERSION,
    members_of,
    modern_version,
    read_tool_call,
    rounds,
)

MissReason: TypeAlias = Literal[
    "unknown-tool", "arguments-differ", "used-up", "not-recorded", "other-era"
]

_OF_TRANSPORT = (str(HEADER_MISMATCH), str(UNSUPPORTED_VERSION))
_NEGOTIATION = (INITIALIZE, DISCOVER)  # matched by method alone: the client's own facts vary
_FORMS = ("call", "round")  # a call's first round; a later one, which only its like answers
_NEAREST_OF = 200  # entries that are compared to name the nearest; bounds the cost of a miss


class Hit(NamedTuple):
    """A recording answers the request.

    Attributes:
        entry: The entry's place among the cassette's interactions.
        interaction: The entry itself.
        again: Whether a surface entry is served again after it was used up.
    """

    entry: int
    interaction: Interaction
    again: bool = False


class Miss(NamedTuple):
    """No recording answers the request.

    Attributes:
        reason: Why.
        nearest: The place of the entry that comes closest, or None.
        differences: Where the request differs from that entry.
        obstacle: What an entry of the other protocol era has that the client cannot be told.
    """

    reason: MissReason
    nearest: int | None = None
    differences: tuple[Difference, ...] = ()
    obstacle: str = ""


class _Asked(NamedTuple):
    """A request in the form in which it is compared."""

    key: tuple[str, ...]
    arguments: JsonValue | Absent
    text: str


class _Pool:
    """The entries of one key: exact ones by their canonical text, loose ones by a leaf."""

    __slots__ = ("all", "exact", "inexact", "leaves", "loose", "plain")

    def __init__(self) -> None:
        self.all: list[int] = []
        self.inexact: list[int] = []
        self.exact: dict[str, deque[int]] = {}
        self.loose: list[tuple[int, list[str]]] = []  # subset entries and their leaves
        self.leaves: dict[str, list[int]] = {}  # built at the first look
        self.plain: deque[int] = deque()  # `ignore`, and `{}` as a subset: they fit anything

    def copy(self) -> _Pool:
        """Give one more, as long as nothing was taken of this one."""
        other = _Pool()
        other.all, other.inexact, other.loose = self.all, self.inexact, self.loose
        other.exact = {text: deque(queue) for text, queue in self.exact.items()}
        other.plain = deque(self.plain)
        return other


class Matcher:
    """Finds, and consumes, the entries of one or more servers.

    Args of the constructor:
        interactions: All of the cassette's; those never answered count too.
        masks: The redactor that recordings went through; requests and entries go through
            it before they are compared, so a secret that changed still matches.
    """

    def __init__(self, interactions: Sequence[Interaction], masks: Masks) -> None:
        self._interactions = interactions
        self._masks = masks
        self._consumed = bytearray(len(interactions))
        self._asked: list[_Asked] = []
        self._pools: dict[tuple[str, ...], _Pool] = {}
        self._last_surface: dict[tuple[tuple[str, ...], str], int] = {}
        for index, interaction in enumerate(interactions):
            self._add(index, interaction)

    def take(self, server: str, method: str, params: str | None) -> Hit | Miss:
        """Find the entry that answers a request, and consume it.

        Args:
            server: The server that the request is for.
            method: Its method.
            params: The text of its params, as the client spelt it; None where absent.
        """
        asked = self._read(server, method, params)
        pool = self._pools.get(asked.key)
        index = self._first(pool, asked) if pool else None
        if index is not None:
            self.consume(index)
            if method != TOOLS_CALL:
                self._last_surface[(asked.key, asked.text)] = index
            return Hit(index, self._interactions[index])
        if method != TOOLS_CALL:
            again = self._last_surface.get((asked.key, asked.text))
            if again is not None:
                return Hit(again, self._interactions[again], again=True)
        return self._missed(asked, pool, method)

    def consume(self, index: int) -> None:
        """Mark an entry as served, by this process or by another one of the run."""
        if index < len(self._consumed):
            self._consumed[index] = 1
            interaction = self._interactions[index]
            if not interaction.is_tool_call:
                asked = self._asked[index]
                self._last_surface.setdefault((asked.key, asked.text), index)

    def fresh(self) -> Matcher:
        """Give one more over the same entries, as long as nothing was taken of this one.

        What costs most of the time, to read and to mask the entries, is not done again.
        """
        other = Matcher((), self._masks)
        other._interactions, other._asked = self._interactions, self._asked
        other._consumed = bytearray(self._consumed)  # its own kind's
        other._pools = {key: pool.copy() for key, pool in self._pools.items()}
        return other

    def give_back(self, index: int) -> None:
        """Take it that the entry that `take` just gave was not served after all."""
        self._consumed[index] = 0

    def look(self, server: str, method: str) -> Interaction | None:
        """Find the first result of a surface method, whatever was asked; nothing is consumed."""
        for index in self._pools.get((server, method), _Pool()).all:
            if not self._interactions[index].is_error:
                return self._interactions[index]
        return None

    def protocols(self, server: str) -> frozenset[str]:
        """List the modern revisions that a server's requests were recorded with, and taken."""
        found = (
            modern_version(item.params)
            for item in self._interactions
            if item.server == server and not _is_of_transport(item)
        )
        return frozenset(version for version in found if version)

    def leftover(self) -> tuple[int, ...]:
        """List the tool calls that were not asked for, by their places."""
        return tuple(
            index
            for index, interaction in enumerate(self._interactions)
            if interaction.is_tool_call and not self._consumed[index]
        )

    def _add(self, index: int, interaction: Interaction) -> None:
        asked = self._read(interaction.server, interaction.method, interaction.params)
        self._asked.append(asked)
        if _is_of_transport(interaction):
            self._consumed[index] = 1
            return
        pool = self._pools.setdefault(asked.key, _Pool())
        pool.all.append(index)
        how = interaction.args_match if interaction.is_tool_call else "exact"
        if how == "exact" or (how == "subset" and isinstance(asked.arguments, Absent)):
            pool.exact.setdefault(asked.text, deque()).append(index)
            return
        pool.inexact.append(index)
        leaves = list(_leaves(asked.arguments)) if how == "subset" else []
        if leaves:
            pool.loose.append((index, leaves))
        else:
            pool.plain.append(index)

    def _read(self, server: str, method: str, params: str | None) -> _Asked:
        if method == TOOLS_CALL:
            return self._read_call(server, params)
        if params is None or method in _NEGOTIATION:
            return _Asked((server, method), {}, "{}")
        return self._asked_for((server, method), without(params, ("_meta",)))

    def _read_call(self, server: str, params: str | None) -> _Asked:
        call = read_tool_call(params)
        linked = rounds(params)
        if linked.state is None and linked.responses is None:
            return self._asked_for((server, call.name, "call"), call.arguments)
        parts = {
            "arguments": call.arguments,
            "inputResponses": linked.responses or "null",
            "requestState": linked.state or "null",
        }
        return self._asked_for((server, call.name, "round"), join(parts))

    def _asked_for(self, key: tuple[str, ...], text: str) -> _Asked:
        masked = self._masks.json_text(text)
        try:
            value = parse(masked)
            if MARK in masked:
                value = unify(value)
            return _Asked(key, value, canonical(value))
        except (NotJsonError, RecursionError):  # too deep to compare: equal to the same text
            return _Asked(key, ABSENT, masked)

    def _first(self, pool: _Pool, asked: _Asked) -> int | None:
        candidates = [
            self._first_unconsumed(pool.exact.get(asked.text)),
            self._first_unconsumed(pool.plain),
            self._first_loose(pool, asked),
        ]
        return min((index for index in candidates if index is not None), default=None)

    def _first_unconsumed(self, queue: deque[int] | None) -> int | None:
        while queue and self._consumed[queue[0]]:
            queue.popleft()
        return queue[0] if queue else None

    def _first_loose(self, pool: _Pool, asked: _Asked) -> int | None:
        if pool.loose and not pool.leaves:
            _index_leaves(pool)
        found: int | None = None
        for leaf in _leaves(asked.arguments) if pool.leaves else ():
            bucket = pool.leaves.get(leaf, [])
            while bucket and self._consumed[bucket[-1]]:
                bucket.pop()
            for index in reversed(bucket):
                if found is not None and index > found:
                    break
                if self._fits(index, asked):
                    found = index
                    break
        return found

    def _fits(self, index: int, asked: _Asked) -> bool:
        return not self._consumed[index] and self._fits_if_unused(index, asked)

    def _fits_if_unused(self, index: int, asked: _Asked) -> bool:
        how = self._interactions[index].args_match
        return matches(how, self._asked[index].arguments, asked.arguments)

    def _missed(self, asked: _Asked, pool: _Pool | None, method: str) -> Miss:
        if method != TOOLS_CALL:
            return Miss("not-recorded")
        if pool is None:
            server, name, _ = asked.key
            known = (self._pools.get((server, name, form)) for form in _FORMS)
            nearest = next((pool.all[0] for pool in known if pool), None)
            return Miss("unknown-tool" if nearest is None else "arguments-differ", nearest)
        if asked.text in pool.exact or any(self._fits_if_unused(i, asked) for i in pool.inexact):
            return Miss("used-up")
        nearest, found = self._nearest(pool, asked)
        return Miss("arguments-differ", nearest, found)

    def _nearest(self, pool: _Pool, asked: _Asked) -> tuple[int, tuple[Difference, ...]]:
        unused = [index for index in pool.all if not self._consumed[index]]
        return min(
            (
                (index, self._differences(index, asked))
                for index in (unused or pool.all)[:_NEAREST_OF]
            ),
            key=lambda item: len(item[1]),
        )

    def _differences(self, index: int, asked: _Asked) -> tuple[Difference, ...]:
        recorded = self._asked[index].arguments
        unread = isinstance(recorded, Absent)
        how = "exact" if unread else self._interactions[index].args_match
        return differences(how, recorded, asked.arguments)


def _is_of_transport(interaction: Interaction) -> bool:
    """Tell whether an answer was about a request's headers or `_meta`, which never match.

    Whoever asks again in the same way is told the same by rule; another request, which the
    matcher could not tell from it, is not.
    """
    response = interaction.response
    if response is None or response.member == "result":
        return False
    code = members_of(response.text).get("code")
    meta = members_of(members_of(interaction.params).get("_meta"))
    if code == str(INVALID_PARAMS):
        is_modern = interaction.method == DISCOVER or not meta.keys().isdisjoint(META_REQUIRED)
        return is_modern and not meta.keys() >= set(META_REQUIRED)
    return code in _OF_TRANSPORT and META_VERSION in meta


def _leaves(value: JsonValue | Absent, pointer: str = "") -> Iterator[str]:
    """List a value's key paths with what stands there; objects are entered, as in R5a-d.

    What contains a value has all of the value's leaves, and more; only `{}` has none.
    """
    if isinstance(value, Absent):
        return
    if not isinstance(value, dict):
        yield f"{pointer}={canonical(value)}"
        return
    if pointer:
        yield f"{pointer}={{"  # a nested object, be it empty
    for name, item in value.items():
        yield from _leaves(item, f"{pointer}/{name}")


def _index_leaves(pool: _Pool) -> None:
    """File each subset entry under its rarest leaf: whatever holds it has that leaf too."""
    counts: dict[str, int] = {}
    for _, leaves in pool.loose:
        for leaf in leaves:
            counts[leaf] = counts.get(leaf, 0) + 1
    for index, leaves in reversed(pool.loose):  # so that the first entry is the last item
        rarest = min(leaves, key=counts.__getitem__)
        pool.leaves.setdefault(rarest, []).append(index)
