"""Run ids: `local/` and a 26-character ULID."""

from __future__ import annotations

import os

from sidecar.errors import UsageError

TENANT = "local/"
ULID_LENGTH = 26
RANDOMNESS_BYTES = 10

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32
_OPAQUE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-")
_OPAQUE_LENGTHS = range(16, 111)  # an event id adds a dot, digits and a letter; 128 in all


def new_run_id(now: float, randomness: bytes) -> str:
    """Make the id of a new run.

    Args:
        now: Unix time in seconds.
        randomness: `RANDOMNESS_BYTES` bytes from the system's source of chance.
    """
    milliseconds = round(now * 1000) & (2**48 - 1)
    value = milliseconds << 80 | int.from_bytes(randomness[:RANDOMNESS_BYTES], "big")
    return TENANT + _base32(value)


def run_id_of_process(pid: int, start: str) -> str:
    """Derive the run id that all sidecars of one agent process share.

    Its time part means nothing: a wall clock that is set between the starts of two
    sidecars must not split their run in two.

    Args:
        pid: The agent's process id.
        start: What `process_start` says of it, so that a reused pid is another run.
    """
    # Imported here, since a run that is given its id needs no hash.
    import hashlib  # noqa: PLC0415

    digest = hashlib.blake2b(f"{start} {pid}".encode(), digest_size=16).digest()
    return TENANT + _base32(int.from_bytes(digest, "big"))


def process_start(pid: int) -> str:
    """Tell when a process started, in words that no other process of this pid has.

    Returns:
        On Linux the boot's id and clock ticks since boot, elsewhere the time; empty if there
        is no such process, or it cannot be looked at.
    """
    if not os.path.isdir("/proc/self"):
        return _start_without_proc(pid)
    try:
        boot = _text("/proc/sys/kernel/random/boot_id").strip()
        return f"{boot} {stat_of(pid)[19]}"
    except OSError:
        return ""


def stat_of(pid: int) -> list[str]:
    """Read what Linux tells of a process: the fields after its name, see proc(5).

    Raises:
        OSError: If there is no such process, or no `/proc`.
    """
    # The name is in parentheses, and may hold anything.
    return _text(f"/proc/{pid}/stat").rpartition(")")[2].split()


def ulid_of(run_id: str) -> str:
    """The part of a run id after its tenant."""
    return run_id.rpartition("/")[2]


def checked(run_id: str) -> str:
    """Let a run id through that was given by hand.

    Raises:
        UsageError: If it is none of `<tenant>/<opaque>`, as the RFCs have run ids.
    """
    tenant, slash, opaque = run_id.partition("/")
    if (
        not slash
        or not tenant
        or not _OPAQUE.issuperset(tenant + opaque)
        or len(opaque) not in _OPAQUE_LENGTHS
    ):
        raise UsageError(
            f"{run_id!r} is no run id",
            hint="a run id is `local/` and 16 to 110 letters, digits, `.`, `_`, `~` or `-`, "
            "as `mcp-sidecar runs list` shows them",
        )
    return run_id


def _base32(value: int) -> str:
    return "".join(_ALPHABET[value >> shift & 31] for shift in range((ULID_LENGTH - 1) * 5, -1, -5))


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _start_without_proc(pid: int) -> str:
    import psutil  # noqa: PLC0415  # only where there is no /proc

    try:
        return repr(psutil.Process(pid).create_time())
    except (psutil.Error, OSError):
        return ""
