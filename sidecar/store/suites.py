"""Suites, surfaces, summaries and event logs as files; a file is written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from sidecar.cassette.file_format import Loaded
from sidecar.cassette.file_format import lines as cassette_lines
from sidecar.cassette.interaction import Cassette
from sidecar.errors import SuiteError
from sidecar.store import atomic, cassettes
from sidecar.suite.documents import dump_document, parse_suite, parse_summary
from sidecar.suite.events import RunEvent, read_events
from sidecar.suite.model import AgentEvalSuite
from sidecar.suite.summary import EvalSummary

_SUFFIX = ".json"
_SURFACE_SUFFIX = ".surface.jsonl"


def read(path: str) -> bytes:
    """Read any document, as it is.

    Raises:
        SuiteError: If it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise _unreadable(path, error) from None


def load_suite(path: str) -> AgentEvalSuite:
    """Read a suite.

    Raises:
        SuiteError: If it cannot be read, is no JSON, or breaks a rule of the format (V1-V8
            as far as a suite alone can), with line and JSON pointer.
    """
    return parse_suite(read(path), name=path)


def save_suite(path: str, suite: AgentEvalSuite) -> None:
    """Write a suite; equal suites give equal bytes.

    Raises:
        SuiteError: If it cannot be written; what was there is still there.
    """
    _write(path, [dump_document(suite).encode()])


def check_target(path: str) -> None:
    """Refuse a file that could not be written, before the work whose result it is to hold.

    Raises:
        SuiteError: If it is a folder itself, or its folder can be neither written nor made.
    """
    folder = os.path.dirname(os.path.abspath(path))
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if os.path.isdir(path) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        problem = "is a folder" if os.path.isdir(path) else "lies in no folder that can be written"
        raise SuiteError(
            f"the file {problem}", place=path, hint="name a file in a folder that you can write"
        )


def surface_path(suite: str) -> str:
    """The file of a suite's surface: `NAME.surface.jsonl` beside `NAME.json`."""
    return suite.removesuffix(_SUFFIX) + _SURFACE_SUFFIX


def load_surface(suite: str) -> Loaded | None:
    """Read the surface that lies beside a suite; None if there is none.

    Args:
        suite: The suite's file.

    Raises:
        CassetteError: If it is no cassette; it stays as it is.
    """
    path = surface_path(suite)
    return cassettes.load(path) if os.path.lexists(path) else None


def save_surface(suite: str, surface: Cassette) -> None:
    """Write the surface beside a suite.

    Raises:
        SuiteError: If it cannot be written; what was there is still there.
    """
    _write(surface_path(suite), [line.encode() for line in cassette_lines(surface)])


def load_summary(path: str) -> EvalSummary:
    """Read a summary.

    Raises:
        SuiteError: If it cannot be read, or is no EvalSummary.
    """
    return parse_summary(read(path), name=path)


def save_summary(path: str, summary: EvalSummary) -> None:
    """Write a summary; equal summaries give equal bytes.

    Raises:
        SuiteError: If it cannot be written; what was there is still there.
    """
    _write(path, [dump_document(summary).encode()])


def load_events(path: str) -> Iterator[RunEvent]:
    """Read an event log, event by event: JSON Lines, or one JSON array.

    Raises:
        SuiteError: If it cannot be read, or at the first line that is no event, naming it.
    """
    try:
        with open(path, "rb") as lines:
            yield from read_events(lines, name=path)
    except OSError as error:
        raise _unreadable(path, error) from None


def save_events(path: str, lines: Iterable[str]) -> None:
    """Write an event log as JSON Lines, line by line: a log may not fit into memory.

    Args:
        path: The file.
        lines: One event each, without line ends.

    Raises:
        SuiteError: If it cannot be written; what was there is still there.
    """
    _write(path, ((line + "\n").encode() for line in lines))


def _unreadable(path: str, error: OSError) -> SuiteError:
    return SuiteError(
        f"the file cannot be read ({error.strerror})",
        place=path,
        hint="check the name, and that you may read it",
    )


def _write(path: str, chunks: Iterable[bytes]) -> None:
    try:
        atomic.write(path, chunks)
    except OSError as error:
        raise SuiteError(
            f"the file cannot be written ({error.strerror}); what was there is unchanged",
            place=path,
            hint="make room, or give a place that you may write",
        ) from None
