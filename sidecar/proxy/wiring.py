"""What every part of a running proxy is wired to."""

from __future__ import annotations

from sidecar.proxy.options import ProxyOptions
from sidecar.proxy.tape import Tape
from sidecar.wire.typed import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from sidecar.cassette.recorder import Masks


class ClientStream(Protocol):
    """Where messages for the client go, from any thread; stdio's is an `Outlet`."""

    @property
    def closed(self) -> bool:
        """Whether the client is gone: what is sent then is dropped."""

    def send(self, data: bytes) -> bool:
        """Send whole lines, at once or in time; tell whether there is a client for them."""


class Wiring(NamedTuple):
    """What every part of a running proxy is wired to.

    Attributes:
        options: What the proxy was told to do.
        client: Where messages for the client go.
        tape: Where facts go.
        masks: What takes secrets out of whatever is kept.
        is_watched: Whether `mcp-sidecar` runs the agent, and tells the user of misses itself.
    """

    options: ProxyOptions
    client: ClientStream
    tape: Tape
    masks: Masks
    is_watched: bool = False
