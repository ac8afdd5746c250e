"""The key of the hashes that stand for masked values in the journal.

It lies beside the journal, not in it: a journal that is passed on alone gives no way to
guess a weak secret from its hash.
"""

from __future__ import annotations

import os

from sidecar.errors import JournalError
from sidecar.store.connection import PATIENCE_SECONDS
from sidecar.store.file_lock import FileLock
from sidecar.store.folders import make_home

_NAME = "salt"
_BYTES = 32


def masking_salt(home: str) -> bytes:
    """Read the key of this home, making it at the first use; processes may race.

    Raises:
        JournalError: If it can be neither read nor written.
    """
    path = os.path.join(home, _NAME)
    try:
        return _read(path) or _made(home, path)
    except OSError as error:
        raise JournalError(
            f"the sidecar's folder cannot be used ({error.strerror})",
            place=home,
            hint="give a folder that can be written with --home or MCP_SIDECAR_HOME",
        ) from None


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def _made(home: str, path: str) -> bytes:
    make_home(home)
    with FileLock(path + ".lock", patience_seconds=PATIENCE_SECONDS):
        present = _read(path)
        if present:
            return present
        salt = os.urandom(_BYTES)
        fresh = path + ".new"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(salt)
        os.replace(fresh, path)  # whole or not at all
        return salt
