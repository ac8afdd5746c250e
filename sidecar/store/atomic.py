"""Writes a file as a whole, or not at all, whoever else writes it and whatever dies (C06).

On the hot path: a proxy saves its cassette when it ends.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress

from sidecar.store.file_lock import try_lock

_SUFFIX = ".tmp"
_MODE = 0o644  # less the umask
_MAX_NAME = 200  # of 255 bytes; the rest is for what makes the name unique


def write(path: str, chunks: Iterable[bytes]) -> None:
    """Replace a file's content; its folder is made, its mode kept, a link to it followed.

    Raises:
        OSError: If that is not possible; the file is as it was.
    """
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    os.makedirs(folder, exist_ok=True)
    _clean(folder, name)
    temporary, descriptor = _temporary(folder, name)
    try:
        # The lock goes with the file's closing: while it is held, no one cleans it away.
        with open(descriptor, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(descriptor)
            _keep_mode(path, temporary)
            if sys.platform == "win32":  # an open file cannot be moved there
                file.close()
            os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise
    _sync_folder(folder)


def _temporary(folder: str, name: str) -> tuple[str, int]:
    """Make a file of a new name in the same folder, locked."""
    while True:
        path = os.path.join(folder, f"{_prefix(name)}{os.urandom(6).hex()}{_SUFFIX}")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _MODE)
        # Another process may have cleaned it away before it was locked.
        if try_lock(descriptor) and os.path.exists(path):
            return path, descriptor
        os.close(descriptor)
        _remove(path)


def _clean(folder: str, name: str) -> None:
    """Remove what processes left that died while they wrote this file."""
    for other in os.listdir(folder):
        if other.startswith(_prefix(name)) and other.endswith(_SUFFIX):
            _remove_abandoned(os.path.join(folder, other))


def _remove_abandoned(path: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return
    try:
        if try_lock(descriptor):
            _remove(path)
    finally:
        os.close(descriptor)


def _prefix(name: str) -> str:
    return f".{name[:_MAX_NAME]}."


def _keep_mode(path: str, temporary: str) -> None:
    try:
        mode = os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        return
    os.chmod(temporary, mode)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def _sync_folder(folder: str) -> None:
    """Have the new name survive a power cut, where the system can do that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
