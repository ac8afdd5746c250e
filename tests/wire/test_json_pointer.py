"""JSON pointers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.wire.json_pointer import inside, parts_of


@pytest.mark.parametrize(
    ("pointer", "part", "expected"),
    [
        ("", "a", "/a"),
        ("/a", 0, "/a/0"),
        ("/a", "", "/a/"),
        ("", "a/b", "/a~1b"),
        ("", "m~n", "/m~0n"),
        ("", "~1", "/~01"),
    ],
)
def test_a_part_is_escaped(pointer: str, part: str | int, expected: str) -> None:
    assert inside(pointer, part) == expected


@given(st.lists(st.text(alphabet="a~/01")))
def test_the_parts_are_those_that_it_was_made_of(parts: list[str]) -> None:
    pointer = ""
    for part in parts:
        pointer = inside(pointer, part)

    assert parts_of(pointer) == tuple(parts)
