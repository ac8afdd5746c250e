"""Cassette files: loaded, and saved from the journal.

On the hot path: nothing here may import more than the standard library's light parts.
"""

from __future__ import annotations

import os

from sidecar.cassette.file_format import Loaded, lines, read
from sidecar.cassette.interaction import Cassette, Interaction, Server
from sidecar.cassette.redaction.placeholders import MARK, Renumberer, numbers_in
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cassette.texts import texts_of, with_texts
from sidecar.errors import CassetteError, UsageError
from sidecar.store import atomic, recorded
from sidecar.store.connection import PATIENCE_SECONDS
from sidecar.store.file_lock import FileLock
from sidecar.store.journal import Journal
from sidecar.store.masking import masks_for
from sidecar.store.recorded import Recorded
from sidecar.store.settings import load_settings, project_of
from sidecar.wire.json_text import parse
from sidecar.wire.mcp import (
    DISCOVER,
    INITIALIZE,
    LISTEN,
    PING,
    SET_LEVEL,
    members_of,
    modern_version,
)
from sidecar.wire.typed import NamedTuple

__all__ = ["Loaded", "Saved", "in_place", "load", "of_run", "save", "save_run"]

_READABLE = "give the name of a file that you may read"
_OPENING = frozenset({INITIALIZE, DISCOVER, PING, SET_LEVEL, LISTEN})
_LISTS = "/list"
_NEXT_STEP = "restore the file, or remove it; it was left as it is"


class Saved(NamedTuple):
    """What became of a run's cassette.

    Attributes:
        path: Its file.
        written: Whether the file holds the run now.
        refused: Why it does not, and how to save it; None if nothing was refused.
    """

    path: str
    written: bool
    refused: str | None = None


def load(path: str) -> Loaded:
    """Read a cassette file; what is wrong with its last line is a warning.

    Raises:
        CassetteError: If it is missing, broken, foreign or newer; it stays as it is.
    """
    return read(_bytes(path), path)


def save(path: str, cassette: Cassette, masks: Redactor | None = None) -> None:
    """Write a cassette file as a whole, or not at all (C06).

    Args:
        path: The file.
        cassette: What is written.
        masks: Knows values that must not be in it; None where nothing new is written.

    Raises:
        CassetteError: If a known value is in it, or it cannot be written; what was there
            is still there.
    """
    text = "".join(lines(cassette))
    if masks is not None:
        _refuse_leaks(path, text, masks)
    _write(path, text.encode())


def masks_of(journal: Journal) -> Redactor:
    """Make what masks the secrets of this process's environment, as the journal does.

    Raises:
        JournalError: If the key of the journal's folder can be neither read nor made.
        UsageError: If the project's settings are none.
    """
    home = os.path.dirname(journal.path)
    rules = load_settings(project_of(home, os.getcwd())).redaction
    return masks_for(home, os.environ, rules)


def of_run(journal: Journal, run_id: str, masks: Redactor | None = None) -> Cassette:
    """Make a run's cassette: all that its proxies saw, secrets numbered by first appearance.

    It is complete if every proxy ended in order and answered all, and the agent did not
    fail. An agent that `mcp-sidecar` started must have ended; of others none can tell.

    Args:
        journal: The journal.
        run_id: The run.
        masks: Masks what only the recording as a whole tells; default what `masks_of` makes.

    Raises:
        JournalError: If the journal cannot be read.
        UsageError: If it has no such run.
    """
    from sidecar.store import looked_over_rows  # noqa: PLC0415  # a replay saves none

    looked = looked_over_rows.second_look(journal, run_id, masks or masks_of(journal))
    return _cassette(journal, run_id, looked.rows)


def in_place(path: str) -> Cassette | None:
    """Read the cassette that a save would replace, whole; None if there is none.

    Raises:
        CassetteError: If what is there is no whole cassette, over which none is written (C01).
    """
    if not os.path.exists(path):
        return None
    data = _bytes(path)
    present = read(data, path).cassette
    count = 1 + len(present.interactions) + len(present.unknown)
    if len(data.removesuffix(b"\n").split(b"\n")) != count:
        raise CassetteError(
            "the last line is broken: this cassette is not written over",
            place=f"{path}:{count + 1}",
            hint=_NEXT_STEP,
        )
    return present


