"""Standard streams that whoever started us had closed, as `2>&-` does.

A file that is opened then gets the number of such a stream, and what is written to the
stream would go into that file: the journal, mostly.
"""

from __future__ import annotations

import os
import sys
from typing import IO


def open_closed() -> None:
    """Let streams that are closed read nothing, and drop what is written; children's, too."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)  # noqa: FBT003  # it takes no name
            setattr(sys, name, _stream(number))


def _stream(number: int) -> IO[str]:
    mode = "w" if number else "r"
    return open(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False)
