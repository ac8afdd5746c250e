import pytest

from sidecar.cassette.echoes import Echoes
from sidecar.cassette.redaction.placeholders import placeholder

SALT = b"salt"
VALUE = "Zq8knownValue9"


def found(text: str, *values: str) -> list[str]:
    masks = [placeholder(SALT, value.encode()) for value in values or (VALUE,)]
    data = text.encode()
    return [data[one.start : one.end].decode() for one in Echoes(SALT, masks).spans(data)]


@pytest.mark.parametrize(
    "text",
    [
        VALUE, f"a {VALUE} b", f"the end: {VALUE}.", f"'{VALUE}'", f"x={VALUE}&y=1",
        f"https://h/{VALUE}?a", f"u:{VALUE}@h", f"**{VALUE}**, ", f"Größe {VALUE}",
    ],
)  # fmt: skip
def test_a_value_is_found_by_the_hash_in_its_placeholder(text: str) -> None:
    assert found(text) == [VALUE]


@pytest.mark.parametrize("text", [f"x{VALUE}", VALUE.lower(), VALUE[:-1], "other4Value5", ""])
def test_other_words_are_not(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("value", ["production", "12345678901", "2026-11-30", "/srv/app1", "ab1"])
def test_what_is_no_more_than_a_word_is_not_looked_for(value: str) -> None:
    assert found(f"in {value} it is", value) == []


def test_without_placeholders_there_is_nothing_to_look_for() -> None:
    assert not Echoes(SALT, ["no [REDACTED:1]", "none"])
    assert Echoes(SALT, ["a " + placeholder(SALT, b"x")])
