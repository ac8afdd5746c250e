"""Text that is safe to show."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.report.text import counted, escaped

ANY_TEXT = st.text(st.characters(codec=None))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("Größe 日本語 🎉", "Größe 日本語 🎉", id="any script"),
        pytest.param("[b]x[/b] a\\b", "[b]x[/b] a\\b", id="markup"),
        pytest.param("a\nb\r\nc\td", "a\\nb\\r\\nc\\td", id="line ends"),
        pytest.param("\x1b[31mred\x1b]0;title\x07", "\\x1b[31mred\\x1b]0;title\\x07", id="ANSI"),
        pytest.param("\x9b31m\x85\x7f\x00", "\\x9b31m\\x85\\x7f\\x00", id="C1, DEL and NUL"),
        pytest.param("a\u202eb\u2066c\u200fd", "a\\u202eb\\u2066c\\u200fd", id="bidi"),
        pytest.param("a\u200bb\ufeffc\u00add", "a\\u200bb\\ufeffc\\xadd", id="invisible"),
        pytest.param("a\u2028b\u2029c", "a\\u2028b\\u2029c", id="line separators"),
        pytest.param("\U000e0041", "\\U000e0041", id="tags"),
        pytest.param("\ud83d", "\\ud83d", id="a lone surrogate"),
        pytest.param("a\u00a0b\u3000c", "a\u00a0b\u3000c", id="other scripts' spaces"),
    ],
)
def test_what_steers_a_terminal_or_cannot_be_seen_is_escaped(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_line_feeds_stay_where_they_are_asked_for() -> None:
    assert escaped("a\nb\r\n\x1bc", newlines=True) == "a\nb\\r\n\\x1bc"


@given(ANY_TEXT)
def test_whatever_came_in_nothing_but_visible_text_comes_out(text: str) -> None:
    shown = escaped(text)

    shown.encode()
    assert {unicodedata.category(letter)[0] for letter in shown} <= set("LMNPSZ")
    assert not set("\u2028\u2029") & set(shown)
    assert escaped(shown) == shown


@pytest.mark.parametrize(
    ("count", "plural", "text"),
    [(0, "", "0 calls"), (1, "", "1 call"), (2, "", "2 calls"), (2, "called", "2 called")],
)
def test_a_number_has_its_noun(count: int, plural: str, text: str) -> None:
    assert counted(count, "call", plural) == text
