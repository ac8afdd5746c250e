"""Parts of a proxy in the test's own process, wired to a pipe and a real journal."""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sidecar.cassette.interaction import Interaction
from sidecar.proxy.options import Mode, OnMiss, ProxyOptions
from sidecar.proxy.streams import Outlet
from sidecar.proxy.tape import Tape
from sidecar.proxy.wiring import Wiring
from sidecar.store import recorded
from sidecar.store.journal import Journal
from tests.store.samples import RUN, open_journal

WAIT_SECONDS = 20.0


class Unmasked:
    """Masks that take nothing out."""

    def json_text(self, text: str) -> str:
        return text


class Client:
    """The client's end of what a proxy writes."""

    def __init__(self) -> None:
        self.read, self.write = os.pipe()
        self.outlet = Outlet(self.write)
        self._data = b""

    def lines(self, count: int) -> list[bytes]:
        """The next lines; their ends are taken off."""
        return [self.line() for _ in range(count)]

    def line(self) -> bytes:
        """The next line, without its end."""
        pieces: list[bytes] = []
        deadline = time.monotonic() + WAIT_SECONDS
        while b"\n" not in self._data:
            pieces.append(self._data)
            self._data = self._chunk(deadline)
        head, _, self._data = self._data.partition(b"\n")
        return b"".join([*pieces, head])

    def message(self) -> Any:
        """The next line, as JSON."""
        return json.loads(self.line())

    def has_nothing(self) -> bool:
        """Whether nothing lies ready to be read."""
        return not self._data and not self._ready(0)

    def close(self) -> None:
        self.outlet.close()
        os.close(self.read)

    def _chunk(self, deadline: float) -> bytes:
        assert self._ready(max(0.0, deadline - time.monotonic())), "nothing came in time"
        chunk = os.read(self.read, 1 << 20)
        assert chunk, "the output has ended"
        return chunk

    def _ready(self, seconds: float) -> bool:
        poller = select.poll()
        poller.register(self.read, select.POLLIN)
        return bool(poller.poll(seconds * 1000))


class Stage:
    """A journal, a client, and the wiring between them.

    Attributes:
        journal: In the folder `.sidecar`.
        client: What reads the proxy's output.
        tape: One session's writer.
        wiring: Of everything, with short waits.
    """

    def __init__(
        self,
        folder: Path,
        command: Sequence[str] = (),
        *,
        mode: Mode = "record",
        on_miss: OnMiss = "fail",
        max_message_bytes: int = 1 << 28,
    ) -> None:
        self.journal: Journal = open_journal(folder)
        self.journal.start_run(RUN, mode=mode)
        session = self.journal.start_session(RUN, server="raw", mode=mode)
        self.tape = Tape(session, names_agent=True)
        self.client = Client()
        options = ProxyOptions(
            server="raw",
            mode=mode,
            command=tuple(command),
            cassette=None,
            journal=self.journal.path,
            run=RUN,
            on_miss=on_miss,
            max_message_bytes=max_message_bytes,
            drain_seconds=WAIT_SECONDS,
            grace_seconds=0.2,
        )
        self.wiring = Wiring(options, self.client.outlet, self.tape, Unmasked())

    def rows(self) -> list[recorded.Recorded]:
        """What the journal has of the run."""
        return recorded.of_run(self.journal.connection, RUN)

    def interactions(self) -> list[Interaction]:
        """The interactions in the journal."""
        return [row.interaction for row in self.rows()]

    def close(self) -> None:
        self.client.close()
        self.journal.close()


def request(ident: object, method: str, params: object = None) -> bytes:
    """A request's line."""
    found = {"jsonrpc": "2.0", "id": ident, "method": method}
    if params is not None:
        found["params"] = params
    return json.dumps(found, separators=(",", ":")).encode() + b"\n"


def call(ident: object, tool: str, arguments: object = None, **more: object) -> bytes:
    """A line that calls a tool."""
    given = {} if arguments is None else {"arguments": arguments}
    return request(ident, "tools/call", {"name": tool, **given, **more})


def notification(method: str, params: object = None) -> bytes:
    """A notification's line."""
    found: dict[str, object] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        found["params"] = params
    return json.dumps(found, separators=(",", ":")).encode() + b"\n"


def response(ident: object, result: object) -> bytes:
    """A line that answers."""
    found = {"jsonrpc": "2.0", "id": ident, "result": result}
    return json.dumps(found, separators=(",", ":")).encode() + b"\n"
