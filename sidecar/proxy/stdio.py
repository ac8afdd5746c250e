"""One server behind the sidecar over stdio, in all four modes."""

from __future__ import annotations

import gc
import os
import select
import signal
import time

from sidecar.errors import UsageError
from sidecar.proxy.late_masks import LateMasks
from sidecar.proxy.options import ProxyOptions
from sidecar.proxy.stopping import StopOrder
from sidecar.proxy.streams import Outlet, read_chunk, say
from sidecar.proxy.tape import Tape
from sidecar.proxy.wiring import Wiring
from sidecar.store.environment import unknown_variables
from sidecar.store.journal import Journal
from sidecar.store.settings import NO_RULES
from sidecar.wire.framing import LineBuffer, Oversized
from sidecar.wire.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sidecar.proxy.link import Behind
    from sidecar.proxy.live import LiveServer
    from sidecar.store.cassettes import Loaded

_LINGER_MS = 1000  # a server that never answered: its client may ask once more
_FIRST_MS = 10_000  # and may not have asked at all yet
_SETTLE_MS = 1  # a request is written with its answer if that comes within
_DRAIN_STEP_SECONDS = 0.05


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
    cassette = _loaded(options)
    journal = Journal.open(options.journal)
    watched = journal.watched_mode(options.run)
    if watched == "replay" and options.mode != "replay":
        journal.close()
        raise _nothing_live(options)
    masks = LateMasks(options)
    if cassette is not None or options.redaction != NO_RULES:  # a rule may be refused
        masks.make()
    journal.start_run(
        options.run, mode=options.mode, cassette=options.cassette, agent_id=options.agent_id
    )
    session = journal.start_session(
        options.run,
        server=options.server,
        mode=options.mode,
        agent_id=options.agent_id,
        config_entry=options.config_entry,
    )
    tape = Tape(session, names_agent=options.agent_id is None)
    stop = StopOrder()
    stop.listen()
    wiring = Wiring(options, Outlet(1), tape, masks, watched is not None)
    misspelt = unknown_variables(os.environ)
    if misspelt and not wiring.is_watched:
        say(misspelt)
    behind = _behind(wiring, cassette, stop)
    redactor = masks.make()  # while the server starts
    gc.freeze()  # what is there stays
    gc.enable()
    code, state = _serve(options, behind, tape, stop)
    tape.end(exit_code=code, state=state)
    from sidecar.proxy.saving import save  # noqa: PLC0415  # not at the start

    save(options, journal, redactor)
    journal.close()
    return 2 if tape.broken and options.mode == "replay" else code


def _loaded(options: ProxyOptions) -> Loaded | None:
    if options.mode not in ("replay", "auto"):
        return None
    from sidecar.proxy.saving import load  # noqa: PLC0415  # a recording is not served

    return load(options)


def _nothing_live(options: ProxyOptions) -> UsageError:
    """Refuse a server that the agent took from a wrapped config in the midst of a replay."""
    return UsageError(
        f"server {options.server!r} was started in mode {options.mode}, but the agent's run is "
        "a replay, in which nothing is live",
        hint="let the agent take its servers from the config that {mcp_config} or "
        "MCP_SIDECAR_CONFIG names",
    )


def _behind(wiring: Wiring, loaded: Loaded | None, stop: StopOrder) -> Behind:
    recorded = None if loaded is None else _answering(wiring.options, loaded)
    if recorded is None:
        live = _live(wiring, stop.wake)
        live.start()
        return live
    return _playing(wiring, recorded)


def _answering(options: ProxyOptions, loaded: Loaded) -> Loaded | None:
    from sidecar.proxy.saving import answering  # noqa: PLC0415  # a recording is not served

    return answering(loaded, options.mode, options.server)


def _playing(wiring: Wiring, recorded: Loaded) -> Behind:
    from sidecar.cassette.matcher import Matcher  # noqa: PLC0415  # a recording needs none
    from sidecar.proxy.playback import Playback  # noqa: PLC0415

    goes_live = wiring.options.mode == "auto" or wiring.options.on_miss == "live"
    start = (lambda on_end: _live(wiring, on_end)) if goes_live else None
    return Playback(wiring, Matcher(recorded.cassette.interactions, wiring.masks), start)


def _live(wiring: Wiring, on_end: Callable[[], None]) -> LiveServer:
    from sidecar.proxy.live import LiveServer  # noqa: PLC0415  # a replay needs none

    return LiveServer(wiring, on_end)


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
