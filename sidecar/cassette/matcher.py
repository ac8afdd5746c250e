"""Which recorded interaction answers a request: the first unconsumed one that matches.

Tool calls are consumed, once each, in recorded order (RFC 0244 §D, R36). Every other
request is surface: repeated ones walk the recorded answers, and the last is served again.
Where sessions are told apart, each is served the calls of one recorded session first.
What was recorded from clients of the asking one's era comes before that of the other.
An index keeps loading and replaying linear in the number of interactions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from sidecar.cassette.arguments import (
    ABSENT,
    Absent,
    Difference,
    by_rarest_leaf,
    canonical,
    differences,
    leaves,
    matches,
)
from sidecar.cassette.eras import is_modern
from sidecar.cassette.interaction import Interaction
from sidecar.cassette.masked_arguments import ANYWHERE, fits, in_clear
from sidecar.cassette.outcome import is_of_transport
from sidecar.cassette.pool import Pool
from sidecar.cassette.redaction.placeholders import MARK, unify
from sidecar.wire.json_text import JsonValue, NotJsonError, join, parse, without
from sidecar.wire.mcp import (
    DISCOVER,
    INITIALIZE,
    TOOLS_CALL,
    VOLATILE_META,
    modern_version,
    read_tool_call,
    rounds,
    without_meta,
)
from sidecar.wire.typed import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from sidecar.cassette.recorder import Masks

MissReason: TypeAlias = Literal[
    "unknown-tool", "arguments-differ", "used-up", "not-recorded", "other-era"
]

Choose: TypeAlias = Callable[[Sequence[int]], int]
"""Chooses a session's own of the recorded ones, in order, that begin with its first call."""

_NEGOTIATION = (INITIALIZE, DISCOVER)  # matched by method alone: the client's own facts vary
_ERAS = ("handshake", "modern")  # the last of a key
_FORMS = ("call", "round")  # a call's first round; a later one, which only its like answers
_MASKED = "masked"  # where entries stand once more that may answer what they hold masked
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

    @property
    def crossed(self) -> _Asked:
        """The same, as a client of the other era would ask."""
        era = _ERAS[self.key[-1] == _ERAS[0]]
        return self._replace(key=(*self.key[:-1], era))


