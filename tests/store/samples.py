"""Interactions, runs and clocks that the store's tests write."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import TypedDict, Unpack

from sidecar.cassette.interaction import Interaction, Response
from sidecar.cassette.outcome import error_code
from sidecar.store.clock import Clock
from sidecar.store.journal import Journal
from sidecar.store.session import Kept, Session

RUN = "local/01ARZ3NDEKTSV4RRFFQ69G5FAV"
OTHER_RUN = "local/01ARZ3NDEKTSV4RRFFQ69G5FAW"
ULID = RUN.removeprefix("local/")
NOON = 1_796_000_000.0  # 2026-11-30T00:53:20Z, seconds
NOON_TEXT = "2026-11-30T00:53:20.000Z"


class Known(TypedDict, total=False):
    """What the journal may keep beside an interaction."""

    error_code: str | None
    missed: str | None
    entry: int | None
    replayed: bool
    call: int | None
    more_rounds: bool


def still_clock() -> Clock:
    """A clock whose monotonic side goes on by 5 ms a look, and whose wall stands still."""
    steps = itertools.count()
    return Clock(now=lambda: NOON, monotonic=lambda: next(steps) * 0.005)


def open_journal(folder: Path, *, patience_seconds: float = 30.0) -> Journal:
    path = folder / ".sidecar" / "journal.db"
    return Journal.open(str(path), clock=still_clock(), patience_seconds=patience_seconds)


def started(
    journal: Journal, *, run: str = RUN, server: str = "git", mode: str = "record"
) -> Session:
    journal.start_run(run, mode=mode)
    return journal.start_session(run, server=server, mode=mode)


def request(method: str, params: str | None = None, *, server: str = "git") -> Interaction:
    return Interaction(server, method, params, None)


def call(tool: str = "git_log", arguments: str = '{"n":1}', *, server: str = "git") -> Interaction:
    params = f'{{"name":{json.dumps(tool)},"arguments":{arguments}}}'
    return Interaction(server, "tools/call", params, None)


def answered(interaction: Interaction, result: str = '{"content":[]}') -> Interaction:
    return interaction._replace(response=Response("result", result))


def failed(interaction: Interaction, error: str = '{"code":-32000,"message":"no"}') -> Interaction:
    return interaction._replace(response=Response("error", error))


def opened(session: Session, interaction: Interaction, **more: Unpack[Known]) -> int:
    """Write a request that came just now; give its row."""
    return session.add(Kept(interaction, time.monotonic_ns(), **more))


def finished(session: Session, row: int, interaction: Interaction, **more: Unpack[Known]) -> None:
    """Write how a request ended just now."""
    known: Known = {"error_code": error_code(interaction), **more}
    session.finish(row, Kept(interaction, 0, time.monotonic_ns(), **known))


def record(session: Session, interaction: Interaction, **more: Unpack[Known]) -> int:
    """Write an interaction that came and ended just now, as one; give its row."""
    known: Known = {"error_code": error_code(interaction), **more}
    began, ended = time.monotonic_ns(), time.monotonic_ns()
    return session.add(Kept(interaction, began, ended, **known))
