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
from sidecar.cassette.recorder import Masks
from sidecar.cassette.redaction import unify
from sidecar.wire.json_text import JsonValue, NotJsonError, parse
from sidecar.wire.mcp import DISCOVER, INITIALIZE, TOOLS_CALL, Rounds, read_tool_call, rounds

MissReason: TypeAlias = Literal["unknown-tool", "arguments-differ", "used-up", "not-recorded"]

_NEGOTIATION = (INITIALIZE, DISCOVER)  # matched by method alone: the client's own facts vary
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
    """

    reason: MissReason
    nearest: int | None = None
    differences: tuple[Difference, ...] = ()


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
        self.plain: deque[int] = deque()  # entries whose arguments are not compared


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
        pool = self._pools.setdefault(asked.key, _Pool())
        pool.all.append(index)
        if interaction.args_match == "exact" or not interaction.is_tool_call:
            pool.exact.setdefault(asked.text, deque()).append(index)
            return
        pool.inexact.append(index)
        leaves = list(_leaves(asked.arguments)) if interaction.args_match == "subset" else []
        if leaves:
            pool.loose.append((index, leaves))
        else:
            pool.plain.append(index)

    def _read(self, server: str, method: str, params: str | None) -> _Asked:
        try:
            if method == TOOLS_CALL:
                return self._read_call(server, params)
            return self._read_surface(server, method, params)
        except NotJsonError:  # deeper than Python reads: equal only to the same text
            return _Asked((server, method), ABSENT, params or "")

    def _read_call(self, server: str, params: str | None) -> _Asked:
        call = read_tool_call(params)
        linked = rounds(params)
        arguments = self._value(call.arguments)
        text = canonical(arguments)
        if linked.state or linked.responses:
            text = f"{text} {self._round_text(linked)}"
            return _Asked((server, TOOLS_CALL, call.name, "round"), arguments, text)
        return _Asked((server, TOOLS_CALL, call.name), arguments, text)

    def _round_text(self, linked: Rounds) -> str:
        parts = (linked.state or "null", linked.responses or "null")
        return " ".join(canonical(self._value(part)) for part in parts)

    def _read_surface(self, server: str, method: str, params: str | None) -> _Asked:
        key = (server, method)
        if params is None or method in _NEGOTIATION:
            return _Asked(key, {}, "{}")
        arguments = self._value(params)
        if isinstance(arguments, dict):
            arguments = {name: item for name, item in arguments.items() if name != "_meta"}
        return _Asked(key, arguments, canonical(arguments))

    def _value(self, text: str) -> JsonValue:
        masked = self._masks.json_text(text)
        value = parse(masked)
        return unify(value) if "[REDACTED" in masked else value

    def _first(self, pool: _Pool, asked: _Asked) -> int | None:
        candidates = [
            self._first_unconsumed(pool.exact.get(asked.text)),
            self._first_plain(pool, asked),
            self._first_loose(pool, asked),
        ]
        return min((index for index in candidates if index is not None), default=None)

    def _first_unconsumed(self, queue: deque[int] | None) -> int | None:
        while queue and self._consumed[queue[0]]:
            queue.popleft()
        return queue[0] if queue else None

    def _first_plain(self, pool: _Pool, asked: _Asked) -> int | None:
        # Entries whose arguments are ignored match anything; `{}` as a subset does too.
        # A scalar or an array as a subset is compared whole.
        while pool.plain and self._consumed[pool.plain[0]]:
            pool.plain.popleft()
        return next((index for index in pool.plain if self._fits(index, asked)), None)

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
            return Miss("unknown-tool")
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
        how = self._interactions[index].args_match
        return differences(how, self._asked[index].arguments, asked.arguments)


def _leaves(value: JsonValue | Absent, pointer: str = "") -> Iterator[str]:
    """List a value's key paths with what stands there; objects are entered, as in R5a."""
    if isinstance(value, Absent):
        return
    if not isinstance(value, dict):
        yield f"{pointer}={canonical(value)}"
        return
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
