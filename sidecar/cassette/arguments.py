"""Equality of JSON values, and how a call's arguments match recorded or expected ones.

Python's own `==` is wrong for JSON (`True == 1`), and floats lose digits, so values are
compared by a canonical text: equal values have equal texts (R7).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring_ascii as _quoted

from sidecar.wire.json_pointer import inside
from sidecar.wire.json_text import JsonValue, NotJsonError, Number, number_key
from sidecar.wire.typed import Literal, NamedTuple, TypeAlias

ArgsMatch: TypeAlias = Literal["exact", "subset", "ignore"]


class Absent:
    """The type of `ABSENT`: no value at all, which is not null."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = Absent()

_MAX_DEPTH = 300  # a choice: all that walks through values here stays within Python's stack


class Difference(NamedTuple):
    """One place where observed arguments differ from expected ones.

    Attributes:
        pointer: JSON pointer into the arguments; empty for the whole value.
        expected: The value there, or `ABSENT`.
        seen: The value there, or `ABSENT`.
    """

    pointer: str
    expected: JsonValue | Absent
    seen: JsonValue | Absent


def canonical(value: JsonValue) -> str:
    """Write a JSON value so that equal values, and only they, have equal texts (R7).

    Numbers compare by mathematical value (`1`, `1.0` and `1e0` are equal, `0` and `-0`
    too), booleans are no numbers, strings compare by code points, the order of members
    does not count, the order of items does.

    Raises:
        NotJsonError: If the value nests deeper than 300 levels.
    """
    return _canonical(value, _MAX_DEPTH)


def _canonical(value: JsonValue, levels: int) -> str:
    if isinstance(value, dict | list | tuple):
        if not levels:
            raise NotJsonError(f"nested deeper than {_MAX_DEPTH} levels")
        if not isinstance(value, dict):
            return "[" + ",".join([_canonical(item, levels - 1) for item in value]) + "]"
        # Sorted by code points: any fixed order does, names being unique.
        named = [f"{_quoted(name)}:{_canonical(value[name], levels - 1)}" for name in sorted(value)]
        return "{" + ",".join(named) + "}"
    if isinstance(value, Number):
        return number_key(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_key(repr(value))
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def equal(left: JsonValue, right: JsonValue) -> bool:
    """Tell whether two JSON values are deeply equal (R7)."""
    return canonical(left) == canonical(right)


def matches(
    args_match: ArgsMatch, expected: JsonValue | Absent, observed: JsonValue | Absent
) -> bool:
    """Tell whether a call's arguments match under `args_match` (RFC 0244 §A, R5).

    Args:
        args_match: `ignore` is always true; `exact` is deep equality; `subset` asks that
            every key path of `expected` is in `observed` with an equal value: objects are
            entered at every depth, arrays and scalars compare whole (R5a-d).
        expected: The recorded or expected arguments. `ABSENT` matches exactly only a call
            without arguments, and is a subset of anything (R5e).
        observed: The call's arguments.
    """
    if args_match == "ignore":
        return True
    if isinstance(expected, Absent):
        return args_match == "subset" or isinstance(observed, Absent)
    if args_match == "exact":
        return not isinstance(observed, Absent) and equal(expected, observed)
    return contains(observed, expected)


def contains(observed: JsonValue | Absent, expected: JsonValue) -> bool:
    """Tell whether every key path of `expected` is in `observed` (R5a-d).

    `{}` at the top is contained in anything, even in nothing; a nested `{}` asks for an
    object there.
    """
    if isinstance(expected, dict) and not expected:
        return True
    return _contains(observed, expected)


def _contains(observed: JsonValue | Absent, expected: JsonValue) -> bool:
    if not isinstance(expected, dict):
        return not isinstance(observed, Absent) and equal(observed, expected)
    return isinstance(observed, dict) and all(
        name in observed and _contains(observed[name], item) for name, item in expected.items()
    )


def leaves(value: JsonValue | Absent, pointer: str = "") -> Iterator[str]:
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
        yield from leaves(item, f"{pointer}/{name}")


def by_rarest_leaf(entries: Sequence[tuple[int, list[str]]]) -> dict[str, list[int]]:
    """File each entry under its rarest leaf: whatever holds the entry has that leaf too.

    Args:
        entries: Numbers, and the leaves of each; at least one.

    Returns:
        The numbers by leaf; the first of the entries is the last item.
    """
    counts: dict[str, int] = {}
    for _, found in entries:
        for leaf in found:
            counts[leaf] = counts.get(leaf, 0) + 1
    filed: dict[str, list[int]] = {}
    for number, found in reversed(entries):
        filed.setdefault(min(found, key=counts.__getitem__), []).append(number)
    return filed


def differences(
    args_match: ArgsMatch, expected: JsonValue | Absent, observed: JsonValue | Absent
) -> tuple[Difference, ...]:
    """List where `observed` fails `expected` under `args_match`; empty if it matches.

    Objects are compared member by member, arrays of equal length item by item; members
    that only `observed` has are differences under `exact` alone.
    """
    if matches(args_match, expected, observed):
        return ()
    return tuple(_differences(args_match, "", expected, observed))


def _differences(
    args_match: ArgsMatch,
    pointer: str,
    expected: JsonValue | Absent,
    seen: JsonValue | Absent,
) -> list[Difference]:
    if isinstance(expected, dict) and isinstance(seen, dict):
        extra = [] if args_match == "subset" else [name for name in seen if name not in expected]
        found: list[Difference] = []
        for name in [*expected, *extra]:
            found += _differences(
                args_match,
                inside(pointer, name),
                expected.get(name, ABSENT),
                seen.get(name, ABSENT),
            )
        return found
    if isinstance(expected, list) and isinstance(seen, list) and len(expected) == len(seen):
        found = []
        for index, (item, other) in enumerate(zip(expected, seen, strict=True)):
            found += _differences("exact", inside(pointer, index), item, other)
        return found
    if _both_equal(expected, seen):
        return []
    return [Difference(pointer, expected, seen)]


def _both_equal(expected: JsonValue | Absent, seen: JsonValue | Absent) -> bool:
    if isinstance(expected, Absent) or isinstance(seen, Absent):
        return expected is seen
    return equal(expected, seen)
