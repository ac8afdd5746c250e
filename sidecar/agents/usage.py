"""Model usage that an agent reports in its events file (RFC 0026's `provider.usage`)."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final, NamedTuple

from sidecar.errors import SuiteError
from sidecar.suite.json_reading import as_text, decode
from sidecar.suite.payloads import ProviderUsage
from sidecar.suite.validation import validated
from sidecar.wire.json_text import JsonValue

USAGE: Final = "provider.usage"
MAX_BYTES: Final = 64 * 1024 * 1024
"""An events file over this is not read: a report of one call takes some 200 bytes."""

_EXAMPLE = (
    '{"type": "provider.usage", "payload": {"provider": "...", "model": "...", '
    '"inputTokens": 1, "outputTokens": 1}}'
)


class Usage(NamedTuple):
    """What an agent reported.

    Attributes:
        payloads: Of each model call, in the order of the file.
        problem: Why the report cannot be used; then there are no payloads, since a part
            of the cost is not the cost. None if it can.
    """

    payloads: tuple[JsonValue, ...] = ()
    problem: str | None = None


NO_USAGE: Final = Usage()
"""Nothing was reported."""


def read_usage(path: Path) -> Usage:
    """Read the events that an agent appended; a file that it took away reports nothing.

    Each line is a JSON object with `type` and `payload`; other members of an event are
    not read, since ids and places in the log are given by it.
    """
    try:
        lines = _lines(path)
        found = [_payload(line, number) for number, line in enumerate(lines, 1) if line.strip()]
    except SuiteError as error:
        return Usage(problem=str(error))
    except FileNotFoundError:
        return NO_USAGE
    except OSError as error:
        return Usage(problem=f"the events file cannot be read ({error.strerror})")
    return Usage(tuple(found))


def _lines(path: Path) -> list[bytes]:
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):  # to read a pipe would be to wait for its writer
        raise SuiteError("the events file is no file any more")
    if facts.st_size > MAX_BYTES:
        raise SuiteError(f"the events file is over {MAX_BYTES} bytes")
    return path.read_bytes().split(b"\n")


def _payload(line: bytes, number: int) -> JsonValue:
    place = f"events file, line {number}"
    try:
        value = decode(as_text(line, name=place))
    except ValueError as error:
        raise SuiteError(f"no JSON: {error}", place=place, hint=f"write {_EXAMPLE}") from None
    if not isinstance(value, dict) or value.get("type") != USAGE or "payload" not in value:
        raise SuiteError(f"this is no {USAGE} event", place=place, hint=f"write {_EXAMPLE}")
    validated(ProviderUsage, value["payload"], name=place)
    return value["payload"]