def save_run(  # noqa: PLR0913  # what is saved, where to, and what of it is wanted
    journal: Journal,
    run_id: str,
    path: str,
    *,
    overwrite: bool,
    extend: bool,
    masks: Redactor | None = None,
) -> Saved:
    """Save a run's cassette, again and again by any of its processes.

    What is masked then, since the run as a whole tells it, is masked in the journal, too, if
    the run is over.

    A cassette of another run is left alone, unless it holds no more than the opening of
    sessions, or it is to be overwritten or extended: then the old interactions come first,
    unchanged, and after them those of this run that no recording answered.

    Args:
        journal: The journal.
        run_id: The run.
        path: The cassette's file.
        overwrite: Whether to replace another run's cassette.
        extend: Whether to add to it; wins over `overwrite`.
        masks: The redactor that recorded; default one of this process's environment.

    Raises:
        CassetteError: If what is there is no whole cassette, which then stays (C01), if a
            known value is in what is to be written, or if the file cannot be written.
        JournalError: If the journal cannot be read or written.
        UsageError: If it has no such run.
    """
    from sidecar.store import looked_over_rows as looks  # noqa: PLC0415  # a replay saves none

    lock = FileLock(f"{journal.path}.save.lock", patience_seconds=PATIENCE_SECONDS)
    with lock:
        present = in_place(path)
        own = masks or masks_of(journal)
        others = None if extend or overwrite else _others(present, run_id)
        if others is not None:
            looks.look_over(journal, run_id, own)
            return Saved(path, written=False, refused=_refusal(path, others, run_id))
        looked = looks.second_look(journal, run_id, own)
        try:
            if extend:
                cassette = _extended(journal, run_id, present, looked.rows)
            else:
                cassette = _cassette(journal, run_id, looked.rows)
            if cassette is not None:
                save(path, cassette, own)
        finally:
            looks.keep(journal, run_id, looked)
        return Saved(path, written=cassette is not None)


def _others(present: Cassette | None, run_id: str) -> Cassette | None:
    """Return the cassette if it is another run's, and holds what that run was made for.

    Clients open their servers and list what these have whenever they start: a recording of
    that alone keeps the place against none.
    """
    if present is None or present.run == run_id:
        return None
    is_empty = all(_is_opening(item.method) for item in present.interactions)
    return None if is_empty and present.run and not present.unknown else present


def _is_opening(method: str) -> bool:
    return method in _OPENING or method.endswith(_LISTS)


def _extended(
    journal: Journal, run_id: str, present: Cassette | None, rows: list[Recorded]
) -> Cassette | None:
    """Add to a cassette what this run recorded, but never twice; None if that is nothing."""
    if present is None:
        fresh = recorded.following(rows, ())
        return _cassette(journal, run_id, fresh) if fresh else None
    base = _base(journal, run_id, present)
    fresh = recorded.following(rows, base.interactions)
    added = _cassette(journal, run_id, fresh, after=base)
    if not added.interactions and present.run != run_id:
        return None
    servers = {**added.servers, **base.servers}
    order = {**base.servers, **added.servers}
    return base._replace(
        interactions=base.interactions + added.interactions,
        servers={name: servers[name] for name in order},
        complete=base.complete and added.complete,
        run=run_id,
    )


def _base(journal: Journal, run_id: str, present: Cassette) -> Cassette:
    """What the cassette held before this run added to it; the journal remembers how much."""
    connection = journal.connection
    if present.run != run_id:
        with connection.transaction():
            connection.run(
                "UPDATE runs SET kept_interactions = ?, kept_complete = ? WHERE run_id = ?",
                (len(present.interactions), int(present.complete), run_id),
            )
        return present
    ((kept, complete),) = connection.rows(
        "SELECT coalesce(kept_interactions, 0), coalesce(kept_complete, 1) FROM runs"
        " WHERE run_id = ?",
        (run_id,),
    ) or [(0, 1)]
    return present._replace(
        interactions=present.interactions[:kept],
        complete=bool(complete),
        unknown=tuple(line for line in present.unknown if line[0] <= kept),
    )


