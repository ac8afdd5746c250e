"""What stands behind the sessions of one server over HTTP: made for each, and ended."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import cached_property
from typing import NamedTuple

from sidecar.cassette.matcher import Choose, Matcher
from sidecar.cassette.recorder import Masks
from sidecar.proxy import guard
from sidecar.proxy.http.bridge.turns import Turns
from sidecar.proxy.http.endpoint import ServedServer, ServeOptions
from sidecar.proxy.link import Behind
from sidecar.proxy.live import LiveServer
from sidecar.proxy.options import ProxyOptions
from sidecar.proxy.playback import OnStatus, Playback
from sidecar.proxy.saving import answering
from sidecar.proxy.tape import Tape
from sidecar.proxy.wiring import ClientStream, Wiring
from sidecar.store.cassettes import Loaded
from sidecar.store.journal import Journal
from sidecar.wire.mcp import TOOLS_LIST
from sidecar.wire.routing_headers import Mirrored, mirrored_by_tool

JOURNAL_FAILED = 2
"""Exit code of a replay that could not be journalled."""


_WORKING = 64  # a server that does not read its input holds one up, and only its own session
_CLOSING = 16  # these are held up for a few seconds at most


class Threads(NamedTuple):
    """For what blocks, of all sessions of a server.

    Attributes:
        working: For what they take; servers that read nothing may hold all of it up.
        closing: For their ends, which free the others.
    """

    working: Executor
    closing: Executor


class Backstage:
    """What the sessions of one server share. Every method may block.

    Attributes:
        options: As of a proxy for that server alone.
        threads: For what blocks.
        hurried: Whether no server may take its time to end any more.
    """

    def __init__(
        self,
        options: ServeOptions,
        entry: ServedServer,
        journal: Journal,
        masks: Masks,
        loaded: Loaded | None,
    ) -> None:
        """Take what they share.

        Args:
            options: Of `serve`.
            entry: The server.
            journal: Open, with the run begun.
            masks: What takes secrets out of whatever is kept.
            loaded: The cassette, in `replay` and in `auto` if there is one yet.
        """
        self.options = _proxy_options(options, entry)
        self._journal = journal
        self._masks = masks
        self._loaded = answering(loaded, options.mode, entry.name)
        self._reading = threading.Lock()
        self._read: Matcher | None = None  # nothing is taken of it
        self._turns = Turns()
        self.hurried = False
        if entry.command and self.may_go_live:
            guard.keep()  # while there are no threads yet
        self.threads = Threads(
            ThreadPoolExecutor(_WORKING, thread_name_prefix="working"),
            ThreadPoolExecutor(_CLOSING, thread_name_prefix="closing"),
        )

    def dismiss(self) -> None:
        """Let the threads end, once what they do is done."""
        for threads in self.threads:
            threads.shutdown(wait=False)

    def hurry(self) -> None:
        """Let no server take its time to end any more."""
        self.hurried = True

    @property
    def may_go_live(self) -> bool:
        """Whether a live server may stand behind, so that whoever takes lines may block."""
        return self.options.mode != "replay" or self.options.on_miss == "live"

    @cached_property
    def mirrored(self) -> Mapping[str, Mirrored]:
        """Which arguments of the recorded tools are said in headers, by the tools' names."""
        found: dict[str, Mirrored] = {}
        for item in self._loaded.cassette.interactions if self._loaded else ():
            is_listing = item.method == TOOLS_LIST and item.server == self.options.server
            if is_listing and item.response is not None:
                found |= mirrored_by_tool(item.response.text)
        return found

    def start(self, client: ClientStream, on_status: OnStatus, *, shared: bool) -> Running:
        """Make, and start, what stands behind a session.

        Args:
            client: Where its messages go.
            on_status: Told of recorded HTTP statuses.
            shared: Whether the session is that of all clients (2026-07-28).

        Raises:
            JournalError: If the journal cannot be written.
        """
        options = self.options
        session = self._journal.start_session(
            options.run, server=options.server, mode=options.mode, agent_id=options.agent_id
        )
        tape = Tape(session, names_agent=options.agent_id is None)
        wiring = Wiring(options, client, tape, self._masks)
        return Running(self._behind(wiring, on_status, shared=shared), tape)

    def _behind(self, wiring: Wiring, on_status: OnStatus, *, shared: bool) -> Behind:
        loaded = self._loaded
        if loaded is None:
            live = LiveServer(wiring, _nothing)
            live.start()
            return live
        start = (lambda on_end: LiveServer(wiring, on_end)) if self.may_go_live else None
        matcher = self._matcher(loaded, None if shared else self._turns.choose)
        return Playback(wiring, matcher, start, on_status=on_status, alone=shared)

    def _matcher(self, loaded: Loaded, choose: Choose | None) -> Matcher:
        with self._reading:
            if self._read is None:
                self._read = Matcher(loaded.cassette.interactions, self._masks)
            return self._read.fresh(choose)


class Running:
    """What stands behind one session, with its writer.

    Attributes:
        behind: A live server, or a playback.
        tape: Its writer.
    """

    def __init__(self, behind: Behind, tape: Tape) -> None:
        self.behind = behind
        self.tape = tape

    def finish(self, *, patient: bool) -> int:
        """End it, and note how; return what it says of the replay, as `serve` has it."""
        died = self.behind.failure is not None
        code = self.behind.finish(patient=patient)
        self.tape.end(exit_code=code, state="failed" if died and code != 0 else "ended")
        return self._verdict()

    def _verdict(self) -> int:
        if not isinstance(self.behind, Playback):
            return 0
        return JOURNAL_FAILED if self.tape.broken else int(self.behind.misses > 0)


def _proxy_options(options: ServeOptions, entry: ServedServer) -> ProxyOptions:
    return ProxyOptions(
        server=entry.name,
        mode=options.mode,
        command=entry.command,
        cassette=options.cassette,
        journal=options.journal,
        run=options.run,
        env=entry.env,
        cwd=entry.cwd,
        url=entry.url,
        headers=entry.headers,
        transport=entry.transport,
        agent_id=options.agent_id,
        on_miss=options.on_miss,
        overwrite=options.overwrite,
        max_message_bytes=options.limits.message_bytes,
        drain_seconds=options.limits.drain_seconds,
        grace_seconds=options.limits.grace_seconds,
        connect_seconds=options.limits.connect_seconds,
        answer_seconds=options.limits.answer_seconds,
    )


def _nothing() -> None:
    """A session learns of its server's end from the answers that it gives then."""