_Fits: TypeAlias = Callable[[int, _Asked], bool]


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
        self._pools: dict[tuple[str, ...], Pool] = {}
        self._last_surface: dict[tuple[tuple[str, ...], str], int] = {}
        self._choose: Choose | None = None  # until a session's own is chosen
        self._own: int | None = None
        self._elsewhere: list[int] = []  # served to other sessions before that
        for index, interaction in enumerate(interactions):
            self._add(index, interaction)

    def take(self, server: str, method: str, params: str | None) -> Hit | Miss:
        """Find the entry that answers a request, and consume it.

        Args:
            server: The server that the request is for.
            method: Its method.
            params: The text of its params, as `kept` returns it; None where absent.
        """
        asked = self._read(server, method, params)
        found = self._taken(asked, method) or self._taken(asked.crossed, method)
        return found or self._missed(asked, method)

    def kept(self, params: str | None) -> str | None:
        """Return a request's params as they are kept: masked, without what names one request."""
        if params is None:
            return None
        return self._masks.json_text(without_meta(params, VOLATILE_META))

    def _taken(self, asked: _Asked, method: str) -> Hit | None:
        pool = self._pools.get(asked.key)
        if pool and self._choose and method == TOOLS_CALL:
            self._begin(self._choose, pool, asked)
        index = self._first(pool, asked) if pool else None
        if index is not None:
            self._use(index)
            if method != TOOLS_CALL:
                self._last_surface[(asked.key, asked.text)] = index
            return Hit(index, self._interactions[index])
        if method != TOOLS_CALL:
            again = self._last_surface.get((asked.key, asked.text))
            if again is not None:
                return Hit(again, self._interactions[again], again=True)
        return None

    def consume(self, index: int) -> None:
        """Mark an entry as served by another process, or another session, of the run.

        To a session, only what it may have after its own and all later ones is used up so:
        the calls of earlier recorded sessions.
        """
        if self._choose is not None:
            self._elsewhere.append(index)
        elif index < len(self._consumed) and (self._own is None or self._place(index)[0]):
            self._use(index)

    def _use(self, index: int) -> None:
        self._consumed[index] = 1
        if not self._interactions[index].is_tool_call:
            asked = self._asked[index]
            self._last_surface.setdefault((asked.key, asked.text), index)

    def fresh(self, choose: Choose | None = None) -> Matcher:
        """Give one more over the same entries, as long as nothing was taken of this one.

        What costs most of the time, to read and to mask the entries, is not done again.

        Args:
            choose: Makes it that of one session, which is served the calls of the recorded
                session that this chooses first, then those of later ones, then those of
                earlier ones that no session has been served; None: all in recorded order.
        """
        other = Matcher((), self._masks)
        other._choose, other._interactions, other._asked = choose, self._interactions, self._asked
        other._consumed = bytearray(self._consumed)  # its own kind's
        other._pools = {key: pool.copy() for key, pool in self._pools.items()}
        return other

    def give_back(self, index: int) -> None:
        """Take it that the entry that `take` just gave was not served after all."""
        self._consumed[index] = 0

    def look(self, server: str, method: str) -> Interaction | None:
        """Find the first result of a surface method, whatever was asked; nothing is consumed."""
        places = self._pools.get((server, method, _ERAS[0]), Pool()).all
        found = (self._interactions[index] for index in places)
        return next((item for item in found if not item.is_error), None)

    def protocols(self, server: str) -> frozenset[str]:
        """List the modern revisions that a server's requests were recorded with, and taken."""
        found = (
            modern_version(item.params)
            for item in self._interactions
            if item.server == server and not is_of_transport(item)
        )
        return frozenset(version for version in found if version)

    def leftover(self) -> tuple[int, ...]:
        """List the tool calls that were not asked for, by their places."""
        return tuple(
            index
            for index, interaction in enumerate(self._interactions)
            if interaction.is_tool_call and not self._consumed[index]
        )

    def _begin(self, choose: Choose, pool: Pool, asked: _Asked) -> None:
        """Put a session's calls first: one that begins with the call, else one that has it."""
        found = [*pool.exact.get(asked.text, ())]
        found += [index for index in pool.inexact if self._fits(index, asked)]
        found = found or [index for index in self._masked(asked) if self._may_fit(index, asked)]
        if not found:
            return
        firsts: dict[int, int] = {}
        for index, item in enumerate(self._interactions):
            if item.is_tool_call and item.server == asked.key[0]:
                firsts.setdefault(item.session, index)
        begun = [self._interactions[index].session for index in {*firsts.values()} & {*found}]
        self._own = choose(sorted(begun or {self._interactions[index].session for index in found}))
        self._choose = None
        for index in self._elsewhere:
            self.consume(index)
        for other in self._pools.values():
            other.sort(self._place)

    def _place(self, index: int) -> tuple[bool, int, int]:
        """Tell which is served before which: own calls, then later sessions', then earlier."""
        found = self._interactions[index]
        if self._own is None or not found.is_tool_call:
            return (False, 0, index)
        return (found.session < self._own, found.session, index)

    def _add(self, index: int, interaction: Interaction) -> None:
        params = self.kept(interaction.params)
        asked = self._read(interaction.server, interaction.method, params)
        self._asked.append(asked)
        if is_of_transport(interaction):
            self._consumed[index] = 1
            return
        pool = self._pools.setdefault(asked.key, Pool())
        pool.all.append(index)
        if MARK in asked.text and interaction.is_tool_call:
            masked = self._pools.setdefault((*asked.key, _MASKED), Pool())
            masked.loose.append((index, in_clear(leaves(asked.arguments))))
        how = interaction.args_match if interaction.is_tool_call else "exact"
        if how == "exact" or (how == "subset" and isinstance(asked.arguments, Absent)):
            pool.exact.setdefault(asked.text, deque()).append(index)
            return
        pool.inexact.append(index)
        found = list(leaves(asked.arguments)) if how == "subset" else []
        if found:
            pool.loose.append((index, found))
        else:
            pool.plain.append(index)

    def _read(self, server: str, method: str, params: str | None) -> _Asked:
        if method == TOOLS_CALL:
            return self._read_call(server, params)
        if params is None or method in _NEGOTIATION:
            return _Asked((server, method, _ERAS[0]), {}, "{}")  # no params: no era told
        era = _ERAS[is_modern(params)]
        return self._asked_for((server, method, era), without(params, ("_meta",)))

    def _read_call(self, server: str, params: str | None) -> _Asked:
        call = read_tool_call(params)
        linked, era = rounds(params), _ERAS[is_modern(params)]
        if linked.state is None and linked.responses is None:
            return self._asked_for((server, call.name, "call", era), call.arguments)
        parts = {
            "arguments": call.arguments,
            "inputResponses": linked.responses or "null",
            "requestState": linked.state or "null",
        }
        return self._asked_for((server, call.name, "round", era), join(parts))

    def _asked_for(self, key: tuple[str, ...], text: str) -> _Asked:
        try:
            value = parse(text)
            if MARK in text:
                value = unify(value)
            return _Asked(key, value, canonical(value))
        except (NotJsonError, RecursionError):  # too deep to compare: equal to the same text
            return _Asked(key, ABSENT, text)

    def _first(self, pool: Pool, asked: _Asked) -> int | None:
        candidates = [
            self._first_unconsumed(pool.exact.get(asked.text)),
            self._first_unconsumed(pool.plain),
            self._first_loose(pool, asked, self._fits),
        ]
        found = [index for index in candidates if index is not None]
        masked = None if found else self._pools.get((*asked.key, _MASKED))
        if masked is not None:
            return self._first_loose(masked, asked, self._may_fit)
        return min(found, key=self._place, default=None)

    def _first_unconsumed(self, queue: deque[int] | None) -> int | None:
        while queue and self._consumed[queue[0]]:
            queue.popleft()
        return queue[0] if queue else None

    def _first_loose(self, pool: Pool, asked: _Asked, fits_it: _Fits) -> int | None:
        if pool.loose and not pool.leaves:
            pool.leaves = by_rarest_leaf(pool.loose)
        found: int | None = None
        for leaf in (ANYWHERE, *leaves(asked.arguments)) if pool.leaves else ():
            bucket = pool.leaves.get(leaf, [])
            while bucket and self._consumed[bucket[-1]]:
                bucket.pop()
            for index in reversed(bucket):
                if found is not None and self._place(index) > self._place(found):
                    break
                if not self._consumed[index] and fits_it(index, asked):
                    found = index
                    break
        return found

    def _fits(self, index: int, asked: _Asked) -> bool:
        how = self._interactions[index].args_match
        return matches(how, self._asked[index].arguments, asked.arguments)

    def _may_fit(self, index: int, asked: _Asked) -> bool:
        how = self._interactions[index].args_match
        return fits(how, self._asked[index].arguments, asked.arguments)

    def _masked(self, asked: _Asked) -> list[int]:
        return [index for index, _ in self._pools.get((*asked.key, _MASKED), Pool()).loose]

    def _missed(self, asked: _Asked, method: str) -> Miss:
        if method != TOOLS_CALL:
            return Miss("not-recorded")
        ways = [one for one in (asked, asked.crossed) if one.key in self._pools]
        if not ways:
            server, name, *_ = asked.key
            known = (self._pools.get((server, name, form, era)) for form in _FORMS for era in _ERAS)
            nearest = next((pool.all[0] for pool in known if pool), None)
            return Miss("unknown-tool" if nearest is None else "arguments-differ", nearest)
        if any(self._had(one) for one in ways):
            return Miss("used-up")
        places = sorted(index for one in ways for index in self._pools[one.key].all)
        nearest, found = self._nearest(places, asked)
        return Miss("arguments-differ", nearest, found)

    def _had(self, asked: _Asked) -> bool:
        """Tell whether there is an entry that answers a call, consumed or not."""
        pool = self._pools[asked.key]
        if asked.text in pool.exact or any(self._fits(index, asked) for index in pool.inexact):
            return True
        return any(self._may_fit(index, asked) for index in self._masked(asked))

    def _nearest(self, places: Sequence[int], asked: _Asked) -> tuple[int, tuple[Difference, ...]]:
        unused = [index for index in places if not self._consumed[index]]
        return min(
            (
                (index, self._differences(index, asked))
                for index in (unused or places)[:_NEAREST_OF]
            ),
            key=lambda item: len(item[1]),
        )

    def _differences(self, index: int, asked: _Asked) -> tuple[Difference, ...]:
        recorded = self._asked[index].arguments
        unread = isinstance(recorded, Absent)
        how = "exact" if unread else self._interactions[index].args_match
        return differences(how, recorded, asked.arguments)
