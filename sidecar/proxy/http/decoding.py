"""Content encodings: decoded in the copy, since what passes stays as it is (H11)."""

from __future__ import annotations

import zlib
from typing import Protocol

from sidecar.errors import MessageTooLargeError


class Decode(Protocol):
    """Decodes one body, piece by piece."""

    @property
    def is_whole(self) -> bool:
        """Whether the body may end here."""

    def __call__(self, piece: bytes, /) -> bytes:
        """Take the next piece; return what it decodes to.

        Raises:
            MessageTooLargeError: If that is over the ceiling.
            UndecodableError: If it is broken.
        """


_GZIP = 31  # zlib's window bits for a gzip stream
_ZLIB = 15
_RAW = -15
_MOST_STREAMS = 16  # in one body: each costs a copy of what follows it


class UndecodableError(Exception):
    """A body that cannot be decoded, in words."""


def decoder(encoding: str, max_bytes: int) -> Decode:
    """Make what decodes one body.

    Args:
        encoding: Its `Content-Encoding`; empty where there is none.
        max_bytes: How much one piece may decode to.

    Raises:
        UndecodableError: If the encoding is not known.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return _Plain()
    if name in ("gzip", "x-gzip"):
        return _Inflater(_GZIP, max_bytes)
    if name == "deflate":
        return _Deflated(max_bytes)
    raise UndecodableError(f"the content encoding {name!r} is not known here")


class _Plain:
    is_whole = True

    def __call__(self, piece: bytes, /) -> bytes:
        return piece


class _Inflater:
    def __init__(self, window_bits: int, max_bytes: int) -> None:
        self._window_bits = window_bits
        self._max_bytes = max_bytes
        self._stream = zlib.decompressobj(window_bits)
        self._streams = 1

    @property
    def is_whole(self) -> bool:
        return self._stream.eof

    def __call__(self, piece: bytes, /) -> bytes:
        found = b""
        while piece:
            if self._stream.eof:
                self._begin_another()
            try:
                found += self._stream.decompress(piece, self._max_bytes + 1 - len(found))
            except zlib.error as error:
                raise UndecodableError(f"the compressed body is broken ({error})") from None
            if len(found) > self._max_bytes:
                raise MessageTooLargeError(f"a body of more than {self._max_bytes} bytes")
            piece = self._stream.unused_data
        return found

    def _begin_another(self) -> None:
        """Begin the next stream: gzip allows several in one body."""
        self._streams += 1
        if self._streams > _MOST_STREAMS:
            raise UndecodableError(f"the body is of more than {_MOST_STREAMS} compressed streams")
        self._stream = zlib.decompressobj(self._window_bits)


class _Deflated:
    """`deflate` is a zlib stream; some send the bare one within it."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._inflate: _Inflater | None = None

    @property
    def is_whole(self) -> bool:
        return self._inflate is not None and self._inflate.is_whole

    def __call__(self, piece: bytes, /) -> bytes:
        if not piece:
            return b""
        if self._inflate is None:
            has_head = piece[0] & 0x0F == zlib.DEFLATED
            self._inflate = _Inflater(_ZLIB if has_head else _RAW, self._max_bytes)
        return self._inflate(piece)
