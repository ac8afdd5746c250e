"""The order to stop, which a signal gives."""

from __future__ import annotations

import os
import signal
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_WAKES = 65_536  # more than there can be
_FORCED_SECONDS = 10  # for a proxy that is stuck in a write that nobody reads


class StopOrder:
    """Wakes whoever polls `descriptor`, when a signal comes or when `wake` is called.

    A signal never raises: it might tear a transaction. Where the proxy is stuck it ends it
    for good, after a time; its guard then stops the server.

    Attributes:
        descriptor: Readable once there is something to see.
        sign: The first signal that came, or None.
    """

    def __init__(self) -> None:
        self.descriptor, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self.sign: int | None = None

    def wake(self) -> None:
        """Wake the one that polls."""
        try:
            os.write(self._write, b"x")
        except BlockingIOError:
            return  # it is woken already

    def woken(self) -> None:
        """Tell that one has seen it; the next signal wakes again."""
        os.read(self.descriptor, _WAKES)

    def listen(self) -> None:
        """Take the signals from now on."""
        for sign in _SIGNALS:
            if sign != signal.SIGHUP or signal.getsignal(sign) != signal.SIG_IGN:  # nohup
                signal.signal(sign, self._take)

    def _take(self, sign: int, _frame: FrameType | None) -> None:
        if self.sign is None:
            self.sign = sign
            signal.alarm(_FORCED_SECONDS)
        self.wake()