def _cassette(
    journal: Journal,
    run_id: str,
    rows: list[Recorded],
    after: Cassette | None = None,
) -> Cassette:
    found = tuple(row.interaction for row in rows)
    return Cassette(
        _renumbered(found, after),
        _servers(journal, run_id, found),
        _is_complete(journal, run_id),
        run_id,
    )


def _renumbered(
    interactions: tuple[Interaction, ...], after: Cassette | None
) -> tuple[Interaction, ...]:
    """Number the secrets' placeholders by first appearance; those of `after` stay theirs."""
    before = after.interactions if after else ()
    taken = {
        number
        for item in before + interactions
        for text in texts_of(item)
        for number in numbers_in(text)
    }
    renumber = Renumberer(taken).text
    return tuple(
        with_texts(item, renumber) if any(MARK in text for text in texts_of(item)) else item
        for item in interactions
    )


def _is_complete(journal: Journal, run_id: str) -> bool:
    runs = journal.connection.rows(
        "SELECT state, command IS NOT NULL FROM runs WHERE run_id = ?", (run_id,)
    )
    if not runs:
        raise UsageError(
            f"the journal has no run {run_id}",
            place=journal.path,
            hint="`mcp-sidecar runs list` shows those it has",
        )
    ((state, started_by_us),) = runs
    ((open_ones,),) = journal.connection.rows(
        "SELECT (SELECT count(*) FROM sessions WHERE run_id = ? AND state != 'ended')"
        " + (SELECT count(*) FROM interactions WHERE run_id = ? AND state = 'open')",
        (run_id, run_id),
    )
    return open_ones == 0 and (state == "ended" or (state == "running" and not started_by_us))


def _servers(
    journal: Journal, run_id: str, interactions: tuple[Interaction, ...]
) -> dict[str, Server]:
    """The servers and the protocol each spoke, by first interaction, then by name."""
    servers: dict[str, Server] = {}
    for interaction in interactions:
        known = servers.setdefault(interaction.server, Server())
        if not known.protocol:
            servers[interaction.server] = Server(_protocol(interaction))
    silent = journal.connection.rows(
        "SELECT DISTINCT server FROM sessions WHERE run_id = ? ORDER BY server", (run_id,)
    )
    return servers | {name: Server() for (name,) in silent if name not in servers}


def _protocol(interaction: Interaction) -> str:
    """The revision that a server showed to speak by an answer; empty if it did not."""
    response = interaction.response
    if response is None or response.member == "error":
        return ""
    if interaction.method != INITIALIZE:
        return modern_version(interaction.params) or ""
    version = parse(members_of(response.text).get("protocolVersion", '""'))
    return version if isinstance(version, str) else ""


def _refuse_leaks(path: str, text: str, masks: Redactor) -> None:
    count = masks.leaks(text)
    if count:
        times = "once" if count == 1 else f"{count} times"
        raise CassetteError(
            f"the cassette would hold the value of a secret, {times}, so it was not written",
            place=path,
            hint="name what holds it in the settings (`keys` or `patterns` of `redaction`), and "
            "save the run again",
        )


def _refusal(path: str, present: Cassette, run_id: str) -> str:
    whose = f"run {present.run}" if present.run else "no run of this journal"
    return (
        f"{path}: this cassette is of {whose} and was left as it is; {run_id} stays in the "
        f"journal: `mcp-sidecar cassette save {run_id} --cassette NAME` saves it under another "
        "name, `--overwrite` in its place"
    )


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise CassetteError(
            "there is no such cassette",
            place=path,
            hint="record it first, or check the name; `mcp-sidecar runs list` shows runs "
            "that can be saved",
        ) from None
    except OSError as error:
        raise CassetteError(
            f"the cassette cannot be read ({error.strerror})", place=path, hint=_READABLE
        ) from None


def _write(path: str, data: bytes) -> None:
    try:
        atomic.write(path, [data])
    except (FileExistsError, NotADirectoryError):
        raise CassetteError(
            "the cassette cannot be written: a file is in the place of its folder",
            place=path,
            hint="move that file away, or choose another name",
        ) from None
    except OSError as error:
        raise CassetteError(
            f"the cassette cannot be written ({error.strerror}); what was there is unchanged",
            place=path,
            hint="make room, or give yourself the right to write there",
        ) from None
