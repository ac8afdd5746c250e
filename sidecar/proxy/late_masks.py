"""What masks a server's secrets, made while the server starts.

To look for secrets takes longer to import and to prepare than all else together, and nothing
is to be masked before the server has been sent its first message.
"""

from __future__ import annotations

import os
import threading

from sidecar.store.salt import masking_salt
from sidecar.wire.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from sidecar.cassette.redaction.redactor import Redactor
    from sidecar.proxy.options import ProxyOptions


class LateMasks:
    """The redactor of a proxy, made when it is first needed; threads may share it."""

    def __init__(self, options: ProxyOptions) -> None:
        """Make sure that the redactor can be made, save for rules that may be refused.

        Args:
            options: Of the proxy.

        Raises:
            JournalError: If the key of the journal's folder can be neither read nor made.
        """
        masking_salt(os.path.dirname(options.journal))
        self._options = options
        self._lock = threading.Lock()
        self._redactor: Redactor | None = None

    def make(self) -> Redactor:
        """Make the redactor, once.

        Raises:
            UsageError: If a pattern of the rules is no regular expression.
        """
        with self._lock:
            if self._redactor is None:
                self._redactor = _made(self._options)
            return self._redactor

    def json_text(self, text: str) -> str:
        """Return a JSON text with its secrets masked; the same object if it has none."""
        redactor = self._redactor or self.make()
        return redactor.json_text(text)


def _made(options: ProxyOptions) -> Redactor:
    from sidecar.proxy.masking import masks_of_servers  # noqa: PLC0415  # late, as is said above

    return masks_of_servers(os.path.dirname(options.journal), options.redaction, [options])
