"""Finds where many short pieces of text stand in a large one, in a single pass.

To look for each of a hundred gates takes several milliseconds per gate in a text of 5 MB.
Here the text is looked at four times in all: each byte becomes a set of eight buckets of
gates that may have it at their first, second, third and fourth place, the four are laid over
each other as integers, and what is left are the places where a gate may begin (the way of
Hyperscan's "Teddy", with bytes of an integer for vector registers).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate

from sidecar.cassette.redaction.gates import Indexed

_GRAM = 4  # bytes of a gate that are looked at together
_BUCKETS = 8  # one bit each
_LAST = 0xFF
_PIECE_BYTES = 131072
# From the most to the least frequent, of prose, Python and HTML within JSON.
_FREQUENT = (
    b' etoanrsihl\\dmwpc"fuy/=.'
    b"><v_b:1xkg,234()-506987?;&'`TjANECP][SRI#OMqFDBL*U{}|WzG+HVYK!@~QX^%J"
)
_RARE = 0.0005
_WEIGHTS = [_RARE] * 256
for _rank, _byte in enumerate(_FREQUENT):
    _WEIGHTS[_byte] = max(_RARE, 0.1 * 0.9**_rank)


def indexed(data: bytes, gates: tuple[bytes, ...]) -> Indexed:
    """Look for gates in a large text.

    Args:
        data: UTF-8.
        gates: Of at least 2 bytes.
    """
    sieve = _sieve(gates)
    found = Indexed(data)
    found.places = sieve.places(data)
    return found


@lru_cache(maxsize=8)
def _sieve(gates: tuple[bytes, ...]) -> _Sieve:
    return _Sieve(gates)


class _Sieve:
    """Looks for the same gates in any text: four tables, made once."""

    def __init__(self, gates: tuple[bytes, ...]) -> None:
        self._gates = gates
        self._grams = {gate: _rarest(gate) for gate in gates}
        self._tables = _tables(gram for gram, _ in self._grams.values())
        self._by_bytes: dict[bytes, tuple[tuple[bytes, int], ...]] = {}
        grams = self._grams.items()
        self._short = tuple((gram, (gate, at)) for gate, (gram, at) in grams if len(gram) < _GRAM)
        self._whole: dict[bytes, list[tuple[bytes, int]]] = {}
        for gate, (gram, at) in grams:
            self._whole.setdefault(gram, []).append((gate, at))

    def places(self, data: bytes) -> dict[bytes, list[int]]:
        """Find where each gate stands."""
        found: dict[bytes, list[int]] = {gate: [] for gate in self._gates}
        free = dict.fromkeys(self._gates, 0)
        known = self._by_bytes
        for at in self._candidates(data):
            four = data[at : at + _GRAM]
            meant = known.get(four)
            if meant is None:
                meant = known[four] = self._meant(four)
            for gate, offset in meant:
                start = at - offset
                if start >= free[gate] and data.startswith(gate, start):
                    found[gate].append(start)
                    free[gate] = start + len(gate)
        if len(known) > _MAX_KNOWN:
            known.clear()
        return found

    def _candidates(self, data: bytes) -> Iterator[int]:
        """Find where grams may stand; piece by piece, since what fits a cache is quicker."""
        for base in range(0, len(data), _PIECE_BYTES):
            marked = self._marked(data[base : base + _PIECE_BYTES + _GRAM - 1])[:_PIECE_BYTES]
            *gaps, _ = marked.split(b"1")
            for number, before in enumerate(accumulate(map(len, gaps)), base):
                yield number + before

    def _marked(self, data: bytes) -> bytes:
        """Write `1` where a gram may begin."""
        padded = data + b"\0" * (_GRAM - 1)
        left = int.from_bytes(padded.translate(self._tables[0]), "little")
        for place in range(1, _GRAM):
            here = int.from_bytes(padded.translate(self._tables[place]), "little")
            left &= here >> 8 * place
        return left.to_bytes(len(padded), "little").translate(_TO_MARKS)

    def _meant(self, four: bytes) -> tuple[tuple[bytes, int], ...]:
        short = (gate for gram, gate in self._short if four.startswith(gram))
        return (*self._whole.get(four, ()), *short)


_TO_MARKS = b"0" + b"1" * _LAST
_MAX_KNOWN = 100_000


def _rarest(gate: bytes) -> tuple[bytes, int]:
    """Return bytes of a gate, four unless it is shorter, and how far within it they begin."""
    grams = ((gate[at : at + _GRAM], at) for at in range(max(1, len(gate) - _GRAM + 1)))
    return min(grams, key=lambda gram: _share(gram[0]))


def _share(gram: bytes) -> float:
    """Estimate how often bytes stand in a text."""
    share = 1.0
    for byte in gram:
        share *= _WEIGHTS[byte]
    return share


def _tables(grams: Iterable[bytes]) -> tuple[bytes, ...]:
    """Put grams into buckets, each where it adds least to what passes by chance."""
    buckets = [[frozenset[int]()] * _GRAM for _ in range(_BUCKETS)]
    passing = [0.0] * _BUCKETS
    for gram in sorted(set(grams), key=lambda gram: (-_share(gram), gram)):
        own = [frozenset(gram[at : at + 1] or _ANY) for at in range(_GRAM)]
        merged = [[a | b for a, b in zip(sets, own, strict=True)] for sets in buckets]
        shares = [_passing(sets) for sets in merged]
        best = min(range(_BUCKETS), key=lambda bucket: shares[bucket] - passing[bucket])
        buckets[best], passing[best] = merged[best], shares[best]
    return tuple(
        bytes(
            sum(1 << bucket for bucket, sets in enumerate(buckets) if byte in sets[place])
            for byte in range(_LAST + 1)
        )
        for place in range(_GRAM)
    )


_ANY = bytes(range(_LAST + 1))


def _passing(sets: list[frozenset[int]]) -> float:
    share = 1.0
    for allowed in sets:
        share *= min(1.0, sum(_WEIGHTS[byte] for byte in allowed))
    return share
