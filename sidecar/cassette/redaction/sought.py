"""What is looked for in a text: finders, and names that are secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum

from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.names import NameKind
from sidecar.wire.typed import NamedTuple


class Kind(IntEnum):
    """What a finder looks for."""

    KNOWN = 0
    SHAPES = 1
    PATTERNS = 2
    NAMES = 3


class Part(IntEnum):
    """In which part of a value the walk is, by the last kind that is looked for there."""

    BINARY = Kind.KNOWN  # base64 content
    SCHEMA = Kind.PATTERNS  # names of properties are no names of secrets
    PLAIN = Kind.NAMES


def _always(_: bytes) -> bool:
    return True


class Finder(NamedTuple):
    """Looks for secrets in a text.

    Attributes:
        kind: What it looks for.
        gates: One of these is in every text of which `spans` finds a secret.
        spans: Finds them in a text's UTF-8 bytes.
        explains: Tells of a JSON text whether the spans in it are all that is to be masked.
    """

    kind: Kind
    gates: tuple[str, ...]
    spans: Callable[[bytes], Iterable[Span]]
    explains: Callable[[bytes], bool] = _always


class Sought(NamedTuple):
    """What is looked for in a text, after a first look at the whole of it.

    Attributes:
        finders: What found something.
        names: Names that are secrets besides those of the house, folded; None where no
            member's name is a secret's.
        numbers: Known values that are numbers.
        commands: Whether lists may be command lines with secrets.
        tables: Whether lists may be rows of a table with secrets.
        pairs: Whether lists may have secrets behind their names.
        keeps: Whether members' names stay that a program chose: of what a user's rules find.
    """

    finders: tuple[Finder, ...]
    names: frozenset[str] | None = None
    numbers: frozenset[str] = frozenset()
    commands: bool = False
    tables: bool = False
    pairs: bool = False
    keeps: bool = False


class Named(NamedTuple):
    """What a value's name says of it.

    Attributes:
        kind: What it says.
        name: The name.
    """

    kind: NameKind
    name: str
