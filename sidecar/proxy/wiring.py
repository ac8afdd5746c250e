"""What every part of a running proxy is wired to."""

from __future__ import annotations

from typing import NamedTuple

from sidecar.cassette.recorder import Masks
from sidecar.proxy.options import ProxyOptions
from sidecar.proxy.streams import Outlet
from sidecar.proxy.tape import Tape


class Wiring(NamedTuple):
    """What every part of a running proxy is wired to.

    Attributes:
        options: What the proxy was told to do.
        client: Where messages for the client go.
        tape: Where facts go.
        masks: What takes secrets out of whatever is kept.
    """

    options: ProxyOptions
    client: Outlet
    tape: Tape
    masks: Masks
