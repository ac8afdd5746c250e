"""Sessions that are ending: each ends whole, even if whoever asked for that has gone."""

from __future__ import annotations

import asyncio

from sidecar.proxy.http.bridge.session import HttpSession
from sidecar.proxy.streams import say

_FAILED = 2


class Endings:
    """Holds what ends on a server's behalf, and what each session says at its end."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._codes: list[int] = []

    def begin(self, session: HttpSession, *, patient: bool) -> asyncio.Task[None]:
        """Begin to end a session that nobody finds any more; a failure is told, not raised."""
        task = asyncio.get_running_loop().create_task(self._end(session, patient=patient))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def end(self, session: HttpSession, *, patient: bool) -> None:
        """End a session; it ends even if the caller is cancelled."""
        await asyncio.shield(self.begin(session, patient=patient))

    async def all(self) -> list[int]:
        """Wait for all that is ending; return what each session said of its replay."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        return self._codes

    async def _end(self, session: HttpSession, *, patient: bool) -> None:
        try:
            code = await session.close(patient=patient)
        except Exception as error:  # noqa: BLE001  # one session's fate is no other's
            say(f"a session did not end in order: {type(error).__name__}: {error}")
            code = _FAILED
        self._codes.append(code)
