"""Kinds of secrets that are told by what is around them, and where one may be found at all.

Each kind has gates, pieces of text one of which must be there, so that a text without any
costs a search for each gate and nothing more; in a large text, a single one for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.wire.typed import NamedTuple


class Context(NamedTuple):
    """One kind of surroundings.

    Attributes:
        gates: One of these is in every text of which `find` finds a secret.
        find: Finds the secrets in a text's UTF-8 bytes, which may be JSON.
        needs: This is in every such text, too; the empty one always is.
    """

    gates: tuple[bytes, ...]
    find: Callable[[bytes], Iterator[Span]]
    needs: bytes = b""


class Indexed(bytes):
    """A text's UTF-8 bytes that know where gates stand in them; see `gate_index`.

    Attributes:
        places: By gate, where it begins, from left to right, without overlaps.
    """

    places: dict[bytes, list[int]]


class Kinds:
    """Kinds of surroundings that are looked for together.

    Args of the constructor:
        kinds: Those to look for; each is returned once, however many of its gates are there.

    Attributes:
        kinds: Those given.
        gates: The gates of all of them, each once.
    """

    def __init__(self, *kinds: Context) -> None:
        self.kinds = kinds
        self.gates = tuple(dict.fromkeys(gate for kind in kinds for gate in kind.gates))
        by_sign: dict[bytes, list[tuple[bytes, Context]]] = {}
        for kind in kinds:
            for gate in kind.gates:
                by_sign.setdefault(kind.needs or _sign(gate), []).append((gate, kind))
        self._bare = tuple(by_sign.pop(b"", ()))
        self._by_sign = tuple((sign, tuple(gates)) for sign, gates in by_sign.items())

    def found_in(self, data: bytes) -> list[Context]:
        """Return the kinds that a text's UTF-8 bytes, which may be JSON, hold a secret of."""
        held = self._held_by(data) if isinstance(data, Indexed) else self._held(data)
        if not held:
            return held
        return [kind for kind in held if next(kind.find(data), None)]

    def _held_by(self, data: Indexed) -> list[Context]:
        held = {gate for gate in self.gates if next(places(data, gate), None) is not None}
        likely = (kind for kind in self.kinds if not held.isdisjoint(kind.gates))
        return [kind for kind in likely if data.find(kind.needs) >= 0]

    def _held(self, data: bytes) -> list[Context]:
        found: list[Context] = []
        for gate, kind in self._bare:
            if gate in data and kind not in found:
                found.append(kind)
        for sign, gates in self._by_sign:
            if sign in data:
                for gate, kind in gates:
                    if gate in data and kind not in found:
                        found.append(kind)
        return found


_NO_INDEX: dict[bytes, list[int]] = {}
_SIGNS = (
    b" is", b"hook", b"pw", b"kty", b"V", b"K", b"R", b"C", b"$", b"~", b"*", b"|", b"%", b"&",
    b"?", b"@", b"(", b";", b"=", b"#", b"-", b"/", b".", b"ass", b"ASS",
)  # fmt: skip


def _sign(gate: bytes) -> bytes:
    """Return what a gate shares with others and few texts have; none where there is nothing."""
    return next((sign for sign in _SIGNS if sign in gate), b"")


def places(data: bytes, *gates: bytes) -> Iterator[int]:
    """Find where gates stand."""
    index = data.places if isinstance(data, Indexed) else _NO_INDEX
    for gate in gates:
        if gate in index:
            yield from index[gate]
            continue
        at = data.find(gate)
        while at >= 0:
            yield at
            at = data.find(gate, at + len(gate))


def matches(pattern: bytes, data: bytes, *gates: bytes) -> Iterator[re.Match[bytes]]:
    """Match a pattern where it must begin: at a gate. Its first group is the secret."""
    beginning = compiled(pattern)
    for at in places(data, *gates):
        found = beginning.match(data, at)
        if found:
            yield found
