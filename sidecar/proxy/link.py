"""What a live server is to those who speak with it: lines there, lines back, an end."""

from __future__ import annotations

from sidecar.wire.typed import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sidecar.wire.framing import Oversized

START_FAILED = 127
"""Exit code of a server that never was there: as a shell has it for a command."""


class Inlet(Protocol):
    """Where lines for the server go."""

    def begin(self, data: bytes) -> int:
        """Write what goes out at once of a line, and tell how much; never waits."""

    def send(self, data: bytes) -> bool:
        """Write all of it, waiting where it must; tell whether it went out."""


class Link(Protocol):
    """A running server: a process of ours, or one at a URL."""

    @property
    def stdin(self) -> Inlet:
        """What goes to it."""

    @property
    def stdout(self) -> int:
        """The descriptor that its lines come from; at its end the server is gone.

        Whoever reads it closes it.
        """

    def relay_stderr(self) -> None:
        """Pass on what it says besides, until it ends; to be called once. Blocks."""

    def last_words(self) -> str:
        """The last that it said besides, as text; empty if nothing."""

    def wait(self, seconds: float) -> int | None:
        """Wait for its end, at most so long; return its exit code, None while it runs."""

    def stop(self, grace_seconds: float, *, patient: bool = True) -> int:
        """End it and all that it started; return its exit code.

        Args:
            grace_seconds: Waited at each step.
            patient: Whether it may end by itself once it gets no more lines.
        """


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


class Remark(NamedTuple):
    """What is to be known of a line from a server at a URL, besides what it says.

    Attributes:
        is_ours: Whether the server never answered, and the line is an error in its place.
        http_status: Of the response that it came with, or in place of; None where it is the
            one that is prescribed, or where there was none.
    """

    is_ours: bool
    http_status: int | None = None
