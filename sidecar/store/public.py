"""Loading and saving, for people's own code: part of the public API."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import TypeAlias

from sidecar.cassette.interaction import Cassette
from sidecar.store import cassettes, suites
from sidecar.suite.events import RunEvent
from sidecar.suite.model import AgentEvalSuite

File: TypeAlias = str | os.PathLike[str]
"""A file's path."""


def load_cassette(path: File) -> Cassette:
    """Read a cassette file; what is wrong with its last line is a `UserWarning`.

    Raises:
        CassetteError: If it is missing, broken, foreign or newer; it stays as it is.
    """
    loaded = cassettes.load(os.fspath(path))
    for warning in loaded.warnings:
        warnings.warn(warning, stacklevel=2)
    return loaded.cassette


def save_cassette(path: File, cassette: Cassette) -> None:
    """Write a cassette file, whole or not at all; equal cassettes give equal bytes.

    Raises:
        CassetteError: If it cannot be written; what was there is still there.
    """
    cassettes.save(os.fspath(path), cassette)


def load_suite(path: File) -> AgentEvalSuite:
    """Read a suite.

    Raises:
        SuiteError: If it cannot be read, or breaks a rule of the format; with line and
            JSON pointer.
    """
    return suites.load_suite(os.fspath(path))


def save_suite(path: File, suite: AgentEvalSuite) -> None:
    """Write a suite, whole or not at all; equal suites give equal bytes.

    Raises:
        SuiteError: If it cannot be written; what was there is still there.
    """
    suites.save_suite(os.fspath(path), suite)


def load_events(path: File) -> Iterator[RunEvent]:
    """Read an event log, event by event: JSON Lines, or one JSON array.

    Raises:
        SuiteError: If it cannot be read, or at the first line that is no event.
    """
    return suites.load_events(os.fspath(path))
