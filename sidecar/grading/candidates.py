"""Which observed calls may answer which expected ones (RFC 0244 §A, R4, R5).

Found through an index, so that a thousand expected calls meet a thousand observed ones
without a million comparisons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from sidecar.cassette.arguments import ABSENT, Absent, ArgsMatch, canonical
from sidecar.cassette.redaction.placeholders import MARK, unify
from sidecar.suite.model import ExpectedCall
from sidecar.wire.json_text import JsonValue, NotJsonError

Path: TypeAlias = tuple[str, ...]

Key: TypeAlias = tuple[Path | None, str]
"""A key path and the canonical text of what stands there; no path for the whole value."""


class ObservedCall(NamedTuple):
    """One tool call that an agent made.

    Attributes:
        tool: `<server>:<tool>`.
        inputs: The arguments, or `ABSENT` where the log withholds them.
        agent_id: The agent that asked.
        sequence: Place in the event log.
    """

    tool: str
    inputs: JsonValue | Absent
    agent_id: str = ""
    sequence: int = 0


class Candidates(NamedTuple):
    """The observed calls, as bits of an integer, that answer an expected call.

    Attributes:
        sure: Those that do.
        unknown: Those of which the log does not tell, since it withholds their arguments.
    """

    sure: int
    unknown: int


class Compiled(NamedTuple):
    """An expected call in the form in which it is looked up.

    Attributes:
        tool: `<server>:<tool>`.
        matching: How arguments are compared; `ignore` also where anything would match.
        arguments: The expected arguments, or `ABSENT` where they are ignored.
        keys: Under what a call that answers it is filed: of exact arguments their
            canonical text, of a subset each key path with what stands there.
    """

    tool: str
    matching: ArgsMatch
    arguments: JsonValue | Absent = ABSENT
    keys: tuple[Key, ...] = ()


def compile_call(call: ExpectedCall) -> Compiled:
    """Prepare an expected call for many comparisons."""
    if call.matching == "ignore":
        return Compiled(call.tool, "ignore")
    arguments = unify(call.args)
    if call.matching == "exact":
        return Compiled(call.tool, "exact", arguments, ((None, canonical(arguments)),))
    if arguments == {}:  # a subset of anything, even of nothing (R5c)
        return Compiled(call.tool, "ignore")
    return Compiled(call.tool, "subset", arguments, tuple(_leaves(arguments)))


def _leaves(value: JsonValue, path: Path = ()) -> Iterator[Key]:
    """List the key paths that an expected value asks for: objects are entered (R5a)."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _leaves(item, (*path, name))
    else:
        yield path, _OBJECT if isinstance(value, dict) else canonical(value)


def _nodes(value: JsonValue, path: Path = ()) -> Iterator[Key]:
    """List the key paths that an observed value has, its inner objects among them."""
    if isinstance(value, dict):
        yield path, _OBJECT
        for name, item in value.items():
            yield from _nodes(item, (*path, name))
    else:
        yield path, canonical(value)


_OBJECT = "{...}"  # no canonical text: stands for any object, as an expected `{}` does (R5c)


class CallIndex:
    """The observed calls of one trial, by tool and by what stands at a place."""

    def __init__(self, observed: Sequence[ObservedCall]) -> None:
        self.observed = observed
        self._places: dict[str, list[int]] = {}
        for place, call in enumerate(observed):
            self._places.setdefault(call.tool, []).append(place)
        self._inputs: dict[int, JsonValue | Absent] = {}
        self._texts: dict[int, str | None] = {}
        self._unreadable: dict[str, int] = {}
        self._filed: dict[tuple[str, ArgsMatch], dict[Key, int]] = {}
        self._found: dict[tuple[object, ...], Candidates] = {}

    def candidates(self, call: Compiled) -> Candidates:
        """Find the observed calls that answer an expected one."""
        places = self._places.get(call.tool, ())
        if call.matching == "ignore":
            return Candidates(_mask(places), 0)
        which = (call.tool, call.matching, call.keys)
        found = self._found.get(which)
        if found is None:
            found = self._found[which] = Candidates(self._sure(call), self._unknown(call.tool))
        return found

    def inputs(self, place: int) -> JsonValue | Absent:
        """Give a call's arguments as they are compared, where they can be."""
        self.text(place)
        return self._inputs[place]

    def text(self, place: int) -> str | None:
        """Give a call's arguments in canonical form; None where they cannot be compared."""
        if place not in self._texts:
            given = self.observed[place].inputs
            text = None if isinstance(given, Absent) else canonical_text(given)
            if text is not None and MARK in text:
                given = unify(given)
                text = canonical(given)
            self._inputs[place], self._texts[place] = given, text
        return self._texts[place]

    def _unknown(self, tool: str) -> int:
        if tool not in self._unreadable:
            places = self._places.get(tool, ())
            self._unreadable[tool] = _mask(p for p in places if self.text(p) is None)
        return self._unreadable[tool]

    def _sure(self, call: Compiled) -> int:
        """Find the calls that have all the keys: that is what `matches` means (R5).

        Of exact arguments there is one, their canonical text; of a subset one a key path.
        """
        filed = self._file(call.tool, call.matching)
        mask = -1
        for key in call.keys:
            mask &= filed.get(key, 0)
        return mask

    def _file(self, tool: str, matching: ArgsMatch) -> dict[Key, int]:
        """File a tool's calls under their keys, at the first look."""
        filed = self._filed.get((tool, matching))
        if filed is None:
            filed = self._filed[tool, matching] = {}
            for place in self._places.get(tool, ()):
                text = self.text(place)
                if text is not None:
                    exact = matching == "exact"
                    for key in ((None, text),) if exact else _nodes(self.inputs(place)):
                        filed[key] = filed.get(key, 0) | 1 << place
        return filed


def canonical_text(value: JsonValue) -> str | None:
    """Give a value's canonical text; None where it nests deeper than can be compared."""
    try:
        return canonical(value)
    except NotJsonError:
        return None


def _mask(places: Iterable[int]) -> int:
    mask = 0
    for place in places:
        mask |= 1 << place
    return mask
