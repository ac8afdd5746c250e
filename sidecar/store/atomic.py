"""Writes a file as a whole, or not at all, whoever else writes it and whatever dies (C06).

On the hot path: a proxy saves its cassette when it ends.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress

from sidecar.store.file_lock import try_lock

_SUFFIX = ".tmp"
_MODE = 0o644  # less the umask
_MAX_NAME = 200  # of 255 bytes; the rest is for what makes the name unique


def write(path: str, chunks: Iterable[bytes], *, check: Callable[[], None] | None = None) -> None:
    """Replace a file's content; its folder is made, its mode kept, a link to it followed.

    Its owner and group are kept as far as the system lets us.

    Args:
        path: The file.
        chunks: Its new content.
        check: Called when all is written, right before the file is replaced; what it
            raises leaves the file as it was.

    Raises:
        OSError: If that is not possible; the file is as it was.
    """
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    os.makedirs(folder, exist_ok=True)
    _clean(folder, name)
    # What is private must not be open to others while it is written, either.
    temporary, descriptor = _temporary(folder, name, 0o600 if os.path.exists(path) else _MODE)
    try:
        # The lock goes with the file's closing: while it is held, no one cleans it away.
        with open(descriptor, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(descriptor)
            _keep_mode_and_owner(path, temporary)
            if check is not None:
                check()
            os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise
    _sync_folder(folder)


def _temporary(folder: str, name: str, mode: int) -> tuple[str, int]:
    """Make a file of a new name in the same folder, locked."""
    while True:
        path = os.path.join(folder, f"{_prefix(name)}{os.urandom(6).hex()}{_SUFFIX}")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
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


def _keep_mode_and_owner(path: str, temporary: str) -> None:
    try:
        kept, made = os.stat(path), os.stat(temporary)
    except FileNotFoundError:
        return
    if (kept.st_uid, kept.st_gid) != (made.st_uid, made.st_gid):
        with suppress(PermissionError):
            os.chown(temporary, kept.st_uid, kept.st_gid)
    os.chmod(temporary, kept.st_mode & 0o777)


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
