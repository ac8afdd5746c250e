import pytest

from sidecar.cassette.redaction.shapes import places_of
from sidecar.cassette.redaction.sought import Finder, Kind, Part, Sought
from sidecar.cassette.redaction.text_masking import TextMasks


def place(_: bytes) -> bytes:
    return b"[REDACTED]"


def masks(kind: Kind = Kind.SHAPES) -> TextMasks:
    finder = Finder(kind, ("shape",), lambda data: list(places_of([b"shape"], data)))
    return TextMasks(Sought((finder,)), place)


def test_secrets_are_masked_where_they_stand_and_counted() -> None:
    own = masks()

    assert own.spliced('{"é": "a shape"}') == '{"é": "a [REDACTED]"}'
    assert own.masked == 1
    assert not own.touching


@pytest.mark.parametrize("name", ["mimeType", "inputSchema", "io.modelcontextprotocol/x", "$defs"])
def test_a_text_with_parts_of_other_kinds_is_left_to_a_walk(name: str) -> None:
    assert masks().spliced(f'{{"{name}": "a shape"}}') is None


def test_a_part_that_keeps_what_a_finder_finds_stays_the_same_object() -> None:
    text = "a shape, glued: xshape"

    assert masks(Kind.NAMES).plain(text, Part.BINARY) is text
    assert masks(Kind.KNOWN).plain(text, Part.BINARY) == "a [REDACTED], glued: x[REDACTED]"


def test_a_mask_may_touch_what_is_another_secret_then() -> None:
    own = masks()
    own.plain("xshape", Part.PLAIN)

    assert own.touching


def test_a_single_secret_is_counted_too() -> None:
    own = masks()

    assert own.placed("hunter2") == "[REDACTED]"
    assert own.masked == 1
