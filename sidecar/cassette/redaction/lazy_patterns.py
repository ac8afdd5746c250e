"""Regular expressions that are compiled at their first use.

Each costs a tenth of a millisecond and more, a proxy starts with every server, and most
sessions need few of them.
"""

from __future__ import annotations

import re
from functools import cache

from sidecar.wire.typed import AnyStr


@cache
def compiled(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Compile a pattern of the house, or return what was compiled before.

    Args:
        pattern: For `str` or for `bytes`. It stays in memory: none of a user's.
        flags: Of `re`.
    """
    return re.compile(pattern, flags)
