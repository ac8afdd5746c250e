"""One server behind the sidecar over stdio, in all four modes."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from sidecar.cassette.redaction import Redactor
from sidecar.errors import SidecarError
from sidecar.proxy.options import ProxyOptions
from sidecar.proxy.saving import load, save
from sidecar.proxy.stopping import StopOrder
from sidecar.proxy.streams import Outlet, read_chunk, say
from sidecar.proxy.tape import Tape
from sidecar.proxy.wiring import Wiring
from sidecar.store import cassettes
from sidecar.store.environment import unknown_variables
from sidecar.store.journal import Journal, Session
from sidecar.store.masking import masks_for
from sidecar.wire.framing import LineBuffer, Oversized
from sidecar.wire.json_text import dump

if TYPE_CHECKING:
    from sidecar.proxy.live import LiveServer

_LINGER_MS = 1000  # a server that never answered: its client may ask once more
_FIRST_MS = 10_000  # and may not have asked at all yet
_SETTLE_MS = 1  # a request is written with its answer if that comes within
_DRAIN_STEP_SECONDS = 0.05


class Behind(Protocol):
    """What stands behind the client: a live server, or a playback."""

    @property
    def failure(self) -> str | None:
        """Why the server is gone, if it is."""

    @property
    def answered(self) -> int:
        """How many answers the client got yet, or at least whether it got any."""

    def take(self, lines: Sequence[bytes | Oversized]) -> None:
        """Take lines of the client's that came together."""

    def drained(self, seconds: float) -> bool:
        """Wait for open answers, at most so long; tell whether none is open."""

    def finish(self, *, patient: bool) -> int:
        """End, and return the exit code."""


def run(options: ProxyOptions) -> int:
    """Serve one client on this process's standard streams until it, or the server, ends.

    Returns:
        The server's exit code; in `replay` 1 if a request missed and failed closed; 2 if
        a replay could not be journalled.

    Raises:
        SidecarError: If the journal or the cassette cannot be used. Nothing was started.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would eat exit codes
    cassette = load(options)
    journal = Journal.open(options.journal)
    masks = _masks(options)
    journal.start_run(
        options.run, mode=options.mode, cassette=options.cassette, agent_id=options.agent_id
    )
    session = journal.start_session(
        options.run, server=options.server, mode=options.mode, agent_id=options.agent_id
    )
    tape = Tape(session, names_agent=options.agent_id is None)
    stop = StopOrder()
    stop.listen()
    wiring = Wiring(options, Outlet(1), tape, masks, journal.is_watched(options.run))
    misspelt = unknown_variables(os.environ)
    if misspelt and not wiring.is_watched:
        say(misspelt)
    behind = _behind(wiring, cassette, stop)
    code, state = _serve(options, behind, tape, stop)
    _close(session, code, "failed" if tape.broken else state)
    if options.mode in ("record", "auto"):
        save(options, journal, masks)
    journal.close()
    return 2 if tape.broken and options.mode == "replay" else code


def _masks(options: ProxyOptions) -> Redactor:
    values: tuple[str, ...] = ()
    if options.headers:
        from sidecar.proxy.addresses import secrets_of  # noqa: PLC0415  # a command has none

        values = secrets_of(options.headers)
    home = os.path.dirname(options.journal)
    masks = masks_for(home, os.environ, options.redaction, values)
    if len(options.command) > 1:  # what is a secret there is one everywhere (X08)
        masks.json_text(dump(list(options.command)))
    return masks


def _behind(wiring: Wiring, loaded: cassettes.Loaded | None, stop: StopOrder) -> Behind:
    options = wiring.options
    if loaded is None or (options.mode == "auto" and not _knows(loaded, options.server)):
        live = _live(wiring, stop.wake)
        live.start()
        return live
    from sidecar.cassette.matcher import Matcher  # noqa: PLC0415  # a recording needs none
    from sidecar.proxy.playback import Playback  # noqa: PLC0415

    goes_live = options.mode == "auto" or options.on_miss == "live"
    start = (lambda on_end: _live(wiring, on_end)) if goes_live else None
    return Playback(wiring, Matcher(loaded.cassette.interactions, wiring.masks), start)


def _live(wiring: Wiring, on_end: Callable[[], None]) -> LiveServer:
    from sidecar.proxy.live import LiveServer  # noqa: PLC0415  # a replay needs none

    return LiveServer(wiring, on_end)


def _knows(loaded: cassettes.Loaded, server: str) -> bool:
    return any(item.server == server for item in loaded.cassette.interactions)


def _serve(options: ProxyOptions, behind: Behind, tape: Tape, stop: StopOrder) -> tuple[int, str]:
    """Serve until the end; return the exit code and how the session ended."""
    for lines in _client_lines(options, behind, tape, stop):
        behind.take(lines)
    died = behind.failure is not None
    if not died and stop.sign is None:
        _drain(options, behind, stop)
    code = behind.finish(patient=stop.sign is None)
    if stop.sign not in (None, signal.SIGTERM):
        return code, "interrupted"
    return code, "failed" if died and code != 0 else "ended"


def _drain(options: ProxyOptions, behind: Behind, stop: StopOrder) -> None:
    """Wait for open answers, as long as they keep coming."""
    answered, until = behind.answered, time.monotonic() + options.drain_seconds
    while not behind.drained(_DRAIN_STEP_SECONDS):
        if behind.answered != answered:
            answered, until = behind.answered, time.monotonic() + options.drain_seconds
        if stop.sign is not None or time.monotonic() >= until:
            return


def _client_lines(
    options: ProxyOptions, behind: Behind, tape: Tape, stop: StopOrder
) -> Iterator[Sequence[bytes | Oversized]]:
    """Yield the client's lines until its input ends, or there is no server to take them."""
    poller = select.poll()
    poller.register(0, select.POLLIN | select.POLLHUP)
    poller.register(stop.descriptor, select.POLLIN)
    buffer = LineBuffer(options.max_message_bytes)
    wait_ms: int | None = None
    asked = False
    while True:
        settling = tape.waiting
        ready = poller.poll(_SETTLE_MS if settling else wait_ms)
        if not ready and settling:
            tape.flush()
        elif not ready or stop.sign is not None:
            return
        elif stop.descriptor in dict(ready):
            stop.woken()
            if behind.answered:
                return  # the client sees the end as it would unwrapped (E04)
            wait_ms = _LINGER_MS if asked else _FIRST_MS
        else:
            chunk = read_chunk(0)
            if not chunk:
                break
            asked = True
            yield buffer.feed(chunk)
            wait_ms = None if wait_ms is None else _LINGER_MS
    rest = buffer.rest()
    if rest is not None:
        # The server sees the end only after it has answered: it needs the line's.
        yield [rest if isinstance(rest, Oversized) else rest + b"\n"]


def _close(session: Session, code: int, state: str) -> None:
    try:
        session.close(exit_code=code, state=state)
    except SidecarError as error:
        say(str(error))
