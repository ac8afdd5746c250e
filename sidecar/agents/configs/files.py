"""Config files, changed in place: atomically, and never over what someone else just wrote.

A client may rewrite its whole config from memory at any moment, without a lock. So a file
is read, changed, and replaced only if it still holds what was read; else all begins anew.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sidecar.errors import ConfigError
from sidecar.store import atomic, folders

_ATTEMPTS = 3
_BACKUPS = "backups"
_NAME_CHARS = 100  # of a config's name within its backup's


class _ChangedError(Exception):
    """The file holds something else than what was read."""


def read_file(path: str) -> bytes:
    """Read a config's bytes.

    Raises:
        ConfigError: If it is not there, is a link that leads nowhere, is no file, or cannot
            be read.
    """
    file = Path(path)
    try:
        if _leads_to_itself(path):
            raise ConfigError(
                "the config is a symbolic link that leads back to itself",
                place=path,
                hint="make it lead to a file",
            )
        if file.is_symlink() and not file.exists():
            raise ConfigError(
                "the config is a symbolic link to a file that is not there",
                place=path,
                hint=f"make {os.fspath(file.readlink())} again, or remove the link",
            )
        if file.exists() and not file.is_file():
            raise ConfigError("the config is no file", place=path, hint="name a file")
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"the config cannot be read ({error.strerror})",
            place=path,
            hint="`mcp-sidecar clients` lists those that are there",
        ) from None


def _leads_to_itself(path: str) -> bool:
    try:
        Path(path).stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def change_file(path: str, change: Callable[[bytes], bytes]) -> bytes:
    """Change a file.

    Args:
        path: The file; a symbolic link to it stays a link.
        change: Makes the new bytes of the old ones; it is asked again if someone else
            changes the file meanwhile.

    Returns:
        The bytes that were there before.

    Raises:
        ConfigError: If the file must not be replaced, or others keep changing it. It then
            holds what they wrote, or what was there.
    """
    for _ in range(_ATTEMPTS):
        before = read_file(path)
        after = change(before)
        if after == before:
            return before
        _refuse_irreplaceable(path)
        with suppress(_ChangedError):
            _replace(path, before, after)
            return before
    raise ConfigError(
        "another program keeps changing the config",
        place=path,
        hint="close the client that it belongs to, then try again",
    )


def keep_backup(home: str, path: str, data: bytes) -> str:
    """Keep what a config held, for a person who needs it; `unwrap` does not.

    Args:
        home: The sidecar's home; it is made.
        path: The config.
        data: What it held.

    Returns:
        The backup's path. It is readable for no one who could not read the config, and for
        no other user at all.

    Raises:
        ConfigError: If it cannot be written.
    """
    folder, stem = _backups(home, path)
    try:
        folders.make_home(home)
        folder.mkdir(mode=0o700, exist_ok=True)
        kept = sorted(_numbered(folder, stem))
        # An older equal one is no help: `newest_backup` has to find what was kept last.
        if kept and kept[-1][1].read_bytes() == data:
            return str(kept[-1][1])
        mode = stat.S_IMODE(Path(path).stat().st_mode) & 0o600
        return _write_new(folder, stem, kept[-1][0] + 1 if kept else 1, data, mode)
    except OSError as error:
        raise ConfigError(
            f"the backup of {path} cannot be written ({error.strerror})",
            place=error.filename or str(folder),
            hint="make room there, or choose another folder with --home",
        ) from None


def newest_backup(home: str, path: str) -> str | None:
    """Find the last backup of a config that a home has; None if there is none.

    Args:
        home: The sidecar's home.
        path: The config, as when it was wrapped.
    """
    folder, stem = _backups(home, path)
    kept = sorted(_numbered(folder, stem))
    return str(kept[-1][1]) if kept else None


def _backups(home: str, path: str) -> tuple[Path, str]:
    """The folder of a config's backups, and how their names begin."""
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
    return Path(home) / _BACKUPS, f"{Path(path).name[:_NAME_CHARS]}.{digest}"


def _numbered(folder: Path, stem: str) -> list[tuple[int, Path]]:
    found = ((path.name.removeprefix(f"{stem}."), path) for path in folder.glob(f"{stem}.*"))
    return [(int(number), path) for number, path in found if number.isdecimal()]


def _write_new(folder: Path, stem: str, number: int, data: bytes, mode: int) -> str:
    while True:
        path = folder / f"{stem}.{number}"
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:  # another process was faster
            number += 1
            continue
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        return str(path)


def _replace(path: str, before: bytes, after: bytes) -> None:
    def check() -> None:
        if read_file(path) != before:
            raise _ChangedError

    try:
        atomic.write(path, [after], check=check)
    except OSError as error:
        raise ConfigError(
            f"the config cannot be written ({error.strerror}); it is as it was",
            place=path,
            hint="make room there, or give yourself the right to use its folder",
        ) from None
    if read_file(path) != after:
        raise ConfigError(
            "another program wrote the config at the same moment, and its change stayed",
            place=path,
            hint="close the client that it belongs to, then try again",
        )


def _refuse_irreplaceable(path: str) -> None:
    """Refuse what a new file in the old one's place would not be the same as.

    Raises:
        ConfigError: With the reason.
    """
    facts = Path(path).stat()
    problem = ""
    if not os.access(path, os.W_OK):
        problem = "the config is read-only"
    elif facts.st_nlink > 1:
        problem = f"the config has {facts.st_nlink} names (hard links), which would be parted"
    elif os.geteuid() not in (0, facts.st_uid):
        problem = "the config belongs to another user"
    if problem:
        raise ConfigError(
            f"{problem}; nothing was changed", place=path, hint="change what it is made from"
        )
