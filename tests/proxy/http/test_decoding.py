"""Content encodings, however the bytes are cut."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import pytest

from sidecar.errors import MessageTooLargeError
from sidecar.proxy.http.decoding import UndecodableError, decoder

TEXT = b"some text, " * 50


def raw_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


KINDS = [
    pytest.param("", bytes, id="none"),
    pytest.param("identity", bytes, id="identity"),
    pytest.param("gzip", gzip.compress, id="gzip"),
    pytest.param("X-GZIP", gzip.compress, id="gzip by its old name"),
    pytest.param("deflate", zlib.compress, id="deflate"),
    pytest.param("deflate", raw_deflate, id="deflate without its head"),
]


@pytest.mark.parametrize(("name", "encode"), KINDS)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_h11_what_was_encoded_is_decoded_however_it_is_cut(
    name: str, encode: Callable[[bytes], bytes], size: int
) -> None:
    data = encode(TEXT)
    decode = decoder(name, 10_000)

    assert b"".join(decode(data[at : at + size]) for at in range(0, len(data), size)) == TEXT
    assert decode.is_whole


def test_gzip_streams_may_follow_each_other() -> None:
    assert decoder("gzip", 10_000)(gzip.compress(b"a") + gzip.compress(b"b")) == b"ab"


@pytest.mark.parametrize("size", [1, 10_000])
def test_gzip_streams_without_end_are_not_decoded(size: int) -> None:
    data = gzip.compress(b"a") * 17
    decode = decoder("gzip", 10_000)

    assert decoder("gzip", 10_000)(gzip.compress(b"a") * 16) == b"a" * 16
    with pytest.raises(UndecodableError, match="more than 16"):
        [decode(data[at : at + size]) for at in range(0, len(data), size)]


def test_nothing_decodes_to_nothing() -> None:
    assert [decoder(name, 10)(b"") for name in ("gzip", "deflate", "")] == [b"", b"", b""]


@pytest.mark.parametrize(("name", "encode"), KINDS[2:])
def test_a_body_that_is_cut_is_not_whole(name: str, encode: Callable[[bytes], bytes]) -> None:
    data = encode(TEXT)
    decode = decoder(name, 10_000)
    decode(data[:-1])

    assert not decode.is_whole


@pytest.mark.parametrize("name", ["br", "zstd", "gzip, br", "compress", "nonsense"])
def test_h11_an_encoding_that_is_not_known_is_told(name: str) -> None:
    with pytest.raises(UndecodableError, match="not known"):
        decoder(name, 10)


@pytest.mark.parametrize("name", ["gzip", "deflate"])
def test_h11_a_body_that_is_broken_is_told(name: str) -> None:
    with pytest.raises(UndecodableError, match="broken"):
        decoder(name, 1000)(b"this is neither")


@pytest.mark.parametrize(("name", "encode"), KINDS[2:])
def test_what_unpacks_to_more_than_the_ceiling_is_not_unpacked(
    name: str, encode: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(MessageTooLargeError):
        decoder(name, len(TEXT) - 1)(encode(TEXT))

    assert decoder(name, len(TEXT))(encode(TEXT)) == TEXT
